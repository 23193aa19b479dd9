"""The layers of the settings, merged with a record of where each value was set.

Touches: vault-read (``notehop.toml`` in the vault's folder), environment, the user's configuration
folder.
"""

from __future__ import annotations

import difflib
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import platformdirs
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import EnvSettingsSource
from pydantic_settings.exceptions import SettingsError as EnvError

from notehop.config.errors import SettingsError
from notehop.config.secrets import VAULT_TOKEN
from notehop.config.settings import Settings
from notehop.config.small_files import is_folder, read_toml_file

_log = logging.getLogger(__name__)

FILE_NAME = "notehop.toml"

ENV_PREFIX = "notehop_"

MODELS = ("embedding.model", "rerank.model")
"""Keys that may name a folder, whose files are then loaded; a vault may name a model of the hub."""

SECRET = {
    "server.token": ", or name a file that only you can read with server.token_file",
    "llm.api_key": "",
    "chroma.token": "",
}
"""Keys that no settings file may hold, and what else can be done than to set their variable."""

_SERVER = "a GGUF file is run by its own server, which takes it (docs/language-models.md)"
FORMER = {
    "llm.gpu_layers": _SERVER,
    "llm.threads": _SERVER,
    "llm.connect_timeout_s": "it is always 10",
}
"""Keys of the release before, and where they went; they are passed over with a warning."""

_UNSAID = ("defaults", "settings", "argument")
"""Where values come from that nobody wrote into a file or a variable."""

Layer = tuple[str, dict[str, Any]]


def user_config_file() -> Path:
    """The user's own settings file; it need not exist."""
    return platformdirs.user_config_path("notehop") / FILE_NAME


def load_settings(
    *,
    vault: Path | None = None,
    config_file: Path | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> Settings:
    """Merge the layers: defaults < user's file < vault's file < environment < ``overrides``.

    :param vault: folder whose ``notehop.toml`` is read, if it is there.
    :param config_file: read in place of the user's file; it must exist.
    :param overrides: dotted keys, ``{"retrieval.top_k": 8}``; None values are left out.
    :raises SettingsError: naming the key, the value, what is allowed and where it was set.
    """
    layers: list[Layer] = [("defaults", Settings().model_dump())]
    if config_file is not None:
        if not config_file.is_file():
            raise SettingsError(f"{config_file}: no such settings file; check --config")
        layers.append((str(config_file), _read_toml(config_file)))
    else:
        layers += _optional_file(user_config_file())
    if vault is not None:
        for origin, values in _optional_file(vault / FILE_NAME):
            _refuse_user_only(origin, values)
            layers.append((origin, values))
    layers += _environment()
    layers.append(("argument", _nested(overrides or {})))
    return _validated(layers)


def apply_overrides(settings: Settings, overrides: Mapping[str, Any]) -> Settings:
    """Return ``settings`` with dotted keys replaced.

    :raises SettingsError: as :func:`load_settings`.
    """
    return _validated(
        [("settings", settings.model_dump()), ("argument", _nested(overrides))],
    )


def read_overrides(file: Path) -> dict[str, Any]:
    """The settings that a file holds, by dotted key, not checked yet: for :func:`apply_overrides`.

    :raises SettingsError: if it is not there or no TOML.
    """
    return dict(_flat(_read_toml(file)))


def _optional_file(path: Path) -> list[Layer]:
    return [(str(path), _read_toml(path))] if path.exists() else []


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        values = read_toml_file(path)
    except ValueError as exc:
        raise SettingsError(f"{path}: not valid TOML: {exc}; correct the file") from exc
    except OSError as exc:
        raise SettingsError(
            f"{path}: cannot be read: {exc.strerror}; correct it or move it away"
        ) from exc
    _refuse_secrets(path, values)
    return values


def _refuse_secrets(path: Path, values: Mapping[str, Any]) -> None:
    for key, value in _flat(values):
        if (secret := _secret(key)) is not None and value != "":
            variable = _variable_of(secret.split("."))
            raise SettingsError(
                f"{path}: {secret} may stand in no settings file; set {variable}{SECRET[secret]}"
            )


def _secret(key: str) -> str | None:
    """The key of :data:`SECRET` that a dotted key is, or is below of."""
    return next((one for one in SECRET if key == one or key.startswith(f"{one}.")), None)


def _sounds_secret(name: str) -> bool:
    """Whether a secret may stand under a name that no setting has."""
    return any(word in name.lower() for word in ("token", "key", "secret", "password"))


def _environment() -> list[Layer]:
    """The settings among the variables; what names none is said once, not shown, and passed over.

    Others put variables of our prefix there: Kubernetes and Docker those of a service of our name.
    """
    layers: list[Layer] = []
    unknown: list[str] = []
    for name in sorted(os.environ):
        if not name.lower().startswith(ENV_PREFIX) or name.startswith(VAULT_TOKEN):
            continue
        parts = name.lower().removeprefix(ENV_PREFIX).split("__")
        if len(parts) > 1 and (_is_setting(parts) or ".".join(parts) in FORMER):
            layers.append((f"environment variable {name}", _variable(name, os.environ[name])))
        else:
            unknown.append(name + _near_miss(parts))
    if unknown:
        warn_once(
            f"environment variables that name no setting are passed over: {', '.join(unknown)}; "
            "a setting is written NOTEHOP_SECTION__KEY, with a section of: "
            f"{', '.join(Settings.model_fields)}"
        )
    return layers


@cache
def warn_once(text: str) -> None:
    """Several commands of one process, and each of them more than once, read the settings."""
    _log.warning("%s", text)


def _is_setting(parts: Sequence[str]) -> bool:
    return all(part in _keys_at(parts[:at]) for at, part in enumerate(parts))


def _near_miss(parts: Sequence[str]) -> str:
    *parents, leaf = parts
    if not parents or not _is_setting(parents):
        return ""
    close = difflib.get_close_matches(leaf, _keys_at(parents), n=1)
    return f" (did you mean {_variable_of([*parents, *close])}?)" if close else ""


def _variable_of(parts: Sequence[str]) -> str:
    return f"{ENV_PREFIX}{'__'.join(parts)}".upper()


def _variable(name: str, value: str) -> dict[str, Any]:
    source = EnvSettingsSource(Settings)
    source.env_vars = {name.lower(): value}
    try:
        return dict(source())
    except EnvError as exc:
        raise SettingsError(
            f"environment variable {name} = {value!r}: must be JSON, for example "
            """'["Archive/**"]'"""
        ) from exc


def _nested(dotted: Mapping[str, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for key, value in dotted.items():
        if value is None:
            continue
        *parents, leaf = key.split(".")
        node = tree
        for parent in parents:
            node = node.setdefault(parent, {})
        node[leaf] = value
    return tree


def _refuse_user_only(origin: str, values: Mapping[str, Any]) -> None:
    for key, value in _flat(values):
        if not _is_setting(key.split(".")):
            continue  # said of it later, with the nearest key that there is
        folder = key in MODELS and is_folder(str(value))
        if folder or not vault_may_set(key):
            raise SettingsError(
                f"{origin}: {key} = {_shown(key, value)} cannot be set by a vault; "
                f"set it in {user_config_file()} or by an environment variable"
            )


def vault_may_set(key: str) -> bool:
    """Whether a vault's own file may set a key."""
    return _extra(key, "vault")


def _extra(key: str, what: str) -> bool:
    """Whether a key, or a table that it is in, is declared so."""
    parts = key.split(".")
    levels = [_fields_at(parts[:at]) for at in range(len(parts))]
    found = [level.get(name) for level, name in zip(levels, parts, strict=True)]
    return any(
        isinstance(field.json_schema_extra, dict) and bool(field.json_schema_extra.get(what))
        for field in found
        if field is not None
    )


def _flat(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _merge(into: dict[str, Any], layer: Mapping[str, Any]) -> None:
    for name, value in layer.items():
        if isinstance(value, Mapping) and isinstance(into.get(name), dict):
            _merge(into[name], value)
        else:
            into[name] = dict(value) if isinstance(value, Mapping) else value


def _validated(layers: list[Layer]) -> Settings:
    merged: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for origin, given in layers:
        values = _without_former(origin, given)
        _merge(merged, values)
        origins.update((key, origin) for key, _ in _flat(values))
        for name in values:
            # The library below would pass over it without a word.
            if name not in Settings.model_fields and name.lower() in Settings.model_fields:
                raise SettingsError(
                    f"{origin}: unknown setting {name}; did you mean {name.lower()}?"
                )
    _warn_of_constants(origins)
    try:
        return Settings(**merged)
    except ValidationError as exc:
        problems = [_explain(dict(error), origins) for error in exc.errors()]
        raise SettingsError("\n".join(problems)) from exc


def _warn_of_constants(origins: Mapping[str, str]) -> None:
    for key, origin in origins.items():
        if origin not in _UNSAID and _extra(key, "constant"):
            warn_once(
                f"{origin}: {key} is a constant by now, measured and no setting; it is heeded in this "
                "release and refused in the next. To compare values of it: notehop eval --compare"
            )


def _without_former(origin: str, values: Mapping[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, value in values.items():
        kept[key] = dict(value) if isinstance(value, Mapping) else value
    for key, where in FORMER.items():
        section, name = key.split(".")
        if isinstance(kept.get(section), dict) and name in kept[section]:
            del kept[section][name]
            warn_once(f"{origin}: {key} is passed over: {where}")
    return kept


def _explain(error: Mapping[str, Any], origins: Mapping[str, str]) -> str:
    location = [str(part) for part in error["loc"] if not str(part).startswith("function-")]
    key = ".".join(location)
    while key not in origins and "." in key and not any(k.startswith(key + ".") for k in origins):
        key = key.rsplit(".", 1)[0]
    origin = origins.get(key) or next(
        (o for k, o in origins.items() if k.startswith(key + ".") and "default" not in o),
        "settings",
    )
    if error["type"] == "extra_forbidden":
        *parents, leaf = location
        known = sorted(_keys_at(parents))
        close = difflib.get_close_matches(leaf, known, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        place = f"[{'.'.join(parents)}]" if parents else "the top level"
        # A secret under a name that is not quite right must not be shown either.
        bare = _sounds_secret(key) or isinstance(error["input"], Mapping | list)
        value = "" if bare else f" = {error['input']!r}"
        return f"{origin}: unknown setting {key}{value}; {hint}keys of {place}: {', '.join(known)}"
    rule = error["msg"].replace("Input should be", "must be")
    if error["type"].startswith("model_"):
        rule = f"must be a table with keys of: {', '.join(_keys_at(location))}"
    return f"{origin}: {key} = {_shown(key, error['input'])}: {rule}"


def _shown(key: str, value: object) -> str:
    """A value for a message. A password may stand in an address, wherever it was written."""
    address = key.endswith("url") and ("@" in str(value) or "password" in str(value).lower())
    return "(not shown)" if _secret(key) or address else repr(value)


def _keys_at(parents: Sequence[str]) -> list[str]:
    return list(_fields_at(parents))


def _fields_at(parents: Sequence[str]) -> Mapping[str, FieldInfo]:
    """The settings of a section; none where there is no such section."""
    model: type[BaseModel] = Settings
    for parent in parents:
        field = model.model_fields.get(parent)
        annotation = field.annotation if field else None
        if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
            return {}
        model = annotation
    return model.model_fields
