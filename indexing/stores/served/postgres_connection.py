"""Connections to a PostgreSQL server, the errors of which become ours."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from sqlalchemy import Engine, create_engine
from sqlalchemy.exc import DataError, DBAPIError
from sqlalchemy.pool import NullPool, QueuePool
from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_exponential

from notehop.config import errors
from notehop.indexing.llm.egress import Hosts, is_loopback, refusal
from notehop.indexing.stores import database
from notehop.indexing.stores.database import Result, damaged
from notehop.indexing.stores.layout import ServerCatalog

PATIENCE = 10.0
"""Seconds for which a server that does not answer is tried again: one that restarts takes a few."""

_DEFAULTS: dict[str, Any] = {
    "application_name": "notehop",
    "connect_timeout": 5,
    # Of a machine that went without a word, the system alone would tell after a quarter of an hour.
    "tcp_user_timeout": 20_000,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 2,
}
"""What a connection is made with, where the address does not say otherwise."""

_LOST_STATES = ("08", "57P01", "57P02", "57P03", "57P05", "25P03", "25P04", "25006")
"""SQLSTATEs of a connection that is gone or going: of a server that restarts, that hangs up on
transactions which last, or that became the standby of another."""

_USELESS = re.compile(
    r"authentication failed|no password supplied|password|does not exist|pg_hba\.conf"
    r"|not permitted|invalid |certificate|root\.crt",
    re.IGNORECASE,
)
"""What a server says that is no better in a second."""


class ConnectionLost(errors.IndexFailure):
    """The server went away, or cannot be reached."""


def engine_of(server: ServerCatalog, *, read_only: bool = False, alone: bool = False) -> Engine:
    """What makes connections to a server; each that leads to a host which the user did not name is
    refused with an IndexFailure.

    :param alone: keep none of them: each is a session of its own, for locks.
    :raises UsageError: if the driver is not installed.
    """
    try:
        import psycopg
        from psycopg.conninfo import conninfo_to_dict
    except ImportError as exc:
        raise errors.UsageError(
            f"{server}: the driver is not installed; run: pip install 'notehop[postgres]'"
        ) from exc
    address = server.url.replace("postgresql+psycopg://", "postgresql://", 1)

    def connect() -> Any:
        try:
            known = conninfo_to_dict(address)
            more = {name: value for name, value in _DEFAULTS.items() if name not in known}
            made = psycopg.connect(address, client_encoding="utf8", **more)
        except psycopg.ProgrammingError as exc:
            raise errors.UsageError(f"{server}: catalog.url cannot be used ({exc}); correct it") from exc
        # Whom it came to: of several hosts one, and those of the environment count too.
        host, at = made.info.host, made.info.hostaddr
        if not (host.startswith(("/", "@")) or is_loopback(at) or Hosts(server.allowed).allows(host)):
            made.close()
            raise errors.IndexFailure(str(refusal(host, "the text of your notes")))
        made.read_only = read_only
        # Short questions: to compile them takes longer. And no server hangs up on a pool.
        made.execute("SET jit = off; SET idle_session_timeout = 0")
        made.commit()
        return made

    kept: dict[str, Any] = {"poolclass": QueuePool, "pool_size": 4, "max_overflow": -1}
    return create_engine(
        "postgresql+psycopg://",
        creator=connect,
        use_native_hstore=False,
        # A transaction sees one state; in a session that is alone it follows its own locks.
        isolation_level="READ COMMITTED" if alone else "REPEATABLE READ",
        **({"poolclass": NullPool} if alone else kept),
    )


def patiently(work: Callable[[], Result], label: str) -> Result:
    """What work comes to; while its connection is lost it is tried again, for some seconds;
    ConnectionLost if it cannot be had until then."""

    def passes(exc: BaseException) -> bool:
        return is_lost(exc) and not _USELESS.search(_says(exc.__cause__ or exc))

    tries = Retrying(
        stop=stop_after_delay(PATIENCE),
        wait=wait_exponential(0.05, max=1.0),
        retry=retry_if_exception(passes),
        reraise=True,
    )
    with translated(label):
        return tries(work)


def is_lost(exc: BaseException) -> bool:
    """Whether an error, of the driver or ours, says that a connection is gone or cannot be had."""
    if isinstance(exc, ConnectionLost):
        return True
    if not isinstance(exc, DBAPIError):
        return False
    import psycopg

    state = state_of(exc)
    if state is not None:
        return state.startswith(_LOST_STATES)
    return isinstance(exc.orig, psycopg.OperationalError | psycopg.InterfaceError)


def state_of(exc: DBAPIError) -> str | None:
    """The SQLSTATE of an error; None for one that the server did not tell."""
    state: str | None = getattr(exc.orig, "sqlstate", None)
    return state


def failure(exc: Exception, label: str, *, writing: bool) -> errors.IndexFailure:
    """What an exception of SQLAlchemy or the driver is for us."""
    if not isinstance(exc, DBAPIError):
        return errors.IndexFailure(f"{label}: the database failed ({type(exc).__name__})")
    says, state = _says(exc), state_of(exc) or ""
    if state == "25006":
        return errors.IndexUnwritable(
            f"{label}: the server takes no writes ({says}); it may be a standby: name the primary "
            "in catalog.url, or both with target_session_attrs=read-write"
        )
    if is_lost(exc):
        told = " What was committed stays, nothing is half-written." if writing else ""
        return ConnectionLost(
            f"{label}: the server does not answer, or hung up ({says}); start it, or mend "
            f"catalog.url, the password (PGPASSWORD or a passfile) or the network, and try again.{told}"
        )
    if state in ("53100", "53200") or state.startswith("58"):
        return errors.IndexUnwritable(
            f"{label}: the disk or the memory of the server is full or failing ({says}); the index "
            "is as it was before. Free space there and run: notehop index"
        )
    if state == "42501":
        return errors.IndexUnwritable(
            f"{label}: not allowed ({says}); give the role the right to it: "
            "GRANT CREATE, CONNECT ON DATABASE … TO …"
        )
    if state in ("55P03", "40P01", "40001", "57014"):
        return errors.IndexLocked(f"{label}: another transaction is in the way ({says}); try again")
    if state == "54000":
        return errors.IndexUnwritable(
            f"{label}: the name of a file is too long for the index of a table ({says}); "
            "shorten it, or leave it out with vault.exclude; the index is as it was before"
        )
    if isinstance(exc, DataError):
        return errors.IndexFailure(f"{label}: a value can be neither kept nor asked ({says})")
    return damaged(label, says)


translated = partial(database.translated, failure)

_QUOTED = re.compile(r"\s*(DETAIL|CONTEXT|LINE \d+|HINT):.*", re.DOTALL)


def _says(exc: BaseException) -> str:
    """What an error says, without the rows that PostgreSQL quotes: their text is for no log."""
    orig = getattr(exc, "orig", None)
    diag = getattr(orig, "diag", None)
    said = getattr(diag, "message_primary", None) or str(orig or exc)
    return " ".join(_QUOTED.sub("", said).split())[:300]
