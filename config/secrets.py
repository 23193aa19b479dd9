"""Reads secrets from files that only their user can read.

Touches: the file that a setting names.
"""

from __future__ import annotations

import os
from pathlib import Path

from notehop.config.errors import SettingsError
from notehop.config.settings import ServerSettings

SHORTEST = 16
"""Characters that a token has at least: with fewer it could be guessed."""

_LONGEST = 4_096


def server_token(settings: ServerSettings) -> str | None:
    """The token of the server: the setting, else what its file holds; None if neither is set.

    :raises SettingsError: if the file is not there, can be read by others, or holds no token.
    """
    if settings.token is not None:
        return _checked(settings.token.get_secret_value(), "server.token")
    if settings.token_file is None:
        return None
    return _checked(_private(settings.token_file.expanduser()), str(settings.token_file))


def _private(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            found = os.fstat(stream.fileno())
            if os.name == "posix" and found.st_mode & 0o077:
                raise SettingsError(
                    f"{path}: others can read this token file; run: chmod 600 {path}"
                )
            return stream.read(_LONGEST + 1).decode("utf-8").strip()
    except OSError as exc:
        raise SettingsError(
            f"{path}: the token file cannot be read: {exc.strerror}; "
            "correct server.token_file or make the file"
        ) from exc
    except UnicodeDecodeError as exc:
        raise SettingsError(f"{path}: the token file holds no text") from exc


def _checked(token: str, origin: str) -> str:
    """A token that a header can carry.

    :raises SettingsError: without showing it.
    """
    fits = SHORTEST <= len(token) <= _LONGEST
    if not fits or not token.isascii() or not token.isprintable() or " " in token:
        raise SettingsError(
            f"{origin}: a token has {SHORTEST} to {_LONGEST:,} visible ASCII characters and no "
            "space; make one with: openssl rand -hex 32"
        )
    return token
