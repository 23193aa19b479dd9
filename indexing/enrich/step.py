"""Wires the step after an index run: an indexer, its settings, and who agrees to the cost.

Touches: vault-read, index, model, network (through :mod:`notehop.indexing.llm`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from notehop.config.errors import NotehopError
from notehop.indexing.enrich.report import EnrichReport

if TYPE_CHECKING:
    from notehop.indexing.enrich.enricher import Agree, LoadScribe, Redo
    from notehop.indexing.pipeline import Indexer
    from notehop.indexing.report import Report


def enrich(
    indexer: Indexer,
    agree: Agree,
    *,
    load: LoadScribe | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    most_calls: int | None = None,
    redo: Redo | None = None,
) -> EnrichReport | None:
    """Have written what the settings ask for and the index lacks; None if that is nothing.

    It never fails: what went wrong is in the report.

    :param agree: told the cost before anything is sent.
    :param load: gives the language model; None for that of the settings.
    :param most_calls: requests of this run, if fewer than ``enrich.max_calls``.
    :param redo: indexes notes anew that got headers; None for the indexer.
    """
    asked = indexer.settings.enrich
    wanted = asked.summaries != "off" or asked.headers != "off"
    if not wanted and not indexer.layout.enrichment.is_file():
        return None
    # Imported here: most runs write nothing, and language models take a second to import.
    from notehop.indexing.enrich.enricher import Enricher
    from notehop.indexing.enrich.scribe import load_scribe

    step = Enricher(
        indexer.vault,
        indexer.settings,
        indexer.layout,
        indexer.progress,
        redo or indexer.redo,
        agree,
        load=load or load_scribe,
        cancelled=cancelled,
        most_calls=most_calls,
    )
    try:
        return step.run()
    except NotehopError as exc:
        return EnrichReport(stopped=str(exc))


def with_enrichment(report: Report, done: EnrichReport | None) -> Report:
    """The report of a run with what was written after it."""
    if done is None:
        return report
    told = [*report.warnings, *done.warnings]
    if done.stopped is not None:
        told.append(f"enrichment stopped: {done.stopped}")
    return replace(
        report,
        generation=done.generation or report.generation,
        warnings=tuple(told),
        enrichment=done,
    )
