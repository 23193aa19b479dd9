"""A Chroma server, asked by its HTTP API (version 2).

Chroma's own client waits without end for a server that hangs, and goes through the proxies of the
environment: other hosts than the one that the user allowed. It takes a second to import.
"""

from __future__ import annotations

import json
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpcore
from pydantic import TypeAdapter
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from notehop.config import Settings
from notehop.config.errors import CollectionMissing, ProviderError, SettingsError, VectorServerError
from notehop.indexing.llm.egress import WHAT_GOES, Attempt, EgressLog, Hosts, Purpose
from notehop.indexing.llm.transport import connection_pool
from notehop.indexing.stores.chroma import Rows
from notehop.indexing.stores.rows import Matrix

TOKEN_VARIABLE = "NOTEHOP_CHROMA__TOKEN"

TRIES = 5  # times that a write is sent: a server that is started again takes some seconds

SEARCH_S = 5.0  # that a search waits for candidates; then every vector is compared
_CONNECT_SECONDS = 3.0
_FRESH = 1.0  # that searches believe what the server said of a collection

_PAGE = 5_000  # ids that are listed at a time
_QUOTED = 200  # characters of the server's own words that are passed on

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

    @property
    def path(self) -> str:
        return f"/collections/{self.id}"


class ChromaServer:
    """The server of the settings. Threads may share it; nothing is connected to before it is asked.

    Each method raises VectorServerError if the server may not be asked, cannot be reached, or refuses.
    """

    def __init__(self, settings: Settings, log_dir: Path, seconds: float, *, rest: float = 5.0) -> None:
        """:param log_dir: folder of the index, where it is written down what goes to it.
        :param seconds: that an answer may take.
        :param rest: seconds that searches leave it alone when it could not be asked.
        :raises SettingsError: if the token cannot be sent.
        """
        about = self.settings = settings.chroma
        parts = urlsplit(about.url)
        self.origin = parts.netloc
        self._host = (parts.hostname or "").rstrip(".")
        self._seconds, self._rest = seconds, rest
        self._hosts = Hosts(settings.privacy.allow_hosts)
        self._log = EgressLog(log_dir)
        token = self._token = about.token.get_secret_value() if about.token is not None else ""
        if token and not (token.isascii() and token.isprintable() and " " not in token):
            raise SettingsError(
                f"{TOKEN_VARIABLE}: the token holds a space or a sign that cannot be sent; set it again"
            )
        self._pool = connection_pool(secure=parts.scheme == "https", reply_s=seconds)
        self._known: tuple[float, ServerCollection] | None = None
        self._down: tuple[float, VectorServerError] | None = None

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
        """Make a collection, which must not be there, with these parameters of its HNSW graph."""
        made = {"name": name, "metadata": metadata, "configuration": {"hnsw": graph}}
        return self._ask(ServerCollection, "POST", "/collections", made)

    def drop(self, name: str) -> None:
        """Delete a collection; nothing if there is none."""
        with suppress(CollectionMissing):
            self._write("DELETE", f"/collections/{name}")

    def annotate(self, collection: ServerCollection, metadata: Metadata) -> ServerCollection:
        """Write on a collection, in the place of what stood there."""
        self._write("PUT", collection.path, {"new_metadata": metadata})
        return replace(collection, metadata=metadata)

    def count(self, collection: ServerCollection) -> int:
        return self._ask(int, "GET", f"{collection.path}/count")

    def ids(self, collection: ServerCollection, documents: Sequence[str] | None = None) -> list[str]:
        """The ids of its rows: all, or those whose ``document_id`` is one of these."""
        found: list[str] = []
        where = {} if documents is None else {"where": {"document_id": {"$in": list(documents)}}}
        while True:
            asked = {"include": [], "limit": _PAGE, "offset": len(found), **where}
            page = self._ask(list[str], "POST", f"{collection.path}/get", asked, key="ids")
            found += page
            if len(page) < _PAGE:
                return found

    def upsert(self, collection: ServerCollection, rows: Rows) -> None:
        """Write rows, in the place of those of the same ids; sent again where that may help."""
        # Half as long as numbers, and there and back in no time.
        vectors = [b64encode(row.astype("<f4").tobytes()).decode() for row in rows["embeddings"]]
        notes = [str(about["path"]) for about in rows["metadatas"]]
        self._write("POST", f"{collection.path}/upsert", {**rows, "embeddings": vectors}, notes)

    def delete(self, collection: ServerCollection, ids: Sequence[str]) -> None:
        """Delete rows; those that are not there are passed over."""
        self._write("POST", f"{collection.path}/delete", {"ids": list(ids)})

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
        path = f"{collection.path}/query"
        found = self._ask(list[list[str]], "POST", path, asked, key="ids", purpose="search")
        if len(found) != len(queries):
            raise self._unreadable()
        return found

    def known_collection(self, name: str) -> ServerCollection:
        """The collection of a name as it was a moment ago or later, for searches; CollectionMissing
        if there is none."""
        known = self._known
        if known is None or known[1].name != name or time.monotonic() - known[0] >= _FRESH:
            with self._searching():
                found = self.collection(name)
                if found is None:
                    raise CollectionMissing(
                        f"{self.origin}: the Chroma server holds nothing of this index yet; "
                        "run: notehop index"
                    )
            known = self._known = time.monotonic(), found
        return known[1]

    def candidates(self, collection: ServerCollection, query: Matrix, count: int) -> list[str]:
        """The ids of about the ``count`` nearest rows to a query, nearest first, for searches."""
        with self._searching():
            return self.nearest(collection, query[None, :], count)[0]

    @contextmanager
    def _searching(self) -> Iterator[None]:
        """Ask nothing of a server that was down a moment ago."""
        down = self._down
        if down is not None and time.monotonic() < down[0]:
            raise VectorServerError(str(down[1]))
        try:
            yield
        except VectorServerError as exc:
            self._known = None
            # One that is not there was asked in no time, and may be there in a moment.
            gone = isinstance(exc, CollectionMissing)
            self._down = None if gone else (time.monotonic() + self._rest, exc)
            raise
        self._down = None

    def announcement(self) -> str | None:
        """What to tell who has texts sent there for the first time; None for this machine."""
        try:
            local = self._hosts.admit(self._host, WHAT_GOES["mirror"])
        except ProviderError as exc:
            raise VectorServerError(str(exc)) from exc
        if local:
            return None
        url = self.settings.url
        return self._log.announcement(self._host, "mirror", "Chroma", url, "chroma.url")

    def _write(self, method: str, path: str, payload: Any = None, notes: Sequence[str] = ()) -> None:
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
            local = self._hosts.admit(self._host, WHAT_GOES[purpose])
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
        try:
            response = self._pool.request(
                method, url, headers=headers, content=content, extensions={"timeout": wait}
            )
            return response.status, response.content
        except (httpcore.ConnectError, httpcore.ConnectTimeout) as exc:
            problem = (
                f"takes no connection ({' '.join(str(exc).split())[:_QUOTED] or 'it takes too long'}); "
                "start it (chroma run --path FOLDER), or correct chroma.url"
            )
            raise _Retryable(f"{self.origin}: the Chroma server {problem}") from exc
        except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError) as exc:
            late = isinstance(exc, httpcore.TimeoutException)
            problem = f"did not answer within {seconds:g} s" if late else "broke the connection off"
            raise _Retryable(f"{self.origin}: the Chroma server {problem}; see whether it is well") from exc

    def _refusal(self, status: int, reply: bytes, path: str) -> VectorServerError:
        text = reply[: 64 * _QUOTED].decode("utf-8", "replace")
        try:
            text = str(json.loads(text).get("message", ""))
        except (ValueError, AttributeError):
            text = "" if text.lstrip().startswith("<") else text
        if self._token:
            text = text.replace(self._token, "(not shown)")
        line = " ".join(text.split())[:_QUOTED]
        where = f"{self.origin}: the Chroma server"
        quoted = f" (status {status})" + (f": {line}" if line else "")
        if status < 400:
            return VectorServerError(
                f"{where} wants the text sent elsewhere (status {status}), which is not done; set "
                "chroma.url to the address that answers itself"
            )
        if status >= 500 or status in (408, 409, 425, 429):
            # Of these, 500 alone is what a graph that does not load any more is told by.
            failed = ServerFailed if status == 500 else _Retryable
            return failed(f"{where} could not do it{quoted}; see what it logs")
        if status == 404 and path.startswith("/collections/"):
            return CollectionMissing(f"{where} has no such collection{quoted}")
        if status == 404:
            return VectorServerError(
                f"{where} does not know this{quoted}; check chroma.url, chroma.tenant and chroma.database"
            )
        if status in (401, 403):
            do = f"check {TOKEN_VARIABLE}" if self._token else f"set {TOKEN_VARIABLE}"
            return VectorServerError(f"{where} does not let notehop in{quoted}; {do}")
        return VectorServerError(f"{where} refuses this{quoted}; check chroma.url")

    def _unreadable(self) -> VectorServerError:
        return VectorServerError(
            f"{self.origin}: gave an answer that no Chroma server gives (API version 2); check chroma.url"
        )
