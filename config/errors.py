"""The one tree of errors. A message says where, what, and what to do."""

from __future__ import annotations


class NotehopError(Exception):
    """A broken promise that a user can act on; shown as one message, never as a traceback."""


class UsageError(NotehopError):
    """What was asked for makes no sense: a wrong setting, path, query or argument (exit code 2)."""


class SettingsError(UsageError):
    """A setting that does not exist or has a wrong value."""


class VaultError(UsageError):
    """The vault is missing, is no folder, or cannot be read."""


class MassDeletion(NotehopError):
    """So many notes are gone that the vault is more likely not there (exit code 1)."""


class QueryError(UsageError):
    """A query that cannot be run: empty, too long, or with an unknown option."""


class SwitchedOff(QueryError):
    """A query for what the settings do not have made."""


class NoteMissing(UsageError):
    """A note or a section that was asked for is not there, or is not for anybody to see."""


class CaptureFailed(NotehopError):
    """A new note could not be written: no room, no permission, a folder that leads elsewhere."""


class CaptureFolder(CaptureFailed):
    """The folder for new notes is none, or leads elsewhere; whoever keeps the vault can mend it."""


class IndexFailure(NotehopError):
    """Something is wrong with the index (exit code 1)."""


class IndexMissing(IndexFailure):
    """No index was built for this vault yet."""


class IndexMismatch(IndexFailure):
    """The index was built with other settings than those in force."""


class IndexLocked(IndexFailure):
    """Another process owns the index folder."""


class IndexDamaged(IndexFailure):
    """The index cannot be read and must be rebuilt."""


class IndexUnwritable(IndexFailure):
    """The index folder cannot be written: permissions, a read-only or a full disk."""


class ModelError(NotehopError):
    """An embedding or language model is missing, is not what it claims to be, or failed."""


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
