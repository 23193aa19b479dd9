"""Puts an index that was made beside the one in force in its place."""

from __future__ import annotations

import shutil

from notehop.indexing import faults
from notehop.indexing.stores.layout import IndexLayout, replace_file, unwritable


def replace_index(layout: IndexLayout, made: IndexLayout) -> None:
    """Let a whole, closed index, made at ``layout.beside()``, be the one in force.

    A catalog on a server is put in force first, by the server: what is derived from it and was lost
    in a crash is made again. The caller holds the writer lock.

    :raises IndexUnwritable: if the disk refuses.
    """
    if layout.database is not None:
        from notehop.indexing.stores.served.postgres_database import put_in_force

        put_in_force(layout.database)
        faults.point("rebuild-catalog-in-force")
    try:
        replace_file(layout.current, f"{made.home.name}\n")
    except OSError as exc:
        raise unwritable(layout.root, exc) from exc
    remove_left_over(layout)


def remove_left_over(layout: IndexLayout) -> None:
    """Remove indexes that are not in force: replaced, or never whole. The caller holds the writer lock.

    :raises IndexUnwritable: if the disk refuses.
    """
    try:
        paths = layout.left_over()
        if layout.home != layout.root:
            paths += IndexLayout(layout.root, layout.database, "").contents
        for path in paths:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
            faults.point("rebuild-former-removed")
    except OSError as exc:
        raise unwritable(layout.root, exc) from exc
    if layout.database is not None:
        from notehop.indexing.stores.served.postgres_database import remove_replaced

        remove_replaced(layout.database)
