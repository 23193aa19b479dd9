"""The inline rules for ``[text](destination)``, images and reference links. Pure.

Brackets are matched with a stack, so that the time is linear however many are open
(https://spec.commonmark.org/0.31.2/#phase-2-inline-structure).
"""

from __future__ import annotations

import re

from markdown_it.common.utils import normalizeReference
from markdown_it.helpers import parseLinkDestination, parseLinkTitle

from notehop.indexing.vault.inline_state import InlineState
from notehop.indexing.vault.link_text import read_destination, without_size, words
from notehop.indexing.vault.model import LinkSyntax


def open_bracket(state: InlineState, _silent: bool) -> bool:
    image = state.src.startswith("![", state.pos)
    if not image and state.src[state.pos] != "[":
        return False
    state.brackets.append((state.pos, image))
    state.append_pending("![" if image else "[")
    state.pos += 2 if image else 1
    return True


def close_bracket(state: InlineState, _silent: bool) -> bool:
    if state.src[state.pos] != "]" or not state.brackets:
        return False
    start, image = state.brackets.pop()
    dead = not image and len(state.brackets) < state.dead
    state.dead = min(state.dead, len(state.brackets))
    if dead:
        return False
    label = start + (2 if image else 1)
    label_end = state.pos
    found = _inline_target(state.src, label_end + 1)
    syntax = LinkSyntax.MARKDOWN
    if found is None:
        found = _reference_target(state, label, label_end)
        syntax = LinkSyntax.REFERENCE
    if found is None:
        return False
    destination, state.pos = found
    display = state.src[label:label_end].strip()
    parts = read_destination(destination, display or None)
    if parts is not None:
        state.link(start, syntax, image, parts)
    elif not image:
        state.dead = len(state.brackets)
    shown = without_size(display) if image else display
    if shown:
        shown_end = state.src.find(shown, label, label_end) + len(shown)
        state.edit(start, label, "")
        state.edit(shown_end, state.pos, "")
    else:
        state.edit(start, state.pos, words(parts, embed=image) if parts else "")
    return True


def _inline_target(src: str, at: int) -> tuple[str, int] | None:
    """Read ``(destination "title")`` at an offset; return the destination and where it ends."""
    if not src.startswith("(", at):
        return None
    at = _blanks(src, at + 1)
    length = len(src)
    destination = parseLinkDestination(src, at, length)
    end = destination.pos if destination.ok else at
    after = _blanks(src, end)
    if after > end:
        title = parseLinkTitle(src, after, length, None)
        if title.ok:
            after = _blanks(src, title.pos)
    if not src.startswith(")", after):
        return None
    return destination.str, after + 1


_BLANKS = re.compile(r"[ \t\n]*")


def _blanks(src: str, at: int) -> int:
    found = _BLANKS.match(src, at)
    return found.end() if found else at


_LONGEST_LABEL = 999  # https://spec.commonmark.org/0.31.2/#link-label


def _reference_target(state: InlineState, label: int, label_end: int) -> tuple[str, int] | None:
    """Read ``[text][label]``, ``[label][]`` or ``[label]`` whose label the note defines."""
    if not state.references:
        return None
    src, end = state.src, label_end + 1
    if src.startswith("[", end):
        close = src.find("]", end, end + _LONGEST_LABEL)
        if close < 0 or "[" in src[end + 1 : close]:
            return None
        if src[end + 1 : close].strip():
            label, label_end = end + 1, close
        end = close + 1
    if label_end - label > _LONGEST_LABEL:
        return None
    destination = state.references.get(normalizeReference(src[label:label_end]))
    return None if destination is None else (destination, end)
