"""Whether what is derived from the catalog is whole, for people who ask.

A derived part that cannot be read, or is of another index, the next run makes anew.
"""

from __future__ import annotations

from dataclasses import dataclass

from notehop.config.errors import IndexDamaged
from notehop.indexing.stores.catalog import CatalogSnapshot
from notehop.indexing.stores.chroma import read_mirror
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.lexical_segments import read_segments

INDEX = "notehop index"
REBUILD = "notehop index --rebuild"
ELSEWHERE = "notehop index --index-dir NEW_FOLDER"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong with a part of an index.

    ``broken`` tells whether answers suffer or notes are missing; if not, it only takes room.
    """

    part: str
    problem: str
    command: str
    broken: bool = True


def said_of(error: Exception) -> str:
    """What an error of ours says, without what it says to do: the finding names that."""
    return " ".join(str(error).partition("; run:")[0].split())


def check_lexical(layout: IndexLayout, view: CatalogSnapshot) -> list[Finding]:
    """Whether the words are there as they were written; they may be some generations behind."""
    try:
        _, generation, stamp = read_segments(layout.postings)
    except IndexDamaged as exc:
        return [Finding("lexical", said_of(exc), INDEX)] if view.has_chunks else []
    fits = stamp == view.stamp and generation <= view.generation
    return [] if fits else [Finding("lexical", "it is of another index", INDEX)]


def check_mirror(layout: IndexLayout, view: CatalogSnapshot) -> list[Finding]:
    """Whether the mirror in Chroma is there as it was written; one that is behind is no finding."""
    state = read_mirror(layout)
    if state is None:
        problem = "there is no copy for other programs"
    elif state.stamp != view.stamp or state.generation > view.generation:
        problem = "it is of another index"
    elif not state.fits(layout):
        problem = "its files are other than written"
    else:
        return []
    return [Finding("chroma", problem, INDEX, broken=False)]
