"""``/docs``: the schema as a page to read, without a script and without a file from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from typing import Any

Json = Mapping[str, Any]


def reference_html(document: Json, base_url: str) -> str:
    """The page.

    :param document: an OpenAPI document.
    :param base_url: where its examples ask, without a ``/`` at the end.
    """
    operations = [
        (method, path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    tags = dict.fromkeys(operation["tags"][0] for _, _, operation in operations)
    parts = [
        f'<h3 id="{escape(tag)}">{escape(tag.capitalize())}</h3>'
        + "".join(_operation(*one, base_url) for one in operations if one[2]["tags"][0] == tag)
        for tag in tags
    ]
    schemas = "".join(
        f'<details id="schema-{escape(name)}"><summary><code>{escape(name)}</code></summary>'
        f"{_pre(json.dumps(schema, indent=2, ensure_ascii=False))}</details>"
        for name, schema in sorted(document["components"]["schemas"].items())
    )
    info = document["info"]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><title>notehop: the HTTP API</title>'
        '<link rel="icon" href="/static/icon.svg" type="image/svg+xml">'
        + "".join(
            f'<link rel="stylesheet" href="/static/css/{name}.css">'
            for name in ("tokens", "page", "prose")
        )
        + '</head><body><main class="prose">'
        f"<h1>{escape(info['title'])} {escape(info['version'])}: the HTTP API</h1>"
        f"<p>{escape(info.get('summary', ''))} For programs: "
        '<a href="/openapi.json">openapi.json</a>. The page for people is at <a href="/">/</a>.</p>'
        f'{"".join(parts)}<h3 id="schemas">Schemas</h3>{schemas}</main></body></html>'
    )


def _operation(method: str, path: str, operation: Json, base_url: str) -> str:
    parts = [
        f'<h4 id="{escape(operation["operationId"])}"><code>{method.upper()} {escape(path)}</code>'
        f"</h4><p>{escape(operation['summary'])}.</p>"
    ]
    if "description" in operation:
        parts.append(f"<p>{escape(operation['description'])}</p>")
    parts += [
        f"<p><code>{escape(one['name'])}</code> {escape(one.get('description', ''))}</p>"
        for one in operation.get("parameters", ())
    ]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    if body:
        parts.append(f"<p>Takes {_named(body['schema'])}.</p>")
    for example in body.get("examples", {}).values():
        sent = json.dumps(example["value"], ensure_ascii=False).replace("'", r"'\''")
        call = f"curl -s {base_url}{path} -H 'Content-Type: application/json' \\\n  -d '{sent}'"
        parts.append(f"<p>{escape(example['summary'])}:</p>{_pre(call)}")
    replies: list[str] = []
    for status, reply in operation["responses"].items():
        contents = reply.get("content", {}).values()
        named = ", ".join(_named(one["schema"]) for one in contents if "schema" in one)
        replies.append(f"{status} {named or escape(reply['description'])}")
    return f"<section>{''.join(parts)}<p>Replies: {'; '.join(replies)}.</p></section>"


def _named(schema: Json) -> str:
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    if not name:
        return escape(str(schema.get("title") or schema.get("type", "")))
    return f'<a href="#schema-{escape(name)}">{escape(name)}</a>'


def _pre(text: str) -> str:
    return f"<pre><code>{escape(text, quote=False)}</code></pre>"
