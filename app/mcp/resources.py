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


def template(several: bool) -> types.ResourceTemplate:
    """How notes are addressed.

    :param several: whether a vault may be named.
    """
    return types.ResourceTemplate(
        name="note",
        title="A note of the vault",
        uri_template=f"{SCHEME}{{path}}{'{?vault}' if several else ''}",
        description="The text of a note. path: its path in the vault (or title or alias), "
        "percent-encoded; a heading behind # reads that section alone.",
        mime_type=MARKDOWN,
    )


Listed = tuple[str | None, GraphNode]
"""A note, and the name of its vault unless that is the default."""

_OF_VAULT = "?vault="


def uri_of(path: str, vault: str | None = None) -> str:
    """The address of a note."""
    of_vault = "" if vault is None else _OF_VAULT + quote(vault, safe="")
    return SCHEME + quote(path, safe="") + of_vault


def split(uri: str) -> tuple[str | None, str]:
    """The name of the vault that an address names, and the address within it."""
    before, sign, section = uri.partition("#")
    path, named, vault = before.rpartition(_OF_VAULT)
    return (unquote(vault), path + sign + section) if named else (None, uri)


def page(nodes: Sequence[Listed], cursor: str | None) -> types.ListResourcesResult:
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
                uri=uri_of(node.path, vault),
                name=node.path if vault is None else f"{vault}: {node.path}",
                title=node.title,
                description=f"{node.degree} links",
                mime_type=MARKDOWN,
            )
            for vault, node in nodes[start:end]
        ],
        next_cursor=str(end) if end < len(nodes) else None,
    )


def best_linked(vault: VaultHandle, most: int = MOST) -> list[GraphNode]:
    """The notes that are listed, best first."""
    found = vault.picture((), most=max(1, most)).nodes
    return sorted(found, key=lambda node: (-node.pagerank, node.path))


def read(open_vault: Callable[[], VaultHandle], plain: str, uri: str) -> types.ReadResourceResult:
    """The text of a note, or of the section behind ``#``.

    :param plain: its address within the vault.
    :param uri: as it was asked for.
    :raises MCPError: if there is none.
    :raises NotehopError: if the vault cannot be opened.
    """
    path, _, section = plain.removeprefix(SCHEME).partition("#")
    name = unquote(path)
    if not plain.startswith(SCHEME) or not name.strip():
        raise missing(uri, f"{SCHEME} and the path of a note, percent-encoded, is what there is")
    vault = open_vault()
    try:
        view = vault.note(name, section=unquote(section) or None, mentions=False)
    except (NoteMissing, UsageError) as exc:
        raise missing(uri, str(exc)) from exc
    contents = types.TextResourceContents(uri=uri, mime_type=MARKDOWN, text=view.text)
    return types.ReadResourceResult(contents=[contents])


def missing(uri: str, why: str) -> MCPError:
    """The error for an address at which nothing is."""
    return MCPError(types.INVALID_PARAMS, f"no such resource: {why}", {"uri": uri[:1_000]})
