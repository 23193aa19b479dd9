"""How much of a status is told over HTTP.

The names of notes that are kept out may be as private as their texts, so nobody is told them here:
``notehop status`` tells them to the owner. Paths of this machine are for this machine only.
"""

from __future__ import annotations

from typing import Any

from notehop.app.models import IndexStatus


def seen(status: IndexStatus, *, from_here: bool) -> IndexStatus:
    """A status as a client may see it; the counts stay.

    :param from_here: whether the client is on this machine.
    """
    told: dict[str, Any] = {"skipped": []}
    if not from_here:
        told |= {
            "vault": status.name,
            "index_dir": "",
            "settings_file": "",
            "shared_model": None,
            "settings": {},
            "problem": status.problem and "the settings in force cannot use the index",
            # Nobody has read them: they may be private.
            "failed": [
                one.model_copy(update={"path": "", "reason": "it failed"}) for one in status.failed
            ],
            "passed_over": [],
            "writer": None,
            "server": None,
            "llm": None,
            "egress": [],
        }
        if status.watcher is not None:
            blank: dict[str, Any] = {"pid": 0, "host": "", "command": "", "detail": None}
            told["watcher"] = status.watcher.model_copy(update=blank)
        if status.last_run is not None and status.last_run.error is not None:
            told["last_run"] = status.last_run.model_copy(update={"error": "it failed"})
        if (enriched := status.enrichment) is not None:
            # The reasons name hosts and files.
            why = "it was stopped" if enriched.stopped is not None else None
            failed = [one.model_copy(update={"reason": "it failed"}) for one in enriched.failed]
            told["enrichment"] = enriched.model_copy(update={"stopped": why, "failed": failed})
    return status.model_copy(update=told)
