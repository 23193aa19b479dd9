"""Resolution: where the path part of a link leads, by the app's rules.

The rules are numbered as in ``docs/links.md``; each is tried only where those before it found
nothing, except that rule 5 and rule 4 end the search: a link that says where its file is never
leads elsewhere. An edge that the owner did not make is worse than a missing one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, islice, takewhile
from unicodedata import normalize

from notehop.indexing.graph.files import (
    NOTE_SUFFIX,
    VaultFile,
    VaultFiles,
    competing,
    fold,
    is_pdf,
    is_readable,
)
from notehop.indexing.graph.fragments import Outline, find_fragment
from notehop.indexing.graph.model import Resolution, ResolvedLink, Status, Via
from notehop.indexing.vault.model import Link

MAX_CANDIDATES = 20
"""Candidates named for one ambiguous link; a person reads a handful, the rest is counted."""

_UNRESOLVED = Resolution(Status.UNRESOLVED)


def resolve_path(files: VaultFiles, source: str, target: str) -> Resolution:
    """Find the file that the path part of a link means.

    :param source: path of the note that holds the link.
    :param target: the path part, decoded, without fragment and display text.
    :returns: for an empty target the source itself.
    """
    if not target:
        return Resolution(Status.RESOLVED, source, Via.SELF)
    found = _by_place(files, source, target)
    if found is None and (trimmed := target.strip()) != target:
        # As written first: a file name may begin or end with a space.
        found = _by_place(files, source, trimmed) if trimmed else _UNRESOLVED
    return found or _by_alias(files, target) or _UNRESOLVED


def resolve_link(
    files: VaultFiles,
    source: str,
    link: Link,
    outline_of: Callable[[str], Outline | None],
) -> ResolvedLink:
    """Resolve a link with its fragment.

    :param outline_of: outline of a note by its path; None where it was not read. Called only for a
        fragment into a note that is not excluded.
    """
    fragment = (link.fragment or "").strip()
    if not link.target.strip() and link.fragment is None:
        return ResolvedLink(source, link, _UNRESOLVED)  # ``[[|text]]``: the app finds nothing
    resolution = resolve_path(files, source, link.target)
    path = resolution.path
    if (
        not fragment
        or path is None
        or not is_readable(path)
        or resolution.status is Status.EXCLUDED
    ):
        return ResolvedLink(source, link, resolution)
    if is_pdf(path):
        # ``page=3&rect=…``; without a page it says how it is shown.
        fragment = fragment.partition("&")[0]
    outline = outline_of(path) if not is_pdf(path) or fragment.startswith("page=") else None
    if outline is None:
        return ResolvedLink(source, link, resolution)
    span = find_fragment(outline, fragment)
    return ResolvedLink(source, link, resolution, span, span is not None)


def _by_place(files: VaultFiles, source: str, target: str) -> Resolution | None:
    """Rules 3 to 8; None leaves the link to what comes after them."""
    key = fold(target)
    exact = key.startswith(("/", "./", "../"))
    if exact:
        place = key[1:] if key[0] == "/" else _from_folder(source, key)
        if place is None:
            return _UNRESOLVED
        key = place
    if key and not key.endswith("/"):
        # Rule 3: the name as written, of any type; then as the name of a note.
        for wanted in (key, key + NOTE_SUFFIX):
            fitting = files.named(wanted)
            twins = [*takewhile(lambda file: file.key == wanted, fitting)]  # noqa: B023
            if twins:  # rules 4, 5 and 6
                ranked = _spelled(competing(twins), target)
                return _resolution(ranked, len(ranked), Via.PATH)
            if fitting and not exact:  # rule 7
                return _nearest(source, target, competing(fitting))
    return _UNRESOLVED if exact else None


def _from_folder(source: str, key: str) -> str | None:
    """Rule 4: the folded path that ``./`` or ``../`` mean; None outside of the vault.

    None, too, for one that ends in ``.`` or ``..``: it names a folder. The note of that folder's
    name would be found, but the link does not say its name, and would not be found by it.
    """
    parts = fold(source).split("/")[:-1]
    steps = key.split("/")
    if steps[-1] in (".", ".."):
        return None
    for part in steps:
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _nearest(source: str, target: str, fitting: Sequence[VaultFile]) -> Resolution:
    """Rule 7: below the linking note's folder first, then the shortest path, then by path."""
    folder = fold(source).rpartition("/")[0] + "/"
    near = (file for file in fitting if file.key.startswith(folder))
    far = (file for file in fitting if not file.key.startswith(folder))
    ranked = [*islice(chain(near, far), MAX_CANDIDATES)]
    return _resolution(_spelled(ranked, target), len(fitting), Via.NAME)


def _spelled(ranked: Sequence[VaultFile], target: str) -> Sequence[VaultFile]:
    """Of files whose paths differ in case only, put the one that is spelled as the link first.

    Comparison ignores case, so all of them fit and are reported; but on a disk that has both
    ``note.md`` and ``Note.md`` the writer can choose only by spelling.
    """
    if len(ranked) == 1:
        return ranked
    rank: dict[str, int] = {}
    for file in ranked:
        rank.setdefault(file.key, len(rank))
    if len(rank) == len(ranked):
        return ranked
    written = normalize("NFC", target).lstrip("./")
    endings = (written, written + NOTE_SUFFIX)
    return sorted(
        ranked,
        key=lambda file: (
            rank[file.key],
            not normalize("NFC", file.path).endswith(endings),
            file.path,
        ),
    )


def _resolution(ranked: Sequence[VaultFile], total: int, via: Via) -> Resolution:
    best = ranked[0]
    several = len(ranked) > 1
    status = Status.AMBIGUOUS if several else Status.RESOLVED
    return Resolution(
        status=Status.EXCLUDED if best.excluded else status,
        path=best.path,
        via=via,
        candidates=tuple(file.path for file in ranked) if several else (),
        more=total - len(ranked) if several else 0,
    )


def _by_alias(files: VaultFiles, target: str) -> Resolution | None:
    """Rule 9: the alias of exactly one note."""
    carriers = files.carriers(target)
    return Resolution(Status.RESOLVED, carriers[0], Via.ALIAS) if len(carriers) == 1 else None
