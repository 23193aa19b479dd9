"""One generation of the index held against the files, for replies that list notes and links.

Touches: index (reads), vault-read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from notehop.app.retrieval.current import CurrentFiles
from notehop.app.retrieval.current_view import CurrentView
from notehop.app.retrieval.index_view import IndexView
from notehop.app.services.place import Place
from notehop.app.services.remedy import remedy
from notehop.indexing.graph.model import Status
from notehop.indexing.stores.model import LinkRow


class Standing(CurrentView):
    """What still stands in the vault; make one for each reply."""

    def __init__(self, view: IndexView, place: Place) -> None:
        files = CurrentFiles(
            place.vault,
            max_note_bytes=place.settings.vault.max_note_bytes,
            comment_links=place.settings.vault.comment_links,
        )
        super().__init__(view, files)
        self._indexed = view
        self._now = files
        self._place = place

    def still(self, links: Sequence[LinkRow]) -> list[LinkRow]:
        """Those of the links that stand in their notes, with the lines they have there."""
        rows = self._indexed.notes_at(dict.fromkeys(link.path for link in links))
        found: list[LinkRow] = []
        for link in links:
            if link.path not in rows:
                continue
            look = self._now.look(rows[link.path])
            now = link if look.changed is None else look.changed.link(link)
            if look.there and now is not None:
                found.append(now)
        return found

    def leading(self, links: Iterable[LinkRow]) -> list[LinkRow]:
        """The links without the targets that do not stand in the vault any more."""
        held = list(links)
        rows = self._indexed.notes_at({link.target_path for link in held if link.target_path})
        looks = {path: self._now.look(row) for path, row in rows.items()}
        found: list[LinkRow] = []
        for link in held:
            look = looks.get(link.target_path or "")
            if look is not None and not look.there:
                status = Status.UNRESOLVED if look.nameable else Status.EXCLUDED
                link = replace(link, status=status, target_path=None, target_chunk_id=None)
            found.append(link)
        return found

    def any_of(self, paths: Iterable[str]) -> bool:
        """Whether any of the notes is there, by as few looks at files as it takes."""
        return any(self.notes_at([path]) for path in paths)

    def changed(self, paths: Iterable[str]) -> set[str]:
        """Those of the notes whose files are other than they were when they were indexed."""
        rows = self._indexed.notes_at(paths)
        looks = {path: self._now.look(row) for path, row in rows.items()}
        return {path for path, look in looks.items() if not look.there or look.changed}

    def told(self) -> list[str]:
        """What a reply has to say of what was left out; usually nothing."""
        said = self.warning(lambda: remedy(self._place.layout))
        return [*self._indexed.warnings, *([said] if said else [])]
