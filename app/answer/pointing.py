"""Whether a sentence makes no sense without the one before it. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

_FIRST_WORD = re.compile(r"\w+")

POINTING: Mapping[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "de": "er sie es dies diese dieser dieses diesen diesem sein seine seinen ihr ihre ihren "
        "dort damals dadurch deshalb daher danach dabei damit aber doch jedoch auch dann trotzdem",
        "en": "he she it they this that these those his her hers its their theirs such both "
        "however but so therefore thus hence then also instead otherwise yet nevertheless",
        "es": "él ella ellos ellas este esta estos estas esto ese esa esos esas eso su sus "
        "pero sin embargo así entonces también además",
        "fr": "il elle ils elles ce cet cette ces cela ceci son sa ses leur leurs "
        "mais pourtant cependant donc alors ainsi aussi",
        "it": "lui lei esso essa essi esse loro questo questa questi queste ciò suo sua suoi sue "
        "ma però quindi allora così anche inoltre",
        "nl": "hij zij ze het dit dat deze die zijn haar hun daarom daardoor daarna maar echter "
        "ook toen dus",
        "pt": "ele ela eles elas este esta estes estas isto esse essa esses essas isso seu sua "
        "seus suas mas porém então assim também",
    }.items()
}
"""Words at the beginning of a sentence that stand for something said before it, or go on from it,
by ISO 639-1 code."""


def points_back(sentence: str, language: str) -> bool:
    """Whether a sentence begins with a word that points to what was said before."""
    found = _FIRST_WORD.search(sentence)
    return found is not None and found[0].casefold() in POINTING.get(language, ())
