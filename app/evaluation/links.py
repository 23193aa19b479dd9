"""What links are worth: an index read as if some were not there, a vault with links that mean nothing.

Touches: index (reads), vault-write (a copy of a golden set's notes, in the folder of the evaluation).
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from notehop.app.evaluation.questions import GoldenSet, LinkPair
from notehop.config.errors import UsageError
from notehop.indexing.graph.files import NOTE_SUFFIX
from notehop.indexing.graph.model import Status
from notehop.indexing.graph.pagerank import pagerank
from notehop.indexing.stores.catalog import CatalogSnapshot
from notehop.indexing.stores.model import LinkRow
from notehop.indexing.stores.reader import Generation, Reader, Snapshot
from notehop.indexing.vault.sentences import sentence_spans


def reader_without(links: frozenset[LinkPair]) -> Callable[..., Reader]:
    """What opens an index whose readers do not see these links, as :class:`Reader` does.

    PageRank does not count them either; it is worked out once for each generation.
    """
    known: dict[int, Mapping[str, float]] = {}

    def shown(rows: Iterable[LinkRow]) -> list[LinkRow]:
        return [link for link in rows if (link.path, link.target_path) not in links]

    class HeldOut(Snapshot):
        """A generation without these links."""

        def links_from(self, paths: Iterable[str]) -> list[LinkRow]:
            return shown(super().links_from(paths))

        def links_to(self, paths: Iterable[str]) -> list[LinkRow]:
            return shown(super().links_to(paths))

        @property
        def pagerank(self) -> Mapping[str, float]:
            if self.generation not in known:
                edges = (
                    (link.path, link.target_path)
                    for link in shown(self.catalog.links())
                    if link.target_path and link.status in (Status.RESOLVED, Status.AMBIGUOUS)
                )
                known[self.generation] = pagerank([note.path for note in self.notes()], edges)
            return known[self.generation]

    class HeldOutReader(Reader):
        """A reader of such generations."""

        def _snapshot_of(self, held: Generation, view: CatalogSnapshot) -> Snapshot:
            return HeldOut(held, view, self._ranks, self._server)

    return HeldOutReader


_LINKED = re.compile(r"\[\[([^\]|#]+)")
_UNWRITABLE = re.compile(r"[\[\]|#^\\]")
"""What a wikilink cannot name."""
_FENCE = re.compile(r"\s*(```|~~~)")
_NO_PROSE = re.compile(r"\s*(#{1,6}\s|\||$)")
_END = re.compile(r"[.!?…。！？]*\s*$")


def with_unrelated_links(golden: GoldenSet, work: Path, count: int, seed: int = 0) -> GoldenSet:
    """Return a golden set like this one, with ``count`` more links in every note.

    :param work: folder for the copy; one that is there already is used as it is.
    :raises UsageError: if the copy cannot be written.
    """
    name = f"{golden.name}+{count}-links" + (f"-seed-{seed}" if seed else "")
    target = work / name / "vault"
    if not target.is_dir():
        files = sorted(golden.vault.rglob(f"*{NOTE_SUFFIX}"))
        texts = {
            file.relative_to(golden.vault).as_posix(): file.read_text("utf-8", "replace")
            for file in files
        }
        partial = work / name / "vault.partial"
        try:
            for path, text in linked_at_random(texts, count, seed).items():
                (partial / path).parent.mkdir(parents=True, exist_ok=True)
                (partial / path).write_text(text, encoding="utf-8")
            partial.rename(target)
        except OSError as exc:
            raise UsageError(f"{target}: cannot be written: {exc.strerror}") from exc
    return replace(golden, name=name, vault=target)


def linked_at_random(texts: Mapping[str, str], count: int, seed: int = 0) -> dict[str, str]:
    """Return the notes with ``(see [[another note]])`` in ``count`` random sentences of each.

    The notes linked to are drawn among those that the note does not link to. What is drawn for one
    note depends on its path, the seed and which notes there are, not on the other texts.

    :param texts: path -> text of each note; front matter, headings, code and tables stay as they
        are, and a note without a sentence gets its links at its end.
    :param count: links a note, fewer where there are fewer other notes.
    """
    names = [path.removesuffix(NOTE_SUFFIX) for path in sorted(texts)]
    names = [name for name in names if not _UNWRITABLE.search(name)]
    return {path: _linked(path, text, names, count, seed) for path, text in texts.items()}


def _linked(path: str, text: str, names: Sequence[str], count: int, seed: int) -> str:
    chance = random.Random(f"{seed}:{path}")
    there = {found.strip().lower() for found in _LINKED.findall(text)}
    there.add(path.removesuffix(NOTE_SUFFIX).lower())
    free = [
        name
        for name in chance.sample(names, min(len(names), count + len(there)))
        if name.lower() not in there and name.rsplit("/", 1)[-1].lower() not in there
    ]
    ends = _sentence_ends(text) or [len(text)]
    places = sorted((chance.choice(ends), name) for name in free[:count])
    for end, name in reversed(places):
        text = f"{text[:end]} (see [[{name}]]){text[end:]}"
    return text


def _sentence_ends(text: str) -> list[int]:
    """Where the sentences of a note's prose end, before their full stops."""
    ends: list[int] = []
    at, fenced, matter = 0, False, text.startswith("---\n")
    for number, line in enumerate(text.splitlines(keepends=True)):
        if matter and number and line.strip() in ("---", "..."):
            matter = False
        elif matter:
            pass
        elif _FENCE.match(line):
            fenced = not fenced
        elif not fenced and not _NO_PROSE.match(line):
            ends += [at + start + _stop(line[start:end]) for start, end in sentence_spans(line)]
        at += len(line)
    return ends


def _stop(sentence: str) -> int:
    found = _END.search(sentence)
    return found.start() if found else len(sentence)
