"""``notehop eval``: how well retrieval and answers do, setting against setting."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from notehop.app.cli.options import Common, argument, given_path, option
from notehop.app.cli.output import print_json
from notehop.config.errors import UsageError

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
    from notehop.app.cli import show_evaluation as shown
    from notehop.app.evaluation import run
    from notehop.app.evaluation.variants import EvaluationPlan
    from notehop.indexing.report import TextProgress

    plan = EvaluationPlan(ablate, compare)
    progress = TextProgress()
    show: Callable[[Any], None] = shown.show_evaluation
    results: Iterable[Any]
    if data is None:
        assert answers is not None  # one of the two is named
        results = [run.evaluate_answers(options.place(), answers, plan, progress)]
        show = shown.show_answers
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
            show(result)
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
