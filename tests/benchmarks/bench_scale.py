"""What grows with the vault and what does not: following a change, upkeep, opening, memory.

The indexes hold no model and no files. Times are those of the processor: what else the machine does
is not in them.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import thread_time

import pytest

from tests.benchmarks.pairs import p50, say
from tests.benchmarks.synthetic import Synthetic, no_store
from tests.support.product import Catalog, IndexLayout, Reader, bring_up_to_date, upkeep_due

pytestmark = pytest.mark.bench

EDITS = 40

SERVING = """
import sys
from pathlib import Path
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.reader import Reader
from tests.benchmarks.synthetic import Synthetic, peak_mb
from time import process_time
drawn = Synthetic(int(sys.argv[2]))
queries = [(vector, drawn.words(5)) for vector in drawn.vectors(30)]
before, started = peak_mb(), process_time()
with Reader.open(IndexLayout(Path(sys.argv[1]))) as reader:
    opened = process_time() - started
    for vector, words in queries:
        with reader.snapshot() as view:
            near = [one for one, _ in view.chunk_vectors.top(vector, 100)]
            said = [one for one, _ in view.lexical_top(words, 100)]
            paths = [str(view.path_of(one)) for one in (*near[:5], *said[:5])]
            view.chunks([*near[:5], *said[:5]])
            links = [str(link.sentence_id) for link in view.links_from(paths)]
            view.link_vectors.similarities(vector, links)
    searching = peak_mb()
    with reader.snapshot() as view:
        started = process_time()
        view.pagerank
        ranked = process_time() - started
print(opened, searching, ranked, peak_mb())
"""


def run(*arguments: object) -> list[float]:
    """The numbers that a program prints."""
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [float(number) for number in done.stdout.split()]


def ms(work: Callable[[], object]) -> float:
    """Milliseconds of processor time that some work takes in this thread: others do theirs."""
    started = thread_time()
    work()
    return (thread_time() - started) * 1000


def test_scale(sizes: list[int], tmp_path: Path) -> None:
    follow = {}
    for notes in sizes:
        layout = IndexLayout(tmp_path / f"index{notes}")
        print()
        [peak] = run("-m", "tests.benchmarks.synthetic", layout.root, notes)
        say(f"{notes:,} notes: memory of writing the stores", f"{peak / 1e3:.2f} GB", "budget 4 GB")
        opened, searching, ranked, most = run("-c", SERVING, layout.root, notes)
        say("opening", f"{opened:.2f} s")
        say("memory, searching, without the model", f"{searching / 1e3:.2f} GB", "budget 4 GB")
        say("first PageRank", f"{ranked:.2f} s, {most / 1e3:.2f} GB")
        follow[notes] = _follow(layout, notes)
    smallest, largest = min(follow), max(follow)
    say(
        f"following one note, {largest:,} / {smallest:,} notes",
        f"{follow[largest] / follow[smallest]:.2f}",
        "budget 2",
    )


def _follow(layout: IndexLayout, notes: int) -> float:
    """Edit single notes and follow each; the median of what a reader takes for it."""
    drawn = Synthetic(notes)
    written, followed, due, upkeep = [], [], [], []
    with Catalog.open(layout.catalog) as catalog, Reader.open(layout) as reader:
        for number in drawn.chance.integers(notes, size=EDITS).tolist():

            def write(number: int = number) -> object:
                return drawn.edit(layout, catalog, number, f"edit {len(written)}")

            written.append(ms(write))
            followed.append(ms(reader.refresh))
            due.append(ms(lambda: upkeep_due(layout, catalog)))
            upkeep.append(ms(lambda: bring_up_to_date(layout, catalog, no_store)))
    say("writing one note", f"p50 {p50(written):.1f} ms")
    say("following one note", f"p50 {p50(followed):.1f}, most {max(followed):.1f} ms")
    say("asking whether upkeep is due", f"p50 {p50(due):.1f} ms")
    share = sum(upkeep) / len(upkeep)
    say("upkeep after each", f"{share:.1f} ms a note, most {max(upkeep):.0f} ms")
    return p50(followed)
