"""Questions for notes by their links ("what links to httpx?"), and by what a labelled line of them names
("which libraries use httpx?", with ``Uses: [[httpx]], [[idna]]``)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import product

from notehop.app.lists.note_lines import ListedLines, match_labelled_lines
from notehop.app.lists.vault_question import (
    MAX_LIST_WORDS,
    WORDS,
    NoteLine,
    VaultQuestion,
    content_words,
    normalize_words,
)
from notehop.app.retrieval.filters import Paths, keep_allowed
from notehop.app.retrieval.intents import ALL_FUNCTION_WORDS, name_candidates, strip_punctuation
from notehop.indexing.stores.filter_labels import key_label, value_label
from notehop.indexing.stores.rows import ChunkId
from notehop.indexing.vault.plain import sentence_spans

_TABLE = WORDS["links"]
_WAY_PHRASES = {"to": "{links|link} to", "from": "{is|are} linked from", "mention": "{mentions|mention}"}
_LINKED = [
    (way, re.compile(f"{one.replace('{notes}', _TABLE['notes'])}[?. ]*", re.IGNORECASE))
    for way in _WAY_PHRASES
    for one in (pattern.replace("{name}", "(?P<name>.+?)") for pattern in _TABLE[way])
]
_ASKS = re.compile(rf"{_TABLE['what']}\b")
_HEAD = re.compile(rf"(?:(?P<what>{_TABLE['what']})\b)?(?P<kind>.*?){_TABLE['between']}")
_OF_IT, _BY = re.compile(_TABLE["of_it"]), re.compile(rf"(?P<before>.+) {_TABLE['by']}")
_ITEM = re.compile(
    rf"\[\[|\]\]|[,;|#/·]|\.md\b|\b{WORDS['comparing']['and']}\b", re.IGNORECASE
)  # what stands around the names in a line
_MAX_LABEL_WORDS = 2  # words of a question that may be what a line begins with


def find_link_lines(question: VaultQuestion) -> tuple[ListedLines, tuple[ChunkId, ...]] | None:
    """Read a question for the notes that link to one, that one links to, or that mention one: their lines are
    the sentences with the link; and first passages of that note; None where it is another question, or no
    note is called so."""
    view, allowed = question.view, question.allowed
    for way, match in ((way, one.fullmatch(question.text)) for way, one in _LINKED):
        named_notes = (
            (one, view.notes_named(one)) for one in name_candidates(match["name"] if match else "")
        )
        name, paths = next((one for one in named_notes if one[1]), ("", []))
        if not paths:
            continue
        seen, places = {*paths}, list[NoteLine | None]()
        for link in view.links_from(paths) if way == "from" else view.links_to(paths):
            path = link.target_path if way == "from" else link.path
            if path is None or path in seen or not view.chunk_ids_of(path):
                continue
            seen.add(path)
            if link.chunk_id and way != "from":
                places.append((link.chunk_id, link.sentence, link.line))
            else:  # of a property, the line of it
                key, value = key_label(link.property or ""), link.raw_target.casefold()
                places.append(question.property_line(key, "" if way == "from" else value, path))
        if way == "mention":
            places += _find_mentions(name, seen, question)
        lines_by_chunk = {one[0]: one[1:] for one in places if one and keep_allowed([one[0]], allowed)}
        lines = dict(sorted(lines_by_chunk.items(), key=lambda one: view.path_of(one[0]) or ""))
        first = (one for path in paths for one in view.chunk_ids_of(path)[:1])
        return (f"{_WAY_PHRASES[way]} {name}", lines), tuple(keep_allowed(first, allowed))
    return None


def _find_mentions(name: str, seen: Collection[str], question: VaultQuestion) -> Iterator[NoteLine]:
    """The first sentence of each other note that says a name."""
    says = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
    holding = sorted(question.view.lexical.holding(question.tokens(name), "content"))
    told = {*seen}
    for one in question.view.chunks(keep_allowed(holding, question.allowed)).values():
        found = None if one.path in told else says.search(one.text)
        if found:
            told.add(one.path)
            spans = sentence_spans(one.text, question.tokenizer.language)
            start, end = next(span for span in spans if span[1] > found.start())
            line = one.first_line + one.text.count("\n", 0, start)
            yield one.id, one.text[start:end].strip(), line


def find_labelled_lines(question: VaultQuestion) -> ListedLines | None:
    """Read a question for the notes with a name in a line that begins with a word of it, or for such a line
    of a note that is named ("what does requests use?"); None where it is another, or there is none."""
    view = question.view
    words = [one for one in map(strip_punctuation, question.text.split()) if one]
    if not 3 <= len(words) <= 3 * MAX_LIST_WORDS:
        return None
    for label, names, of_it, kind in _interpretations(words, question):
        paths = next(filter(None, map(view.notes_named, names)), [])
        rows = view.notes_at(paths).values()
        note_names = {*names, *(name for row in rows for name in (row.title, *row.aliases))}
        if of_it:
            ids = {one for path in paths for one in view.chunk_ids_of(path)}
        else:
            both = ([*label, *question.tokens(name)] for name in note_names)
            ids = set().union(*(view.lexical.holding(one, "content") for one in both))
        wanted, lines, keys = {*map(value_label, note_names)}, dict[ChunkId, tuple[str, int]](), []
        chunks = view.chunks(keep_allowed(sorted(ids), question.allowed)).values()
        for one in sorted(chunks, key=lambda one: (one.path, one.ordinal)):
            for number, line, label_match in match_labelled_lines(one):
                if question.tokens(label_match["key"]) != label:
                    continue
                items = {value_label(strip_punctuation(item)) for item in _ITEM.split(label_match["value"])}
                names_it = items & wanted and one.path not in paths
                is_it = names_it and (kind is None or one.path in kind)
                if (of_it or is_it) and not question.is_template(one.path):
                    lines[one.id] = line.strip(" ·"), number
                    keys.append(label_match["key"].strip(" *_"))
        if lines and of_it:
            return f"“{keys[0]}” of {names[-1]}", lines
        if lines:
            return f"{{has|have}} {names[-1]} under “{keys[0]}”", lines
    return None


def _interpretations(
    words: Sequence[str], question: VaultQuestion
) -> Iterator[tuple[list[str], list[str], bool, Paths | None]]:
    """The ways to read a question as one for such lines: what they begin with, as the index has its words;
    the names; whether the line of the note that is called so is wanted, or else what notes, None for any."""

    def read(head: Sequence[str], label: Sequence[str]) -> tuple[list[str], Paths | None] | None:
        parsed = _HEAD.fullmatch(normalize_words(" ".join(head)))
        label_tokens, kind = question.tokens(label), parsed["kind"] if parsed else ""
        if not parsed or any(
            one in ALL_FUNCTION_WORDS and one not in WORDS["asking"] for one in kind.split()
        ):
            return None
        if not (kind_tokens := question.tokens(content_words(kind))):
            says = content_words(normalize_words(" ".join(label)))
            return (label_tokens, None) if parsed["what"] and says else None
        if notes := question.notes_named_by(kind_tokens, question.match_terms(kind)):
            return label_tokens, notes
        # A kind that is called otherwise in the vault.
        return (label_tokens, None) if len(kind_tokens) == 1 else None

    for size, at in product(range(_MAX_LABEL_WORDS, 0, -1), range(1, len(words))):
        # "What does NAME use?", "what does NAME depend on?"
        asks = size < len(words) - at and _ASKS.match(normalize_words(" ".join(words[:at])))
        if asks and (parsed := read(words[:at], words[-size:])):
            yield parsed[0], name_candidates(" ".join(words[at:-size])), True, parsed[1]
        before = words[:at]
        # "What is used by NAME?", "was nutzt NAME?", and "what uses NAME?"
        by = _BY.fullmatch(normalize_words(" ".join(before)))
        head, label = before[: -size - bool(by)], before[-size - bool(by) :][:size]
        of_it = by is not None or _OF_IT.fullmatch(normalize_words(" ".join(head))) is not None
        if parsed := read(head, label):
            yield parsed[0], name_candidates(" ".join(words[at:])), of_it, parsed[1]
