"""A process that is killed while it makes the query door leaves the old door, the new one or none.

It takes minutes: each kill is an export of the model.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.model

SCRIPT = """
import os, signal, sys
from pathlib import Path

import torch

from notehop.config import load_settings
from notehop.indexing import faults
from notehop.indexing.embed.bulk import load_bulk
from notehop.indexing.embed.door import DOOR_FILE, read_door
from notehop.indexing.embed.onnx_export import export_query_door
from notehop.indexing.embed.query import load_query

# Its threads would be missing in a process that is forked.
torch.set_num_threads(1)
settings = load_settings().embedding
bulk = load_bulk(settings)
folder = Path(sys.argv[1])
folder.mkdir()


def forked(work):
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(70)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed_at(point):
    passed = 0

    def hook(name):
        nonlocal passed
        passed += 1
        if passed == point:
            os.kill(os.getpid(), signal.SIGKILL)

    def work():
        faults.hook = hook
        export_query_door(bulk, folder)

    return work


def made_and_looked_at():
    assert export_query_door(bulk, folder) is None
    door = read_door(folder)
    assert door is not None and door.is_whole(folder)
    names = {DOOR_FILE, *(name for name, _ in door.files.values())}
    assert {path.name for path in folder.iterdir()} == names, sorted(folder.iterdir())
    assert load_query(folder, settings).embed_query("a tide").shape == (bulk.dimensions,)


kills = 0
while forked(killed_at(kills + 1)) == -signal.SIGKILL:
    kills += 1
    door = read_door(folder)
    assert door is None or door.is_whole(folder), f"half a door after point {kills}"
    assert forked(made_and_looked_at) == 0, f"not mended after point {kills}"
    for path in folder.iterdir():
        path.unlink()
print(kills)
"""


def test_a_door_that_is_cut_off_is_made_again(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "model")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    assert int(done.stdout) >= 6
    print(f"{done.stdout.strip()} kills while the query door was made")
