"""Links that were taken out of a copy of a vault: are they suggested again?"""

from __future__ import annotations

import random
import re
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from notehop.app.evaluation.metrics import MeanEstimate, mean
from notehop.app.services.open_vault import Place, open_place
from notehop.config.errors import UsageError
from notehop.indexing.changes import scan
from notehop.indexing.graph.files import is_note
from notehop.indexing.pipeline.indexer import Indexer
from notehop.indexing.report import Progress
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.model import LinkRow
from notehop.indexing.stores.reader import Reader
from notehop.indexing.templates import read_templates
from notehop.indexing.vault.parse import read_note

SHARE = 0.2  # of all linked pairs of notes, those whose links are taken out
FIRST = 10  # suggestions for a note that are looked at

Pair = frozenset[str]


@dataclass(frozen=True, slots=True)
class SuggestionsEvaluated:
    """How many of the links that were taken out are suggested again, of both their notes.

    ``recall`` is the share of them among the first ten, ``precision`` their share of what is
    suggested for these notes.
    """

    name: str
    notes: int
    pairs: int
    recall: MeanEstimate
    precision: MeanEstimate


def evaluate_suggestions(
    place: Place, work: Path, progress: Progress, seed: int = 0, *, share: float = SHARE
) -> SuggestionsEvaluated:
    """Take a share of the linked pairs out of a copy of a vault, and ask for suggestions.

    The words of a link stay, as somebody writes who forgets the brackets.

    :param work: folder for the copy, which is removed again.
    :raises UsageError: if the vault has too few links, or the copy cannot be written.
    :raises IndexFailure: if there is no index.
    """
    with Reader(place.layout) as reader, reader.snapshot() as view:
        templates = read_templates(place.vault)  # no link is suggested to or from one
        paths = [path for path in view.paths() if is_note(path) and not templates.holds(path)]
        links = view.links_from(paths)
    # Pairs of linked notes, those aside of which one embeds the other.
    linked: dict[Pair, bool] = {}
    known = frozenset(paths)
    for link in links:
        if link.target_path in known and link.target_path != link.path:
            pair = frozenset((link.path, str(link.target_path)))
            linked[pair] = linked.get(pair, True) and link.kind != "embed"
    able = sorted(sorted(pair) for pair, plain in linked.items() if plain)
    drawn = random.Random(seed).sample(able, round(share * len(able)))
    if not drawn:
        raise UsageError("the vault has too few links between notes to take some out")
    pairs = frozenset(map(frozenset, drawn))
    try:
        work.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=work) as folder:
            there = _copy_without(place, Path(folder), links, pairs)
            where = (there.vault, there.settings, there.layout)
            Indexer(*where, progress, command="notehop eval").run()
            return SuggestionsEvaluated(
                place.name, len(paths), len(pairs), *_measured(there, pairs, progress)
            )
    except OSError as exc:
        raise UsageError(f"{work}: cannot be written: {exc.strerror}") from exc


def _copy_without(
    place: Place, folder: Path, links: list[LinkRow], pairs: frozenset[Pair]
) -> Place:
    """A copy of a vault without the links of these pairs."""
    ordinals: dict[str, set[int]] = {}
    for link in links:
        if link.target_path and frozenset((link.path, link.target_path)) in pairs:
            ordinals.setdefault(link.path, set()).add(link.ordinal)
    settings = place.settings.vault
    vault = folder / place.name
    shutil.copytree(place.vault, vault, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    for file in scan(place.vault, settings, within=sorted(ordinals)).files:
        note = read_note(place.vault, file, "", comment_links=settings.comment_links).note
        if note is None:
            continue
        text = note.text
        lines = [0, *(end.end() for end in re.finditer("\n", text))]
        for at, written in reversed([*enumerate(note.links)]):
            if at in ordinals.get(file.path, ()):
                start, end = written.start, written.end
                if written.property is not None:  # of these only the line is known
                    start = text.find(written.raw, lines[written.line - 1])
                    end = start + len(written.raw)
                words = written.display or written.target.rpartition("/")[2]
                text = text[:start] + words + text[end:]
        (vault / file.path).write_text(text, encoding="utf-8")
    return replace(place, vault=vault, layout=IndexLayout(folder / "index"))


def _measured(
    place: Place, pairs: frozenset[Pair], progress: Progress
) -> tuple[MeanEstimate, MeanEstimate]:
    asked = sorted({path for pair in pairs for path in pair})
    found: list[bool] = []
    right: list[bool] = []
    with open_place(place) as vault:
        progress.stage("suggestions", len(asked), "notes")
        for path in asked:
            shown = {
                frozenset((one.source, one.target))
                for one in vault.suggest(path, FIRST).suggestions
                if one.kind != "dangling"
            }
            wanted = {pair for pair in pairs if path in pair}
            found += [pair in shown for pair in wanted]
            right += [pair in wanted for pair in shown]
            progress.advance(1)
        progress.close()
    return mean(np.asarray(found, float)), mean(np.asarray(right or [False], float))
