"""Lays out the context: sources first, then, apart and labelled, the connected notes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from posixpath import dirname

from notehop.app.answer.frame import body, one_line
from notehop.app.answer.markers import label_marker
from notehop.app.models import ConnectedNote, Source
from notehop.indexing.llm.text import without_control

CONNECTED_TITLE = "CONNECTED NOTES (linked from retrieved results):"

ROOT = "/"
"""What stands for the folder of a note at the top of the vault."""

BEGINNING = " (its beginning)"
"""What a header says of a text that was shortened."""


def build_context(
    sources: Sequence[Source],
    connected: Sequence[ConnectedNote],
    *,
    ordinals: Mapping[str, int] | None = None,
    shortened: Collection[str] = (),
) -> str:
    """Return the context, sources in the order given; the empty string for nothing.

    Sources are headed ``[1] [folder] Title > Heading``; the part for connected notes is there only
    when there are any. Neighbouring chunks of one note stand together in text order, at the place
    of the first of them: the header of each after the first says from which it goes on, and a
    marker names its own lines as ever. Note text cannot imitate this frame (see
    :mod:`notehop.app.answer.frame`), nor that which a chat template puts around it.

    :param ordinals: marker -> the number of a source among the chunks of its note, where known.
    :param shortened: markers and labels of what is not there whole.
    """
    parts: list[str] = []
    for passage in joined(sources, ordinals or {}):
        before = ""
        for source in passage:
            parts.append(source_part(source, before, source.marker in shortened))
            before = source.marker
    if connected:
        parts += ["---", CONNECTED_TITLE]
        parts += [connected_part(note, note.label in shortened) for note in connected]
    return "\n\n".join(parts)


def joined(sources: Sequence[Source], ordinals: Mapping[str, int]) -> list[list[Source]]:
    """Return the sources as passages: neighbouring chunks of a note together, in text order."""
    passages: list[list[Source]] = []
    taken: set[str] = set()
    places = {
        (source.path, ordinals[source.marker]): source
        for source in sources
        if source.marker in ordinals
    }
    for source in sources:
        if source.marker in taken:
            continue
        passage = [source]
        if source.marker in ordinals:
            first = last = ordinals[source.marker]
            while (source.path, first - 1) in places:
                first -= 1
            while (source.path, last + 1) in places:
                last += 1
            passage = [places[source.path, at] for at in range(first, last + 1)]
        taken.update(one.marker for one in passage)
        passages.append(passage)
    return passages


def source_part(source: Source, before: str = "", shortened: bool = False) -> str:
    """One source under its header.

    :param before: marker of the source that it goes on from.
    """
    end = BEGINNING if shortened else ""
    if before:
        heading = f" {one_line(source.heading)}" if source.heading else ""
        head = f"{source.marker} (goes on from {before}){heading}{end}"
    else:
        title = " > ".join(part for part in (source.title, source.heading) if part)
        head = f"{source.marker} {_folder(source.path)} {one_line(title)}{end}"
    return without_control(f"{head}\n{_text(source.text)}")


def connected_part(note: ConnectedNote, shortened: bool = False) -> str:
    """One connected note under its header."""
    head = f"{label_marker(note.label)} {_folder(note.path)} {one_line(note.title)}"
    end = BEGINNING if shortened else ""
    head = f"{head} (linked from: {one_line(note.linked_from.title)}){end}"
    return without_control(f"{head}\n{_text(note.text)}")


def _folder(path: str) -> str:
    return f"[{one_line(dirname(path)) or ROOT}]"


def _text(text: str) -> str:
    return body(text.strip())
