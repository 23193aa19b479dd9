"""Links that are hidden from the suggestions of a vault: are they suggested again?"""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from notehop.app.evaluation.metrics import MeanEstimate, mean
from notehop.app.services.notes.current_notes import CurrentNotes
from notehop.app.services.notes.suggest import suggest
from notehop.app.services.open_vault import Place, open_place
from notehop.config.errors import UsageError
from notehop.indexing.graph.files import is_note
from notehop.indexing.report import Progress
from notehop.indexing.templates import read_templates
from notehop.indexing.tokens.tokenizer import Tokenizer

SHARE = 0.2  # of all linked pairs of notes, those whose links are hidden
FIRST = 10  # suggestions for a note that are looked at


@dataclass(frozen=True, slots=True)
class SuggestionsEvaluated:
    """How many of the links that were hidden are suggested again, of both their notes.

    ``recall`` is the share of them among the first ten, ``precision`` their share of what is
    suggested for these notes.
    """

    name: str
    notes: int
    pairs: int
    recall: MeanEstimate
    precision: MeanEstimate


def evaluate_suggestions(
    place: Place, progress: Progress, seed: int = 0, *, share: float = SHARE
) -> SuggestionsEvaluated:
    """Hide a share of the linked pairs, and ask for suggestions; embeds count as links and stay.

    The words of a link are no mention of its note, as they stand in brackets still.

    :raises UsageError: if the vault has too few links.
    :raises IndexFailure: if there is no index.
    """
    with open_place(place) as vault, vault.view() as view:
        templates = read_templates(place.vault)  # no link is suggested to or from one
        paths = [path for path in view.paths() if is_note(path) and not templates.holds(path)]
        known = frozenset(paths)
        linked: dict[frozenset[str], bool] = {}
        for link in view.links_from(paths):
            if link.target_path in known and link.target_path != link.path:
                pair = frozenset((link.path, str(link.target_path)))
                linked[pair] = linked.get(pair, True) and link.kind != "embed"
        able = sorted(sorted(pair) for pair, plain in linked.items() if plain)
        pairs = set(map(frozenset, random.Random(seed).sample(able, round(share * len(able)))))
        if not pairs:
            raise UsageError("the vault has too few links between notes to hide some")
        now = CurrentNotes(view, place)
        tokenizer = Tokenizer(str(view.catalog.meta()["fingerprint"]["language"]))
        found: list[bool] = []
        right: list[bool] = []
        asked = sorted({path for pair in pairs for path in pair})
        progress.stage("suggestions", len(asked), "notes")
        for path in asked:
            shown = {
                frozenset((one.source, one.target))
                for one in suggest(now, tokenizer, path, FIRST, pairs).suggestions
                if one.kind != "dangling"
            }
            wanted = {pair for pair in pairs if path in pair}
            found += [pair in shown for pair in wanted]
            right += [pair in wanted for pair in shown]
            progress.advance(1)
        progress.close()
    recall, precision = (mean(np.asarray(one or [False], float)) for one in (found, right))
    return SuggestionsEvaluated(place.name, len(paths), len(pairs), recall, precision)
