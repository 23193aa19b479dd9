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

from notehop.app.retrieval.abbreviations import is_spelt_out
from notehop.app.retrieval.components import Hits
from notehop.app.retrieval.filters import AllowedChunks, keep_allowed
from notehop.config import Settings
from notehop.indexing.embed.models import languages_read
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.stores.rows import ChunkId
from notehop.indexing.tokens.words import FUNCTION_WORDS, NAMES, UNSPACED, clear_language, fold

Intent = Literal["none", "status", "discovery", "concept", "person", "timeline"]

TOPIC_SLOT = "{x}"  # the hole of a rule

_PHRASE_PART = re.compile(r"\([^)]*\)|\[[^\]]*\]|\{x\}|[^ ]+")
_WORD = re.compile(r"[^ ']+")


class IntentRule(NamedTuple):
    """A phrase that tells an intent, or asks for themes, and a query that it takes, with what stands
    there in the hole."""

    intent: Intent
    language: str
    phrase: str
    example: str
    strict: bool = False
    topic: str = ""


_TABLE = tomllib.loads(Path(__file__).with_name("rules.toml").read_text("utf-8"))

RULES = tuple(
    IntentRule(intent, key[:2], phrase, example, strict=key.endswith("-strict"))
    for intent, phrases in _TABLE["intents"].items()
    for key in phrases
    for phrase, example in phrases[key]
)
"""In the order in which they are tried."""

THEME_RULES = tuple(
    IntentRule(
        "none",
        language,
        re.sub(r"<(\w+)>", r"{\1}", phrase.replace("{x}", "{{x}}")).format(**some["words"]),
        example,
        topic="".join(topic),
    )
    for language, some in _TABLE["themes"].items()
    for phrase, example, *topic in some["phrases"]
)

ASKS_FOR_NEWEST = re.compile(_TABLE["newest"], re.IGNORECASE)
WORDS_BEFORE_NAME: Sequence[str] = _TABLE["before"]
WORDS_AFTER_NAME: Sequence[str] = _TABLE["after"]
"""Words around the name of what a query is about that are no part of it."""

MAX_QUESTION_WORDS = 24  # words of a query that can be a question about one thing; longer ones are text

_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": "'", "-": " ", "_": " ", ":": " "})
_LONG_GAP = " " * 10
EDGE_PUNCTUATION = " \t\r\n.,;:!?¿¡…\"'“”„«»()[]{}*#"

KnownNames = Callable[[Collection[str]], Collection[str]]
"""Names -> those of them that are the title or an alias of a note."""


class DetectedIntent(NamedTuple):
    """The intent of a query and its topic: its text where no rule took it. ``rule`` is None where none
    did or the intent was named."""

    intent: Intent
    topic: str
    rule: IntentRule | None = None


def detect_intent(text: str, find_known_names: KnownNames) -> DetectedIntent:
    """Return the intent of a query by the first rule that takes it, ``none`` if there is none.

    :param find_known_names: asked once at most, only where a strict rule could take the query.
    """
    matches = [(rule, topic) for rule, topic in matching_rules(RULES, text) if topic]
    loose = next(((rule, about) for rule, about in matches if not rule.strict), None)
    strict = [(rule, name_candidates(about)) for rule, about in matches if rule.strict]
    if strict and (loose is None or matches[0][0].strict):
        known_names = set(find_known_names([name for _, names in strict for name in names]))
        for rule, names in strict:
            known_name = next((name for name in names if name in known_names), None)
            if known_name is not None:
                return DetectedIntent(rule.intent, known_name, rule)
    if loose is not None:
        return DetectedIntent(loose[0].intent, loose[1], loose[0])
    return DetectedIntent("none", text)


def find_topic(text: str, intent: Intent) -> DetectedIntent:
    """Return the topic of a query whose intent is known, which a rule of that intent may find."""
    for rule, found in matching_rules(RULES, text):
        if found and rule.intent == intent:
            return DetectedIntent(intent, found)
    return DetectedIntent(intent, text)


def find_themes_subject(text: str) -> str | None:
    """Find the subject of a question for themes, empty for all themes; None if it asks for none."""
    return next((said for _, said in matching_rules(THEME_RULES, text)), None)


def name_candidates(said: str) -> list[str]:
    """Return the names that a text may stand for: as it is, and without the words around a name."""
    found = [strip_punctuation(said)]
    for name in found:
        written = name.translate(_APOSTROPHES).lower()
        shorter = [
            name[len(one) :]
            for one in WORDS_BEFORE_NAME
            if written.startswith(one if one.endswith("'") else f"{one} ")
        ]
        shorter += [name[: -len(one)] for one in WORDS_AFTER_NAME if written.endswith(f" {one}")]
        shorter = [one for one in map(strip_punctuation, shorter) if len(name.split()) > 1]
        if name.lower().endswith("'s"):
            shorter.append(name[:-2])
        found += [one for one in dict.fromkeys(shorter) if one and one not in found]
    return [name for name in found if name]


def strip_punctuation(name: str) -> str:
    """Return a name without the punctuation around it."""
    return name.strip(EDGE_PUNCTUATION)


def matching_rules(rules: Iterable[IntentRule], text: str) -> Iterator[tuple[IntentRule, str]]:
    """Yield the rules whose phrase matches a whole text, and what stands in the slot, as it is written.

    A text that is too long for a question about one thing is none, nor is what holds a rule of
    dashes: a pattern tries every way to share its blanks. Compiled are only phrases whose words stand
    in the text: to compile all took longer than to open an index.
    """
    query_text = unicodedata.normalize("NFC", " ".join(text.split())).strip(EDGE_PUNCTUATION)
    if not query_text or len(query_text.split()) > MAX_QUESTION_WORDS:
        return
    padded = f"{fold_accents(query_text)} "
    if len(padded.split()) > 2 * MAX_QUESTION_WORDS or _LONG_GAP in padded:
        return
    words = set(_WORD.findall(padded))
    for rule in rules:
        if any(map(words.isdisjoint, _required_words(rule.phrase))):
            continue
        if match := _compile_phrase(rule.phrase).fullmatch(padded):
            first, end = match.span("x") if TOPIC_SLOT in rule.phrase else (0, 0)
            yield rule, query_text[first:end].strip(EDGE_PUNCTUATION)


def fold_accents(text: str) -> str:
    """Return small letters without accents, character by character, so that positions stay the same."""
    bare = (unicodedata.normalize("NFD", letter)[0] for letter in text.translate(_APOSTROPHES))
    return "".join(letter.lower()[0] for letter in bare)


@cache
def _required_words(phrase: str) -> Sequence[frozenset[str]]:
    """The words with which each part begins that the phrase cannot do without."""
    parts = (part for part in _PHRASE_PART.findall(phrase) if part != TOPIC_SLOT and part[0] != "[")
    return [frozenset(_WORD.findall(one)[0] for one in _alternatives(part)) for part in parts]


@cache
def _compile_phrase(phrase: str) -> re.Pattern[str]:
    """The regular expression of a phrase, a blank after each word; ``l'`` needs none."""
    written = ""
    for part in _PHRASE_PART.findall(phrase):
        if part == TOPIC_SLOT:
            written += "(?P<x>.+?) +"
        else:
            either = "|".join(
                re.escape(one).replace(r"\ ", " +") + (" *" if one.endswith("'") else " +")
                for one in _alternatives(part)
            )
            written += f"(?:{either})" + ("?" if part.startswith("[") else "")
    return re.compile(written)


def _alternatives(part: str) -> list[str]:
    return [fold_accents(one).strip() for one in part.strip("()[]").split("|")]


DECIDED_BY = "decided_by"  # in the metadata of a hit: the signals that decided its place
DECIDING_SIGNALS: Mapping[str, frozenset[str]] = {"status": frozenset({"subject", "recent"})}
"""Intent -> the signals that decide in it, however little what they bring resembles the question."""


def weigh_signals(
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
    model_languages = languages_read(settings.embedding.model)
    query_language = None if model_languages is None else clear_language(text)
    # Notes in no language that is known may be lists, code or what else: that is no reason.
    text_language = query_language or ("" if language == "und" else language)
    reduced = weights | {"semantic": weights["semantic"] * retrieval.unread_share}
    # The last signal that finds hits is left as it is: something has to rank.
    is_read = model_languages is None or not text_language or text_language in model_languages
    if is_read or retrieval.unread_share == 1 or not any(reduced.values()):
        return weights, []
    whose = "the query is in" if query_language else "the notes are in"
    reason = f"{whose} {NAMES.get(text_language, text_language)}, which the embedding model does not read"
    return reduced, [reason]


MAX_SUBJECTS = 3  # notes that one query can be about: "Atlas and Budget" is about two
MAX_NAME_WORDS = 8  # words of the longest name that is looked for
MAX_SCANNED_WORDS = 40  # words of a query that are looked at: what is longer is a text and names no subject
MAX_SIMILAR_NOTES = 10  # best notes among which a name is looked for that the query holds only in part
MAX_DEFINING_CHUNKS = 60  # best chunks among which one is looked for that says what is asked for
MAX_NOTES_PER_NAME = 40  # notes that may go by a proper name: what more are called ("README") names none

MIN_NAME_SHARE = 0.5
"""Share of what a query with an intent is about that a name has to cover: the status of the insurance
claim for the car is not about the car."""

IsProperName = Callable[[int, int], bool]
"""First and last character (exclusive) of a stretch of a text -> whether it is a proper name."""

# Small words of one language that people are called in all.
_PERSON_NAMES = frozenset(("ben", "dan", "dina", "ed", "ella", "mia", "mina", "nell", "sue"))
ALL_FUNCTION_WORDS = frozenset().union(*FUNCTION_WORDS.values()) - _PERSON_NAMES
"""Words of any language that are no name by themselves."""

_NAME_PUNCTUATION = ",;:!?…\"'“”‘’„«»*_"  # around a name in a sentence; hardly any name ends so
_MAX_UNSPACED_CHARS = 64  # characters in which names that stand without blanks around them are looked for
_UNSPACED = re.compile(rf"[{UNSPACED}]{{2,}}")

_NOUNS_HAVE_CAPITALS = frozenset(("de",))
_APOSTROPHE = re.compile(r"['’]")
_LEADING_PUNCTUATION = re.compile(r"[\W_]*")


def make_proper_name_test(text: str, language: str) -> IsProperName:
    """Make the test whether a stretch of the text is written as a proper name.

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
    for at, word in enumerate(words[:MAX_SCANNED_WORDS]):
        said = _LEADING_PUNCTUATION.sub("", word[0], count=1)[1:] if at in begins else word[0]
        if any(one.isupper() for one in said):
            capitals.append(word.span())
    if not any(_is_lower_case_word(strip_punctuation(word[0])) for word in words):
        return lambda _first, _end: False

    def is_proper(first: int, end: int) -> bool:
        return sum(first < stop and start < end for start, stop in capitals) >= least

    return is_proper


def _is_lower_case_word(word: str) -> bool:
    """Tell whether a word says something and is written small."""
    # "what's" is a small word and an ending, "isn't" one small word, which are written without.
    read = {fold(_APOSTROPHE.split(word)[0]), fold(_APOSTROPHE.sub("", word))}
    return word[:1].islower() and read.isdisjoint(ALL_FUNCTION_WORDS)


@dataclass
class SubjectFinder:
    """Finds the notes that one query is about, once.

    First those whose title or alias stands in ``text``, longest name first. If there are none and
    the text is to have a subject (``tokenize``, the tokenizer of the index for queries), the one of the
    best notes whose name shares its words with the text: all that the text says, or all that the
    name says, without regard to order and inflection. A name has to cover ``min_share`` of
    the text's words; notes that ``is_excluded`` are no subject. With ``is_proper_name`` a name counts
    only where the text writes it as the note does, and as a proper name: "Plan" is an everyday word.
    Who asks what something is gets how its note begins (``prefer_opening``), or what says it of the ``term``.
    """

    view: Snapshot
    text: str
    tokenize: Callable[[str], Collection[str]] | None
    min_share: float = 0.0
    is_proper_name: IsProperName | None = None
    is_excluded: Callable[[str], bool] = lambda _: False
    prefer_opening: bool = False
    term: str = ""
    _found: tuple[str, ...] | None = field(default=None, init=False)

    @property
    def found_paths(self) -> tuple[str, ...]:
        """The paths of the notes that were found; none if no signal asked for them."""
        return self._found or ()

    @cached_property
    def notes_by_span(self) -> Mapping[tuple[int, int], frozenset[str]]:
        """The notes of each name that stands in the text, the longest first."""
        proper = self.is_proper_name
        name_spans = sorted(_name_spans(self.text, proper), key=lambda one: (one[0][0] - one[0][1], one[0]))
        spans = dict(name_spans)
        paths_by_name: Mapping[str, Sequence[str]] = self.view.named_any(
            {name for names in spans.values() for name in names}
        )
        if proper is not None and paths_by_name:
            # What many are called is not read: 5,000 notes of a name take a quarter of a second.
            few = (one for one in paths_by_name.items() if len(one[1]) <= MAX_NOTES_PER_NAME)
            paths_by_name = dict(few)
            notes = self.view.notes_at({path for paths in paths_by_name.values() for path in paths})
            names_by_path = {
                path: {_normalize_name(name) for name in (note.title, *note.aliases)}
                for path, note in notes.items()
            }
            paths_by_name = {
                name: [path for path in paths if _normalize_name(name) in names_by_path.get(path, ())]
                for name, paths in paths_by_name.items()
            }
        return {
            span: paths
            for span, names in spans.items()
            if (paths := frozenset(path for name in names for path in paths_by_name.get(name, ())))
        }

    def find_notes(self, candidates: Sequence[ChunkId]) -> tuple[str, ...]:
        """Return the paths of the notes, at most three; ``candidates`` as for :meth:`rank`."""
        if self._found is None:
            # Else there is nothing to look for among the candidates.
            looks = self.notes_by_span or self.tokenize is not None
            paths = dict.fromkeys(filter(None, self.view.paths_of(candidates if looks else ())))
            rank = {path: at for at, path in enumerate(paths)}
            self._found = self._find_named(rank) or self._find_similar(list(rank))
        return self._found

    def rank(self, candidates: Sequence[ChunkId], allowed: AllowedChunks = None) -> Hits:
        """Return an allowed chunk of each note, the best of the candidates or its first, in the order of
        the names' lengths; the score is 1."""
        hits: list[tuple[ChunkId, float]] = []
        for path in self.find_notes(candidates):
            ids = self.view.chunk_ids_of(path)
            best = [] if self.prefer_opening else [one for one in candidates if one in ids][:1]
            hits += [(one, 1.0) for one in keep_allowed(best or ids, allowed)[:1]]
        if self.term:
            # What has no note of its own may be told in a glossary, and so may what a note is called by.
            first = {one for one, _ in hits}
            defining = keep_allowed(self._defining_chunks(candidates), allowed)[:MAX_SUBJECTS]
            more = [(one, 1.0) for one in defining if one not in first]
            hits = [*hits, *more] if self.notes_by_span else [*more, *hits]
        return hits

    def _defining_chunks(self, candidates: Sequence[ChunkId]) -> list[ChunkId]:
        """The best chunks that spell out what is asked for, or in which an entry of a list or table, or a
        line in bold, begins with it and a colon, dash or bar; else the best with another such line, or
        sentence, that is no code.

        Of "the gate at Pell" one may begin with "gate" that says "Pell", too.
        """
        names = {one.lower() for one in name_candidates(self.term)}
        words = min(names, key=len).split()
        end = next((at for at, one in enumerate(words) if fold(one) in ALL_FUNCTION_WORDS), len(words))
        where = [one for one in words[end:] if fold(one) not in ALL_FUNCTION_WORDS]
        head = " ".join(words[:end] if where else words)
        either = "|".join(map(re.escape, sorted({*names, head} - {""})))
        definition = re.compile(
            rf"(?:^|[.;] )(?P<mark>[^\w\n]*)(?P<name>{either})(?: \([^)\n]+\))?[*_\"”`]*"
            r"(?:[ \u00a0\u202f]?[:=]| [–—|-])[*_]* .*",
            re.IGNORECASE | re.MULTILINE,
        )
        ranks: dict[ChunkId, int] = {}
        for chunk_id, chunk in self.view.chunks(candidates[:MAX_DEFINING_CHUNKS]).items():
            text = chunk.text.lower()
            if is_spelt_out(head, chunk.text) and all(each in text for each in where):
                ranks[chunk_id] = 0
            for match in definition.finditer(chunk.text):
                says_where = all(each in match[0].lower() for each in where)
                if match["name"].lower() in names or says_where:
                    in_code = text.count("```", 0, match.start()) % 2
                    ranks.setdefault(chunk_id, 3 if in_code else 2 - bool(match["mark"].strip()))
        best = sorted(ranks, key=ranks.__getitem__)
        return [one for one in best if ranks[one] < 2] or best[:1]

    def _find_named(self, rank: Mapping[str, int]) -> tuple[str, ...]:
        least = self.min_share * _count_content_words(self.text)
        subjects: dict[str, None] = {}
        taken: set[int] = set()
        for (first, end), note_paths in self.notes_by_span.items():
            if _count_content_words(self.text[first:end]) < least:
                continue
            paths = {path for path in note_paths if not self.is_excluded(path)}
            if len(paths) > MAX_SUBJECTS:
                # A name of many notes is that of the one which the rest of the query fits.
                paths = {path for path in paths if path in rank}
            if paths and taken.isdisjoint(range(first, end)):
                taken.update(range(first, end))
                ordered = sorted(paths, key=lambda path: (rank.get(path, len(rank)), path))
                subjects.update(dict.fromkeys(ordered))
        return tuple(subjects)[:MAX_SUBJECTS]

    def _find_similar(self, paths: Sequence[str]) -> tuple[str, ...]:
        if (words := self.tokenize) is None or not (query_words := set(words(self.text))):
            return ()
        best, nearest = 0.0, ""
        for path, note in self.view.notes_at(paths[:MAX_SIMILAR_NOTES]).items():
            if self.is_excluded(path):
                continue
            for name in (note.title, *note.aliases):
                name_words = set(words(name))
                if name_words and (name_words <= query_words or query_words <= name_words):
                    share = len(name_words & query_words) / len(name_words | query_words)
                    if share > best and share >= self.min_share:
                        best, nearest = share, path
        return (nearest,) if nearest else ()


def _normalize_name(name: str) -> str:
    return unicodedata.normalize("NFC", " ".join(name.split()))


def _count_content_words(text: str) -> int:
    """Count the content words of a text; its characters where it has no blanks."""
    words = [strip_punctuation(word).lower() for word in text.split()]
    if len(words) == 1 and _UNSPACED.search(text):
        return len(words[0])
    return sum(
        bool(word) and word not in ALL_FUNCTION_WORDS and word not in WORDS_BEFORE_NAME for word in words
    )


def _name_spans(text: str, proper: IsProperName | None) -> Iterator[tuple[tuple[int, int], list[str]]]:
    """Yield each stretch of characters that may be a name, with the ways to read it."""
    counts = proper or (lambda _first, _end: True)
    words = list(re.finditer(r"\S+", text))[:MAX_SCANNED_WORDS]
    for at in range(len(words)):
        for last in range(at, min(at + MAX_NAME_WORDS, len(words))):
            first, end = words[at].start(), words[last].end()
            name = strip_punctuation(text[first:end]) if counts(first, end) else ""
            if not name or fold(name.lower()) in ALL_FUNCTION_WORDS:
                continue
            owner = [name[:-2]] if name.endswith(("'s", "’s")) else []
            # A name may end in what a sentence puts around names: "Atlas (film)", "Acme Inc.".
            written = text[first:end]
            stripped = dict.fromkeys([written, written.strip(_NAME_PUNCTUATION)])
            yield (first, end), [name, *owner, *(one for one in stripped if one and one != name)]
    for run in _UNSPACED.finditer(text[:_MAX_UNSPACED_CHARS]):
        for first in range(run.start(), run.end() - 1):
            for end in range(first + 2, min(run.end(), first + 2 * MAX_NAME_WORDS) + 1):
                if counts(first, end):
                    yield (first, end), [text[first:end]]
