"""How much of a status goes to another machine."""

from __future__ import annotations

from notehop.app.api.seen import seen
from notehop.app.models import EgressHost, EnrichmentNow, LanguageModelNow
from notehop.app.models.status import NotWritten
from tests.app.api.fake_vault import STATUS

HOST = EgressHost(
    host="gpu.lan", local=False, calls=1, failed=0, bytes_out=1, bytes_in=1, first=1.0, last=1.0
)
MODEL = LanguageModelNow(
    provider="ollama", model="m", host="gpu.lan", local=False, allowed=True, problem=None
)


def test_where_the_language_model_is_stays_here() -> None:
    status = STATUS.model_copy(update={"llm": MODEL, "egress": [HOST]})
    assert seen(status, from_here=True).egress == [HOST]
    assert seen(status, from_here=True).llm == MODEL
    told = seen(status, from_here=False)
    assert (told.llm, told.egress) == (None, [])


def test_why_something_was_not_written_stays_here() -> None:
    failed = NotWritten(path="a.md", kind="summary", reason="gpu.lan says no", tries=1)
    now = EnrichmentNow(texts=[], failed=[failed], stopped="gpu.lan is down", at=1.0)
    status = STATUS.model_copy(update={"enrichment": now})
    assert seen(status, from_here=True).enrichment == now
    told = seen(status, from_here=False).enrichment
    assert told is not None
    assert "gpu.lan" not in told.model_dump_json()
    assert [one.path for one in told.failed] == ["a.md"]
