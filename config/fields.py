"""How a setting is declared, and the kinds of value that several of them have."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Annotated, Any
from urllib.parse import parse_qsl, urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

_PORTABLE = re.compile(r'[^\\:*?"<>|\x00-\x1f\x7f]+')  # a name that every disk takes


def none_if(sentinel: object) -> BeforeValidator:
    """A value that stands for none in files, which have no other word for it."""
    return BeforeValidator(lambda value: None if value == sentinel else value)


def folder_inside(folder: str) -> str:
    """A folder of the vault, with ``/`` between its names and none at its end."""
    parts = [part for part in folder.strip().split("/") if part]
    if folder.strip().startswith("/") or any(
        part.startswith(".") or part != part.strip(" .") or not _PORTABLE.fullmatch(part) for part in parts
    ):
        raise ValueError(
            "must be a folder of the vault, relative to it, like Inbox or Notes/Inbox; no name in "
            "it may begin with a dot or hold a sign that some disk refuses"
        )
    return "/".join(parts)


def setting(default: Any, *, vault: bool = False, **limits: Any) -> Any:
    """Declare a setting, whose description is the text below it.

    :param default: as a file would write it; docs/settings.md and default.toml are made from it.
    :param vault: whether a vault's own file may set it: what its notes are, how they are cut, ranked
        and shown. A vault can come from someone else, so that where things lie, what is sent, loaded,
        paid, listened to, and how much of the machine is used, is for its user alone.
    :param limits: as of :func:`pydantic.Field`.
    """
    return Field(default, json_schema_extra={"vault": vault}, **limits)


def constant(default: Any, *, vault: bool = False, **limits: Any) -> Any:
    """Declare a constant with its reason, which `notehop eval --compare` varies and nobody sets: in a
    file or the environment it has no effect.
    """
    return Field(default, json_schema_extra={"vault": vault, "constant": True}, **limits)


class Section(BaseModel):
    """A table of settings: no key that it does not declare, no change once it is made."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, validate_default=True)


def host_name(host: str) -> str:
    """A host as it stands in an address, without scheme, port and path."""
    plain = host.strip().strip("[]").rstrip(".").lower()
    try:
        ip_address(plain)
    except ValueError:
        if not re.fullmatch(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?", plain):
            raise ValueError(
                "must be a host name or an address, like api.openai.com, without https:// and port"
            ) from None
    return plain


def server_address(url: str) -> str:
    """The address of a server: scheme, host, perhaps port and path; no name, key or query in it."""
    url = url.strip().rstrip("/")
    if not url:
        return url
    try:
        parts = urlsplit(url)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        whole = False
    if not whole or parts.query or parts.fragment or "@" in parts.netloc:
        raise ValueError("must be an address like http://127.0.0.1:8080/v1, without user, password or query")
    return url


def database_schema(name: str) -> str:
    """The name of a schema in PostgreSQL, as it needs no quotes, or none."""
    if name and (name.startswith("pg_") or not re.fullmatch("[a-z_][a-z0-9_]{0,49}", name)):
        raise ValueError(
            "must be at most 50 of a-z, 0-9 and _, begin with no digit, and not with pg_, which "
            "PostgreSQL keeps for itself"
        )
    return name


def database_address(url: str) -> str:
    """The address of a database in PostgreSQL, as its clients take it; no password in it."""
    url = url.strip()
    if not url:
        return url
    try:
        parts = urlsplit(url)
        secret = parts.password is not None
        keys = {name.lower() for name, _ in parse_qsl(parts.query, keep_blank_values=True)}
    except ValueError:
        raise ValueError(_DATABASE) from None
    if secret or keys & {"password", "sslpassword"}:
        raise ValueError("must hold no password: set PGPASSWORD, or keep it in a passfile (docs/deploy.md)")
    if parts.scheme not in ("postgresql+psycopg", "postgresql") or parts.fragment:
        raise ValueError(_DATABASE)
    return url


_DATABASE = "must be an address like postgresql+psycopg://user@host:5432/database"


HostName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$")]
"""A name in lower case, without a port."""
