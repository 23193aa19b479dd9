"""A Chroma server, asked by its HTTP API (version 2).

Chroma's own client waits without end for a server that hangs, and goes through the proxies of the
environment: other hosts than the one that the user allowed. It takes a second to import.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpcore
from pydantic import TypeAdapter
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from notehop.config import Settings
from notehop.config.errors import (
    CollectionMissing,
    ProviderError,
    SettingsError,
    VectorServerError,
)
from notehop.config.settings import ChromaSettings
from notehop.indexing.llm.consent import Hosts
from notehop.indexing.llm.egress import WHAT_GOES, Attempt, EgressLog, Purpose
from notehop.indexing.llm.transport import connection_pool
from notehop.indexing.stores.chroma import Rows
from notehop.indexing.stores.model import Matrix

TOKEN_VARIABLE = "NOTEHOP_CHROMA__TOKEN"

TRIES = 5
"""Times that a write is sent: a server that is started again takes some seconds."""

_CONNECT_SECONDS = 3.0

_PAGE = 5_000
"""Ids that are listed at a time."""

_QUOTED = 200
"""Characters of the server's own words that are passed on."""

Metadata = Mapping[str, str | int | float | bool]

Reply = TypeVar("Reply")


class _Retryable(VectorServerError):
    """What may well be taken when it is sent again."""


class ServerFailed(_Retryable):
    """The server took the request, and failed at it."""


@dataclass(frozen=True, slots=True)
class ServerCollection:
    """A collection of a server: its id, which no other one ever has, and what is written on it."""

    id: str
    name: str
    metadata: Metadata | None = None


class ChromaServer:
    """The server of the settings. Threads may share it; nothing is connected to before it is asked."""

    def __init__(self, settings: Settings, log_dir: Path, seconds: float) -> None:
        """:param log_dir: what goes to it is written down there, in the folder of the index.
        :param seconds: that an answer may take.

        :raises SettingsError: if the token cannot be sent.
        """
        self.settings = settings.chroma
        parts = urlsplit(self.settings.url)
        self.origin = parts.netloc
        self._seconds = seconds
        self._hosts = Hosts(settings.privacy.allow_hosts, address="chroma.url")
        self._log = EgressLog(log_dir)
        self._host = (parts.hostname or "").rstrip(".")
        secure = parts.scheme == "https"
        self._port = parts.port or (443 if secure else 80)
        self._token = _checked_token(self.settings)
        self._pool = connection_pool(self._hosts, secure=secure, reply_s=seconds)

    def close(self) -> None:
        """Let go of the connections; another request makes new ones."""
        self._pool.close()

    def collection(self, name: str) -> ServerCollection | None:
        """The collection of a name; None if there is none."""
        try:
            return self._ask(ServerCollection, "GET", f"/collections/{name}")
        except CollectionMissing:
            return None

    def create(self, name: str, graph: Metadata, metadata: Metadata) -> ServerCollection:
        """Make a collection, which must not be there.

        :param graph: the parameters of its HNSW graph.
        """
        made = {"name": name, "metadata": metadata, "configuration": {"hnsw": graph}}
        return self._ask(ServerCollection, "POST", "/collections", made)

    def drop(self, name: str) -> None:
        """Delete a collection; nothing if there is none."""
        with suppress(CollectionMissing):
            self._write("DELETE", f"/collections/{name}")

    def annotate(self, collection: ServerCollection, metadata: Metadata) -> ServerCollection:
        """Write on a collection, in the place of what stood there."""
        self._write("PUT", f"/collections/{collection.id}", {"new_metadata": metadata})
        return replace(collection, metadata=metadata)

    def count(self, collection: ServerCollection) -> int:
        return self._ask(int, "GET", f"/collections/{collection.id}/count")

    def ids(self, collection: ServerCollection) -> list[str]:
        """The ids of all its rows."""
        found: list[str] = []
        while True:
            asked = {"include": [], "limit": _PAGE, "offset": len(found)}
            path = f"/collections/{collection.id}/get"
            page = self._ask(list[str], "POST", path, asked, key="ids")
            found += page
            if len(page) < _PAGE:
                return found

    def upsert(self, collection: ServerCollection, rows: Rows) -> None:
        """Write rows, in the place of those of the same ids; sent again where that may help."""
        payload = {
            "ids": rows.ids,
            # Half as long as numbers, and there and back in no time.
            "embeddings": [b64encode(row.astype("<f4").tobytes()).decode() for row in rows.vectors],
            "documents": rows.texts,
            "metadatas": rows.metadatas,
        }
        notes = [str(about["path"]) for about in rows.metadatas]
        self._write("POST", f"/collections/{collection.id}/upsert", payload, notes=notes)

    def delete(self, collection: ServerCollection, ids: Sequence[str]) -> None:
        """Delete rows; those that are not there are passed over."""
        self._write("POST", f"/collections/{collection.id}/delete", {"ids": list(ids)})

    def nearest(self, collection: ServerCollection, queries: Matrix, count: int) -> list[list[str]]:
        """The ids of about the ``count`` nearest rows to each query, nearest first.

        :param queries: shape (queries, dimensions).
        """
        asked = {
            # Numbers as Python reads them: the server takes no other form of a query.
            "query_embeddings": queries.astype(float).round(8).tolist(),
            "n_results": count,
            "include": [],
        }
        path = f"/collections/{collection.id}/query"
        found = self._ask(list[list[str]], "POST", path, asked, key="ids", purpose="search")
        if len(found) != len(queries):
            raise self._unreadable()
        return found

    def announcement(self) -> str | None:
        """What to tell who has texts sent there for the first time; None for this machine.

        :raises VectorServerError: if the host was not allowed.
        """
        try:
            local = self._hosts.admit(self._host, self._port, WHAT_GOES["mirror"])
        except ProviderError as exc:
            raise VectorServerError(str(exc)) from exc
        if local or self._log.knows(self._host, "mirror"):
            return None
        openly = ""
        if self.settings.url.startswith("http:"):
            openly = (
                ". They go over plain http: whoever is on the way can read them; write https:// in "
                "chroma.url if it can be asked so"
            )
        return (
            f"{self._host} (Chroma) now gets {WHAT_GOES['mirror']}, with this run and with those to "
            f"come{openly}; this is said once (notehop status --egress lists what "
            "was sent)"
        )

    def _write(
        self, method: str, path: str, payload: Any = None, notes: Sequence[str] = ()
    ) -> None:
        tries = Retrying(
            stop=stop_after_attempt(TRIES),
            wait=wait_random_exponential(0.5, max=10.0),
            retry=retry_if_exception_type(_Retryable),
            reraise=True,
        )
        for attempt in tries:
            with attempt:
                number = attempt.retry_state.attempt_number
                self._reply(method, path, payload, "mirror", notes, number)

    def _ask(
        self,
        kind: type[Reply],
        method: str,
        path: str,
        payload: Any = None,
        *,
        key: str | None = None,
        purpose: Purpose = "mirror",
    ) -> Reply:
        """What comes back, or what it has under a key."""
        reply = self._reply(method, path, payload, purpose)
        try:
            found = json.loads(reply)
            return TypeAdapter(kind).validate_python(found if key is None else found[key])
        except (ValueError, KeyError, TypeError) as exc:
            raise self._unreadable() from exc

    def _reply(
        self,
        method: str,
        path: str,
        payload: Any,
        purpose: Purpose,
        notes: Sequence[str] = (),
        number: int = 1,
    ) -> bytes:
        """What comes back; what goes to another machine, or holds texts, is written down before."""
        content = b"" if payload is None else json.dumps(payload, ensure_ascii=False).encode()
        attempt: Attempt | None = None
        try:
            local = self._hosts.admit(self._host, self._port, WHAT_GOES[purpose])
            # Else nothing of the vault goes with it; or it is a search on this machine.
            if content and (notes or not local):
                attempt = self._log.begin(
                    host=self._host,
                    local=local,
                    provider="chroma",
                    model="",
                    purpose=purpose,
                    notes=tuple(dict.fromkeys(notes)),
                    bytes_out=len(content),
                    attempt=number,
                )
            status, reply = self._sent(method, path, content)
        except BaseException as exc:
            if attempt is not None:
                attempt.end(error="refused" if isinstance(exc, _Retryable) else "other")
            if isinstance(exc, ProviderError):
                raise VectorServerError(str(exc)) from exc
            raise
        if attempt is not None:
            failed = "server" if status >= 300 else None
            attempt.end(status=status, bytes_in=len(reply), error=failed)
        if status >= 300:
            raise self._refusal(status, reply, path)
        return reply

    def _sent(self, method: str, path: str, content: bytes) -> tuple[int, bytes]:
        """Status and body of the reply."""
        about, seconds = self.settings, self._seconds
        url = f"{about.url}/api/v2/tenants/{about.tenant}/databases/{about.database}{path}"
        headers: dict[bytes | str, bytes | str] = {
            "content-type": "application/json",
            "accept-encoding": "identity",
            "user-agent": "notehop",
        }
        if self._token:
            headers |= {"authorization": f"Bearer {self._token}", "x-chroma-token": self._token}
        wait = {"connect": _CONNECT_SECONDS, "read": seconds, "write": seconds, "pool": seconds}
        cause: Exception
        try:
            response = self._pool.request(
                method, url, headers=headers, content=content, extensions={"timeout": wait}
            )
            return response.status, response.content
        except (httpcore.ConnectError, httpcore.ConnectTimeout) as exc:
            reason = " ".join(str(exc).split())[:_QUOTED] or f"none in {_CONNECT_SECONDS:g} s"
            failed = f"takes no connection ({reason}); start it (chroma run --path FOLDER), or "
            problem, cause = failed + "correct chroma.url", exc
        except httpcore.TimeoutException as exc:
            problem, cause = f"did not answer within {seconds:g} s; see whether it is well", exc
        except (httpcore.NetworkError, httpcore.ProtocolError) as exc:
            problem, cause = "broke the connection off; see whether it is well", exc
        raise _Retryable(f"{self.origin}: the Chroma server {problem}") from cause

    def _refusal(self, status: int, reply: bytes, path: str) -> VectorServerError:
        where, quoted = f"{self.origin}: the Chroma server", self._quoted(reply)
        if status in (401, 403):
            do = f"check {TOKEN_VARIABLE}" if self._token else f"set {TOKEN_VARIABLE}"
            return VectorServerError(f"{where} does not let notehop in (status {status}); {do}")
        if status < 400:
            return VectorServerError(
                f"{where} wants the text sent elsewhere (status {status}), which is not done; set "
                "chroma.url to the address that answers itself"
            )
        if status == 404 and path.startswith("/collections/"):
            return CollectionMissing(f"{where} has no such collection{quoted}")
        if status == 404:
            return VectorServerError(
                f"{where} does not know this (status 404){quoted}; check chroma.url, chroma.tenant "
                "and chroma.database"
            )
        if status >= 500 or status in (408, 409, 425, 429):
            # Of these, 500 alone is what a graph that does not load any more is told by.
            failed = ServerFailed if status == 500 else _Retryable
            return failed(f"{where} could not do it (status {status}){quoted}; see what it logs")
        return VectorServerError(f"{where} refuses this (status {status}){quoted}")

    def _quoted(self, reply: bytes) -> str:
        text = reply[: 64 * _QUOTED].decode("utf-8", "replace")
        try:
            text = str(json.loads(text).get("message", ""))
        except (ValueError, AttributeError):
            text = "" if text.lstrip().startswith("<") else text
        if self._token:
            text = text.replace(self._token, "(not shown)")
        line = " ".join(text.split())[:_QUOTED]
        return f": {line}" if line else ""

    def _unreadable(self) -> VectorServerError:
        return VectorServerError(
            f"{self.origin}: gave an answer that no Chroma server gives (API version 2); check "
            "chroma.url"
        )


def _checked_token(settings: ChromaSettings) -> str:
    token = settings.token.get_secret_value() if settings.token is not None else ""
    if not token.isascii() or not (token.isprintable() or not token) or " " in token:
        raise SettingsError(
            f"{TOKEN_VARIABLE}: the token holds a space or a sign that cannot be sent; set it again"
        )
    return token
