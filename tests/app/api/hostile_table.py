"""The table of hostile requests: what is sent, and the status that refuses it.

A few are answered 200 on purpose: an attack in the text of a question is only a strange question.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from tests.support.product import MAX_BODY
from tests.support.serving import request
from tests.support.tables import table

TOKEN = "a-token-of-the-tests-0123456789"


@dataclass(frozen=True, slots=True)
class Case:
    """A request, the server it goes to (``plain`` or ``token``), and its refusal."""

    id: str
    raw: bytes
    status: int
    server: str = "plain"


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


OUTSIDE = {**table(__file__, "outside"), "long": "a" * 999}
"""Where no note for a client is: below ``/notes/``, after ``/web/notes/``, as a seed of a graph."""


def _notes() -> Iterator[Case]:
    for name, path in OUTSIDE.items():
        yield Case(f"notes-{name}", request("GET", f"/notes/{path}"), 404)
    yield Case("notes-too-long", request("GET", "/notes/" + "a" * 1_001), 422)
    for name in ("dots", "encoded-slashes", "nul", "private", "excluded", "link-out-of-the-vault"):
        yield Case(f"page-{name}", request("GET", f"/web/notes/{OUTSIDE[name]}"), 404)
    for name in ("all-encoded", "nul", "private", "private-by-name", "sql", "drive", "unc"):
        yield Case(f"graph-{name}", request("GET", f"/graph?around={OUTSIDE[name]}"), 404)
    seeds = ("../../etc/passwd", "Salary talk", "Areas/Salary talk.md", "Home.md\0", "C:\\x")
    for number, seed in enumerate(seeds):
        body = _json({"seeds": [seed]})
        yield Case(f"browse-{number}", request("POST", "/graph/browse", body=body), 404)
    for name, section in {"dots": "../../x", "nul": "%00", "sql": "'%20OR%201=1"}.items():
        yield Case(f"section-{name}", request("GET", f"/notes/Home?section={section}"), 404)
    yield Case("section-empty", request("GET", "/notes/Home?section="), 422)
    yield Case("section-long", request("GET", "/notes/Home?section=" + "a" * 1_001), 422)


def _files() -> Iterator[Case]:
    paths = "../__init__.py %2e%2e/__init__.py ..%2f__init__.py ..%5c__init__.py /etc/passwd C:%5cx"
    for path in (*paths.split(), "page.js%00.css", "", ".env"):
        yield Case(f"static-{path}", request("GET", f"/static/{path}"), 404)
    for path in ("/.git/config", "/.env", "/etc/passwd", "/admin", "/redoc", "/server.json", "//"):
        yield Case(f"path-{path}", request("GET", path), 404)


def _numbers() -> Iterator[Case]:
    numbers = "depth=0 depth=3 depth=-1 depth=NaN depth=1e9 most=0 most=301 most= most=1%00 around="
    for said in (*numbers.split(), "most=" + "9" * 400, "&".join(["around=Home"] * 21)):
        yield Case(f"graph-{said[:20]}", request("GET", f"/graph?{said}"), 422)


MALFORMED = {
    "word": (b"nul", 400),
    "two-documents": (b'{"query": "a"}{"query": "b"}', 400),
    "no-utf8": (b'{"query": "\xff\xfe"}', 400),
    "control-sign": (b'{"query": "a\x00b"}', 400),
    "deep": (b"[" * 200_000, 400),
    "deep-and-closed": (b'{"query":' * 50_000 + b"1" + b"}" * 50_000, 400),
    "number-of-9000-digits": (b'{"query": "a", "top_k": ' + b"9" * 9_000 + b"}", 400),
    "gzip": (b"\x1f\x8b\x08\x00" + b"\x00" * 20, 400),
    "empty": (b"", 422),
    "null": (b"null", 422),
    "list": (b'["query"]', 422),
    "nan": (b'{"query": NaN}', 422),
    "huge-float": (b'{"query": "a", "top_k": 1e999}', 422),
    "half-a-sign-in-a-filter": (b'{"query": "a", "filters": {"tag": "\\uDFFF"}}', 422),
    "object-as-query": (b'{"query": {"$ne": null}}', 422),
    "prototype": (b'{"query": "a", "__proto__": {"admin": true}}', 422),
    "beyond-the-most": (b'{"query": "a", "top_k": 101}', 422),
    "blank": (b'{"query": " \\t\\n"}', 422),
    "long": (_json({"query": "x" * 10_001}), 422),
    "many-filters": (_json({"query": "a", "filters": {"tag": ["x"] * 101}}), 422),
}
"""Bodies that are refused alike by ``/query``, ``/query/stream`` and ``/search``."""


def _bodies() -> Iterator[Case]:
    for name, (body, status) in MALFORMED.items():
        yield Case(f"json-{name}", request("POST", "/search", body=body), status)
    for name in ("word", "empty", "null", "deep", "prototype", "long", "blank"):
        body, status = MALFORMED[name]
        yield Case(f"stream-{name}", request("POST", "/query/stream", body=body), status)
        yield Case(f"query-{name}", request("POST", "/query", body=body), status)
    for name, value in {
        "no-text": {},
        "blank": {"text": " \n"},
        "long": {"text": "x" * 200_001},
        "path": {"text": "a", "path": "../x.md"},
        "filename": {"text": "a", "filename": "/tmp/x.md"},
        "folder": {"text": "a", "folder": "../.."},
        "title-too-long": {"text": "a", "title": "x" * 201},
        "many-tags": {"text": "a", "tags": ["x"] * 51},
        "empty-tag": {"text": "a", "tags": [""]},
        "tags-no-list": {"text": "a", "tags": {"x": True}},
        "list": ["a"],
    }.items():
        yield Case(f"capture-{name}", request("POST", "/capture", body=_json(value)), 422)
    for name, value in {
        "none": {"texts": []},
        "many": {"texts": ["x"] * 65},
        "empty": {"texts": [""]},
        "long": {"texts": ["x" * 10_001]},
        "kind": {"texts": ["x"], "kind": "file:///etc/passwd"},
        "model": {"texts": ["x"], "model": "../../evil"},
    }.items():
        yield Case(f"embed-{name}", request("POST", "/embed", body=_json(value)), 422)
    for name, value in {
        "none": {"seeds": []},
        "many": {"seeds": ["Home"] * 21},
        "deep": {"seeds": ["Home"], "depth": 3},
        "most": {"seeds": ["Home"], "max": 101},
        "rank": {"seeds": ["Home"], "rank": "__import__('os')"},
    }.items():
        yield Case(f"browse-{name}", request("POST", "/graph/browse", body=_json(value)), 422)
    for name, text in table(__file__, "asked").items():
        yield Case(f"asked-{name}", request("POST", "/query", body=_json({"query": text})), 200)
    half = b'{"query": "half a sign \\ud800"}'
    yield Case("asked-half-a-sign", request("POST", "/query", body=half), 200)


def _kinds() -> Iterator[Case]:
    body = _json({"text": "written by another page"})
    kinds = (None, "", "text/plain", "text/plain; x=application/json", "application/jsonp", "*/*")
    for kind in (*kinds, "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        yield Case(f"kind-{kind}", request("POST", "/capture", body=body, kind=kind), 415)
    yield Case("form", request("POST", "/capture?text=written", body=b"", kind=None), 415)


HOSTS = """
    evil.example evil.example:8765 127.0.0.1.evil.example localhost.evil.example
    evil.example@127.0.0.1 127.0.0.1:8765@evil.example 127.0.0.1:x 127.0.0.1/evil localhost.
    0.0.0.0 [::] [::1 ::1 2130706433 0x7f.1 127.0.0.2 192.168.0.10 xn--lcalhost-54a
"""
"""Names that another page may have the browser say."""

ORIGINS = """
    http://evil.example null * file:// http://127.0.0.1.evil.example
    http://127.0.0.1@evil.example http://evil.example/127.0.0.1 http://127.0.0.1:1
    http://localhost http://[::1] ftp://127.0.0.1 app://obsidian.md http://127.0.0.1/
    HTTP://evil.example
"""
"""Origins that are not that of the server at ``127.0.0.1``."""


def _pages() -> Iterator[Case]:
    search, capture = _json({"query": "a"}), _json({"text": "written by another page"})
    for host in (*HOSTS.split(), ""):
        yield Case(f"host-{host}", request("POST", "/search", host=host, body=search), 421)
    yield Case("host-get", request("GET", "/notes/Home", host="evil.example"), 421)
    yield Case("host-page", request("GET", "/", host="evil.example"), 421)
    yield Case("host-health", request("GET", "/health", host="evil.example"), 421)
    for name in ("X-Forwarded-Host", "X-Host", "X-Original-Host", "Forwarded"):
        headers = (f"{name}: 127.0.0.1",)
        yield Case(f"host-{name}", request("GET", "/status", host="e.example", headers=headers), 421)
    for origin in (*ORIGINS.split(), ""):
        headers = (f"Origin: {origin}",)
        raw = request("POST", "/capture", headers=headers, body=capture)
        yield Case(f"origin-{origin}", raw, 403)
    evil = "Origin: http://evil.example"
    asking = (evil, "Access-Control-Request-Method: POST")
    led = ("Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate")
    form = "application/x-www-form-urlencoded"
    for name, raw in {
        "get": request("GET", "/notes/Home", headers=(evil,)),
        "twice": request("POST", "/capture", headers=("Origin: http://127.0.0.1", evil), body=capture),
        "preflight": request("OPTIONS", "/capture", headers=asking),
        "form": request("POST", "/capture", headers=(evil,), body=b"text=x", kind=form),
        "site-image": request("GET", "/status", headers=("Sec-Fetch-Site: cross-site",)),
        "site-same": request("GET", "/status", headers=("Sec-Fetch-Site: same-site",)),
        "site-unknown": request("GET", "/status", headers=("Sec-Fetch-Site: x",)),
        "site-post": request("POST", "/capture", headers=("Sec-Fetch-Site: cross-site",), body=capture),
        "led-to-a-note": request("GET", "/notes/Home", headers=(*led, "Sec-Fetch-Dest: document")),
        "framed": request("GET", "/", headers=(*led, "Sec-Fetch-Dest: iframe")),
    }.items():
        yield Case(f"page-{name}", raw, 403)


def _sizes() -> Iterator[Case]:
    def post(*headers: str, body: bytes = b"") -> bytes:
        told = ("Content-Type: application/json", *headers)
        return request("POST", "/search", headers=told) + body

    chunk = b"40000\r\n" + b"x" * 0x40000 + b"\r\n"
    many = chunk * (MAX_BODY // 0x40000 + 2) + b"0\r\n\r\n"
    yield Case("declared", post(f"Content-Length: {MAX_BODY + 1}"), 413)
    yield Case("declared-huge", post("Content-Length: 99999999999999999"), 413)
    yield Case("in-chunks", post("Transfer-Encoding: chunked", body=many), 413)
    for name, raw in {
        "header": request("GET", "/health", headers=("X: " + "x" * 1_000_000,)),
        "many-headers": request("GET", "/health", headers=tuple(f"X{n}: y" for n in range(100_000))),
        "target": request("GET", "/notes/" + "a" * 1_000_000),
    }.items():
        yield Case(f"size-{name}", raw, 400)


def _protocol() -> Iterator[Case]:
    for method in ("PUT", "DELETE", "PATCH", "TRACE", "OPTIONS", "PROPFIND", "get", "QUERY"):
        yield Case(f"method-{method}", request(method, "/notes/Home"), 405)
    for path in ("/query", "/query/stream", "/search", "/capture", "/embed", "/graph/browse"):
        yield Case(f"get{path}", request("GET", f"{path}?query=a&text=a"), 405)
    override = ("X-HTTP-Method-Override: POST", "X-Method-Override: POST")
    yield Case("method-override", request("GET", "/capture?text=a", headers=override), 405)
    elsewhere = ("X-Original-URL: /status", "X-Rewrite-URL: /status")
    yield Case("rewritten", request("GET", "/nowhere", headers=elsewhere), 404)
    upgrade = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13")
    yield Case("websocket", request("GET", "/query", headers=upgrade), 405)
    yield Case("slash-too-many", request("POST", "/search/", body=b'{"query": "a"}'), 404)


def _tokens() -> Iterator[Case]:
    shown = {
        "none": (),
        "wrong": ("Authorization: Bearer wrong",),
        "beginning": (f"Authorization: Bearer {TOKEN[:-1]}",),
        "longer": (f"Authorization: Bearer {TOKEN}x",),
        "other-case": (f"Authorization: Bearer {TOKEN.upper()}",),
        "empty": ("Authorization: Bearer ",),
        "no-scheme": (f"Authorization: {TOKEN}",),
        "basic": (f"Authorization: Basic {TOKEN}",),
        "eight-bits": ("Authorization: Bearer \xe9\xff",),
        "long": ("Authorization: Bearer " + "x" * 20_000,),
        "twice": (f"Authorization: Bearer {TOKEN}",) * 2,
        "list": (f"Authorization: Bearer x, Bearer {TOKEN}",),
        "cookie": (f"Cookie: token={TOKEN}",),
        "other-header": (f"X-Api-Key: {TOKEN}",),
    }
    for name, headers in shown.items():
        raw = request("GET", "/status", headers=headers)
        yield Case(f"token-{name}", raw, 401, "token")
    paths = "/notes/Atlas.md /graph /openapi.json /nowhere /health/../status /health/x"
    paths += f" /web/notes/Atlas.md //status /%73tatus /status?token={TOKEN}"
    for path in paths.split():
        yield Case(f"token-{path}", request("GET", path), 401, "token")
    for path, value in {
        "/query": {"query": "a"},
        "/query/stream": {"query": "a"},
        "/search": {"query": "a"},
        "/capture": {"text": "a"},
        "/embed": {"texts": ["a"]},
        "/graph/browse": {"seeds": ["a"]},
    }.items():
        raw = request("POST", path, body=_json(value))
        yield Case(f"token{path}", raw, 401, "token")
    body = request("POST", "/search", body=b"x" * (MAX_BODY + 1))
    yield Case("token-before-size", body, 401, "token")
    yield Case("token-post-to-the-page", request("POST", "/", body=b"{}"), 401, "token")
    yield Case("token-open-then-out", request("GET", "/static/../status"), 404, "token")


CASES = [
    *_notes(),
    *_files(),
    *_numbers(),
    *_bodies(),
    *_kinds(),
    *_pages(),
    *_sizes(),
    *_protocol(),
    *_tokens(),
]
