"""What must hold of an index whose writer may have been killed."""

from __future__ import annotations

from tests.indexing.crashes.forks import Told


def check_reader(found: Told, before: Told, after: Told, where: str, *, whole: bool) -> None:
    """A reader sees what was there before a run or what is there after it, and nothing else.

    :param found: what it sees now, ``before`` and ``after`` the run (:func:`jobs.read`).
    :param whole: all of one or all of the other; else that holds of each note by itself, as runs
        in several batches write a generation for each.
    """
    if found["error"] is not None:
        # Where nothing was indexed yet, nothing need be there.
        assert before["error"] is not None, f"{where}: {found}"
        assert found["type"] == "IndexMissing", f"{where}: {found}"
        assert "run: notehop index" in found["error"], f"{where}: {found}"
        return
    # A reader of an index that was harmed already is told what is missing.
    assert found["warnings"] == [] or before.get("warnings"), where
    assert found["unknown"] == [], where
    if whole:
        seen = [found["chunks"], found["links"]]
        ends = [[told["chunks"], told["links"]] for told in (before, after)]
        assert seen in ends, f"{where}: neither the old nor the new generation"
        return
    for path in found["chunks"].keys() | after["chunks"].keys():
        seen = found["chunks"].get(path)
        ends = [told.get("chunks", {}).get(path) for told in (before, after)]
        assert seen in ends, f"{where}: {path} holds {seen}"


def differing(found: Told, expected: Told) -> list[str]:
    return [
        f"{name}\n  is:        {found.get(name)}\n  should be: {expected.get(name)}"
        for name in sorted(found.keys() | expected.keys())
        if found.get(name) != expected.get(name)
    ]
