"""``notehop eval``: how well retrieval and answers do, setting against setting."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from notehop.app.cli.options import Common, argument, given_path, option
from notehop.app.cli.output import headline, print_json, show, warn
from notehop.config.errors import UsageError
from notehop.indexing.display import counted, on_one_line, printable

if TYPE_CHECKING:
    from notehop.app.evaluation.metrics import MeanEstimate
    from notehop.app.evaluation.run import AnswersEvaluated, Evaluated

WORK = Path("build/eval")  # where golden sets are unpacked and indexed


def evaluate(
    options: Common,
    data: Path | None = argument(
        None,
        "[DATA]",
        "Questions about the vault (a file), or a folder of golden sets with vaults of their own.",
        parser=given_path,
    ),
    answers: Path | None = option(
        None,
        "--answers",
        "An answer set about the vault: what answers hold, and which questions are refused; a line each, as "
        '{"id": "paint", "kind": "fact", "question": "Which paint?", "answerable": true, '
        '"contains": ["red"], "notes": ["Hull.md"]} (docs/evaluation.md).',
        "FILE",
    ),
    ablate: bool = option(False, "--ablate", "Turn each part of retrieval off, one by one."),
    compare: tuple[str, str] | None = option(
        None,
        "--compare",
        "Hold setting B to A: each a preset (current, stock, fused, semantic, lexical), "
        "key=value,key=value or a TOML file.",
        "A B",
    ),
    out: Path | None = option(None, "--out", "Write the results there, as JSON.", "FILE"),
) -> None:
    """Measure how well notes are found, and questions answered: on your vault, or golden sets."""
    if (data is None) is (answers is None):
        raise UsageError(
            "name what to measure: a file of questions about --vault, a folder of golden sets, or "
            "--answers FILE (docs/evaluation.md)"
        )
    if ablate and compare is not None:
        raise UsageError("--ablate and --compare are two evaluations; run one after the other")
    if ablate and answers is not None:
        raise UsageError("--ablate is not for --answers (docs/evaluation.md)")
    from notehop.app.evaluation import run
    from notehop.app.evaluation.variants import EvaluationPlan
    from notehop.indexing.report import TextProgress

    plan = EvaluationPlan(ablate, compare)
    progress = TextProgress()
    show_one: Callable[[Any], None] = show_evaluation
    results: Iterable[Any]
    if data is None:
        assert answers is not None  # one of the two is named
        results = [run.evaluate_answers(options.place(), answers, plan, progress)]
        show_one = show_answers
    elif not data.is_dir():
        results = [run.evaluate_vault(options.place(), data, plan, progress)]
    elif options.vault or options.index_dir:
        raise UsageError(
            f"{data} is a folder of golden sets, which bring their own vaults and indexes: leave "
            "out --vault and --index-dir, or name a file of questions"
        )
    else:
        results = run.evaluate_sets(data, WORK, plan, progress, config_file=options.config)
    found: list[Any] = []
    for result in results:
        found.append(result)
        if not options.json:
            show_one(result)
    from importlib.metadata import version

    document = {"version": version("notehop"), "sets": [asdict(one) for one in found]}
    if options.json:
        print_json(document)
    if out is not None:
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
        except OSError as exc:
            raise UsageError(f"{out}: cannot be written: {exc.strerror}") from exc


def show_evaluation(found: Evaluated) -> None:
    """Print the settings with the set's measure and what they gain, in percent; `--json` has all measures."""
    headline(found.name, f"{counted(found.notes, 'note')}, {counted(len(found.questions), 'question')}")
    lines: list[list[str]] = []
    for row in found.rows:
        gain = row.gains.get(found.measure)
        gained = [row.against or "" if gain else "", _percent(gain, "+")]
        beside = [f"{row.passages:.1f}", f"{row.milliseconds:.1f}"]
        lines.append([row.setting, _percent(row.measures[found.measure]), *gained, *beside])
    head = ["setting", f"{found.measure}, %", "over", "gain", "passages", "ms"]
    _show_table(head, lines)
    warn([f"{message} ({counted(count, 'time')})" for message, count in found.warnings.items()])


def show_answers(found: AnswersEvaluated) -> None:
    """Print an answer set by kind of question, in percent, a table a setting and one of what it gains,
    if it is held to another.
    """
    from notehop.app.evaluation.metrics import ANSWERED

    headline(found.name, f"{counted(found.notes, 'note')}, {counted(found.questions, 'question')}")
    for setting, rows in found.settings.items():
        for title, sign in ((setting, ""), (f"gained by {setting}", "+")):
            lines: list[list[str]] = []
            for row in rows:
                has = row.gains if sign else row.measures
                # Whole ones: sets have a hundred questions.
                values = [_percent(has.get(name), sign, 0) for name in ANSWERED]
                lines.append([row.group, str(row.questions), *values])
            if not sign or any(row.gains for row in rows):
                head = [f"{title}, %", "", *(name.replace(" of ", "/") for name in ANSWERED)]
                _show_table(head, lines)


def _percent(one: MeanEstimate | None, sign: str = "", digits: int = 1) -> str:
    """An estimate with its interval, in percent; empty where there is none. 0 has no minus."""
    if one is None:
        return ""
    low, value, high = (100 * share for share in (one.low, one.value, one.high))
    return f"{value:{sign}z.{digits}f} ({low:z.{digits}f} to {high:z.{digits}f})"


def _show_table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    """Print a table, as wide as it is."""
    rows = [[printable(on_one_line(cell)) for cell in line] for line in (head, *lines)]
    first, *widths = (max(map(len, column)) for column in zip(*rows, strict=True))
    show("")
    for name, *numbers in rows:
        cells = (cell.rjust(width) for cell, width in zip(numbers, widths, strict=True))
        typer.echo("  ".join((name.ljust(first), *cells)))
