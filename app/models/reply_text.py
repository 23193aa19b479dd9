"""The replies of a vault as the text that agents read, within a budget of tokens. Pure.

Whatever comes from notes stands behind ``> ``, so that no note can pass for a line of ours. What does
not fit is named or counted, never cut in the middle.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from notehop.app import models
from notehop.app.models.reply import list_doubts
from notehop.indexing.display import counted, location_below, on_one_line, printable
from notehop.indexing.vault.properties import BETWEEN

MIN_BYTES_PER_TOKEN = 3
"""Bytes of a token: on the safe side for prose (English has four to five, Chinese three)."""

CONTEXT_LABEL = "context, not evidence"

MORE_HINT = "Raise budget, or use read_note."
"""How an agent comes by what did not fit."""

_PROPERTY = re.compile(r"[^:]{1,500}: ")

MAX_NEAREST_PASSAGES = 3  # passages that are named below an answer which says that there is none
MAX_OMITTED_PASSAGES = 5  # passages that are named though they did not fit
MAX_LINKED_NOTES = 30  # notes that are named of those that a note links to, or that link to it


def estimate_tokens(text: str) -> int:
    """About how many tokens a text is, rather too many than too few."""
    return -(-len(text.encode("utf-8", "replace")) // MIN_BYTES_PER_TOKEN)


class Budget:
    """What is left of so many tokens."""

    def __init__(self, budget: int) -> None:
        self.left = budget

    def spend(self, text: str) -> str:
        """Take off what has to be said in any case."""
        self.left -= estimate_tokens(text)
        return text

    def first(self, texts: Iterable[str]) -> list[str]:
        """The first of some texts, up to the one that there is not enough for: what is best stays first."""
        found: list[str] = []
        for text in texts:
            if estimate_tokens(text) > self.left:
                break
            found.append(self.spend(text))
        return found


def search_text(result: models.SearchResult, budget: int, more: str = MORE_HINT) -> str:
    """Passages whole, best first, then the connected notes by name: their text is not asked for.

    :param more: how the reader comes by what does not fit.
    """
    remaining = Budget(budget)
    shown: list[str] = []
    for hit in result.hits:
        worth = f"score {round(hit.score, 4)}"
        if hit.relevance is not None:
            worth += f", relevance {hit.relevance:.2f}{', weak' if hit.weak else ''}"
            led = hit.second_look
            worth += f", found by way of {on_one_line(led.title)}" if led else ""
        shown.append(f"{hit.marker} {_location(hit)} ({worth})\n{_quote_lines(_unwrap_properties(hit.text))}")
    hits = remaining.first(shown)
    near = remaining.first(_connected_lines(result.connected_notes))
    parts = hits or ["Nothing fits." if result.hits else "No hits."]
    return _reply_text(result, parts, near, result.hits, result.hits[len(hits) :], more)


def answer_text(answer: models.Answer, budget: int, more: str = MORE_HINT) -> str:
    """The answer and the places that it cites in any case; then what a model was shown of them, what else was
    found, and what connects.

    :param more: as for :func:`search_text`.
    """
    remaining = Budget(budget)
    by = f" (written by {on_one_line(answer.model)})" if answer.model else ""
    head = [f"Answer{by}:\n{remaining.spend(_quote_lines(answer.answer))}"]
    if doubtful := remaining.first(_quote_lines(line) for line in list_doubts(answer.claims)):
        head.append("Not borne out by the notes:\n" + "\n".join(doubtful))
    if answer.left_out:
        markers = ", ".join(one.marker for one in answer.left_out)
        head.append(f"Not shown whole to the model that wrote it: {markers}")
    places = []
    for one in answer.citations:
        quoted = one.model_copy(update={"lines": one.quote_lines or one.lines})
        said = "" if one.support is None else f" (support {one.support})"
        places.append(remaining.spend(f"{one.marker} {_location(quoted)}{said}"))
    # What is quoted stands in the answer.
    written = [one for one in answer.citations if one.support is not None]
    texts = remaining.first(f"{one.marker}\n{_quote_lines(_unwrap_properties(one.text))}" for one in written)
    citations = ["\n".join(places), *texts]
    others = uncited_sources(answer)
    # Names first: what there is matters more than what the first of it says.
    also = remaining.first(f"{one.marker} {_location(one)}{' (weak)' if one.weak else ''}" for one in others)
    near = remaining.first(_connected_lines(answer.connected_notes))
    if also:
        citations.append("Also found, not cited:\n" + "\n".join(also))
    left_out = [*written[len(texts) :], *others[len(also) :]]
    return _reply_text(answer, [*head, *citations], near, answer.sources, left_out, more)


def uncited_sources(answer: models.Answer) -> list[models.Source]:
    """Return the sources that are not cited; where a search found no answer, the nearest of what is near."""
    cited = {one.marker for one in answer.citations}
    others = [one for one in answer.sources if one.marker not in cited]
    if answer.mode == "none" and any(one.relevance is not None for one in others):
        return [one for one in others if not one.weak][:MAX_NEAREST_PASSAGES]
    return others


def browse_text(result: models.BrowseResult, budget: int) -> str:
    """Notes with the sentences that link them, best first."""
    shown: list[str] = []
    for note in result.notes:
        sentences = dict.fromkeys(link.sentence for link in note.links if link.sentence)
        about = note.text and f"{_quote_lines(note.text)}{_author_line(note.written_by)}"
        head = f"{on_one_line(note.path)} (depth {note.depth}, {note.way})"
        shown.append("\n".join(filter(None, (head, *map(_quote_lines, sentences), about))))
    start = dict.fromkeys(on_one_line(seed.path) for seed in result.seeds)
    listed = f"{len(result.notes)} of " if len(result.notes) < result.total else ""
    head = f"{listed}{counted(result.total, 'note')} around {', '.join(start)}"
    parts = [head, *_fit_texts(shown, budget, "note")]
    return _join_parts([*parts, *_warning_lines(result.warnings, result.pending)])


def note_text(view: models.NoteView, budget: int, *, from_line: int = 1, outline_only: bool = False) -> str:
    """A note from a line on, cut between lines where it does not fit, and where its links lead.

    :param from_line: counted in the file; a line before the part that is read is its first.
    """
    remaining = Budget(budget)
    first, last = view.lines
    start = min(max(from_line, first), last)
    part = outline_only or view.section is not None
    labels = [("Tags", view.tags), ("Aliases", view.aliases)]
    head = [f"{name}: {on_one_line(', '.join(values))}" for name, values in labels if values]
    for line in (view.path, *head):
        remaining.spend(line)
    warnings: list[str] = []
    end, more = last, False
    if not outline_only:
        lines = view.text.split("\n")[start - first :]
        shown = remaining.first(f"{_quote_lines(line) or '> '}\n" for line in lines)
        if lines and not shown:
            # At least one line, or going on would never end.
            shown = [_quote_lines(lines[0][: max(1, remaining.left)])]
            warnings.append(f"line {start} is too long for the budget and was cut")
            remaining.left = 0
        end, more = start + len(shown) - 1, len(shown) < len(lines)
        head.append("".join(shown).rstrip("\n"))
        if more:
            head.append(f"More from line {end + 1} on (from_line={end + 1}).")
    # Whoever reads a whole note sees its headings.
    if part or more:
        outline = (f"> {'#' * one.level} {on_one_line(one.heading)} :{one.line}" for one in view.outline)
        if fit := remaining.first(outline):
            head.append("\n".join(["Outline:", *fit]))
    if start == first:
        out = [link.target for link in view.links if link.target != view.path]
        back = [link.source for link in view.backlinks]
        for name, paths in (("Links to", out), ("Linked from", back)):
            named = list(dict.fromkeys(on_one_line(path) for path in paths if path))
            if listed := remaining.first(named[:MAX_LINKED_NOTES]):
                count = len(named) - len(listed)
                head.append(f"{name}: {'; '.join(listed)}{f' and {count} more' if count else ''}")
    return _join_parts([f"{on_one_line(view.path)}:{start}-{end}", *head, *_warning_lines(warnings, None)])


def suggestions_text(found: models.Suggestions, budget: int) -> str:
    """Links that are missing, the most likely first, each with the sentence that shows it."""
    shown: list[str] = []
    for one in found.suggestions:
        reason = {
            "alike": "speaks of the same",
            "mention": "is named there",
            "dangling": f"{counted(one.notes or 0, 'note')} link to it, no note is called so",
        }[one.kind]
        head = f"{one.source}:{one.line} -> {one.link} ({reason}, score {one.score:.2f})"
        shown.append(f"{on_one_line(head)}\n{_quote_lines(one.text)}")
    parts = _fit_texts(shown, budget, "suggestion") or ["No link is missing that notehop can see."]
    return _join_parts([*parts, *_warning_lines(found.warnings, found.pending)])


def captured_text(captured: models.Captured) -> str:
    """Write the path of a captured note, and what to link it with."""
    links = [
        f"{on_one_line(one.link)}\n{_quote_lines(one.snippet)}{_author_line(one.written_by)}"
        for one in captured.connections
    ]
    return _join_parts([on_one_line(captured.message), *links])


def overview_text(overview: models.VaultOverview, budget: int) -> str:
    """Write what filters can be used with, the most frequent first."""
    remaining = Budget(budget)
    dates = f", from {overview.first} to {overview.last}" if overview.first and overview.last else ""
    parts = [remaining.spend(f"{on_one_line(overview.name)}: {counted(overview.notes, 'note')}{dates}")]
    properties = {
        f"{key} ({', '.join(map(on_one_line, one.values))})" if one.values else key: one.notes
        for key, one in overview.properties.items()
    }
    for name, counts in (
        ("type", overview.types),
        ("path", overview.folders),
        ("tag", overview.tags),
        ("properties", properties),
    ):
        fit = remaining.first(f"> {on_one_line(value)}: {count}\n" for value, count in counts.items())
        if counts:
            omitted = len(counts) - len(fit)
            more = f"and {omitted} more" if omitted else ""
            parts.append(f"{name}, with the number of notes:\n{''.join(fit)}{more}".rstrip())
    return _join_parts([*parts, *_warning_lines(overview.warnings, overview.pending)])


def _reply_text(
    reply: models.Reply,
    parts: Sequence[str],
    near: Sequence[str],
    sources: Sequence[models.Source],
    omitted: Sequence[models.Source],
    more: str,
) -> str:
    """Join what was found, what connects, and the remarks about both."""
    searched_for = ", ".join(f"{new} (for {old})" for old, new in reply.searched_for.items())
    left_out = "; ".join(_location(one) for one in omitted[:MAX_OMITTED_PASSAGES])
    left_out += (
        f" and {len(omitted) - MAX_OMITTED_PASSAGES} more" if len(omitted) > MAX_OMITTED_PASSAGES else ""
    )
    warnings = reply.warnings
    if not sources and not warnings:
        warnings = ["nothing in the vault matches; try other words, or fewer filters"]
    return _join_parts(
        [
            searched_for and f"Searched for: {on_one_line(searched_for)}",
            *parts,
            f"Connected notes ({CONTEXT_LABEL}):" if near else "",
            *near,
            left_out and f"Not shown, to keep this short: {left_out}. {more}",
            f"Filters: {on_one_line(' '.join(reply.filters))}" if reply.filters else "",
            *_warning_lines(warnings, reply.pending),
        ]
    )


def _fit_texts(shown: Sequence[str], budget: int, noun: str) -> list[str]:
    """The first of some texts, and how many more there are."""
    fit = Budget(budget).first(shown)
    omitted = len(shown) - len(fit)
    more = f"{counted(omitted, noun)} more, not shown to keep this short: raise budget."
    return [*fit, more] if omitted else fit


def _connected_lines(notes: Iterable[models.ConnectedNote]) -> list[str]:
    """A line a note, and what links it below; what links several stands once."""
    found: dict[str, list[str]] = {}
    for note in notes:
        found.setdefault(note.reason, []).append(f"{note.label} {_location(note)}")
    return ["\n".join([*places, _quote_lines(reason)]) for reason, places in found.items()]


def _unwrap_properties(text: str) -> str:
    """A passage; of properties one a line, which the chunk has laid over the lines of the note."""
    properties = [" ".join(part.split()) for part in text.split(f"{BETWEEN}\n")]
    told = len(properties) > 1 and all(map(_PROPERTY.match, properties))
    return "\n".join(properties) if told else text


def _author_line(model: str | None) -> str:
    """Return the line below a text that a model wrote; empty for a note's own."""
    if model is None:
        return ""
    return f"\n(written by the model {on_one_line(model)}, not in the note)"


def _warning_lines(warnings: Iterable[str], pending: int | None) -> Iterable[str]:
    yield from (f"Note: {on_one_line(warning)}" for warning in warnings)
    if pending:
        yield f"Note: {counted(pending, 'note')} changed since they were indexed."


def _location(place: models.Source | models.ConnectedNote) -> str:
    return on_one_line(location_below(place.path, place.lines, place.heading))


def _quote_lines(text: str) -> str:
    return "\n".join(f"> {line}" for line in printable(text).splitlines())


def _join_parts(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part)
