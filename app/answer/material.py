"""The material of an answer: sources to cite and connected notes apart, and the units of a text that can be
quoted: sentences, list items, table rows, each with its own lines and link. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Literal
from urllib.parse import quote

from llama_index.core.schema import NodeWithScore

from notehop.app.answer.citations import MARKER, code_spans, fence_ranges, is_inside, marker_of
from notehop.app.answer.quotes.passages import SentenceSpans
from notehop.app.models import ConnectedNote, Evidence, LinkedFrom, Source, Support
from notehop.app.retrieval.components import with_metadata
from notehop.app.retrieval.connected_notes import renumber_reason
from notehop.indexing.display import page_of
from notehop.indexing.vault.plain import MORE

_NOT_IN_A_FRAGMENT = re.compile(r"[#|^:%\[\]\\\s]+")


def open_uri(vault: str, path: str, headings: Sequence[str] = (), *, block: str = "") -> str:
    """Return the link that opens ``path`` of ``vault`` in the application.

    :param vault: the vault's name, which is the name of its folder.
    :param path: relative to the vault, with ``/``; kept with its extension, so that it is exact.
    :param headings: heading path, top_level first; characters that a link's fragment cannot hold
        become spaces, as the application does when it compares headings.
    :param block: id of a block, without ``^``; it is found without headings.
    """
    if path.lower().endswith(".canvas"):
        headings = ()  # the app opens no card
    elif page := page_of(path, " > ".join(headings)):
        headings, block = (f"page={page}",), ""
    parts = [_NOT_IN_A_FRAGMENT.sub(" ", heading).strip() for heading in headings]
    fragment = [f"^{block}"] if block else [part for part in parts if part]
    target = "#".join([path, *fragment])
    return f"obsidian://open?vault={quote(vault, safe='')}&file={quote(target, safe='')}"


CONNECTED_ROLE = "connected"

RankedHeadings = Sequence[tuple[int, str]]
"""(rank, text) of headings, the outermost first."""


@dataclass(frozen=True, slots=True)
class Material:
    """The sources and connected notes of an answer, with their metadata.

    ``source_nodes`` are the nodes of ``sources``, in that order, ``connected_nodes`` those of
    ``connected``. ``metadata`` maps the marker of a source, or the label of a connected note, to the
    metadata of its node. ``list_heading`` says what the sources have in common, where they are the notes of
    a kind that a question wants listed; empty where they were searched for. ``lists_tasks``: open tasks were
    asked for, whose ranges stand in the metadata of each. ``own_question`` is a follow-up without the subject
    that it carries; empty for other questions. ``phrases`` stand in quotes in the question.
    """

    sources: tuple[Source, ...] = ()
    connected: tuple[ConnectedNote, ...] = ()
    source_nodes: tuple[NodeWithScore, ...] = ()
    connected_nodes: tuple[NodeWithScore, ...] = ()
    metadata: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    list_heading: str = ""
    lists_tasks: bool = False
    own_question: str = ""
    phrases: tuple[str, ...] = ()

    def metadata_of(self, name: str) -> Mapping[str, Any]:
        """The metadata of a source or connected note; empty where there are none."""
        return self.metadata.get(name, {})

    def aliases_of(self, name: str) -> Sequence[str]:
        """The other names of a note."""
        return tuple(self.metadata_of(name).get("aliases") or ())

    def without_connected(self) -> Material:
        """The material without connected notes: what is linked from notes that do not answer is noise."""
        return replace(self, connected=(), connected_nodes=())


def material_of(nodes: Sequence[NodeWithScore], vault: str) -> Material:
    """Sort nodes by their role and number the sources from ``[1]``, in the order given.

    A node without role is a source: ordinary retrievers give none.

    :param vault: name of the vault, for the links that open a note.
    """
    cited = [node for node in nodes if node.node.metadata.get("role") != CONNECTED_ROLE]
    linked = [node for node in nodes if node.node.metadata.get("role") == CONNECTED_ROLE]
    numbers = {node.node.node_id: number for number, node in enumerate(cited, start=1)}
    sources = tuple(_make_source(node, number, vault) for number, node in enumerate(cited, start=1))
    connected = tuple(
        _make_connected(node, number, vault, numbers) for number, node in enumerate(linked, start=1)
    )
    names = [*(one.marker for one in sources), *(one.label for one in connected)]
    about = {name: node.node.metadata for name, node in zip(names, [*cited, *linked], strict=True)}
    list_headings = {str(node.node.metadata.get("listed", "")) for node in cited}
    return Material(
        sources,
        connected,
        tuple(cited),
        tuple(linked),
        about,
        list_headings.pop() if len(list_headings) == 1 else "",
        any("tasks" in one for one in about.values()),
    )


def promote_connected(material: Material, labels: Collection[str], vault: str) -> Material:
    """Make sources of connected notes, numbered after those that there are.

    What answers is evidence, however it was found: a connected note is quoted as a source, with a
    marker of its own, or not at all. The others keep their labels.
    """
    nodes = list(material.source_nodes)
    for note, hit in zip(material.connected, material.connected_nodes, strict=True):
        role = "source" if note.label in labels else CONNECTED_ROLE
        node = with_metadata(hit.node, role=role, label=note.label)
        nodes.append(NodeWithScore(node=node, score=hit.score))
    return material_of(nodes, vault)


def to_source(note: ConnectedNote) -> Source:
    """Return a connected note in the shape of a source, its label for a marker."""
    place = {name: getattr(note, name) for name in _COMMON_FIELDS}
    return Source(marker=note.label, id="", score=0.0, **place)


_COMMON_FIELDS = ("path", "title", "heading", "lines", "text", "uri", "page")


def _common_fields(node: NodeWithScore, vault: str) -> dict[str, Any]:
    """The fields that a source and a connected note have in common."""
    metadata = node.node.metadata
    path = str(metadata.get("path", ""))
    headings = headings_of(metadata)
    first = int(metadata.get("first_line") or 1)
    return {
        "path": path,
        "title": str(metadata.get("title") or path.rsplit("/", 1)[-1].removesuffix(".md")),
        "heading": " > ".join(headings),
        "lines": (first, int(metadata.get("last_line") or first)),
        "text": node.node.get_content(),
        "uri": open_uri(vault, path, headings),
        "page": page_of(path, " > ".join(headings)),
    }


def headings_of(metadata: Mapping[str, Any]) -> list[str]:
    """Return the headings that a node stands under, top level first."""
    path = metadata.get("heading_path")
    if path is None:
        path = metadata.get("heading") or ()
    parts = path.split(" > ") if isinstance(path, str) else path
    return [str(part) for part in parts if part]


def ranked_headings(metadata: Mapping[str, Any]) -> RankedHeadings:
    """Return the headings that a node stands under with their ranks, top level first."""
    headings = headings_of(metadata)
    return tuple(zip(metadata.get("heading_ranks") or count(1), headings, strict=False))


def headings_at(text: str, above: RankedHeadings, start: int) -> tuple[str, ...]:
    """Return the headings that a place in a source stands under, top level first.

    :param above: those that the source stands under.
    """
    path, code = list(above), list(fence_ranges(text))
    for match in _HEADING_LINE.finditer(text, 0, start):
        if not any(first <= match.start() < last for first, last in code):
            rank = len(match[1]) if match[1] else 1 + (match[4][0] == "-")
            path = [one for one in path if one[0] < rank]
            path.append((rank, (match[2] or match[3] or "").strip()))
    return tuple(heading for _, heading in path if heading)


def _make_source(node: NodeWithScore, number: int, vault: str) -> Source:
    return Source(
        marker=marker_of(number),
        id=node.node.node_id,
        score=float(node.score or 0.0),
        signals=node.node.metadata.get("signals"),
        rerank=node.node.metadata.get("rerank"),
        expanded_from=node.node.metadata.get("expanded_from"),
        held_back=node.node.metadata.get("held_back"),
        relevance=node.node.metadata.get("relevance"),
        weak=bool(node.node.metadata.get("weak")),
        second_look=node.node.metadata.get("second_look"),
        **_common_fields(node, vault),
    )


def _make_connected(
    node: NodeWithScore, number: int, vault: str, numbers: Mapping[str, int]
) -> ConnectedNote:
    """:param numbers: node id -> number of each source, which its own retriever could not know."""
    metadata = node.node.metadata
    reason = str(metadata.get("reason", ""))
    if "source_id" in metadata:
        reason = renumber_reason(reason, numbers.get(str(metadata["source_id"])))
    return ConnectedNote(
        label=str(metadata.get("label") or f"C{number}"),
        linked_from=LinkedFrom.model_validate(metadata["linked_from"]),
        reason=reason,
        evidence=metadata.get("evidence"),
        **_common_fields(node, vault),
    )


UnitKind = Literal["sentence", "item", "row", "heading", "code", "rule", "place"]

STATING_KINDS = frozenset(("sentence", "item", "row"))
"""The kinds that can state something; a place is the line below a quote that says where it is from.
"""

_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_RULE = re.compile(r"[ \t>]*(?:(?:[-*_][ \t]*){3,}|\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*(?::?-+:?[ \t]*)?)+)$")
_ITEM = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_ROW = re.compile(r"[ \t>]*\|")
_PLACE = re.compile(r"— \S")
_EMPHASIS = re.compile(r"\*\*|__|==|~~")
_END = re.compile(r"[.!?。！？…][\"'”’»)\]*_]*\s*$")
_MARKERS_LAST = re.compile(r"(?:[ \t]*\[[^\[\]]{1,40}\])+[ \t]*$")
_LOWER_CASE_START = re.compile(r"[a-zà-ÿ]")
_TAIL_CHARS = 200  # characters before the end of a sentence in which its markers stand


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of a text: its half-open range, without blanks around it, and what it is."""

    start: int
    end: int
    kind: UnitKind

    @property
    def span(self) -> tuple[int, int]:
        return self.start, self.end


def split_into_units(text: str, sentences: SentenceSpans) -> list[Unit]:
    """Return the units of ``text`` in order; what stands between them is blank.

    A marker behind the full stop belongs to the sentence before it. A list item is one unit, unless
    markers stand in several of its sentences: each of those answers for itself. The head row of a
    table is a heading.
    """
    units: list[Unit] = []
    at = 0
    masked = _mask_markers(text)
    for start, end in fence_ranges(text):
        units += _units_outside_code(text, masked, at, start, sentences)
        units += _trimmed_unit(text, start, end, "code")
        at = end
    units += _units_outside_code(text, masked, at, len(text), sentences)
    return units


def markers_in(text: str, unit: Unit, spans: list[tuple[int, int]]) -> Iterator[re.Match[str]]:
    """Yield the markers of a unit that are not in code.

    :param spans: those of :func:`notehop.app.answer.citations.code_spans` for the whole text.
    """
    for match in MARKER.finditer(text, unit.start, unit.end):
        if not is_inside(spans, match.start()):
            yield match


def strip_markers(text: str) -> str:
    """Return a text without markers and marks of emphasis, as words are compared."""
    return " ".join(_EMPHASIS.sub("", MARKER.sub(" ", text)).split())


def _mask_markers(text: str) -> str:
    """The text with blanks for what keeps a segmenter from seeing where sentences end."""
    spans = code_spans(text)

    def blanks(match: re.Match[str]) -> str:
        return match[0] if is_inside(spans, match.start()) else " " * len(match[0])

    return _EMPHASIS.sub(blanks, MARKER.sub(blanks, text)).replace("\n", " ")


def _units_outside_code(
    text: str, masked: str, start: int, end: int, sentences: SentenceSpans
) -> Iterator[Unit]:
    """The units of a stretch without fenced code."""
    block: tuple[int, int, UnitKind] | None = None
    at = start
    for line in text[start:end].splitlines(keepends=True):
        here, at = at, at + len(line)
        kind = _line_kind(line)
        if block is not None and kind == "sentence" and line.strip():
            block = block[0], at, block[2]
            continue
        if block is not None:
            yield from _split_sentences(text, masked, *block, sentences)
            block = None
        if not line.strip():
            continue
        if kind in ("sentence", "item"):
            block = here, at, kind
            continue
        below = text[at:end].split("\n", 1)[0].rstrip()
        if kind == "row" and _RULE.match(below) and "|" in below:
            kind = "heading"
        yield from _trimmed_unit(text, here, at, kind)
    if block is not None:
        yield from _split_sentences(text, masked, *block, sentences)


def _line_kind(line: str) -> UnitKind:
    line = line.rstrip()
    if _HEADING.match(line):
        return "heading"
    if _RULE.fullmatch(line):
        return "rule"
    if _PLACE.match(line):
        return "place"
    if _ITEM.match(line):
        return "item"
    return "row" if _ROW.match(line) else "sentence"


def _split_sentences(
    text: str, masked: str, start: int, end: int, kind: UnitKind, sentences: SentenceSpans
) -> Iterator[Unit]:
    """A paragraph or an item in its sentences."""
    # The mark of an item is no sentence, whatever number it is.
    mark = _ITEM.match(text, start, end) if kind == "item" else None
    body = mark.end() if mark else start
    cuts = [body + one for _, one in sentences(masked[body:end])]
    cuts = _move_cuts_before_markers(text, cuts, start)
    spans = list(zip([start, *cuts[:-1]], [*cuts[:-1], end], strict=True)) if cuts else []
    if kind == "item" and sum(MARKER.search(text, *span) is not None for span in spans[:-1]) == 0:
        spans = [(start, end)]
    for one in spans or [(start, end)]:
        yield from _trimmed_unit(text, *one, kind)


def _move_cuts_before_markers(text: str, cuts: list[int], start: int) -> list[int]:
    """Cuts where a marker that begins a sentence (``[2] adds that``) begins it."""
    moved = []
    for at in cuts:
        end = text[max(start, at - _TAIL_CHARS) : at]
        tail = _MARKERS_LAST.search(end)
        if tail and _LOWER_CASE_START.match(text, at) and _END.search(end[: tail.start()]):
            at -= len(end) - tail.start()
        moved.append(at)
    return moved


def _trimmed_unit(text: str, start: int, end: int, kind: UnitKind) -> Iterator[Unit]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield Unit(start, end, kind)


_MARK = re.compile(rf"(?:[ \t>]*(?:[-*+]|\d{{1,9}}[.)])[ \t]+(?:\[.\][ \t]+)?|[ \t]*(?:>(?!{MORE})[ \t]?)+)")
_BLOCK = re.compile(r"[ \t]\^([A-Za-z0-9-]+)[ \t]*$")
_REOPENED = re.compile(r"[`~]{3,}\n")  # stands above the first line of a part of a block of code
_HEADING_LINE = re.compile(
    r"^ {0,3}(?:(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?|([^\s#>|*+-].*)\n {0,3}(=+|--+))[ \t]*$", re.MULTILINE
)
_PARAGRAPH = re.compile(r"\n[ \t>]*(?:\n|(?:[-*+]|\d{1,9}[.)])[ \t])")


def make_evidence(
    source: Source,
    above: RankedHeadings,
    spans: Sequence[tuple[int, int]],
    support: Support | None,
    vault: str,
) -> Evidence:
    """Quote the first of some ranges of a source, and those that follow it with nothing in between; of a
    quote, which has no ``support``, all from the first to the last, the head of a table aside.

    :param above: the headings that the source stands under.
    :param spans: half-open ranges of its text, best first; none quotes nothing.
    :param vault: the vault's name, for the link.
    """
    if not spans:
        return Evidence(
            marker=source.marker,
            support=support,
            quote="",
            heading=source.heading,
            lines=source.lines,
            uri=source.uri,
        )
    if support is None:
        outside_table_heads = [span for span in spans if not _is_table_head(source.text, span[1])] or spans
        start, end = min(outside_table_heads)[0], max(last for _, last in outside_table_heads)
    else:
        start, end = _grow_range(source.text, spans)
    start, end = _strip_list_mark_and_id(source.text, start, end)
    headings = headings_at(source.text, above, start)
    return Evidence(
        marker=source.marker,
        support=support,
        quote=source.text[start:end],
        heading=" > ".join(headings),
        lines=lines_of(source, start, end),
        uri=_evidence_uri(source, headings, start, vault),
    )


def _is_table_head(text: str, at: int) -> bool:
    """Whether the line of a place is the head of a table."""
    below = text[at:].split("\n", 2)[1:2]
    return any("|" in line and _RULE.fullmatch(line.rstrip()) for line in below)


def _grow_range(text: str, spans: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The first range, grown over those that it touches, blanks and marks of lists aside."""
    start, end = spans[0]
    grown = True
    while grown:
        grown = False
        for first, last in spans[1:]:
            if first >= end and not re.search(r"\w", text[end:first]):
                end, grown = max(end, last), grown or last > end
            elif last <= start and not re.search(r"\w", text[last:start]):
                start, grown = min(start, first), grown or first < start
    return start, end


def _strip_list_mark_and_id(text: str, start: int, end: int) -> tuple[int, int]:
    """A range without the mark of its item before it, and the id of its block behind it."""
    mark = _MARK.match(text, start, end)
    if mark is not None and mark.end() < end:
        start = mark.end()
    block = _BLOCK.search(text[start:end])
    if block is not None and block.start() > 0:
        end = start + block.start()
    return start, start + len(text[start:end].rstrip())


def lines_of(source: Source | ConnectedNote, start: int, end: int) -> tuple[int, int]:
    """Return the lines of a range of a text, counted in its note.

    What is shown of a note may have lines more or fewer than its file, where a comment or an embed
    stood: then those that it can stand in.
    """
    first, last = source.lines
    text = source.text
    lead = len(text) - len(text.lstrip())
    above, below = text.count("\n", lead, start), text.count("\n", lead, end)
    extra = text.strip().count("\n") - (last - first)
    begin = first
    if extra > 0 and _REOPENED.match(text):
        begin, extra = first - 1, extra - 1
    low = begin + above - max(0, extra)
    high = begin + below + max(0, -extra)
    low = min(max(low, first), last)
    return low, min(max(high, low), last)


def _evidence_uri(source: Source, headings: Sequence[str], start: int, vault: str) -> str:
    """The link to the block of a range if it has an id, else to the nearest heading above it."""
    if not source.path:
        return source.uri
    rest = source.text[start:]
    paragraph = _PARAGRAPH.split(rest, maxsplit=1)[0]
    block = _BLOCK.search(paragraph)
    if block is not None:
        return open_uri(vault, source.path, (), block=block[1])
    return open_uri(vault, source.path, headings)
