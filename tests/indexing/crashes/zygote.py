"""A process that has imported everything and opened nothing: it forks one for each job.

Starting Python and importing the product takes seconds, a fork milliseconds. The vector store must
not be opened before a fork: its threads would be missing in the child. Reads a job a line from
standard input, writes what became of it to standard output; all in JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from typing import Any

import chromadb.api.rust
import chromadb.errors
import networkx
import numpy.ma
import scipy.sparse

from tests.indexing.crashes.jobs import JOBS
from tests.support.product import pagerank

IMPORTED = (chromadb, networkx, numpy.ma, scipy.sparse, pagerank)
"""What jobs would import, each for itself."""

UNFORESEEN = 70
"""The exit code of a job that raised what it should not."""


def _child(job: dict[str, Any], answer: int) -> None:
    try:
        told = JOBS[job["job"]](**job["arguments"])
        with os.fdopen(answer, "w", encoding="utf-8") as pipe:
            json.dump(told, pipe)
        # No tidying up at the end: the parent's.
        os._exit(0)
    except BaseException:  # noqa: BLE001 (it ends here, and the parent tells)
        traceback.print_exc()
        os._exit(UNFORESEEN)


def _done(job: dict[str, Any]) -> dict[str, Any]:
    started = time.monotonic()
    # No file: the disk may be full.
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        _child(job, theirs)
    os.close(theirs)
    if (after := job.get("kill_after")) is not None:
        time.sleep(after)
        os.kill(child, job.get("signal", signal.SIGKILL))
    with os.fdopen(ours, encoding="utf-8") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    told = json.loads(said) if code == 0 else None
    return {"code": code, "seconds": time.monotonic() - started, "told": told}


def main() -> None:
    for line in sys.stdin:
        sys.stdout.write(json.dumps(_done(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
