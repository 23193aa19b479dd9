"""Which language model is set, whether it may be asked, and what went to which host.

Touches: index (reads the egress log), network (looks ``localhost`` up).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from notehop.app.models import EgressCall, EgressHost, EgressReport, LanguageModelNow
from notehop.app.services.place import Place
from notehop.config import Settings
from notehop.config.errors import ProviderError
from notehop.indexing.llm.asked import host_of
from notehop.indexing.llm.consent import Hosts, names_this_machine, refusal
from notehop.indexing.llm.egress_log import EgressLog
from notehop.indexing.llm.load import address, asked_of
from notehop.indexing.stores.layout import IndexLayout

SHOWN = 20
"""Calls that a person is shown."""


def egress_report(place: Place, most: int | None = None) -> EgressReport:
    """Say what went where from an index.

    :param most: calls that are listed at most; None: all that the log has.
    """
    log = EgressLog(place.layout.root)
    calls = _calls(log)
    newest = calls[::-1] if most is None else calls[::-1][:most]
    return EgressReport(log=str(log.file), hosts=_hosts(calls), calls=newest)


def egress_hosts(layout: IndexLayout) -> list[EgressHost]:
    """The hosts that got something from an index, those with most first."""
    return _hosts(_calls(EgressLog(layout.root)))


def language_model_now(settings: Settings) -> LanguageModelNow | None:
    """The language model of the settings; None if they name none. Nothing of it is loaded."""
    llm = settings.llm
    if llm.provider == "none":
        return None
    url = address(llm)
    host = host_of(url) if url else None
    local = host is None or names_this_machine(host)
    allowed = local or host is None or Hosts(settings.privacy.allow_hosts).allows(host)
    problem = None
    try:
        asked_of(settings)
        if not allowed and host is not None:
            raise refusal(host, "your questions with passages of your notes")
    except ProviderError as exc:
        problem = str(exc)
    return LanguageModelNow(
        provider=llm.provider,
        model=llm.model,
        host=host,
        local=local,
        allowed=allowed,
        problem=problem,
    )


def _calls(log: EgressLog) -> list[EgressCall]:
    """The calls of a log, oldest first; each stands there when it begins and when it ends."""
    found: dict[str, dict[str, Any]] = {}
    for line in log.lines():
        name = line["id"]
        if "host" in line:
            found[name] = line
        elif name in found:
            found[name] = {**found[name], **line, "over": True}
    return [_call(line) for line in found.values()]


def _call(line: dict[str, Any]) -> EgressCall:
    return EgressCall(
        time=_number(line.get("time")),
        host=str(line.get("host")),
        local=line.get("local") is True,
        provider=str(line.get("provider")),
        model=str(line.get("model")),
        purpose=str(line.get("purpose")),
        attempt=int(_number(line.get("attempt"))),
        bytes_out=int(_number(line.get("bytes_out"))),
        bytes_in=int(_number(line.get("bytes_in"))),
        notes=[str(path) for path in line.get("notes") or ()],
        more_notes=int(_number(line.get("more_notes"))),
        over=line.get("over") is True,
        status=line.get("status") if isinstance(line.get("status"), int) else None,
        ms=line.get("ms") if isinstance(line.get("ms"), int) else None,
        error=line.get("error") if isinstance(line.get("error"), str) else None,
    )


def _hosts(calls: Iterable[EgressCall]) -> list[EgressHost]:
    by_host: dict[tuple[str, bool], list[EgressCall]] = {}
    for call in calls:
        by_host.setdefault((call.host, call.local), []).append(call)
    hosts = [
        EgressHost(
            host=host,
            local=local,
            calls=len(made),
            failed=sum(call.error is not None for call in made),
            bytes_out=sum(call.bytes_out for call in made),
            bytes_in=sum(call.bytes_in for call in made),
            first=min(call.time for call in made),
            last=max(call.time for call in made),
        )
        for (host, local), made in by_host.items()
    ]
    # What left the machine comes first.
    return sorted(hosts, key=lambda one: (one.local, -one.bytes_out, one.host))


def _number(value: Any) -> float:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0
