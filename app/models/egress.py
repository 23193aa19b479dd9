"""Which language model is set, and what went to which host."""

from __future__ import annotations

from notehop.app.models.base import Strict


class LanguageModelNow(Strict):
    """The language model that the settings name; nothing was asked to tell this.

    ``host`` is None for a model in this process. ``local``: it is this machine, as far as its name
    says. ``allowed``: it may get text, being local or named by ``privacy.allow_hosts``. ``problem``
    says what stands in the way of asking it.
    """

    provider: str
    model: str
    host: str | None
    local: bool
    allowed: bool
    problem: str | None


class EgressHost(Strict):
    """What went to a host, as far as the log goes back. Times are in seconds since the epoch.

    ``calls`` counts every try, ``failed`` those that brought no whole answer. ``bytes_out`` and
    ``bytes_in`` are those of texts, without what HTTP puts around them.
    """

    host: str
    local: bool
    calls: int
    failed: int
    bytes_out: int
    bytes_in: int
    first: float
    last: float


class EgressCall(Strict):
    """One try of a call. ``time`` is in seconds since the epoch, ``ms`` what it took.

    ``purpose``: ``answer``, ``condense``, ``summary``, ``header``, ``themes`` or ``other``.
    ``notes`` are paths in the vault, ``more_notes`` how many more there were. ``status`` is that of
    HTTP. ``error`` is a kind of provider's error; None if it brought a whole answer. Where ``over``
    is false, it goes on, or its process died.
    """

    time: float
    host: str
    local: bool
    provider: str
    model: str
    purpose: str
    attempt: int
    bytes_out: int
    bytes_in: int
    notes: list[str]
    more_notes: int
    over: bool
    status: int | None
    ms: int | None
    error: str | None


class EgressReport(Strict):
    """What the egress log of an index says: ``hosts`` by what they got, ``calls`` newest first."""

    log: str
    hosts: list[EgressHost]
    calls: list[EgressCall]
