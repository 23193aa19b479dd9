"""The one tree of errors. A message says where, what, and what to do."""

from __future__ import annotations

from typing import Any, ClassVar


class NotehopError(Exception):
    """A broken promise that a user can act on; shown as one message, never as a traceback.

    A class names after its base what differs from it: ``class Late(NotehopError, status=503)``.
    """

    status: ClassVar[int] = 500
    """Of a reply over HTTP."""

    exit_code: ClassVar[int] = 1
    """Of the command line: 2 for what makes no sense as asked, 1 for everything else that failed."""

    problem_type: ClassVar[str | None] = None
    """The last part of ``urn:notehop:problem:…``: for programs, which should not read messages."""

    public: ClassVar[str | None] = "it failed"
    """What other machines are told in place of a message that may name paths of this one; None for
    what speaks of the question, and of the vault by its own paths."""

    retry_after: ClassVar[int | None] = None
    """Seconds after which it is worth asking a server again; None for what does not pass by itself."""

    def __init_subclass__(cls, **differs: Any) -> None:
        super().__init_subclass__()
        for name, value in differs.items():
            setattr(cls, name, value)


class UsageError(
    NotehopError, status=400, exit_code=2, problem_type="usage", public="this cannot be done as it was asked"
):
    """What was asked for makes no sense: a wrong setting, path, query or argument (exit code 2)."""


class SettingsError(
    UsageError, status=500, problem_type="settings", public="the settings of the server are wrong"
):
    """A setting that does not exist or has a wrong value."""


class VaultError(UsageError, status=503, problem_type="vault", public="the vault cannot be read"):
    """The vault is missing, is no folder, or cannot be read."""


class MassDeletion(NotehopError):
    """So many notes are gone that the vault is more likely not there (exit code 1)."""


class QueryError(UsageError, status=422, problem_type="query", public=None):
    """A query that cannot be run: empty, too long, or with an unknown option."""


class SwitchedOff(QueryError, status=409, problem_type="switched-off"):
    """A query for what the settings do not have made."""


class NoteMissing(UsageError, status=404, problem_type="note-missing", public=None):
    """A note or a section that was asked for is not there, or is not for anybody to see."""


class CaptureFailed(NotehopError, problem_type="capture", public="the note cannot be written"):
    """A new note could not be written: no room, no permission, a folder that leads elsewhere."""


class ReadOnly(CaptureFailed, status=403, problem_type="read-only", public=None):
    """A new note was handed to a process that only reads."""


class CaptureFolder(
    CaptureFailed,
    status=409,
    problem_type="capture-folder",
    public="the folder for new notes cannot be used; mend it, or set capture.folder",
):
    """The folder for new notes is none, or leads elsewhere; whoever keeps the vault can mend it."""


class IndexFailure(NotehopError, status=503, problem_type="index", public="the index cannot be used"):
    """Something is wrong with the index (exit code 1)."""


class IndexMissing(
    IndexFailure, problem_type="index-missing", public="no index was built for this vault yet"
):
    """No index was built for this vault yet."""


class BeingIndexed(
    IndexMissing,
    problem_type="indexing",
    public="the vault is being indexed for the first time; ask again soon",
    retry_after=5,
):
    """The first index of this vault is being made; ask again in a moment."""


class IndexMismatch(IndexFailure, problem_type="index-mismatch"):
    """The index was built with other settings than those in force."""


class IndexLocked(IndexFailure, problem_type="index-locked"):
    """Another process owns the index folder."""


class IndexDamaged(IndexFailure, problem_type="index-damaged"):
    """The index cannot be read and must be rebuilt."""


class IndexUnwritable(IndexFailure, problem_type="index-unwritable"):
    """The index folder cannot be written: permissions, a read-only or a full disk."""


class VectorServerError(IndexFailure, problem_type="vector-server"):
    """The server of vectors may not be asked, cannot be reached, or gave no answer that fits."""


class CollectionMissing(VectorServerError):
    """The server of vectors has no such collection."""


class ModelError(
    NotehopError, status=503, problem_type="model", public="a model that this needs is missing or failed"
):
    """An embedding or language model is missing, is not what it claims to be, or failed."""


class ProviderError(ModelError):
    """A provider of a language model was not asked, refused, or gave no whole answer.

    ``kind``: ``consent`` (the user did not allow the host); ``key``, ``model`` (missing or not
    taken); ``refused`` (no connection); ``overflow`` (more text than the model's window holds);
    ``timeout``, ``rate``, ``server``, ``cancelled`` or ``other``.
    """

    def __init__(self, message: str, kind: str = "other") -> None:
        super().__init__(message)
        self.kind = kind


# Most requests take a tenth of the two seconds.
class ServerBusy(NotehopError, status=503, problem_type="busy", public=None, retry_after=2):
    """A server has no room for a request."""


class ServerStopping(ServerBusy, problem_type="stopping"):
    """A server is being stopped."""


class ServerTimeout(ServerBusy, problem_type="timeout"):
    """A request took longer than a server lets it."""
