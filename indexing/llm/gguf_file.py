"""Looks whether a file is what llama.cpp can be given.

Touches: model (reads the first bytes).
"""

from __future__ import annotations

from pathlib import Path

from notehop.config.errors import ProviderError

_MAGIC = b"GGUF"


def gguf_file(model: str) -> Path:
    """The file that ``llm.model`` names.

    :raises ProviderError: if it is not there, or is none of GGUF.
    """
    file = Path(model).expanduser()
    try:
        with file.open("rb") as stream:
            magic = stream.read(len(_MAGIC))
    except OSError as exc:
        raise ProviderError(
            f"{file}: cannot be read ({exc.strerror}); with llama-cpp, llm.model is the path of a "
            "GGUF file",
            "model",
        ) from exc
    if magic != _MAGIC:
        raise ProviderError(
            f"{file}: no GGUF file (it begins with {magic!r}); a model for llama-cpp ends in .gguf",
            "model",
        )
    return file
