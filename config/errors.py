"""The one tree of errors. A message says where, what, and what to do."""

from __future__ import annotations

from typing import ClassVar


class NotehopError(Exception):
    """A broken promise that a user can act on; shown as one message, never as a traceback."""

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


class UsageError(NotehopError):
    """What was asked for makes no sense: a wrong setting, path, query or argument (exit code 2)."""

    status = 400
    exit_code = 2
    problem_type = "usage"
    public: ClassVar[str | None] = "this cannot be done as it was asked"


class SettingsError(UsageError):
    """A setting that does not exist or has a wrong value."""

    status = 500
    problem_type = "settings"
    public: ClassVar[str | None] = "the settings of the server are wrong"


class VaultError(UsageError):
    """The vault is missing, is no folder, or cannot be read."""

    status = 503
    problem_type = "vault"
    public: ClassVar[str | None] = "the vault cannot be read"


class MassDeletion(NotehopError):
    """So many notes are gone that the vault is more likely not there (exit code 1)."""


class QueryError(UsageError):
    """A query that cannot be run: empty, too long, or with an unknown option."""

    status = 422
    problem_type = "query"
    public: ClassVar[str | None] = None


class SwitchedOff(QueryError):
    """A query for what the settings do not have made."""

    status = 409
    problem_type = "switched-off"


class NoteMissing(UsageError):
    """A note or a section that was asked for is not there, or is not for anybody to see."""

    status = 404
    problem_type = "note-missing"
    public: ClassVar[str | None] = None


class CaptureFailed(NotehopError):
    """A new note could not be written: no room, no permission, a folder that leads elsewhere."""

    problem_type = "capture"
    public: ClassVar[str | None] = "the note cannot be written"


class ReadOnly(CaptureFailed):
    """A new note was handed to a process that only reads."""

    status = 403
    problem_type = "read-only"
    public: ClassVar[str | None] = None


class CaptureFolder(CaptureFailed):
    """The folder for new notes is none, or leads elsewhere; whoever keeps the vault can mend it."""

    status = 409
    problem_type = "capture-folder"
    public: ClassVar[str | None] = (
        "the folder for new notes cannot be used; mend it, or set capture.folder"
    )


class IndexFailure(NotehopError):
    """Something is wrong with the index (exit code 1)."""

    status = 503
    problem_type = "index"
    public: ClassVar[str | None] = "the index cannot be used"


class IndexMissing(IndexFailure):
    """No index was built for this vault yet."""

    problem_type = "index-missing"
    public: ClassVar[str | None] = "no index was built for this vault yet"


class BeingIndexed(IndexMissing):
    """The first index of this vault is being made; ask again in a moment."""

    problem_type = "indexing"
    public: ClassVar[str | None] = "the vault is being indexed for the first time; ask again soon"
    retry_after = 5


class IndexMismatch(IndexFailure):
    """The index was built with other settings than those in force."""

    problem_type = "index-mismatch"


class IndexLocked(IndexFailure):
    """Another process owns the index folder."""

    problem_type = "index-locked"


class IndexDamaged(IndexFailure):
    """The index cannot be read and must be rebuilt."""

    problem_type = "index-damaged"


class IndexUnwritable(IndexFailure):
    """The index folder cannot be written: permissions, a read-only or a full disk."""

    problem_type = "index-unwritable"


class VectorServerError(IndexFailure):
    """The server of vectors may not be asked, cannot be reached, or gave no answer that fits."""

    problem_type = "vector-server"


class CollectionMissing(VectorServerError):
    """The server of vectors has no such collection."""


class ModelError(NotehopError):
    """An embedding or language model is missing, is not what it claims to be, or failed."""

    status = 503
    problem_type = "model"
    public: ClassVar[str | None] = "a model that this needs is missing or failed"


class ProviderError(ModelError):
    """A provider of a language model was not asked, refused, or gave no whole answer.

    ``kind`` is one of :data:`PROVIDER_KINDS`.
    """

    def __init__(self, message: str, kind: str = "other") -> None:
        if kind not in PROVIDER_KINDS:
            raise ValueError(f"{kind!r} is no kind of error; one of {', '.join(PROVIDER_KINDS)}")
        super().__init__(message)
        self.kind = kind

    def __reduce__(self) -> tuple[type[ProviderError], tuple[str, str]]:
        return type(self), (str(self), self.kind)


PROVIDER_KINDS = (
    "consent",
    "key",
    "model",
    "refused",
    "timeout",
    "rate",
    "overflow",
    "server",
    "cancelled",
    "other",
)
"""``consent``: the user did not allow the host; ``key``, ``model``: missing or not taken;
``refused``: no connection; ``overflow``: more text than the model's window holds."""


class ServerBusy(NotehopError):
    """A server has no room for a request."""

    status = 503
    problem_type = "busy"
    public: ClassVar[str | None] = None
    # Most requests take a tenth of it.
    retry_after = 2


class ServerStopping(ServerBusy):
    """A server is being stopped."""

    problem_type = "stopping"


class ServerTimeout(ServerBusy):
    """A request took longer than a server lets it."""

    problem_type = "timeout"
