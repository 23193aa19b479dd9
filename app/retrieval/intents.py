"""What a query is after, by the phrases of ``rules.toml``, what each signal weighs for it, and the notes that
it is about: their names as they stand in its text."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Literal, NamedTuple

from notehop.app.retrieval.abbreviations import spelt_out
from notehop.app.retrieval.components import Hits
from notehop.app.retrieval.filters import AllowedChunks, among
from notehop.config import Settings
from notehop.indexing.embed.models import languages_read
from notehop.indexing.stores.model import ChunkId
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.tokens.words import FUNCTION_WORDS, NAMES, UNSPACED, clear_language, fold

Intent = Literal["none", "status", "discovery", "concept", "person", "timeline"]

ABOUT = "{x}"  # the hole of a rule

_PART = re.compile(r"\([^)]*\)|\[[^\]]*\]|\{x\}|[^ ]+")
_WORD = re.compile(r"[^ ']+")


class Rule(NamedTuple):
    """A phrase that tells an intent, or asks for themes, and a query that it takes, with what stands
    there in the hole."""

    intent: Intent
    language: str
    phrase: str
    example: str
    strict: bool = False
    about: str = ""


_TABLE = tomllib.loads(Path(__file__).with_name("rules.toml").read_text("utf-8"))

RULES = tuple(
    Rule(intent, key[:2], phrase, example, strict=key.endswith("-strict"))
    for intent, phrases in _TABLE["intents"].items()
    for key in phrases
    for phrase, example in phrases[key]
)
"""In the order in which they are tried."""

THEME_RULES = tuple(
    Rule(
        "none",
        language,
        re.sub(r"<(\w+)>", r"{\1}", phrase.replace("{x}", "{{x}}")).format(**some["words"]),
        example,
        about="".join(about),
    )
    for language, some in _TABLE["themes"].items()
    for phrase, example, *about in some["phrases"]
)

NEWEST = re.compile(_TABLE["newest"], re.IGNORECASE)
BEFORE: Sequence[str] = _TABLE["before"]
AFTER: Sequence[str] = _TABLE["after"]
"""Words around the name of what a query is about that are no part of it."""

MOST_WORDS = 24  # words of a query that can be a question about one thing; longer ones are text

_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": "'", "-": " ", "_": " ", ":": " "})
_LONG_GAP = " " * 10
EDGES = " \t\r\n.,;:!?¿¡…\"'“”„«»()[]{}*#"

Named = Callable[[Collection[str]], Collection[str]]
"""Names -> those of them that are the title or an alias of a note."""


class IntentReading(NamedTuple):
    """What a query is after, and what about: its text where no rule took it. ``rule`` is None where none
    did or the intent was named."""

    intent: Intent
    about: str
    rule: Rule | None = None


def read(text: str, named: Named) -> IntentReading:
    """Return the intent of a query by the first rule that takes it, ``none`` if there is none.

    :param named: asked once at most, only where a strict rule could take the query.
    """
    taken = [(rule, said) for rule, said in taken_by(RULES, text) if said]
    loose = next(((rule, about) for rule, about in taken if not rule.strict), None)
    strict = [(rule, names_of(about)) for rule, about in taken if rule.strict]
    if strict and (loose is None or taken[0][0].strict):
        known = set(named([name for _, names in strict for name in names]))
        for rule, names in strict:
            whole = next((name for name in names if name in known), None)
            if whole is not None:
                return IntentReading(rule.intent, whole, rule)
    if loose is not None:
        return IntentReading(loose[0].intent, loose[1], loose[0])
    return IntentReading("none", text)


def about(text: str, intent: Intent) -> IntentReading:
    """Return the reading of a query whose intent is known: a rule of it may say what about."""
    for rule, found in taken_by(RULES, text):
        if found and rule.intent == intent:
            return IntentReading(intent, found)
    return IntentReading(intent, text)


def asks_for_themes(text: str) -> str | None:
    """What themes a question asks for: a subject, or the empty text for all; None if it asks for none."""
    return next((said for _, said in taken_by(THEME_RULES, text)), None)


def names_of(said: str) -> list[str]:
    """The names that words may stand for: as they are, and without words around a name."""
    found = [bare(said)]
    for name in found:
        written = name.translate(_APOSTROPHES).lower()
        shorter = [
            name[len(one) :]
            for one in BEFORE
            if written.startswith(one if one.endswith("'") else f"{one} ")
        ]
        shorter += [name[: -len(one)] for one in AFTER if written.endswith(f" {one}")]
        shorter = [one for one in map(bare, shorter) if len(name.split()) > 1]
        if name.lower().endswith("'s"):
            shorter.append(name[:-2])
        found += [one for one in dict.fromkeys(shorter) if one and one not in found]
    return [name for name in found if name]


def bare(name: str) -> str:
    """A name without the punctuation around it."""
    return name.strip(EDGES)


def taken_by(rules: Iterable[Rule], text: str) -> Iterator[tuple[Rule, str]]:
    """The rules whose phrase takes a whole text, and what stands in the hole, as it is written.

    A text that is too long for a question about one thing is none, nor is what holds a rule of
    dashes: a pattern tries every way to share its blanks. Compiled are only phrases whose words stand
    in the text: to compile all took longer than to open an index.
    """
    plain = unicodedata.normalize("NFC", " ".join(text.split())).strip(EDGES)
    if not plain or len(plain.split()) > MOST_WORDS:
        return
    written = f"{flat(plain)} "
    if len(written.split()) > 2 * MOST_WORDS or _LONG_GAP in written:
        return
    words = set(_WORD.findall(written))
    for rule in rules:
        if any(map(words.isdisjoint, _first_words(rule.phrase))):
            continue
        if found := _pattern_of(rule.phrase).fullmatch(written):
            first, end = found.span("x") if ABOUT in rule.phrase else (0, 0)
            yield rule, plain[first:end].strip(EDGES)


def flat(text: str) -> str:
    """Small letters without accents, character by character, so that places stay the same."""
    bare = (unicodedata.normalize("NFD", letter)[0] for letter in text.translate(_APOSTROPHES))
    return "".join(letter.lower()[0] for letter in bare)


@cache
def _first_words(phrase: str) -> Sequence[frozenset[str]]:
    """The words with which each part begins that the phrase cannot do without."""
    parts = (part for part in _PART.findall(phrase) if part != ABOUT and part[0] != "[")
    return [frozenset(_WORD.findall(one)[0] for one in _either(part)) for part in parts]


@cache
def _pattern_of(phrase: str) -> re.Pattern[str]:
    """The regular expression of a phrase, a blank after each word; ``l'`` needs none."""
    written = ""
    for part in _PART.findall(phrase):
        if part == ABOUT:
            written += "(?P<x>.+?) +"
        else:
            either = "|".join(
                re.escape(one).replace(r"\ ", " +") + (" *" if one.endswith("'") else " +")
                for one in _either(part)
            )
            written += f"(?:{either})" + ("?" if part.startswith("[") else "")
    return re.compile(written)


def _either(part: str) -> list[str]:
    return [flat(one).strip() for one in part.strip("()[]").split("|")]


DECIDED_BY = "decided_by"  # in the metadata of a hit: the signals that decided its place
DECIDING: Mapping[str, frozenset[str]] = {"status": frozenset({"subject", "recent"})}
"""Intent -> the signals that decide in it, however little what they bring resembles the question."""


def weigh(
    text: str, settings: Settings, intent: Intent, language: str
) -> tuple[dict[str, float], list[str]]:
    """Return the weight of each signal for a query, 0 or more, as its intent and language, or that of the
    notes where it leaves it open, change those of the settings; and in words what language changed.

    A model that does not read a language ranks by the names and numbers in it: as an equal, it
    would drag down what the words find (docs/decisions/words.md has the measurement).
    """
    retrieval = settings.retrieval
    weights = retrieval.weights.model_dump()
    if intent != "none":
        weights |= getattr(retrieval.intents, intent)
    read = languages_read(settings.embedding.model)
    asked = None if read is None else clear_language(text)
    # Notes in no language that is known may be lists, code or what else: that is no reason.
    spoken = asked or ("" if language == "und" else language)
    left = weights | {"semantic": weights["semantic"] * retrieval.unread_share}
    # The last signal that finds hits is left as it is: something has to rank.
    reads = read is None or not spoken or spoken in read or retrieval.unread_share == 1
    if reads or not any(left.values()):
        return weights, []
    whose = "the query is in" if asked else "the notes are in"
    reason = f"{whose} {NAMES.get(spoken, spoken)}, which the embedding model does not read"
    return left, [reason]


MOST = 3  # notes that one query can be about: "Atlas and Budget" is about two
WORDS = 8  # words of the longest name that is looked for
LONGEST = 40  # words of a query that are looked at: what is longer is a text and names no subject
NEAR = 10  # best notes among which a name is looked for that the query holds only in part
TELLING = 60  # best chunks among which one is looked for that says what is asked for
SHARED = 40  # notes that may go by a proper name: what more are called ("README") names none

COVERED = 0.5
"""Share of what a query with an intent is about that a name has to cover: the status of the insurance
claim for the car is not about the car."""

Proper = Callable[[int, int], bool]
"""First and last character (exclusive) of a stretch of a text -> whether it is a proper name."""

# Small words of one language that people are called in all.
_CALLED = frozenset(("ben", "dan", "dina", "ed", "ella", "mia", "mina", "nell", "sue"))
SMALL = frozenset().union(*FUNCTION_WORDS.values()) - _CALLED
"""Words of any language that are no name by themselves."""

_BEFORE_NAMES = ",;:!?…\"'“”‘’„«»*_"  # around a name in a sentence; hardly any name ends so
_RUN = 64  # characters in which names that stand without blanks around them are looked for
_UNSPACED = re.compile(rf"[{UNSPACED}]{{2,}}")

_NOUNS_HAVE_CAPITALS = frozenset(("de",))
_APOSTROPHE = re.compile(r"['’]")
_BEFORE = re.compile(r"[\W_]*")


def proper_names(text: str, language: str) -> Proper:
    """What tells of a stretch of the text whether it is written as a proper name.

    It has a capital letter that is not the one a sentence begins with (the text's first word, and
    one after a word written small with a full stop, unlike "Dr. Berg"), and the text writes other
    words that say something without. In German, where every noun has one, two words have to.
    """
    words = list(re.finditer(r"\S+", text))
    least = 2 if language in _NOUNS_HAVE_CAPITALS else 1
    # A dash or an emoji begins no sentence: the word after it does.
    begins = {next((at for at, word in enumerate(words) if re.search(r"\w", word[0])), 0)}
    for at, word in enumerate(words, start=1):
        ends = word[0].rstrip("\"'”’»)*_").endswith((".", "!", "?", "…"))
        if ends and word[0][:1].islower():
            begins.add(at)
    capitals: list[tuple[int, int]] = []
    for at, word in enumerate(words[:LONGEST]):
        said = _BEFORE.sub("", word[0], count=1)[1:] if at in begins else word[0]
        if any(one.isupper() for one in said):
            capitals.append(word.span())
    if not any(_is_plain(bare(word[0])) for word in words):
        return lambda _first, _end: False

    def is_proper(first: int, end: int) -> bool:
        return sum(first < stop and start < end for start, stop in capitals) >= least

    return is_proper


def _is_plain(word: str) -> bool:
    """Whether a word says something and is written small."""
    # "what's" is a small word and an ending, "isn't" one small word, which are written without.
    read = {fold(_APOSTROPHE.split(word)[0]), fold(_APOSTROPHE.sub("", word))}
    return word[:1].islower() and read.isdisjoint(SMALL)


@dataclass
class Subject:
    """The notes that one query is about, looked up once.

    First those whose title or alias stands in ``text``, longest name first. If there are none and
    the text is to have a subject (``words``, the tokenizer of the index for queries), the one of the
    best notes whose name shares its words with the text: all that the text says, or all that the
    name says, without regard to order and inflection. A name has to cover the share ``covered`` of
    the text's words; notes that are ``left_out``, by path, are no subject. With ``proper`` a name counts
    only where the text writes it as the note does, and as a proper name: "Plan" is an everyday word.
    Who asks what something is gets how its note begins (``opening``), or what says it of the ``term``.
    """

    view: Snapshot
    text: str
    words: Callable[[str], Collection[str]] | None
    covered: float = 0.0
    proper: Proper | None = None
    left_out: Callable[[str], bool] = lambda _: False
    opening: bool = False
    term: str = ""
    _found: tuple[str, ...] | None = field(default=None, init=False)

    @property
    def found(self) -> tuple[str, ...]:
        """The paths of the notes that were found; none if no signal asked for them."""
        return self._found or ()

    @cached_property
    def named(self) -> Mapping[tuple[int, int], frozenset[str]]:
        """The notes of each name that stands in the text, the longest first."""
        proper = self.proper
        found = sorted(_spans(self.text, proper), key=lambda one: (one[0][0] - one[0][1], one[0]))
        spans = dict(found)
        known: Mapping[str, Sequence[str]] = self.view.named_any(
            {name for names in spans.values() for name in names}
        )
        if proper is not None and known:
            # What many are called is not read: 5,000 notes of a name take a quarter of a second.
            known = {name: paths for name, paths in known.items() if len(paths) <= SHARED}
            notes = self.view.notes_at({path for paths in known.values() for path in paths})
            own = {
                path: {_composed(name) for name in (note.title, *note.aliases)}
                for path, note in notes.items()
            }
            known = {
                name: [path for path in paths if _composed(name) in own.get(path, ())]
                for name, paths in known.items()
            }
        return {
            span: paths
            for span, names in spans.items()
            if (paths := frozenset(path for name in names for path in known.get(name, ())))
        }

    def notes(self, candidates: Sequence[ChunkId]) -> tuple[str, ...]:
        """Return the paths of the notes, at most three; ``candidates`` as for :meth:`rank`."""
        if self._found is None:
            # Else there is nothing to look for among the candidates.
            looks = self.named or self.words is not None
            paths = dict.fromkeys(filter(None, self.view.paths_of(candidates if looks else ())))
            rank = {path: at for at, path in enumerate(paths)}
            self._found = self._named(rank) or self._near(list(rank))
        return self._found

    def rank(self, candidates: Sequence[ChunkId], allowed: AllowedChunks = None) -> Hits:
        """An allowed chunk of each note, the best of the candidates or its first, in the order of the
        names' lengths; the score is 1."""
        hits: list[tuple[ChunkId, float]] = []
        for path in self.notes(candidates):
            own = self.view.chunk_ids_of(path)
            best = [] if self.opening else [one for one in candidates if one in own][:1]
            hits += [(one, 1.0) for one in among(best or own, allowed)[:1]]
        if self.term:
            # What has no note of its own may be told in a glossary, and so may what a note is called by.
            first = {one for one, _ in hits}
            told = among(self._defining(candidates), allowed)[:MOST]
            more = [(one, 1.0) for one in told if one not in first]
            hits = [*hits, *more] if self.named else [*more, *hits]
        return hits

    def _defining(self, candidates: Sequence[ChunkId]) -> list[ChunkId]:
        """The best chunks that spell out what is asked for, or in which an entry of a list or table, or a
        line in bold, begins with it and a colon, dash or bar; else the best with another such line, or
        sentence, that is no code.

        Of "the gate at Pell" one may begin with "gate" that says "Pell", too.
        """
        names = {one.lower() for one in names_of(self.term)}
        words = min(names, key=len).split()
        end = next((at for at, one in enumerate(words) if fold(one) in SMALL), len(words))
        where = [one for one in words[end:] if fold(one) not in SMALL]
        head = " ".join(words[:end] if where else words)
        either = "|".join(map(re.escape, sorted({*names, head} - {""})))
        says = re.compile(
            rf"(?:^|[.;] )(?P<mark>[^\w\n]*)(?P<name>{either})(?: \([^)\n]+\))?[*_\"”`]*"
            r"(?:[ \u00a0\u202f]?[:=]| [–—|-])[*_]* .*",
            re.IGNORECASE | re.MULTILINE,
        )
        found: dict[ChunkId, int] = {}
        for chunk_id, chunk in self.view.chunks(candidates[:TELLING]).items():
            text = chunk.text.lower()
            if spelt_out(head, chunk.text) and all(each in text for each in where):
                found[chunk_id] = 0
            for said in says.finditer(chunk.text):
                if said["name"].lower() in names or all(each in said[0].lower() for each in where):
                    in_code = text.count("```", 0, said.start()) % 2
                    found.setdefault(chunk_id, 3 if in_code else 2 - bool(said["mark"].strip()))
        best = sorted(found, key=found.__getitem__)
        return [one for one in best if found[one] < 2] or best[:1]

    def _named(self, rank: Mapping[str, int]) -> tuple[str, ...]:
        least = self.covered * _weight(self.text)
        found: dict[str, None] = {}
        taken: set[int] = set()
        for (first, end), named in self.named.items():
            if _weight(self.text[first:end]) < least:
                continue
            paths = {path for path in named if not self.left_out(path)}
            if len(paths) > MOST:
                # A name of many notes is that of the one which the rest of the query fits.
                paths = {path for path in paths if path in rank}
            if paths and taken.isdisjoint(range(first, end)):
                taken.update(range(first, end))
                ordered = sorted(paths, key=lambda path: (rank.get(path, len(rank)), path))
                found.update(dict.fromkeys(ordered))
        return tuple(found)[:MOST]

    def _near(self, paths: Sequence[str]) -> tuple[str, ...]:
        if (words := self.words) is None or not (asked := set(words(self.text))):
            return ()
        best, nearest = 0.0, ""
        for path, note in self.view.notes_at(paths[:NEAR]).items():
            if self.left_out(path):
                continue
            for name in (note.title, *note.aliases):
                own = set(words(name))
                if own and (own <= asked or asked <= own):
                    share = len(own & asked) / len(own | asked)
                    if share > best and share >= self.covered:
                        best, nearest = share, path
        return (nearest,) if nearest else ()


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", " ".join(name.split()))


def _weight(text: str) -> int:
    """How many words of a text say something; characters where none stand between blanks."""
    words = [bare(word).lower() for word in text.split()]
    if len(words) == 1 and _UNSPACED.search(text):
        return len(words[0])
    return sum(bool(word) and word not in SMALL and word not in BEFORE for word in words)


def _spans(text: str, proper: Proper | None) -> Iterator[tuple[tuple[int, int], list[str]]]:
    """Yield each stretch of characters that may be a name, with the ways to read it."""
    counts = proper or (lambda _first, _end: True)
    words = list(re.finditer(r"\S+", text))[:LONGEST]
    for at in range(len(words)):
        for last in range(at, min(at + WORDS, len(words))):
            first, end = words[at].start(), words[last].end()
            name = bare(text[first:end]) if counts(first, end) else ""
            if not name or fold(name.lower()) in SMALL:
                continue
            owner = [name[:-2]] if name.endswith(("'s", "’s")) else []
            # A name may end in what a sentence puts around names: "Atlas (film)", "Acme Inc.".
            said = text[first:end]
            whole = dict.fromkeys([said, said.strip(_BEFORE_NAMES)])
            yield (first, end), [name, *owner, *(one for one in whole if one and one != name)]
    for run in _UNSPACED.finditer(text[:_RUN]):
        for first in range(run.start(), run.end() - 1):
            for end in range(first + 2, min(run.end(), first + 2 * WORDS) + 1):
                if counts(first, end):
                    yield (first, end), [text[first:end]]
