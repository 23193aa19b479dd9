"""What a query says in another form than the notes: misspelled words, words of which they have a compound
only, and days."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from itertools import chain, groupby, product
from typing import TYPE_CHECKING

from rapidfuzz.distance import OSA, Indel

from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.tokens.tokenizer import FIELDS, Tokenizer
from notehop.indexing.tokens.words import FUNCTION_WORDS, fold, split_words, subwords

if TYPE_CHECKING:
    from notehop.app.retrieval.relevance import QueryWord


MIN_LETTERS = 4  # letters of a word that may be misspelled: shorter ones are near to too many others

MIN_LETTERS_UNKNOWN = 6  # the same where nothing tells misspelled words from words not used here
MIN_LETTERS_TWO_EDITS = 8  # letters from which two may be wrong, not one
MAX_DISTANCE = 3  # letters that a word and the one that it is read as may differ in, endings among them
MAX_NEAR_WORDS = 24  # words of the vault that are looked at for one of the query
_VOWELS = frozenset("aeiouyаеиоуыэюя")
MAX_PASSAGES_PER_STEM = 2  # passages that are read for a stem, to see as what word it stands there


def correct_spelling(
    text: str,
    words: Sequence[QueryWord],
    view: Snapshot,
    tokenizer: Tokenizer,
    is_word: Callable[[str], bool],
    named_days: Iterable[NamedDay] = (),
    *,
    knows_language: bool = True,
) -> tuple[str, dict[str, str]]:
    """Read words that stand nowhere in the vault as those written with other letters (`ue` for `ü`), else as
    the nearest that do, but for short words, those with digits or marks in them, identifiers, those of
    scripts without spaces, and words of the language; else as :func:`find_compounds` does. Days are read as
    :func:`resolve_days` does.

    :param words: of the text, as :func:`question_words` gives them.
    :param is_word: tells of a word, in small letters, whether it is one.
    :param named_days: the days in the text.
    :param known: whether that is told of words of the notes' language; words have to be longer else.
    :returns: the text to search for; what changed, as written -> as searched for.
    """
    shortest = MIN_LETTERS if knows_language else MIN_LETTERS_UNKNOWN
    small_words = FUNCTION_WORDS.get(tokenizer.language, frozenset())
    corrections: dict[str, str] = {}
    unread: list[QueryWord] = []
    for word in words:
        written = word.text[:-2] if word.text[-2:] in ("'s", "’s") else word.text
        small = written.lower()
        if not word.is_missing or not written.isalpha():
            continue
        same = _umlaut_variant(small, view, tokenizer) or _verb_form(small, view, tokenizer)
        if same is not None:
            corrections[written] = same.capitalize() if written[0].isupper() else same
            continue
        if is_word(small):
            continue
        unread.append(word)
        if len(written) < shortest or written[1:] != small[1:] or subwords(written).characters:
            continue
        nearest = _nearest_word(small, word.tokens[0], view, tokenizer)
        folded = re.sub("(?<=[aou])e", "", small) if tokenizer.language == "de" else small
        if nearest is None and folded != small:  # Without umlauts, and misspelled.
            nearest = _nearest_word(folded, tokenizer(folded)[0], view, tokenizer)
        if nearest is None or (not knows_language and fold(nearest) in small_words):
            continue  # A verb of its own ("gemäht") is likelier than a small word ("gemacht").
        pairs = [(fold(one), fold(nearest)) for one in (small, folded)]
        if knows_language:
            is_wellformed = _is_built(small, is_word, tokenizer.language)
        else:
            is_wellformed = all(Indel.distance(*one) > 1 for one in pairs)
        # What is built as words are may be one that the notes lack, and so may others of a language that
        # no model tells, unless a letter is too many or too few.
        if not is_wellformed or any(_is_typing_error(*one) for one in pairs):
            corrections[written] = nearest.capitalize() if written[0].isupper() else nearest
    unread_words = (word for word in unread if word.text not in corrections)
    corrections |= find_compounds(unread_words, view, tokenizer)
    text, dated = resolve_days(replace_words(text, corrections), named_days, view, tokenizer)
    return text, corrections | dated


_LETTER_PAIRS = {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "æ": "ae"}
_MAX_LETTER_PAIRS = 3  # places in a word that are looked at


def _umlaut_variant(word: str, view: Snapshot, tokenizer: Tokenizer) -> str | None:
    """A word of the vault that is written with other letters: "ue" for "ü", as people type without them,
    or the other way round."""
    plain = "".join(_LETTER_PAIRS.get(letter, letter) for letter in word)
    parts = re.split("(?<=[aou])e", word, maxsplit=_MAX_LETTER_PAIRS)
    forms = {"".join(chain(*zip(parts, links, strict=True))) for links in _links(len(parts) - 1)}
    for form in sorted({plain, *forms} - {word}):
        tokens = tokenizer(form)
        if not all(map(view.lexical.frequency, tokens)):
            continue
        for one in sorted(_words_with_stems(tokens, view)):
            spelt = "".join(_LETTER_PAIRS.get(letter, letter) for letter in one)
            if tokenizer(one) == tokens and tokenizer(spelt) == tokenizer(plain):
                return one
    return None


_PREFIXES = "ab an auf aus bei durch ein fest her hin mit nach um vor weg weiter zu zuruck"
_VERB_ENDINGS = ("en", "t", "e", "st", "et", "te", "ten", "tet", "ung", "ungen")


def _verb_form(word: str, view: Snapshot, tokenizer: Tokenizer) -> str | None:
    """A word of a German vault that is another form of a verb: "mähen", "Prüfung" for "gemäht", "prüft"."""
    word_tokens, plain, frequency = tokenizer(word), fold(word), view.lexical.frequency
    root_lengths: dict[tuple[str, ...], int] = {}
    prefixes = ("", *_PREFIXES.split()) if tokenizer.language == "de" else ()
    for prefix, inner, ending in product(prefixes, ("", "ge", "zu"), _VERB_ENDINGS):
        root = plain[len(prefix + inner) :].removesuffix(ending)
        if len(root) >= MIN_LETTERS - 1 and plain == f"{prefix}{inner}{root}{ending}":
            verb = (f"{prefix}{one}{root}{end}" for one in ("", "ge") for end in _VERB_ENDINGS)
            root_lengths |= {(*tokenizer(one),): len(root) for one in verb}
    forms = sorted(one for one in root_lengths if [*one] != word_tokens and all(map(frequency, one)))
    for best in sorted(forms, key=lambda one: (-root_lengths[one], -frequency(one[0]))):
        variants = [one for one in _words_with_stems(best, view, verbs=True) if (*tokenizer(one),) == best]
        # Who "leitet" is not told by every "Leitung".
        if variants := [one for one in variants if plain.endswith(("e", "en")) or "ung" not in one[-5:]]:
            return min(variants)
    return None


def _links(places: int) -> Iterable[tuple[str, ...]]:
    return ((*one, "") for one in product(("", "e"), repeat=places))


def _nearest_word(word: str, stem: str, view: Snapshot, tokenizer: Tokenizer) -> str | None:
    """The word of the vault that is nearest to one, as it is written there, in small letters."""
    edits, word = 1 if len(word) < MIN_LETTERS_TWO_EDITS else 2, fold(word)
    # Stems are near to one another where words are not ("bricked" is there as "brick"), and the other way
    # round where a passage has another form of the word.
    near = {one: far for one, far in view.lexical.near(word, stem, 2).items() if one[0] in word[:2]}
    frequency = {one: view.lexical.frequency(one) for one in near}
    order = sorted(near, key=lambda one: (near[one], -len(one), -frequency[one], one))
    ranks: dict[str, tuple[int, int, int]] = {}
    for written in _words_with_stems(order[:MAX_NEAR_WORDS], view):
        tokens = tokenizer(written)
        alike = any(_has_letters_of(stem, token) for token in tokens)
        plain = fold(written)
        if OSA.distance(word, plain) > MAX_DISTANCE and not alike:
            continue  # Of "summarize" and "summer" only the stems are alike.
        pairs = ((word, plain), *((stem, token) for token in tokens))
        distance = min((_count_edits(*pair) for pair in pairs if _is_likely(*pair)), default=edits + 1)
        if distance <= edits:
            # A letter too many or too few is likelier than another one.
            often = max((frequency.get(token, 0) for token in tokens), default=0)
            ranks[written] = (distance, Indel.distance(word, plain), -often)
    return min(ranks, key=lambda one: (ranks[one], one), default=None)


def _is_likely(word: str, meant: str) -> bool:
    """Tell whether a word is misspelled as words are: people know its first letter; a short word with another
    letter or one too many is another word, unless two changed places or one was typed twice."""
    if word[0] != meant[0] and word[:2] != meant[1::-1]:
        return False
    if len(word) >= MIN_LETTERS_UNKNOWN or len(word) < len(meant):
        return True
    return _has_letters_of(word, meant)


def _count_edits(word: str, meant: str) -> int:
    """Letters that are wrong. Two are where they are doubled or vowels; with another consonant it is more
    than a typing error, and most often another word ("survival" and "surgical")."""
    distance = OSA.distance(word, meant)
    return distance + (distance > 1 and _consonants(word) != _consonants(meant))


def _consonants(word: str) -> list[str]:
    return [letter for letter, _ in groupby(one for one in word if one not in _VOWELS)]


def _is_typing_error(word: str, meant: str) -> bool:
    """Tell whether letters only changed places or were typed twice, or a long word has one too many or too
    few within it: "recipies"."""
    within = (
        len(word) >= MIN_LETTERS_TWO_EDITS and word[-2:] == meant[-2:] and Indel.distance(word, meant) == 1
    )
    return within or _has_letters_of(word, meant)


def _has_letters_of(word: str, meant: str) -> bool:
    """Tell whether letters only changed places, or were typed twice or once."""
    once, other = ([letter for letter, _ in groupby(one)] for one in (word, meant))
    return sorted(word) == sorted(meant) or once == other


_BEGINNINGS = "anti dis fore inter mid mis non out over post pre re semi sub super trans un under ver zer"
_ENDINGS = {
    "en": "s es er ers est or ors ing ings ed en ly ness less ful able ible al ally ist ists ism ity ive y "
    "ize ise ment ments ship age ian",
    "de": "e en er es em n s ern ung ungen heit heiten keit lich liche lichen isch ische bar los erin",
    "es": "s es o a os as ado ada ados ando iendo mente able ista dor dora cion",
    "fr": "s e es er ez ent ait ant ment eur eurs euse tion tions age able iste",
    "it": "i e o a ato ata ati ando mente bile ista tore zione",
    "nl": "e en er ers s t je jes ing ingen heid lijk baar loos",
    "pt": "s es o a os as ado ada ando mente avel ista dor dora cao",
}
"""What words of a language begin and end with: with a word before it, that is a word."""


def _is_built(word: str, is_word: Callable[[str], bool], language: str, endings: int = 2) -> bool:
    """Tell whether a word is two words, or one with a usual beginning or so many endings at most: a model has
    no piece for each of these."""
    if is_word(word):
        return True
    places = range(MIN_LETTERS, len(word) - MIN_LETTERS + 1)
    if any(is_word(word[:at]) and is_word(word[at:]) for at in places):
        return True
    for ending in _ENDINGS.get(language, "").split() if endings else ():
        base = word.removesuffix(ending)
        if base == word or len(base) < MIN_LETTERS - 1:
            continue
        vowel = ending[0] in "aeiouy"
        bases = [base] if base[-1] != "e" or not vowel else []
        bases += [f"{base}e"] * vowel + [f"{base[:-1]}y"] * (base[-1] == "i")
        bases += [base[:-1]] * (vowel and base[-1] == base[-2])
        if any(_is_built(one, is_word, language, endings - 1) for one in bases):
            return True
    rests = (word.removeprefix(begin) for begin in _BEGINNINGS.split())
    return any(one != word and len(one) >= MIN_LETTERS and is_word(one) for one in rests)


def _words_with_stems(stems: Sequence[str], view: Snapshot, *, verbs: bool = False) -> set[str]:
    """The words, in small letters, of the passages that hold stems most; of ``verbs`` no other nouns."""
    ids = [id_ for stem in stems for id_, _ in view.lexical.top([stem], MAX_PASSAGES_PER_STEM)]
    chunks = view.chunks(dict.fromkeys(ids))
    notes = view.notes_at(dict.fromkeys(chunk.path for chunk in chunks.values()))
    texts = [text for chunk in chunks.values() for text in (*chunk.heading_path, chunk.text)]
    texts += [name for note in notes.values() for name in (note.title, *note.aliases, *note.tags)]
    found = set(split_words("\n".join(texts)))
    if verbs:
        found = {one for one in found if one.islower() or one.endswith(("ung", "ungen"))}
    whole = {surface.lower() for surface in found if surface.isalpha()}
    parts = (subwords(surface).words for surface in found if not surface.isalpha())
    return whole.union(*parts)


MIN_PART_LETTERS = 6  # letters of a word whose compounds are searched for: shorter ones are in many
MAX_COMPOUNDS = 8  # compounds whose spelling is looked up


def replace_words(text: str, read: dict[str, str]) -> str:
    """Replace words of a text, as written -> as searched for."""
    if not read:
        return text
    either = "|".join(map(re.escape, sorted(read, key=len, reverse=True)))
    return re.sub(rf"(?<!\w)(?:{either})(?!\w)", lambda found: read[found[0]], text)


def find_compounds(words: Iterable[QueryWord], view: Snapshot, tokenizer: Tokenizer) -> dict[str, str]:
    """Words of letters that stand nowhere in the vault -> the shortest compound there that they are part
    of, as it is written: "Widerspruch" is asked for where notes have "Widerspruchsfrist"."""
    found: dict[str, str] = {}
    for word in words:
        small = fold(word.text.lower())
        is_name = word.text[0].isupper() and tokenizer.language != "de"
        if is_name or len(small) < MIN_PART_LETTERS:
            continue  # A name is no part of another word.
        tokens = tokenizer.compounds(small, view.lexical)[:MAX_COMPOUNDS]
        by_token = {tuple(tokenizer(one)): one for one in sorted(_words_with_stems(tokens, view))}
        one = next((by_token[token,] for token in tokens if (token,) in by_token), None)
        if one is not None:
            found[word.text] = one.capitalize() if word.text[0].isupper() else one
    return found


DAYS_PER_YEAR = 372  # days, as :func:`resolve_days` counts them
_MONTH_OR_WORD = re.compile(r"(?:may|march|mar)\b")  # of English, in small letters


NamedDay = tuple[str, int | None, int, int]
"""A day in a text: as it is written there, year (None where it is not said), month, day."""


def resolve_days(
    text: str, named_days: Iterable[NamedDay], view: Snapshot, tokenizer: Tokenizer
) -> tuple[str, dict[str, str]]:
    """Read days whose month is a word as the notes write them in numbers, where no year is said the last
    that a note is of, else the nearest to today; where no passage has the words, in their place, else beside
    them."""
    replaced: dict[str, str] = {}
    shown: dict[str, str] = {}
    index, today = view.lexical, date.today()

    def far(iso: str) -> int:
        # Nearly in days: notes have days that there are not.
        return abs((int(iso[:4]) - today.year) * 372 + (month - today.month) * 31 + day - today.day)

    for written, year, month, day in named_days:
        if year is None and _MONTH_OR_WORD.match(written):
            continue  # "How may 3 members vote?"
        if not any(map(str.isalpha, written)):
            continue
        tail = f"-{month:02}-{day:02}"
        isos = [one for one in index.tokens_with(tail) if re.fullmatch(r"\d{4}" + tail, one)]
        # Without a year a day in numbers could be one with a point, a version or a time.
        dotted = [f"{day:02}.{month:02}.{year}", f"{day}.{month}.{year}"]
        # Nor is it one of long ago, such as somebody's birthday, that no note is of.
        note_days = {one for one in isos if one <= f"{today}" and view.labels.dated(one, f"{one}Z")}
        near = [one for one in isos if one in note_days or far(one) <= DAYS_PER_YEAR]
        near.sort(key=lambda one: (one not in note_days, far(one)))
        forms = near if year is None else [f"{year}{tail}", *dotted]
        form = next((one for one in forms if index.frequency(one)), None)
        if form is not None:
            tokens = tokenizer(written)
            is_in_text = any(chain.from_iterable(index.holding(tokens, field) for field in FIELDS))
            replaced[written], shown[written] = form, f"{written} {form}" if is_in_text else form
    return replace_words(text, shown), replaced
