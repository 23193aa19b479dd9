"""Models of a hub: which are in its cache on this machine, and fetching one when the user says so.

A fetched model is seen by nobody until it is whole: its files come first, each checked, and the
name under which they are found (``refs/main``) is written last. A fetch that was cut off goes on
where it was.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from notehop.config.errors import ModelError, UsageError
from notehop.indexing.embed.models import HUB_NAME, WEIGHTS, cached_folder

_OTHER_FOLDERS = frozenset({"onnx", "openvino", "coreml", "gguf", "flax", "tf", "assets", "images"})
_KEPT = frozenset({".json", ".txt", ".model", ".md", ".jinja", ".tiktoken", *WEIGHTS})
"""What torch, the tokenizers and a reader of the licence need. Not ``.py``: no code is fetched."""

_LAST = frozenset({"config.json", "modules.json"})


class RemoteFile(NamedTuple):
    """A file of a model on its hub; ``sha256`` is known for large files only."""

    name: str
    bytes: int
    sha256: str | None
    git_id: str


class RemoteModel(NamedTuple):
    """What a hub has of a model: the files that notehop needs, of one commit."""

    name: str
    hub: str
    commit: str
    files: tuple[RemoteFile, ...]
    licence: str | None
    bytes: int


class CachedModel(NamedTuple):
    """A model in the hub's cache; ``folder`` is None where it is not whole."""

    name: str
    folder: Path | None
    bytes: int


def hub_cache() -> Path:
    """The folder of the hub's cache; it need not exist."""
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE)


def cached_models() -> list[CachedModel]:
    """The models in the hub's cache, by name."""
    from huggingface_hub import scan_cache_dir
    from huggingface_hub.errors import CacheNotFound

    try:
        found = scan_cache_dir(hub_cache())
    except CacheNotFound:
        return []
    return sorted(
        CachedModel(one.repo_id, cached_folder(one.repo_id), one.size_on_disk)
        for one in found.repos
        if one.repo_type == "model"
    )


def ask(name: str, endpoint: str | None = None) -> RemoteModel:
    """Ask the hub which files a model has.

    :param name: ``organisation/model``.
    :param endpoint: URL of the hub; None for the one of its library.
    :raises UsageError: if the name is none.
    :raises ModelError: if the hub cannot be reached, has no such model, or it is of no use here.
    """
    if "/" not in name or not HUB_NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name of a model; write it as its hub does: org/name")
    from huggingface_hub import HfApi, constants

    hub = endpoint or constants.ENDPOINT
    with _translated_errors(name, hub):
        info = HfApi(endpoint=hub).model_info(name, files_metadata=True, timeout=30)
    found: dict[PurePosixPath, RemoteFile] = {}
    for one in info.siblings or ():
        path = PurePosixPath(one.rfilename)
        hidden = any(part.startswith(".") for part in path.parts)
        if path.suffix in _KEPT and path.parts[0] not in _OTHER_FOLDERS and not hidden:
            sha256 = one.lfs.sha256 if one.lfs else None
            found[path] = RemoteFile(one.rfilename, one.size or 0, sha256, one.blob_id or "")
    # The same weights may stand there in a second format.
    safe = {path.parent for path in found if path.suffix == ".safetensors"}
    files = tuple(
        file for path, file in found.items() if path.suffix != ".bin" or path.parent not in safe
    )
    names = {file.name for file in files}
    if not names & _LAST or not any(one.endswith(WEIGHTS) for one in names):
        raise ModelError(
            f"{name}: {hub} has no weights of it that can be used here (config.json or "
            "modules.json with .safetensors or .bin files); choose one for sentence-transformers"
        )
    licence = getattr(info.card_data, "license", None)
    size = sum(file.bytes for file in files)
    return RemoteModel(name, hub, str(info.sha), files, str(licence) if licence else None, size)


def fetch(model: RemoteModel, on_bytes: Callable[[int], None] = lambda _: None) -> Path:
    """Fetch a model into the hub's cache, check its files, and return their folder.

    Files that are there already are not fetched again; one that was cut off goes on.

    :param on_bytes: called with each number of bytes that came.
    :raises ModelError: if the hub cannot be reached, the disk refuses, or a file is not what the
        hub says it is; what came is kept for the next time, a wrong file is not.
    """
    from huggingface_hub import hf_hub_download
    from huggingface_hub.utils.sha import git_hash, sha_fileobj
    from huggingface_hub.utils.tqdm import silent_tqdm

    class Bar(silent_tqdm):  # type: ignore[misc, unused-ignore]
        """Shows nothing itself: progress is for the caller to show."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)  # type: ignore[no-untyped-call, unused-ignore]
            on_bytes(int(kwargs.get("initial") or 0))

        def update(self, n: float | None = 1) -> None:
            on_bytes(int(n or 0))

    # What makes a folder a model comes last: a cache that is read meanwhile has none of it yet.
    for wanted in sorted(model.files, key=lambda one: (one.name in _LAST, one.name)):
        with _translated_errors(model.name, model.hub):
            file = Path(
                hf_hub_download(
                    model.name,
                    wanted.name,
                    revision=model.commit,
                    endpoint=model.hub,
                    cache_dir=hub_cache(),
                    tqdm_class=Bar,
                )
            )
        data = file.resolve()
        size = data.stat().st_size
        same = size == wanted.bytes
        with data.open("rb") as stream:
            if same and wanted.sha256 is not None:
                same = sha_fileobj(stream).hex() == wanted.sha256
            elif same:
                same = git_hash(stream.read()) == wanted.git_id  # the hub keeps small ones so
        if not same:
            file.unlink(missing_ok=True)
            data.unlink(missing_ok=True)
            raise ModelError(
                f"{model.name}: {wanted.name} is not what {model.hub} says it is ({size:,} bytes of "
                f"{wanted.bytes:,}, or other content); it was thrown away, fetch the model again"
            )
    root = hub_cache() / f"models--{model.name.replace('/', '--')}"
    reference = root / "refs" / "main"
    new = reference.with_name(f"main.{os.getpid()}.new")
    try:
        reference.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(model.commit, encoding="utf-8")
        new.replace(reference)
    except OSError as exc:
        raise ModelError(f"{root}: cannot be written: {exc.strerror}") from exc
    return root / "snapshots" / model.commit


@contextmanager
def _translated_errors(name: str, hub: str) -> Iterator[None]:
    """Turn what the library raises, on the way to a hub, into one message.

    :raises UsageError: for a name that is none.
    :raises ModelError: for all else that hub, network and disk are to blame for.
    """
    from huggingface_hub import errors

    try:
        yield
    except errors.HFValidationError as exc:
        raise UsageError(f"{name!r} is no name of a model: {exc}") from exc
    except Exception as exc:
        # What the library says of its cache has what happened behind it.
        behind = exc.__cause__ if isinstance(exc, errors.LocalEntryNotFoundError) else None
        reason = _reason(behind or exc, hub)
        if reason is None:
            raise
        raise ModelError(f"{name}: {reason}") from exc


def _reason(exc: BaseException, hub: str) -> str | None:
    """What went wrong, and what to do; None for a mistake of ours."""
    from huggingface_hub import errors

    if isinstance(exc, errors.GatedRepoError):
        return (
            f"its authors ask for an agreement first; agree on its page of {hub}, and log in there "
            "with: hf auth login"
        )
    if isinstance(exc, errors.RepositoryNotFoundError):
        return f"{hub} has no such model, or not for you; check the name (or: hf auth login)"
    if isinstance(exc, errors.OfflineModeIsEnabled):
        return (
            f"HF_HUB_OFFLINE forbids to ask {hub}; unset it, or copy the model's folder here and name "
            "it in the settings"
        )
    if isinstance(exc, errors.HfHubHTTPError):
        status = getattr(exc.response, "status_code", "an unknown one")
        return f"{hub} answered with status {status}; try again later"
    network = type(exc).__module__.split(".")[0].startswith(("httpx", "httpcore", "requests"))
    lost = (ConnectionError, TimeoutError, errors.LocalEntryNotFoundError)
    if not network and not isinstance(exc, lost):
        return (
            f"could not be written: {exc}; is the disk full?" if isinstance(exc, OSError) else None
        )
    said = (str(exc).splitlines() or [""])[0][:200]
    return (
        f"{hub} cannot be reached ({type(exc).__name__}: {said}); are you online? What was fetched "
        "already is kept. A folder with the model's files serves as well: name it in the settings"
    )
