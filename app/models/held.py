"""Which models are on this machine, and what was fetched."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from notehop.app.models.base import Strict


class HeldModel(Strict):
    """A model that notehop can use, or one that the settings name and that is not here.

    ``origin`` says where it is from: installed with notehop, with an extra, in the hub's cache, or
    in a folder. ``languages`` are ISO 639 codes as its authors give them, ``mul`` for many; empty
    where they say nothing. ``used_by`` are the settings that name it; ``problem`` says why it
    cannot be used, and what to do.
    """

    name: str
    kind: Literal["embedding", "reranker", "unknown"]
    origin: Literal["bundled", "extra", "hub", "folder", "missing"]
    folder: str | None = None
    bytes: int | None = None
    dimensions: int | None = None
    languages: list[str] = Field(default_factory=list)
    used_by: list[str] = Field(default_factory=list)
    problem: str | None = None


class ModelList(Strict):
    """The models on this machine: those in use first, then by name.

    ``others`` counts models in the hub's cache that are of no use here, or not whole. ``exports`` is
    the folder of what was exported for queries, which all indexes share, ``exports_bytes`` its size.
    """

    models: list[HeldModel]
    cache: str
    others: int = 0
    exports: str = ""
    exports_bytes: int = 0


class PulledModel(Strict):
    """A model that was fetched from its hub, or would be.

    ``fetched`` is False for a dry run, and where all of it was here already. ``bytes`` is the size
    of its files together.
    """

    name: str
    kind: Literal["embedding", "reranker", "unknown"]
    hub: str
    commit: str
    bytes: int
    files: list[str]
    licence: str | None = None
    folder: str | None = None
    fetched: bool
    setting: str | None = None
