"""Faults planted one at a time in a copy of the product, to see that the suite turns red.

    make mutants                  all of them
    make mutants ONLY=stores      those whose file or line holds one of these texts

Each is run against the tests of its package, quick ones first, until one of them fails. What is
missed is listed at the end, and the exit code is 1 if more than three are. A fault whose text is
gone from its file, or stands there twice, is an error: this table has to follow the code.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
PATIENCE = 900
"""Seconds that the tests of one folder may take before a fault counts as one that hangs."""

MEMORY = 8 << 30
PACKAGES = ("notehop", "app", "indexing", "config")
COPIED = (*PACKAGES, "tests", "tools", "docs", "pyproject.toml", "README.md")

RUNS = "tests/indexing/pipeline"
STORES = "tests/indexing/stores"
CRASHES = "tests/indexing/crashes"
DOCTOR = "tests/app/services/doctor"
RETRIEVAL = "tests/app/retrieval"
RECORDED = "tests/recorded"

SPINE: dict[str, tuple[str, ...]] = {
    "indexing/stores/labels.py": ("tests/app/test_filters.py", "tests/app/retrieval", "tests/doors"),
    "indexing/stores/lexical_segments.py": (f"{STORES}/test_lexical.py", f"{RUNS}/test_runs.py", RECORDED),
    "indexing/stores/lexical.py": (f"{STORES}/test_lexical.py", f"{RUNS}/test_runs.py", RECORDED),
    "indexing/stores/lock.py": (STORES,),
    "indexing/stores/vector_index.py": (STORES, RECORDED),
    "indexing/stores": (
        STORES,
        f"{RUNS}/test_runs.py",
        f"{RUNS}/test_updates.py",
        f"{RUNS}/test_state_machine.py",
        f"{CRASHES}/test_damage.py",
        f"{CRASHES}/test_points.py",
        DOCTOR,
        "tests/doors",
        RECORDED,
    ),
    "indexing/changes.py": (f"{RUNS}/test_guard.py", RUNS),
    "indexing/pipeline/run.py": (
        f"{RUNS}/test_updates.py",
        f"{CRASHES}/test_killed.py",
        f"{STORES}/test_chroma.py",
        f"{RUNS}/test_runs.py",
    ),
    "indexing/pipeline": (
        f"{RUNS}/test_runs.py",
        f"{RUNS}/test_updates.py",
        RUNS,
        f"{CRASHES}/test_damage.py",
        f"{CRASHES}/test_points.py",
        f"{CRASHES}/test_killed.py",
        DOCTOR,
    ),
    "indexing/graph": (
        "tests/conformance",
        "tests/indexing/graph",
        f"{RUNS}/test_state_machine.py",
        RECORDED,
    ),
    "indexing/vault": ("tests/conformance", "tests/indexing/vault"),
    "indexing/watch": ("tests/indexing/watch", "tests/app/cli/test_follow.py"),
    "indexing/nodes": ("tests/indexing/test_nodes.py", "tests/indexing", RECORDED),
    "indexing/tokens": ("tests/indexing/test_tokens.py", RECORDED),
    "indexing/llm": ("tests/indexing/llm", "tests/app/llm"),
    "indexing/enrich": ("tests/indexing/enrich",),
    "indexing/themes": ("tests/indexing/themes", "tests/app/services/test_themes.py"),
    "indexing/capture.py": ("tests/indexing/capture", "tests/app/cli/test_capture.py"),
    "indexing/embed/onnx_embedding.py": ("tests/indexing/embed/test_onnx_export.py", RECORDED),
    "indexing/embed/hub.py": ("tests/indexing/embed/test_hub.py",),
    "indexing/embed": ("tests/indexing/embed", RECORDED),
    "config": ("tests/config", "tests/app/cli/test_cli.py", "tests/doors/test_untrusted_vault.py"),
    "app/retrieval/chain.py": (f"{RECORDED}/test_ranking.py", "tests/app/test_filters.py", "tests/doors"),
    "app/retrieval/freshness.py": ("tests/app/test_never_stale.py",),
    "app/retrieval/filters": ("tests/app/test_filters.py", f"{RETRIEVAL}/filters"),
    "app/retrieval/fusion.py": (f"{RETRIEVAL}/test_fusion.py",),
    "app/retrieval": (
        RETRIEVAL,
        "tests/app/test_filters.py",
        "tests/app/test_never_stale.py",
        "tests/app/test_status_vaults.py",
        RECORDED,
        "tests/app/test_demo_questions.py",
    ),
    "app/answer/material.py": ("tests/app/llm/test_support.py", "tests/app/answer"),
    "app/answer": ("tests/app/answer", "tests/app/llm", "tests/app/test_demo_questions.py"),
    "app/services/capture.py": ("tests/app/services/test_capturing.py",),
    "app/services/browse.py": ("tests/app/services/test_browsing.py",),
    "app/services/read_note.py": ("tests/app/services/test_note_view.py", "tests/app/services"),
    "app/services/find_note.py": (
        "tests/app/services/test_note_view.py",
        "tests/app/services/test_browsing.py",
    ),
    "app/services/note_status.py": ("tests/app/services/test_note_status.py",),
    "app/services/running_server.py": ("tests/app/services/test_remote.py",),
    "app/services/related.py": ("tests/app/services/test_capturing.py",),
    "app/services/links.py": ("tests/app/cli", "tests/app/services/test_browsing.py"),
    "app/services/status.py": ("tests/app/services/test_status.py",),
    "app/services/ask.py": ("tests/app/services/test_following_up.py",),
    "app/services/doctor": (DOCTOR,),
    "app/services": ("tests/app/services", "tests/app/test_server.py", "tests/app/test_filters.py"),
    "app/api": ("tests/app/api", "tests/app/test_server.py"),
    "app/mcp": ("tests/app/mcp",),
    "app/web": ("tests/app/web", "tests/browser/test_guarded.py"),
    "app/cli": ("tests/app/cli",),
    "app/evaluation": ("tests/app/evaluation", "tests/app/services/test_evaluating.py"),
}  # fmt: skip
"""The tests that answer for a file or package, in the order in which they are asked."""

FAULTS: tuple[tuple[str, str, str], ...] = (
    # stores
    ("indexing/stores/lexical.py", "(-hit[1], hit[0]))[:k]", "(hit[1], hit[0]))[:k]"),
    ("indexing/stores/vector_index.py", "scores >= bar - _TIE", "scores > bar + _TIE"),
    ("indexing/stores/labels.py",
     "key=lambda path: dates[path], reverse=True",
     "key=lambda path: dates[path]"),
    ("indexing/stores/chroma.py", "None if since is None else view.changed_paths(since)", "None"),
    ("indexing/stores/catalog_write.py", "listed(touch)", "listed(())"),
    ("indexing/stores/lexical.py",
     "state._accounted(state.segments[at].lengths[:, docs], -1)",
     "state._accounted(state.segments[at].lengths[:, docs], 1)"),
    ("indexing/stores/layout.py", "if self.marker.is_file():", "if True:"),
    ("indexing/stores/reader.py", "if self._catalog.replaced:", "if False:"),
    ("indexing/stores/lock.py", "while _held_folders:", "while False:"),
    ("indexing/stores/lexical.py",
     "found += len(holders) if whole else",
     "found += len(holders) if True else"),
    ("indexing/stores/lexical_segments.py",
     "places[alive] = [doc_of[id_] for id_ in living_ids(part, alive)]",
     "places[alive] = sorted(doc_of[id_] for id_ in living_ids(part, alive))"),
    ("indexing/stores/lexical_segments.py", "[part.bounds]) > 0", "[part.bounds]) >= 0"),
    ("indexing/stores/catalog_write.py",
     '_forget(connection, "chunks", chunks_before - chunks_left)',
     '_forget(connection, "chunks", set())'),
    ("indexing/stores/catalog_write.py", "said_before - said_left)", "said_before)"),
    ("indexing/stores/caches.py", "missing.difference_update(ids)", "missing.clear()"),
    ("indexing/stores/vector_index.py", "made._dead * 3 < len(hidden) or", "True or"),
    ("indexing/stores/catalog_write.py", "before is not None and before[0] == packed", "before is not None"),
    # pipeline
    ("indexing/changes.py", "if len(changes.gone) + lately <= FEW:", "if True:"),
    ("indexing/pipeline/batch.py", "if key[0] not in except_from", "if key[0] in except_from"),
    ("indexing/pipeline/run.py", "if self._counts.forgets(batch, moved):", "if False:"),
    ("indexing/pipeline/run.py", '"under_way": not last', '"under_way": False'),
    ("indexing/pipeline/run.py", "*(told for told in known.problems if elsewhere(told[0]))", ""),
    # graph
    ("indexing/graph/resolve.py",
     'if not file.key.startswith(folder + "/")',
     'if file.key.startswith(folder + "/")'),
    ("indexing/graph/fragments.py",
     "next(ends, outline.line_count + 1) - 1",
     "next(ends, outline.line_count + 1)"),
    ("indexing/graph/communities.py", "<= gains[here] + _GAIN", "> gains[here] + _GAIN"),
    ("indexing/graph/pagerank.py", "np.diff(first, append=len(keys))", "np.ones_like(first)"),
    ("indexing/graph/resolve.py", 'if steps[-1] in (".", ".."):', "if False:"),
    # vault
    ("indexing/vault/body.py", "return first, last + 1", "return first, last"),
    ("indexing/vault/link_text.py", '.strip().replace("\\\\|", "|") or None', ".strip() or None"),
    ("indexing/vault/exclusion.py", "re.IGNORECASE | re.DOTALL", "re.DOTALL"),
    ("indexing/vault/parse.py", 'data.count(b"\\n", 0, exc.start) + 1', "0"),
    # watch
    ("indexing/watch/follower.py", "status.st_size == 0", "status.st_size < 0"),
    ("indexing/watch/events.py", "(kind == Change.added or path not in folders)", "(False)"),
    ("indexing/watch/state.py",
     "if self._lock.is_locked and self._file_now() == self._file:",
     "if self._lock.is_locked:"),
    # nodes, tokens
    ("indexing/nodes/break_points.py", "if price <= best[j]:", "if price >= best[j]:"),
    ("indexing/tokens/vocabulary.py",
     "key=lambda other: (-words.frequency(other), other)",
     "key=lambda other: other"),
    ("indexing/tokens/words.py",
     'return f" {\' \'.join(words)} " if words else " "',
     'return " ".join(words)'),
    ("indexing/nodes/chunker.py", "if waiting.size >= self._min:", "if waiting.size >= 0:"),
    ("indexing/nodes/headings.py", "first, last = start, end - 1", "first, last = start, end"),
    ("indexing/vault/plain.py", "bisect_right(self._raw, raw) - 1)", "bisect_right(self._raw, raw))"),
    # models, capture, settings
    ("indexing/embed/hub.py", '"sha256").hexdigest() == wanted.sha256', '"sha256").hexdigest() != ""'),
    ("indexing/embed/onnx_model.py", "known.query_prompt if kind", "known.passage_prompt if kind"),
    ("indexing/llm/egress.py", "stat().st_size + coming > self._largest", "stat().st_size < 0"),
    ("indexing/enrich/enricher.py", "done.tokens + size + OUTPUT_TOKENS > max_tokens", "False"),
    ("indexing/enrich/freshness.py", "return read.problem is None and read.note is None", "return True"),
    ("indexing/themes/build.py", "was.named_after in lasting[:HUBS]", "False"),
    ("indexing/llm/transport.py", '("retry-after", 1.0)', '("retry-after", 0.0)'),
    ("indexing/llm/consent.py", "return ip.is_loopback", "return True"),
    ("indexing/capture.py", "fold(chosen) not in taken and", ""),
    ("config/layers.py", "if len(parts) > 1 and (_is_setting(parts) or", "if len(parts) > 1 and (True or"),
    # retrieval
    ("app/retrieval/fusion.py",
     "sorted(sorted(scores), key=scores.__getitem__, reverse=True)",
     "sorted(sorted(scores, reverse=True), key=scores.__getitem__, reverse=True)"),
    ("app/retrieval/freshness.py",
     "(found.st_size, found.st_mtime_ns) == (row.size, row.mtime_ns)",
     "found.st_size == row.size"),
    ("app/retrieval/filters/parse.py",
     "yield from _conditions(filters.not_, negated=True)",
     "yield from _conditions(filters.not_, negated=False)"),
    ("app/retrieval/templates.py", "score * share if score > 0 else score / share", "score"),
    ("app/retrieval/rerank.py",
     "(-scores[nodes[at].node.node_id], at)",
     "(scores[nodes[at].node.node_id], at)"),
    ("app/retrieval/connected_notes.py", "if one.path not in self.hidden]", "]"),
    ("app/retrieval/linked_notes.py", "if hits[at][0] not in there:", "if True:"),
    ("app/retrieval/chain.py", '"hidden": narrowed.notes.hidden,', '"hidden": frozenset(),'),
    ("app/retrieval/chain.py",
     "top_k=_first(wanted.top_k, settings.retrieval.top_k)",
     "top_k=settings.retrieval.top_k"),
    ("app/retrieval/chain.py", "        deciding=weights.deciding,\n", ""),
    ("app/retrieval/linked_notes.py", "gated = len(waiting) if len(taken)", "gated = 0 if len(taken)"),
    ("app/retrieval/candidate_signals.py",
     "if path is not None and path not in found:",
     "if path is not None:"),
    # answers
    ("app/answer/citations.py", 'elif f"[{name}]" in markers:', "elif True:"),
    ("app/answer/support.py", "(-shares[at], at)", "(shares[at], at)"),
    ("app/answer/facts.py", "and not one.readings & said", ""),
    ("app/answer/material.py", "if heading.casefold() in names:", "if False:"),
    ("app/answer/citations.py", "if newline < 0 and not whole and", "if newline < 0 and"),
    # services and edges
    ("app/services/running_server.py", "and not found.st_mode & 0o077", ""),
    ("app/services/browse.py", "float(len(entry.steps))", "-float(len(entry.steps))"),
    ("app/services/browse.py", "if note is None or not steps or", "if note is None or"),
    ("app/services/read_note.py", "if file is None or file.size > limit:", "if file is None:"),
    ("app/services/capture.py", "        turns.release()", "        pass"),
    ("app/api/guard.py", "if is_loopback(address) and is_address(last)", "if is_address(last)"),
    ("app/api/guard.py", 'if scheme.lower() == "bearer" else', "if True else"),
    ("app/mcp/text.py", "if lines and not shown:", "if not lines:"),
    ("app/web/render.py", "return sanitise(render(text, _ANSWER))", "return render(text, _ANSWER)"),
    ("app/evaluation/links.py", "for link in shown(self._view.links())", "for link in self._view.links()"),
    ("app/evaluation/metrics.py", "for k in range(1, TOP + 1)]", "for k in range(2, TOP + 2)]"),
    ("app/services/find_note.py",
     "return found.candidates if found.status is Status.AMBIGUOUS else (found.path,)",
     "return (found.path,)"),
    ("app/services/note_status.py", 'if part.startswith(".") and part != ".":', "if False:"),
    ("app/services/running_server.py", "found.host != socket.gethostname() or", ""),
    ("app/services/related.py",
     "found.status is Status.RESOLVED and found.path == target",
     "found.path == target"),
    ("app/services/links.py", "kept is None or (kept.excluded is not None and not keep_all)", "kept is None"),
    ("app/services/status.py",
     "(one.local, -one.bytes_out, one.host)",
     "(one.local, one.bytes_out, one.host)"),
    ("app/services/ask.py", "return Turn(turn.typed, WITHDRAWN, subject=subject)", "return turn"),
    ("app/services/doctor/index.py", "view.generation < state.generation", "False"),
    ("app/api/middleware.py", "int(declared[:20]) > MAX_BODY", "False"),
    ("app/evaluation/links.py", "name.lower() not in there and ", ""),
)  # fmt: skip
"""(file, text that stands in it once, what stands there instead)."""


def answering(file: str) -> tuple[str, ...]:
    """The tests that answer for a file."""
    return next(tests for part, tests in SPINE.items() if f"{file}/".startswith(f"{part}/"))


def caught(copy: Path, fault: tuple[str, str, str], slow: bool) -> str | None:
    """The first test that fails with a fault, None if all pass."""
    file, old, new = fault
    path = copy / file
    whole = path.read_text(encoding="utf-8")
    if whole.count(old) != 1:
        raise SystemExit(f"{file}: {old!r} stands there {whole.count(old)} times")
    path.write_text(whole.replace(old, new), encoding="utf-8")
    try:
        for tests in answering(file):
            if not (copy / tests).exists():
                continue
            failed = _failed(copy, tests, slow)
            if failed is not None:
                return failed
        return None
    finally:
        path.write_text(whole, encoding="utf-8")


def _failed(copy: Path, tests: str, slow: bool) -> str | None:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", tests]
    with subprocess.Popen(
        [*command, *(() if slow else ("-m", "not slow"))],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        preexec_fn=_bounded,
    ) as running:
        try:
            printed, _ = running.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            return f"{tests}: not done after {PATIENCE} s"
    if running.returncode in (0, 5):
        return None
    lines = printed.splitlines()
    found = [line for line in lines if line.startswith(("FAILED ", "ERROR "))]
    return found[0].split(" - ")[0] if found else f"{tests}: exit code {running.returncode}"


def _bounded() -> None:
    """A fault that takes memory without end fails, instead of the machine."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def main() -> int:
    """Plant them, and say what was caught."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "only", nargs="*", default=[""], help="a text in the file's path or the line"
    )
    parser.add_argument("--slow", action="store_true", help="run the slow tests too")
    given = parser.parse_args()
    faults = [fault for fault in FAULTS if any(one in "\t".join(fault[:2]) for one in given.only)]
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, copy / name)
        if (ROOT / ".cache").is_dir():
            (copy / ".cache").symlink_to(ROOT / ".cache")
        for fault in faults:
            begun = time.monotonic()
            found = caught(copy, fault, given.slow)
            if found is None:
                missed.append(fault)
            took = time.monotonic() - begun
            said = found or "MISSED"
            sys.stdout.write(f"{took:6.0f} s  {fault[0]}: {fault[1]!r}\n          {said}\n")
            sys.stdout.flush()
    sys.stdout.write(f"caught {len(faults) - len(missed)} of {len(faults)}\n")
    return len(missed) > 3


if __name__ == "__main__":
    raise SystemExit(main())
