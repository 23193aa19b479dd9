"""The grammar of words: which stretches of a text are words, what one is made of, and phrases, whose
words are those of the index without their stems. And which language a text is in, by its small words,
letters and endings, or its script.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

# Letters with a stroke or a ligature do not decompose in Unicode, yet people type them without.
_PLAIN = {
    "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ł": "l",
    "ħ": "h", "ı": "i", "þ": "th", "ŧ": "t", "ё": "е",
}  # fmt: skip

# Marks that only decorate the letter before them: Latin, Greek and stress marks, Hebrew points,
# Arabic vowel signs; and what is invisible: soft hyphen, zero-width signs, tatweel, selectors.
# Vowel signs of Indic scripts are not among them: they are letters there.
_DROPPED = re.compile(
    "[\u00ad\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200d\u2060\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\ufeff]"
)

# Latin and Greek. Elsewhere a mark makes another letter: й is not и, ї is not і, が is not か.
_DECORATED = re.compile("[\u00c0-\u03ff\u1e00-\u1fff\u2c60-\u2c7f\ua720-\ua7ff]")


class _Table(dict[int, str]):
    """Code point -> its plain form, worked out when first met (the shape `str.translate` takes)."""

    def __missing__(self, code: int) -> str:
        letters = "" if _DROPPED.match(chr(code)) else chr(code)
        if _DECORATED.match(letters):
            letters = unicodedata.normalize("NFD", letters)
            letters = "".join(one for one in letters if not unicodedata.combining(one))
        self[code] = "".join(_PLAIN.get(letter, letter) for letter in letters)
        return self[code]


_TABLE = _Table()


def fold(word: str) -> str:
    """Take the diacritics off ``word``, in NFC; strokes (ł, ø) only off letters in lower case."""
    return word if word.isascii() else word.translate(_TABLE)


# Characters of one token. The longest dictionary words have about 80; what is longer is a blob (base64, a
# hash, a URL's slug), which is cut and never taken apart by case.
MAX_LENGTH = 64

UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u1000-\u103f\u1100-\u11ff\u1780-\u17d3"
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Letters, within a class of a pattern, of scripts written without spaces between words: Chinese, Japanese,
Korean (spaced, but its words carry particles), Thai, Lao, Burmese, Khmer."""
# Marks and invisible signs inside a word that `\w` does not know; Indic vowel signs among them.
_MARKS = (
    "\u00ad\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed"
    "\u0900-\u0963\u0971-\u0df3\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200d\u2060"
    "\u20d0-\u20ff\ufe20-\ufe2f\ufeff"
)
_EMOJI = (
    "\u231a-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff"
)
_APOSTROPHES = "'\u2018\u2019\u02bc\u2032"
_HYPHENS = "\\-\u2010\u2011"
_JOINTS = rf"[{_HYPHENS}._&{_APOSTROPHES}]"


def _word(letters: str) -> str:
    """The pattern of a surface: letters with single joints, `.` before, `++` or `#` after."""
    return (
        rf"(?:(?<![\w.])\.(?=[^\W\d_]))?{letters}(?:{_JOINTS}{letters})*+"
        r"(?:\+\+|(?<=\b[^\W\d_])\#(?![\w\#]))?"
    )


_ASCII = re.compile(_word(r"\w++"), re.ASCII)
_UNICODE = re.compile(
    "|".join(
        (
            rf"[{UNSPACED}]++",
            _word(rf"[^\W{UNSPACED}]++(?:[{_MARKS}]++[^\W{UNSPACED}]*+)*+"),
            "[\U0001f1e6-\U0001f1ff]{2}",
            rf"[{_EMOJI}]",
        )
    )
)
_UNSPACED_START = re.compile(rf"[{UNSPACED}]")
_TIDY = str.maketrans(dict.fromkeys("\u2018\u2019\u02bc\u2032", "'") | dict.fromkeys("\u2010\u2011", "-"))
# English contractions: what is dropped with its apostrophe (the note's -> note, we'll -> we) and
# what loses the apostrophe alone (don't -> dont, as it is often typed).
_DROPPED_ENDING = re.compile(r"'(?:s|re|ll|ve|m|d)$", re.IGNORECASE)
_JOINED_ENDING = re.compile(r"(?<=n)'(?=t$)", re.IGNORECASE)
_JOINT = re.compile(r"[-._&']+")


@dataclass(frozen=True, slots=True)
class Subwords:
    """What one surface is made of, case-folded and without diacritics.

    ``kept`` stays as it is (`foo_bar`, `2026.4.10`, `c++`, emoji, pairs of characters); ``words``
    are for the stemmer: the surface where it is one word, else its parts and, of two parts or of
    initials, all as one (`e-mail` is found by `email`, `U.S.A.` by `USA`). Only pairs repeat
    themselves. ``characters`` are those of an unspaced run of two or more.
    """

    kept: tuple[str, ...]
    words: tuple[str, ...]
    characters: tuple[str, ...] = ()


def split_words(text: str) -> list[str]:
    """The surfaces of ``text`` in order, in NFKC, case as written; empty for text without any."""
    if text.isascii():
        return _ASCII.findall(text)
    return _UNICODE.findall(unicodedata.normalize("NFKC", text))


def subwords(surface: str) -> Subwords:
    """Take one surface apart (see :class:`Subwords`); empty for underscores and lone marks."""
    if _UNSPACED_START.match(surface):
        if len(surface) == 1:
            return Subwords((surface,), ())
        pairs = tuple(surface[at : at + 2] for at in range(len(surface) - 1))
        return Subwords(pairs, (), tuple(surface))
    written, body, segments = _taken_apart(surface)
    if len(body) > MAX_LENGTH:
        return Subwords((), _once(segments))
    kept = [written] if written[:1] == "." or written[-1:] in "+#" else []
    if len(segments) > 1 and not set(_JOINT.findall(body)) <= {"'"}:
        kept.append(body)
    words = list(segments)
    several = len(segments) > 2 and all(len(one) == 1 and one.isalpha() for one in segments)
    two = len(segments) == 2 and not (segments[0].isdigit() and segments[1].isdigit())
    if two or several:
        words.append("".join(segments))
    for segment in segments:
        words += _humps(segment)
    return Subwords(_once(kept), _once(words))


def phrase_words(surface: str) -> tuple[str, ...]:
    """The words that are a surface's parts, or its characters, in order; `c++`, `.net` and emoji are one.
    Each is a token of the index once it is stemmed."""
    if _UNSPACED_START.match(surface):
        return tuple(surface)
    written, body, segments = _taken_apart(surface)
    if len(body) <= MAX_LENGTH and (written[:1] == "." or written[-1:] in "+#"):
        return _each_folded([written])
    return _each_folded(segments)


def _taken_apart(surface: str) -> tuple[str, str, list[str]]:
    """A surface without its accents, that without signs and endings, and the parts of it."""
    # Without accents first, so that case and endings are seen as they are without them.
    written = fold(surface.translate(_TIDY))
    body = _DROPPED_ENDING.sub("", written.lstrip(".").rstrip("+#").strip("_"))
    body = _JOINED_ENDING.sub("", body)
    return written, body, [part[:MAX_LENGTH] for part in _JOINT.split(body) if part]


def _once(words: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_each_folded(words)))


def _each_folded(words: list[str]) -> tuple[str, ...]:
    # Case-folding takes some letters apart again; fold() works on whole ones.
    folded = (fold(unicodedata.normalize("NFC", word.casefold())) for word in words)
    return tuple(word for word in folded if word)


def _humps(segment: str) -> list[str]:
    """The parts of `fooBar`, `HTMLParser`, `utf8`; empty where there is one, or it is a hash."""
    if segment.isalpha() and (segment.isupper() or segment[1:] == segment[1:].lower()):
        return []
    if len(segment) > 2 and segment[-1] == "s" and segment[:-1].isupper():
        return [segment[:-1]]
    parts: list[str] = []
    start = 0
    for at in range(1, len(segment)):
        before, here, after = segment[at - 1], segment[at], segment[at + 1 : at + 2]
        begins = before.islower() or (before.isupper() and after.islower())
        if before.isdigit() != here.isdigit() or (here.isupper() and begins):
            parts.append(segment[start:at])
            start = at
    parts.append(segment[start:])
    is_hash = sum(part[0].isdigit() for part in parts) > 2
    return parts if len(parts) > 1 and not is_hash else []


_remembered = lru_cache(maxsize=50_000)(phrase_words)  # some 15 MB


def words_in_order(text: str) -> list[str]:
    """The words of a text in order, folded, not stemmed; of unspaced scripts the characters."""
    words: list[str] = []
    for surface in split_words(text):
        words += _remembered(surface) if len(surface) <= MAX_LENGTH else phrase_words(surface)
    return words


def joined_words(text: str) -> str:
    """:func:`words_in_order` with blanks between and around: they hold those of a phrase it says."""
    return " ".join(("", *words_in_order(text), ""))


_LANGUAGES: Mapping[str, Any] = tomllib.loads(
    Path(__file__).with_name("languages.toml").read_text(encoding="utf-8")
)
_WORDS = {code: frozenset(one["words"].split()) for code, one in _LANGUAGES.items()}

STEMMED: Mapping[str, Any] = {code: one for code, one in _LANGUAGES.items() if "stemmer" in one}
"""Language -> its table in ``languages.toml``."""

FUNCTION_WORDS: Mapping[str, frozenset[str]] = {code: _WORDS[code] for code in STEMMED}
"""Language that the tokenizer stems -> its small words."""

EVERYDAY: Mapping[str, str] = {code: one.get("everyday", "") for code, one in STEMMED.items()}
"""The same -> words that questions are asked with, and a note that answers need not have."""

_OTHER_NAMES = {"ja": "Japanese", "ko": "Korean", "und": "no known language", "zh": "Chinese"}

LANGUAGES = (*sorted(STEMMED), *_OTHER_NAMES)
"""Codes that a tokenizer takes; ``und`` (undetermined, ISO 639-2) leaves words as they are."""

NAMES: Mapping[str, str] = {code: one["name"] for code, one in STEMMED.items()} | _OTHER_NAMES

_READ_EACH = 2_000  # characters read of one text: 200 of them take 0.1 s

_EVIDENCE_WEIGHT = 0.5  # against 1 for a small word of one language: many share letters and endings
_SURE = 20  # words from which on finding no known language means that it is none of them
# Points a word below which no known language is at work: technical prose of the nine has 0.25 to 0.39,
# Welsh, Estonian, Latin, Vietnamese and Indonesian at most 0.11.
_ENOUGH = 0.13
# Points without which a few words are in no clear language: one small word and a letter or ending. Less
# takes `non-existent task` for Italian; with it one in 700 English headings is another's.
_CLEAR = 1.5
_CLEARER = 2.0  # times the points of the next one: names and loan words look like two
# Share of the words that stand in texts which are clearly in a language, where all of them together are in
# none: shorthand and lists have few small words. 0.8 of a student's English notes; at most 0.25 of texts in
# 30 languages that are not known.
_MOSTLY = 0.5

_LETTERS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_APOSTROPHE = re.compile(r"['’]")
_KANA = re.compile(r"[\u3041-\u30ff]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_CYRILLIC = re.compile(r"[\u0400-\u052f]")
# Greek, Armenian, Hebrew, Arabic, the scripts of South and South East Asia, Georgian, Ethiopic.
_OTHER = re.compile(r"[\u0370-\u03ff\u0530-\u109f\u10a0-\u10ff\u1200-\u139f\u1780-\u17ff]")

_PATTERNS = {code: re.compile(one["evidence"]) for code, one in _LANGUAGES.items()}
_OWNERS = Counter(word for words in _WORDS.values() for word in words)
"""Small word -> how many languages have it."""


def detect_language(texts: Iterable[str], default: str = "en") -> str:
    """The language most of ``texts`` are in, by their beginnings: a code of :data:`LANGUAGES`.

    Where there is too little of any, it is that which most words are clearly in, text by text.
    Of sentences of 10 to 18 words of man pages 98 in 100 are named rightly, of 6 to 9 words 93, of a few
    words 75 (many of them hold English commands); of whole vaults all.

    :param default: the answer where there is nothing to go by: no text, or names and numbers only.
    :returns: ``und`` where there are words enough, but of none of the known languages.
    """
    each = [_beginnings([text]) for text in texts]
    text = "\n".join(each)
    words = _spaced(text)
    language = _by_script(text, words) or _by_words(words, default)
    if language != "und":
        return language
    clear: Counter[str] = Counter()
    for one in each:
        clear[clear_language(one) or "und"] += sum(_spaced(one).values())
    best = max(sorted(clear), key=lambda code: clear[code], default="und")
    return best if clear[best] >= _MOSTLY * clear.total() else "und"


def clear_language(text: str) -> str | None:
    """The language of a few words, where script, small words, letters and endings leave no doubt.

    :returns: a code of :data:`LANGUAGES`; ``und`` for a script that none of them is written in;
        None where it is not clear.
    """
    text = _beginnings([text])
    words = _spaced(text)
    if (language := _by_script(text, words)) is not None:
        return language
    for script, language in ((_CYRILLIC, "ru"), (_OTHER, "und")):
        if 2 * sum(n for word, n in words.items() if script.match(word)) > sum(words.values()):
            return _by_words(words, language)
    # Letters alone are variables, options and initials; a word said often proves no more than once.
    scores = _scores({word: 1 for word in words if len(word) > 1})
    if not scores:
        return None
    best, *others = sorted(scores, key=lambda code: (-scores[code], code))
    second = scores[others[0]] if others else 0.0
    if scores[best] < max(_CLEAR, _CLEARER * second):
        return None
    return best if best in FUNCTION_WORDS else "und"


def _beginnings(texts: Iterable[str]) -> str:
    return "\n".join(unicodedata.normalize("NFKC", text[:_READ_EACH]) for text in texts)


def _by_script(text: str, spaced: Mapping[str, int]) -> str | None:
    """The language of characters that stand without spaces; None where words are more."""
    han, kana, hangul = (len(one.findall(text)) for one in (_HAN, _KANA, _HANGUL))
    # Two characters make about a word.
    if han + kana + hangul <= 2 * sum(spaced.values()):
        return None
    if hangul > han + kana:
        return "ko"
    return "ja" if kana > 0.1 * han else "zh"


def _spaced(text: str) -> dict[str, int]:
    """The words of scripts that put spaces between them, Korean left out, and how often."""
    words = Counter(_LETTERS.findall(text.casefold()))
    return {word: times for word, times in words.items() if word < "\u1100"}


def _by_words(words: Mapping[str, int], default: str) -> str:
    total, scores = sum(words.values()), _scores(words)
    best = min(scores, key=lambda code: (-scores[code], code), default=None)
    if best is None or scores[best] < _ENOUGH * total:
        return "und" if total >= _SURE else default
    return best if best in FUNCTION_WORDS else "und"


def _scores(words: Mapping[str, int]) -> dict[str, float]:
    """The points of each language that has any."""
    scores: defaultdict[str, float] = defaultdict(float)
    for word, times in words.items():
        for code, points in _points_of(word):
            scores[code] += times * points
    return scores


@lru_cache(maxsize=10_000)
def _points_of(word: str) -> tuple[tuple[str, float], ...]:
    """The points that a word gives to languages; looked up for each word of each query."""
    found = [
        (code, _OWNERS[part] ** -0.5)
        for part in map(fold, _APOSTROPHE.split(word))
        for code, words in _WORDS.items()
        if part in words
    ]
    found += [(code, _EVIDENCE_WEIGHT) for code, one in _PATTERNS.items() if one.search(word)]
    return tuple(found)
