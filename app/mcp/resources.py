"""The notes as resources: the best linked ones listed, every one readable by its address."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from mcp import MCPError, types

from notehop.app.models import GraphNode
from notehop.config.errors import NoteMissing, UsageError

if TYPE_CHECKING:
    from notehop.app.services.vault import VaultHandle

SCHEME = "note://"

MOST = 100
"""Notes that are listed: a client shows them to a person, who looks for the others."""

PAGE = 25
"""Notes of a page."""

MARKDOWN = "text/markdown"

TEMPLATE = types.ResourceTemplate(
    name="note",
    title="A note of the vault",
    uri_template=f"{SCHEME}{{path}}",
    description="The text of a note. path: its path in the vault (or title or alias), "
    "percent-encoded; a heading behind # reads that section alone.",
    mime_type=MARKDOWN,
)


def uri_of(path: str) -> str:
    """The address of a note."""
    return SCHEME + quote(path, safe="")


def page(nodes: Sequence[GraphNode], cursor: str | None) -> types.ListResourcesResult:
    """A page of the list.

    :raises MCPError: if the cursor is none of ours.
    """
    if cursor is not None and not (cursor.isascii() and cursor.isdigit() and len(cursor) < 10):
        raise MCPError(types.INVALID_PARAMS, "this cursor is none that was handed out")
    start = int(cursor or 0)
    end = start + PAGE
    return types.ListResourcesResult(
        resources=[
            types.Resource(
                uri=uri_of(node.path),
                name=node.path,
                title=node.title,
                description=f"{node.degree} links",
                mime_type=MARKDOWN,
            )
            for node in nodes[start:end]
        ],
        next_cursor=str(end) if end < len(nodes) else None,
    )


def best_linked(vault: VaultHandle) -> list[GraphNode]:
    """The notes that are listed, best first."""
    found = vault.picture((), most=MOST).nodes
    return sorted(found, key=lambda node: (-node.pagerank, node.path))


def read(open_vault: Callable[[], VaultHandle], uri: str) -> types.ReadResourceResult:
    """The text of a note, or of the section behind ``#``.

    :raises MCPError: if there is none.
    :raises NotehopError: if the vault cannot be opened.
    """
    path, _, section = uri.removeprefix(SCHEME).partition("#")
    name = unquote(path)
    if not uri.startswith(SCHEME) or not name.strip():
        raise _missing(uri, f"{SCHEME} and the path of a note, percent-encoded, is what there is")
    vault = open_vault()
    try:
        view = vault.note(name, section=unquote(section) or None, mentions=False)
    except (NoteMissing, UsageError) as exc:
        raise _missing(uri, str(exc)) from exc
    contents = types.TextResourceContents(uri=uri, mime_type=MARKDOWN, text=view.text)
    return types.ReadResourceResult(contents=[contents])


def _missing(uri: str, why: str) -> MCPError:
    return MCPError(types.INVALID_PARAMS, f"no such resource: {why}", {"uri": uri[:1_000]})
