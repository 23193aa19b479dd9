"""Replies that are compared with those on record; ``make record`` writes the record anew."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Compare = Callable[[str, dict[str, Any]], None]

HERE = Path(__file__).parent


@pytest.fixture
def compare(request: pytest.FixtureRequest) -> Compare:
    """Hold replies by name against the record of a name: one line of JSON a reply."""

    def check(record: str, replies: dict[str, Any]) -> None:
        file = HERE / f"{record}.jsonl"
        replies = json.loads(json.dumps(replies))
        if request.config.getoption("--record"):
            lines = [
                json.dumps({"name": name, "reply": reply}, ensure_ascii=False, sort_keys=True)
                for name, reply in replies.items()
            ]
            file.write_text("\n".join(lines) + "\n", encoding="utf-8")
            return
        told = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        recorded = {one["name"]: one["reply"] for one in told}
        other = {name for name in replies if replies[name] != recorded.get(name)}
        other |= recorded.keys() - replies.keys()
        shown = "\n".join(
            f"{name}\n  on record: {recorded.get(name)}\n  now:       {replies.get(name)}"
            for name in sorted(other)[:5]
        )
        assert not other, (
            f"{len(other)} of {len(recorded)} replies are not those on record ({file.name}); "
            f"if they shall be, run: make record\n{shown}"
        )

    return check
