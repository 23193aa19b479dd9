"""Where the files of the model that the settings name are.

Touches: model; network, only where the settings allow a download and the model is not here.
"""

from __future__ import annotations

import re
from pathlib import Path

from notehop.config.errors import ModelError
from notehop.config.small_files import is_folder
from notehop.indexing.embed.bundled import BUNDLED_NAME, BUNDLED_NAMES, bundled_folder
from notehop.indexing.embed.multilingual import MULTILINGUAL_NAME

HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[A-Za-z0-9][\w.-]*)?")
_WEIGHTS = (".safetensors", ".bin")
_OTHER_BACKENDS = ("onnx", "openvino")


def canonical_name(name: str) -> str:
    """Return the one name of a model that may be written in several ways.

    A folder goes by its last part, so that an index outlives a moved folder: the weights, which the
    fingerprint names too, tell two folders of one name apart.
    """
    if name in BUNDLED_NAMES:
        return BUNDLED_NAME
    if name == MULTILINGUAL_NAME:
        return name
    if is_folder(name):
        return Path(name).expanduser().resolve().name
    return name if "/" in name else f"sentence-transformers/{name}"


def model_folder(name: str, *, allow_download: bool = False) -> Path:
    """Return the folder with the files of a model: bundled, local, or in the hub's local cache.

    :param name: ``all-MiniLM-L6-v2``, a folder, or a hub name; one without an organisation is of
        ``sentence-transformers``, as in that library.
    :raises ModelError: if it is not on this machine and must not, or cannot, be downloaded.
    """
    if name in BUNDLED_NAMES:
        return bundled_folder()
    if is_folder(name):
        folder = Path(name).expanduser()
        if not is_complete(folder):
            raise ModelError(
                f"embedding.model: {folder} holds no sentence-transformers model "
                "(no config.json, or no weights)"
            )
        return folder.resolve()
    if not HUB_NAME.fullmatch(name):
        raise ModelError(f"embedding.model: there is no folder {name}, and a hub name is no path")
    hub_name = canonical_name(name)
    cached = cached_folder(hub_name)
    if cached is not None:
        return cached
    if not allow_download:
        raise ModelError(
            f"embedding.model: {hub_name} is not on this machine (no folder of that name, and "
            f"no copy in the hub's cache); run: notehop models pull {hub_name}, "
            "or set embedding.allow_download = true"
        )
    _download(hub_name)
    cached = cached_folder(hub_name)
    if cached is None:
        raise ModelError(f"embedding.model: {hub_name} was downloaded but is not complete")
    return cached


def is_complete(folder: Path) -> bool:
    """Tell whether a folder holds what makes a model: a description and weights."""
    described = (folder / "modules.json").is_file() or (folder / "config.json").is_file()
    return described and any(weights_files(folder))


def weights_files(folder: Path) -> list[Path]:
    """Return the weights that torch loads from a model's folder, by path."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix in _WEIGHTS
        and path.is_file()
        and path.relative_to(folder).parts[0] not in _OTHER_BACKENDS
    )


def cached_folder(hub_name: str) -> Path | None:
    """The snapshot that the hub's library would load without a network; None if incomplete."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(hub_name, local_files_only=True))
    except LocalEntryNotFoundError:
        return None
    except HFValidationError as exc:
        raise ModelError(f"{hub_name!r} is no hub name: {exc}") from exc
    return folder if is_complete(folder) else None


def _download(hub_name: str) -> None:
    """Fetch a model as ``notehop models pull`` does: the files that are needed, each checked.

    :raises ModelError: if it cannot be had, or is not what its hub says it is.
    """
    from notehop.indexing.embed.hub import ask, fetch

    fetch(ask(hub_name))
