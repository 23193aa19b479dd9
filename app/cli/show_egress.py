"""Shows a person what went to which host.

Touches: terminal.
"""

from __future__ import annotations

from notehop.app.cli.output import headline, show, styled
from notehop.app.models import EgressCall, EgressHost, EgressReport
from notehop.indexing.shown import counted, on_one_line, shown_size, shown_time

NAMED = 3
"""Notes that are named of each call; `--json` has all of them."""


def show_egress(told: EgressReport, most: int) -> None:
    """Print the hosts, then the newest calls.

    :param most: calls that are listed.
    """
    if not told.hosts:
        show(styled("No call to a server of language models is on record."))
        show(styled((f"  {told.log}", "dim")))
        return
    away = [host for host in told.hosts if not host.local]
    if not away:
        show(styled(("Nothing left this machine.", "bold")))
    headline("Hosts")
    for host in told.hosts:
        _host(host)
    headline("Calls", f"newest first, {min(most, len(told.calls)):,} of {len(told.calls):,}")
    for call in told.calls[:most]:
        _call(call)
    show(styled((f"  all of them, with every note: --json; kept in {told.log}", "dim")))


def _host(host: EgressHost) -> None:
    name = f"{on_one_line(host.host)}{' (this machine)' if host.local else ''}"
    failed = f", {host.failed:,} failed" if host.failed else ""
    show(
        styled(
            (name, "bold"),
            f"  {counted(host.calls, 'call')}{failed}, {shown_size(host.bytes_out)} out, "
            f"{shown_size(host.bytes_in)} in",
            (f"  {shown_time(host.first)} to {shown_time(host.last)}", "dim"),
        ),
        indent=2,
    )


def _call(call: EgressCall) -> None:
    ended = "not over" if not call.over else call.error or "ok"
    took = f", {call.ms / 1000:.1f} s" if call.ms is not None else ""
    tried = f", try {call.attempt}" if call.attempt > 1 else ""
    show(
        styled(
            (f"{shown_time(call.time)}  ", "dim"),
            f"{on_one_line(call.host)}  {call.purpose}: {ended}{tried}{took}, "
            f"{shown_size(call.bytes_out)} out, {shown_size(call.bytes_in)} in",
        ),
        indent=2,
    )
    if named := _notes(call):
        show(styled((named, "dim")), indent=4)


def _notes(call: EgressCall) -> str:
    shown = [on_one_line(path) for path in call.notes[:NAMED]]
    more = len(call.notes) + call.more_notes - len(shown)
    return ", ".join([*shown, *([f"and {more:,} more"] if more else [])])
