"""The layers of the settings, merged with a record of where each value was set."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, get_origin

import platformdirs
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from notehop.config.errors import SettingsError
from notehop.config.fields import Section
from notehop.config.secrets import VAULT_TOKEN
from notehop.config.settings import Settings
from notehop.config.small_files import is_folder, read_toml_file

_log = logging.getLogger(__name__)

FILE_NAME = "notehop.toml"

ENV_PREFIX = "notehop_"

MODELS = ("embedding.model", "rerank.model")
"""Keys that may name a folder, whose files are then loaded; a vault may name a model of the hub."""

SECRET = ("server.token", "llm.api_key", "chroma.token")
"""Keys that no settings file may hold."""

FORMER = {
    *("answer", "conversation", "capture.connections", "capture.timeout_s", "server.metrics"),
    *("server.rate_per_minute", "server.allow_origins", "server.idle_minutes"),
    *("llm.gpu_layers", "llm.threads", "llm.connect_timeout_s", "rerank.device"),
    *("vault.max_delete_share", "retrieval.max_query_chars"),
    *("themes.min_notes", "themes.max", "themes.sources", "themes.resolution"),
    *("enrich.watch_calls", "enrich.max_tokens", "enrich.keep_days", "connected.scope"),
    *("embedding.batch_size", "embedding.threads", "embedding.allow_download"),
    *("watch.polling", "watch.settle_ms"),
}
"""Keys and sections of releases before. Like constants they have no effect, and a warning says so."""

REPLACED = {"server.token_file": 'set NOTEHOP_SERVER__TOKEN="$(cat FILE)"'}
"""Keys of releases before that are refused, since without them a server would stand open; what to do."""

ARGUMENT = "argument"

Layer = tuple[str, Mapping[str, Any]]  # where values were set, and the values, by dotted key


def user_config_file() -> Path:
    """The user's own settings file; it need not exist."""
    return platformdirs.user_config_path("notehop") / FILE_NAME


def load_settings(
    *, vault: Path | None = None, config_file: Path | None = None, overrides: Mapping[str, Any] | None = None
) -> Settings:
    """Merge the layers: defaults < user's file < vault's file < environment < ``overrides``.

    :param vault: folder whose ``notehop.toml`` is read, if it is there.
    :param config_file: read in place of the user's file; it must exist.
    :param overrides: dotted keys, ``{"retrieval.top_k": 8}``; None values are left out.
    :raises SettingsError: naming the key, the value, what is allowed and where it was set.
    """
    layers: list[Layer] = []
    if config_file is not None and not config_file.is_file():
        raise SettingsError(f"{config_file}: no such settings file; check --config")
    own = config_file or user_config_file()
    if own.exists():
        layers.append((str(own), read_overrides(own)))
    if vault is not None and (shared := vault / FILE_NAME).exists():
        values = read_overrides(shared)
        for key, value in values.items():
            # What there is not, and what has no effect, is told of later.
            brought = key in MODELS and is_folder(str(value))
            allowed = is_declared(key, "vault") or is_declared(key, "constant")
            if key in _fields() and (brought or not allowed):
                raise SettingsError(
                    f"{shared}: {key} = {_shown(key, value)} cannot be set by a vault; "
                    f"set it in {user_config_file()} or by an environment variable"
                )
        layers.append((str(shared), values))
    layers += _environment()
    return merged_settings(Settings(), [*layers, (ARGUMENT, overrides or {})])


def read_overrides(file: Path) -> dict[str, Any]:
    """The settings that a file holds, by dotted key, not checked yet.

    :raises SettingsError: if it is not there or no TOML, or holds a secret.
    """
    try:
        values = dict(_flat(read_toml_file(file)))
    except ValueError as exc:
        raise SettingsError(f"{file}: not valid TOML: {exc}; correct the file") from exc
    except OSError as exc:
        raise SettingsError(f"{file}: cannot be read: {exc.strerror}; correct it or move it away") from exc
    for key, value in values.items():
        if (secret := _secret(key)) is not None and value != "":
            variable = f"{ENV_PREFIX}{secret.replace('.', '__')}".upper()
            raise SettingsError(f"{file}: {secret} may stand in no settings file; set {variable}")
    return values


def _secret(key: str) -> str | None:
    """The key of :data:`SECRET` that a dotted key is, or is below of."""
    return next((one for one in SECRET if key == one or key.startswith(f"{one}.")), None)


def _environment() -> list[Layer]:
    """The settings among the variables; what names none, as of Kubernetes, is said once and not shown."""
    layers: list[Layer] = []
    unknown: list[str] = []
    for name, value in sorted(os.environ.items()):
        if not name.lower().startswith(ENV_PREFIX) or name.startswith(VAULT_TOKEN):
            continue
        key = name.lower().removeprefix(ENV_PREFIX).replace("__", ".")
        origin = f"environment variable {name}"
        if "." in key and (key in _fields() or _is_former(key) or key in REPLACED):
            field = _fields().get(key)
            given: Any = value  # text, which its setting reads
            if field is not None and (get_origin(field.annotation) is tuple or _names_below(key)):
                try:
                    given = json.loads(value)
                except ValueError as exc:
                    example = """'["Archive/**"]'"""
                    raise SettingsError(f"{origin} = {value!r}: must be JSON, for example {example}") from exc
            layers.append((origin, {key: given}))
        else:
            unknown.append(name)
    if unknown:
        warn_once(
            f"environment variables that name no setting are passed over: {', '.join(unknown)}; "
            "a setting is written NOTEHOP_SECTION__KEY, with a section of: "
            f"{', '.join(Settings.model_fields)}"
        )
    return layers


def _is_former(key: str) -> bool:
    return key in FORMER or key.partition(".")[0] in FORMER


@cache
def warn_once(text: str) -> None:
    """Several commands of one process, and each of them more than once, read the settings."""
    _log.warning("%s", text)


def _flat(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _nested(dotted: Mapping[str, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for key, value in dotted.items():
        *parents, leaf = key.split(".")
        node = tree
        for parent in parents:
            if not isinstance(node.get(parent), dict):
                node[parent] = {}
            node = node[parent]
        if value != {} or leaf not in node:
            node[leaf] = value
    return tree


def merged_settings(base: Settings, layers: list[Layer]) -> Settings:
    """Settings with those of layers over them, the last one on top; checked.

    :raises SettingsError: as :func:`load_settings`.
    """
    merged = dict(_flat(base.model_dump()))
    origins: dict[str, str] = {}
    for origin, layer in layers:
        for key, value in _flat(layer):
            if origin == ARGUMENT and _is_former(key):
                raise SettingsError(f"{origin}: {key} is no setting any more; leave it out")
            if _is_former(key) or (origin != ARGUMENT and is_declared(key, "constant")):
                warn_once(f"{origin}: {key} has no effect any more; remove it")
            elif value is not None:
                merged[key], origins[key] = value, origin
    try:
        return Settings(**_nested(merged))
    except ValidationError as exc:
        problems = [_explain(dict(error), origins) for error in exc.errors()]
        raise SettingsError("\n".join(problems)) from exc


def _explain(error: Mapping[str, Any], origins: Mapping[str, str]) -> str:
    location = [str(part) for part in error["loc"] if not str(part).startswith("function-")]
    key = ".".join(location)
    # Of an element of a list, or of a table: the list, or the first of the table that was set.
    while not (below := [k for k in origins if f"{k}.".startswith(f"{key}.")]) and "." in key:
        key = key.rpartition(".")[0]
    origin = origins[below[0]] if below else "settings"
    if key in REPLACED:
        return f"{origin}: {key} is no setting any more; {REPLACED[key]}"
    if error["type"] == "extra_forbidden":
        parent = ".".join(location[:-1])
        known = ", ".join(sorted(_names_below(parent)))
        # Without its value: a secret may stand under a name that is not quite right.
        place = f"[{parent}]" if parent else "the top level"
        return f"{origin}: unknown setting {'.'.join(location)}; keys of {place}: {known}"
    rule = error["msg"].replace("Input should be", "must be").removeprefix("Value error, ")
    if error["type"].startswith("model_"):
        rule = f"must be a table with keys of: {', '.join(_names_below('.'.join(location)))}"
    return f"{origin}: {key} = {_shown(key, error['input'])}: {rule}"


def _shown(key: str, value: object) -> str:
    """A value for a message. A password may stand in an address, wherever it was written."""
    address = key.endswith("url") and ("@" in str(value) or "password" in str(value).lower())
    return "(not shown)" if _secret(key) or address else repr(value)


@cache
def _fields(section: type[Section] = Settings, prefix: str = "") -> Mapping[str, FieldInfo]:
    """The settings, and the tables that they are in, by dotted key."""
    found: dict[str, FieldInfo] = {}
    for name, field in section.model_fields.items():
        found[prefix + name] = field
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            found |= _fields(field.annotation, f"{prefix}{name}.")
    return found


def _names_below(table: str) -> list[str]:
    """What may stand in a table, the empty one being the top level; nothing in a setting."""
    keys = [key.rpartition(".") for key in _fields()]
    return [name for parent, _, name in keys if parent == table]


def is_declared(key: str, what: str) -> bool:
    """Whether a key, or a table that it is in, is declared as ``vault`` or ``constant``."""
    extras = [field.json_schema_extra for at, field in _fields().items() if f"{key}.".startswith(f"{at}.")]
    return any(isinstance(extra, dict) and bool(extra.get(what)) for extra in extras)
