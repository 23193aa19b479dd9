"""Makes whole again what is derived: the vector store and tables from the catalog.

What is broken is removed here; what is missing is put back without a model.

Touches: index (reads and writes; under the writer lock).
"""

from __future__ import annotations

import shutil
from collections.abc import Collection
from dataclasses import replace
from typing import get_args

import numpy as np

from notehop.config.errors import IndexDamaged, IndexMissing
from notehop.indexing import faults
from notehop.indexing.embed.onnx_model import MANIFEST_FILE, read_manifest
from notehop.indexing.stores import table_files
from notehop.indexing.stores.catalog import CatalogSnapshot
from notehop.indexing.stores.catalog_fetch import slices
from notehop.indexing.stores.layout import IndexLayout, unwritable
from notehop.indexing.stores.lexical_segments import FILE as LEXICAL_FILE
from notehop.indexing.stores.lexical_segments import read_segments
from notehop.indexing.stores.vectors import Collection as Name
from notehop.indexing.stores.vectors import Vectors

_NAMES: tuple[Name, ...] = get_args(Name)

_BATCH = 4_096
"""Vectors put back at a time: 6 MB at 384 dimensions."""


def remove_derived(layout: IndexLayout) -> None:
    """Remove all that was derived from a catalog that is not there any more.

    :raises IndexUnwritable: if the disk refuses.
    """
    for folder in (layout.chroma, layout.vectors, layout.lexical):
        _remove(layout, folder.name)


def remove_store(layout: IndexLayout) -> None:
    """Remove a vector store that cannot be used; nobody in this process may have it open.

    :raises IndexUnwritable: if the disk refuses.
    """
    _remove(layout, layout.chroma.name)


def remove_what_is_no_folder(layout: IndexLayout) -> None:
    """Remove files that stand where a part of the index has its folder.

    :raises IndexUnwritable: if the disk refuses.
    """
    for folder in (layout.chroma, layout.vectors, layout.lexical, layout.model):
        if folder.exists() and not folder.is_dir():
            _unlink(layout, folder.name)


def remove_broken_parts(layout: IndexLayout, harmed: Collection[str]) -> list[str]:
    """Take out of the tables the parts that are not as they were written.

    :param harmed: paths in the index, with ``/``, of files that are known to be other than written.
    :returns: the names of tables that lack something now; :func:`bring_up_to_date` fills them.
    :raises IndexUnwritable: if the disk refuses.
    """
    folder = layout.vectors
    broken: list[str] = []
    for name in _NAMES:
        try:
            manifest = table_files.read_manifest(folder, name)
        except IndexMissing:
            continue
        except IndexDamaged:
            _unlink(layout, f"{folder.name}/{name}.json")
            broken.append(name)
            continue
        whole = tuple(
            part
            for part in manifest.parts
            if not {f"{folder.name}/{part.file}{suffix}" for suffix in (".npy", ".ids")}
            & set(harmed)
            and table_files.is_whole(folder, part, manifest.dimensions)
        )
        if whole != manifest.parts:
            # Generation 0: what it holds is right, and no generation is complete.
            left = replace(manifest, generation=0, parts=whole)
            nothing = np.empty((0, manifest.dimensions), dtype=np.float32)
            table_files.write(folder, name, left, [], nothing)
            broken.append(name)
    return broken


def remove_broken_lexical(layout: IndexLayout) -> bool:
    """Remove the file of the lexical index if it cannot be read; whether it was so.

    :raises IndexUnwritable: if the disk refuses.
    """
    if not (layout.lexical / LEXICAL_FILE).exists():
        return False
    try:
        read_segments(layout.lexical)
    except IndexDamaged:
        _unlink(layout, f"{layout.lexical.name}/{LEXICAL_FILE}")
        return True
    return False


def remove_broken_door(layout: IndexLayout, harmed: Collection[str]) -> bool:
    """Remove the query door of the model if a file of it is not as written; whether it was so.

    :param harmed: as for :func:`remove_broken_parts`; the files of an earlier door do not count.
    :raises IndexUnwritable: if the disk refuses.
    """
    folder = layout.model
    door = read_manifest(folder)
    if door is None:
        return bool(harmed)
    files = {f"{folder.name}/{name}" for name, _ in door.files.values()}
    if door.is_sound(folder) and not files & set(harmed):
        return False
    _unlink(layout, f"{folder.name}/{MANIFEST_FILE}")
    return True


def refill(view: CatalogSnapshot, store: Vectors) -> int:
    """Put vectors that the store lacks back into it, from the catalog; return how many.

    :raises IndexUnwritable: if the disk refuses.
    """
    count = 0
    for name in _NAMES:
        stored = store.ids(name)
        wanted = view.sentence_ids() if name == "links" else [k.id for k in view.chunk_keys()]
        for part in slices([one for one in wanted if one not in stored], _BATCH):
            store.upsert(name, *view.vectors(name, part))
            count += len(part)
    return count


def _remove(layout: IndexLayout, name: str) -> None:
    path = layout.root / name
    if not path.exists():
        return
    try:
        shutil.rmtree(path)
    except OSError as exc:
        raise unwritable(layout.root, exc) from exc
    faults.point(f"{name}-removed")


def _unlink(layout: IndexLayout, name: str) -> None:
    try:
        (layout.root / name).unlink(missing_ok=True)
    except OSError as exc:
        raise unwritable(layout.root, exc) from exc
    faults.point(f"{name}-removed")
