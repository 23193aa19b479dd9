"""Shows models to a person.

Touches: terminal.
"""

from __future__ import annotations

from notehop.app.cli.output import show, styled, warn
from notehop.app.models import HeldModel, ModelList, PulledModel
from notehop.indexing.shown import counted, on_one_line

_ORIGINS = {
    "bundled": "comes with notehop",
    "extra": "extra `multilingual`",
    "hub": "hub cache",
    "folder": "folder",
    "missing": "not on this machine",
}

_SEVERAL = 6
"""Languages that are named; of more the number is told."""


def show_models(held: ModelList) -> None:
    """Print the models, those in use first."""
    for number, model in enumerate(held.models):
        if number:
            show(styled(""))
        used = f"  in use: {', '.join(model.used_by)}" if model.used_by else ""
        show(styled((on_one_line(model.name), "bold"), (used, "green")))
        show(styled((_told(model), "dim")), indent=2)
        if model.folder is not None:
            show(styled((on_one_line(model.folder), "dim")), indent=2)
    others = counted(held.others, "model") + " of other kinds, or not whole, in " + held.cache
    if held.others:
        show(styled(("\n" + on_one_line(others), "dim")))
    if held.exports_bytes:
        size = f"{held.exports_bytes / 1e6:,.1f} MB"
        told = f"exported for queries, shared by all indexes: {size} in {held.exports}"
        show(styled(("\n" + on_one_line(told), "dim")))
    warn([model.problem for model in held.models if model.problem])


def show_pulled(pulled: PulledModel, *, dry_run: bool) -> None:
    """Print what became of a fetch, and how to use the model."""
    if dry_run and pulled.folder is None:
        for name in pulled.files:
            show(styled(on_one_line(name)), indent=2)
        return
    done = "fetched" if pulled.fetched else "here already"
    show(styled((on_one_line(pulled.name), "bold"), f" {done}: {on_one_line(pulled.folder or '')}"))
    if pulled.setting is None:
        show(styled("It is neither an embedding model nor a cross-encoder that notehop knows."))
        return
    then = ", then run: notehop index --rebuild" if pulled.kind == "embedding" else ""
    show(styled(f'To use it, set {pulled.setting} = "{on_one_line(pulled.name)}"{then}'))


def _told(model: HeldModel) -> str:
    kinds = {"embedding": "embedding", "reranker": "cross-encoder", "unknown": "of unknown kind"}
    told = [kinds[model.kind], _ORIGINS[model.origin]]
    if model.bytes is not None:
        told.append(f"{model.bytes / 1e6:,.1f} MB")
    if model.dimensions is not None:
        told.append(f"{model.dimensions} dimensions")
    if model.languages == ["mul"]:
        told.append("many languages")
    elif len(model.languages) > _SEVERAL:
        told.append(counted(len(model.languages), "language"))
    elif model.languages:
        told.append(" ".join(model.languages))
    return ", ".join(told)
