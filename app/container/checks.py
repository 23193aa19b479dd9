"""Wires what holds answers against their sources.

Touches: nothing by itself; what it makes touches index and models.
"""

from __future__ import annotations

from notehop.app.answer.checking import Checker
from notehop.app.answer.cross_check import CrossCheck
from notehop.app.answer.relevance import Reading
from notehop.app.retrieval.cross_encoder import Scorer
from notehop.config import Settings


def checker_of(reading: Reading, vault: str, settings: Settings, scorer: Scorer | None) -> Checker:
    """What checks every answer of a vault; with the cross-encoder of the rerank where there is one.

    :param vault: its name, for links.
    """
    budget = settings.rerank.budget_ms
    return Checker(
        reading,
        vault,
        within_ms=settings.answer.check_ms,
        cross=None if scorer is None else lambda: CrossCheck(scorer, budget_ms=budget),
    )
