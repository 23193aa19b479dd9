"""What leaves this machine: to whom it may go, why a model or a server is asked and with which notes, and
the log of it.

This machine is a loopback address, or ``localhost``, which nobody else is asked about. Any other name
may lead elsewhere a moment later, so that it is named by the user, wherever it leads now.

The log lies beside the index, in JSON lines, and is only ever added to. A call
is written down before its first byte is sent, and again when it is over, so that a crash leaves it in
the log. What goes to another machine and cannot be written down is not sent. Never in it: text of
notes or answers, keys.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Any, Literal, TypeVar

from filelock import FileLock, Timeout

from notehop.config import user_config_file
from notehop.config.errors import ProviderError

T = TypeVar("T")

Purpose = Literal["answer", "condense", "summary", "header", "embedding", "mirror", "search", "other"]

WHAT_GOES: dict[Purpose, str] = {
    "answer": "the question, the passages of the sources and the connected notes",
    "condense": "the conversation so far and the question",
    "summary": "the text of notes",
    "header": "the text of notes",
    "embedding": "the passages of your notes",
    "mirror": "the passages of your notes and their vectors",
    "search": "the vectors of your questions",
    "other": "text of your notes",
}
"""What is sent, by what it is sent for."""


@dataclass(slots=True)
class Sending:
    """Why a model is called, and with which notes; what is told of the calls comes in as they are.

    ``notices`` are for the user who waits for the reply: which host gets text for the first time,
    that an answer was cut off.
    """

    purpose: Purpose = "other"
    notes: tuple[str, ...] = ()
    notices: list[str] = field(default_factory=list)

    def notice(self, text: str) -> None:
        """Tell the user; what was told already is not told twice."""
        if text not in self.notices:
            self.notices.append(text)


SENDING: ContextVar[Sending | None] = ContextVar("notehop_sending", default=None)

UNWANTED: ContextVar[Callable[[], bool] | None] = ContextVar("notehop_unwanted", default=None)
"""Says whether nobody waits any more for the work that is under way."""

OPENED: ContextVar[Any] = ContextVar("notehop_opened", default=None)
"""The answer that came in last, for who must close it: libraries keep it open."""


@contextmanager
def holding(variable: ContextVar[T], value: T) -> Iterator[None]:
    """Have a context variable hold a value in the body."""
    before = variable.get()
    variable.set(value)
    try:
        yield
    finally:
        # Not by a token: a generator may be closed in another context than it was started in.
        variable.set(before)


@contextmanager
def sending(
    notes: Iterable[str], *, purpose: Purpose, cancelled: Callable[[], bool] | None = None
) -> Iterator[Sending]:
    """Name the notes whose text the calls of the body carry; what is told of them is in the result.

    :param notes: paths in the vault.
    :param cancelled: a call ends with a :class:`ProviderError` of the kind ``cancelled`` soon after
        this says so; None: what :data:`UNWANTED` says, if anything.
    """
    now = Sending(purpose, tuple(dict.fromkeys(notes)))
    with holding(SENDING, now), holding(UNWANTED, cancelled or UNWANTED.get()):
        yield now


def check_wanted() -> None:
    """:raises ProviderError: ``cancelled``, if nobody waits any more."""
    unwanted = UNWANTED.get()
    if unwanted is not None and unwanted():
        raise ProviderError("the answer is not waited for any more", "cancelled")


_log = logging.getLogger(__name__)

NAME = "egress.jsonl"
FORMER = "egress.former.jsonl"

LARGEST = 2_000_000
"""Bytes after which a new file is begun, and the one before the last is thrown away."""

MOST_NOTES = 200  # notes that one line names; how many more there were is told

_APPEND = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)

_PATIENCE = 2.0  # seconds to wait for another process to have written its line


class EgressLog:
    """The log of one index. Threads and processes may share its folder."""

    def __init__(self, folder: Path, largest: int = LARGEST) -> None:
        """Touch nothing yet."""
        self.folder = folder
        self.file = folder / NAME
        self._largest = largest
        self._lock = threading.Lock()

    def begin(self, *, host: str, local: bool, notes: Sequence[str], **call: Any) -> Attempt:
        """Write down that a request is sent. Raises ProviderError if it goes to another machine and
        cannot be written down.

        :param call: provider, model, purpose, the number of the attempt, bytes_out.
        """
        name = secrets.token_hex(8)
        line = {"id": name, "time": round(time.time(), 3), "host": host, "local": local, **call}
        line["notes"] = list(notes[:MOST_NOTES])
        line["more_notes"] = max(0, len(notes) - MOST_NOTES)
        try:
            self.append(line)
        except (OSError, Timeout) as exc:
            if not local:
                why = getattr(exc, "strerror", None) or exc
                raise ProviderError(
                    f"{self.file}: cannot be written ({why}), so nothing is sent to {host}: what "
                    "leaves this machine is written down first; free space or mend the permissions"
                ) from exc
            _log.debug("%s: not written: %s", self.file, exc)
        return Attempt(self, name)

    def announcement(
        self, host: str, purpose: Purpose, who: str, url: str, setting: str, keyed: bool = False
    ) -> str | None:
        """What to tell the user before another machine gets text for this purpose for the first time,
        as far as the log goes back.

        :param who: what is behind the host.
        :param setting: the one that holds its address.
        :param keyed: whether a key goes along.
        """
        for line in self.lines():
            if (line.get("host"), line.get("purpose")) == (host, purpose) and not line.get("local"):
                return None
        openly = ""
        if url.startswith("http:"):
            key = ", and with them your key" if keyed else ""
            openly = (
                f". They go over plain http: whoever is on the way can read them{key}. Write "
                f"https:// in {setting} if it can be asked so"
            )
        return (
            f"{host} ({who}) now gets {WHAT_GOES[purpose]}, with this call and with those to come"
            f"{openly}; this is said once (notehop status --egress lists them)"
        )

    def lines(self) -> Iterator[dict[str, Any]]:
        """Every line, oldest first; what is no line of ours is passed over."""
        for name in (FORMER, NAME):
            try:
                text = (self.folder / name).read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            # A name may hold what splitlines() takes for the end of a line, and JSON does not.
            for line in text.split("\n"):
                with suppress(ValueError, RecursionError):
                    record = json.loads(line)
                    if isinstance(record, dict) and isinstance(record.get("id"), str):
                        yield record

    def append(self, line: Mapping[str, Any]) -> None:
        """Write a line. Raises OSError if the disk refuses; ``filelock.Timeout`` if another process
        does not end."""
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
        data = text.encode("utf-8", "backslashreplace") + b"\n"
        with self._lock, FileLock(self.folder / "egress.lock", timeout=_PATIENCE, mode=0o600):
            with suppress(FileNotFoundError):
                if self.file.stat().st_size + len(data) > self._largest:
                    self.file.replace(self.folder / FORMER)
            with open(os.open(self.file, _APPEND, 0o600), "r+b", buffering=0) as stream:  # noqa: PTH123
                # A line that a crash left half is ended first.
                if stream.seek(0, os.SEEK_END):
                    stream.seek(-1, os.SEEK_END)
                    if stream.read(1) != b"\n":
                        data = b"\n" + data
                if stream.write(data) != len(data):
                    raise OSError(28, "no space left on device")


class Attempt:
    """A request that was written down; its end is written once."""

    def __init__(self, log: EgressLog, name: str) -> None:
        self._log = log
        self._name = name
        self._started = time.monotonic()
        self._over = threading.Lock()

    def end(self, *, status: int | None = None, bytes_in: int = 0, error: str | None = None) -> None:
        """Write down how it ended; only the first word counts."""
        if not self._over.acquire(blocking=False):
            return
        record = {
            "id": self._name,
            "ended": round(time.time(), 3),
            "ms": round((time.monotonic() - self._started) * 1000),
            "status": status,
            "bytes_in": bytes_in,
            "error": error,
        }
        try:
            self._log.append(record)
        except (OSError, Timeout) as exc:
            _log.debug("%s: not written: %s", self._log.file, exc)


class Hosts:
    """Decides which hosts may get text: this machine, and those that the user named."""

    def __init__(self, allowed: Iterable[str]) -> None:
        """:param allowed: host names and addresses, as the setting has them."""
        self._allowed = frozenset(_plain(host) for host in allowed)

    def admit(self, host: str, what: str) -> bool:
        """Let what would be sent go to a host; whether that is this machine. Raises ProviderError
        (``consent``) if it is another one that the user did not name."""
        here = names_this_machine(host)
        if not (here or self.allows(host)):
            raise refusal(host, what)
        return here

    def allows(self, host: str) -> bool:
        """Whether the user named a host."""
        return _plain(host) in self._allowed


def is_loopback(address: str) -> bool:
    """Whether an address is one of this machine's own: 127.0.0.0/8 and ::1."""
    ip = _address(address)
    if isinstance(ip, IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    return ip is not None and ip.is_loopback


def names_this_machine(host: str) -> bool:
    """Whether a host is this machine: a loopback address, or a name of one (RFC 6761)."""
    plain = _plain(host)
    return is_loopback(plain) or plain == "localhost" or plain.endswith(".localhost")


def refusal(host: str, what: str) -> ProviderError:
    """The error for a host that may get nothing, with what it would have got."""
    hint = "; write 127.0.0.1 for this machine" if host in ("0.0.0.0", "::") else ""
    return ProviderError(
        f"{host} is not this machine and would get {what}; nothing was sent. To allow it, name it "
        f'in {user_config_file()}: [privacy] allow_hosts = ["{host}"]{hint}',
        "consent",
    )


def _plain(host: str) -> str:
    return host.strip().strip("[]").rstrip(".").lower()


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host.partition("%")[0])
    except ValueError:
        return None
