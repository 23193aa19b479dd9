"""Makes a follow-up a question that stands alone, without a language model: the last subject is carried
over, and the answer says so first."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Generator, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain, combinations, dropwhile, takewhile

from llama_index.core.base.response.schema import Response

from notehop.app.answer.context import escape_body, escape_title
from notehop.app.answer.draft import Draft, draft_note_list
from notehop.app.answer.material import Material
from notehop.app.answer.names import capitalized_names
from notehop.app.answer.quotes import WORD_LISTS
from notehop.app.answer.quotes.question import LEADING_ARTICLE, is_question_word, parse_question
from notehop.app.answer.quotes.text_analyzer import refers_back
from notehop.app.answer.synthesizer import VaultSynthesizer, respond
from notehop.app.models.query import Filters
from notehop.app.retrieval.intents import ALL_FUNCTION_WORDS
from notehop.indexing.tokens.words import FUNCTION_WORDS, fold
from notehop.indexing.vault.dates import MONTH_NUMBERS
from notehop.indexing.vault.plain import sentence_spans


@dataclass(frozen=True, slots=True)
class Turn:
    """A question, as it was searched for, and its answer; ``paths`` are the notes they came from.

    ``typed_question`` is the question as the user wrote it, which came from no note. ``subject`` is what it
    was about, in words to search for, ``person`` whom its answer names; empty where that is not known.
    ``shown_ids`` are those of the passages that were quoted, ``was_refused`` says that they were no answer.
    ``filters`` stood beside the question; ``year`` is that of the notes that it was narrowed to.
    """

    question: str
    answer: str
    paths: tuple[str, ...] = ()
    typed_question: str = ""
    subject: str = ""
    person: str = ""
    shown_ids: tuple[str, ...] = ()
    was_refused: bool = False
    filters: Filters = field(default_factory=Filters)
    year: str = ""


def _alternatives(*names: str) -> str:
    return "|".join(chain.from_iterable(WORD_LISTS[name] for name in names))


_PRONOUNS = re.compile(rf"\b(?:{_alternatives('pronouns')})\b")
_AND = f"(?:(?:{_alternatives('goes_on')}) )?"
_OTHER = f"{_AND}(?:{_alternatives('instead')})"
_GOES_ON = re.compile(rf"^(?:{_OTHER}|{_alternatives('goes_on')})\b")
_INSTEAD = re.compile(f"^{_OTHER} ")
_YEAR = r"(?:19|20)\d\d$"
_CONDITION = re.compile(
    rf"^(?:{_alternatives('goes_on')}) (?=(?:{_alternatives('condition', 'towards', 'provided')}) |{_YEAR})"
)
_STATE = re.compile(rf"{_AND}(?:{_alternatives('asks')}) ((?:{_alternatives('be')}) \w+)")
_NUMBER = re.compile(rf"{_AND}(?:(?:{_alternatives('instead', 'condition')}) )?(\d+)")
_PLACED = re.compile(_alternatives("condition"))
_TOWARDS = re.compile(f"(?:{_alternatives('towards')}) ")
_BEFORE = re.compile(f"^(?:{_alternatives('condition', 'towards')}) ")
_PROVIDED = re.compile(f"(?:{_alternatives('provided')}) ")
_ELLIPSIS = re.compile(
    rf"(?:(?:{_alternatives('goes_on')}) )?"
    rf"(?:(?:{_alternatives('condition')}) (?:{_alternatives('asks')})(?: \w+){{,2}}"
    rf"|(?:{_alternatives('asks')})(?: \w+)?)"
)
_ASKS = re.compile(rf"\b(?:{_alternatives('asks')})\b")
_NOTHING_OWN = frozenset(WORD_LISTS["nothing_own"])
_COURTESY = re.compile(rf"\b(?:{_alternatives('courtesy')})\b")
_POLITE = f"(?:{_alternatives('courtesy', 'assent', 'please')})"
_SMALL_TALK_KINDS = ("ability", "asked_before", "doubt", "more", "reword")
_SMALL_TALK = {
    "courtesy": re.compile(f"{_POLITE}(?: {_POLITE})*"),
    **{
        kind: re.compile(f"(?:{_POLITE} )*(?:{words})(?: (?:{words}))?(?: {_POLITE})*")
        for kind, words in ((kind, _alternatives(kind)) for kind in _SMALL_TALK_KINDS)
    },
}
_ADDED = re.compile(r" \(([^()]*)\)\?$")  # what :func:`with_subject` adds
_OWNS = re.compile(r"['’]s?$")
_OWNER = re.compile(
    r"\b(?:(?:my|our|your|his|her|its|their)(?: \w+['’]s)?|(?!(?:wh\w+|how|it|that|there|s?he)\b)\w+['’]s)\b",
    re.IGNORECASE,
)

_DATED = re.compile(r"[\d\W]*")  # the name of a daily note, which nothing is about

MAX_FOLLOW_UP_WORDS = 2
"""Words of its own that may go on from the question before ("and the cost?"); a question has one fewer."""

MAX_CONDITION_WORDS = 4
"""Words of a condition at most ("on the new mac"); more of them are a question of their own."""

MAX_SMALL_TALK_WORDS = 12
"""Words of a text at most that asks nothing of the notes."""

UNCLEAR_SUBJECT = "It is not clear what this is about. Name it in the question."
NO_MORE = "Nothing more was found for that; ask for one thing in particular."
MAX_MORE_PASSAGES = 3  # passages that are shown where more is asked for
MORE_OPENING = "More of what was found"
NEAREST_OPENING = "Nearest, though no answer"  # where what more is asked for was refused
SMALL_TALK_REPLIES = {
    "courtesy": "You are welcome to ask for anything in your notes: what they say is quoted.",
    "ability": "Ask for anything in your notes, a fact, a list or what is to do: what they say is quoted.",
    "asked_before": "Nothing was asked before.",
    "doubt": "What was quoted stands in your notes as it is shown; only you can tell whether it is right.",
    "more": UNCLEAR_SUBJECT,
    "reword": "Without a language model your notes are quoted word for word, never shortened, "
    "translated or reworded; ask for one thing in particular.",
}
"""Kind of a text that asks nothing of the notes -> the reply to it."""


_WORD = re.compile(r"[\w']+")


def _normalized(text: str) -> str:
    return " ".join(_WORD.findall(fold(text).casefold().replace("’", "'")))


def _text_after_words(text: str, words: int) -> str:
    """Return the text behind its first words, as :func:`_normalized` counts them."""
    text = unicodedata.normalize("NFC", text)
    begins = [found.start() for found in _WORD.finditer(text.replace("’", "'"))]
    return text[begins[words] :].rstrip(' ?!.…"”»]') if words < len(begins) else ""


def small_talk_kind(text: str, *, first: bool = False) -> str | None:
    """Return the kind of a text that asks nothing of the notes: a ``courtesy``, a question for what can be
    asked (``ability``) or was (``asked_before``), a ``doubt`` of the last answer, or a wish for ``more``
    of it or for other words (``reword``); None for a question.

    :param first: whether nothing was said before it: then only the first two ask nothing.
    """
    plain = _normalized(text)
    if plain.count(" ") >= MAX_SMALL_TALK_WORDS:
        return None
    kinds = _SMALL_TALK if not first else ("ability", *("courtesy",) * bool(_COURTESY.search(plain)))
    return next((kind for kind in kinds if _SMALL_TALK[kind].fullmatch(plain)), None)


def new_subject(text: str) -> str:
    """Return the subject that a follow-up puts in the place of the last ("what about Gull Hide?", "and Gull
    Hide?"); empty for other questions."""
    plain = _normalized(text)
    if (match := _INSTEAD.match(plain)) and not _PRONOUNS.search(plain[match.end() :]):
        return _text_after_words(text, match[0].count(" "))
    if not (match := _GOES_ON.match(plain)) or _CONDITION.match(plain) or _ASKS.search(plain):
        return ""
    rest = plain[match.end() :].split()
    named = [*dropwhile(ALL_FUNCTION_WORDS.__contains__, rest)]
    if (
        not 0 < len(named) < MAX_CONDITION_WORDS
        or not ALL_FUNCTION_WORDS.isdisjoint(named)
        or _PRONOUNS.search(plain)
    ):
        return ""
    return _text_after_words(text, len(plain.split()) - len(rest))


def last_question(last: Turn) -> str:
    """Return the question of a turn without the subject that it carried."""
    return last.question if last.question == last.typed_question else _ADDED.sub("?", last.question)


def repeat_for_subject(text: str, last: Turn, content: Sequence[str], *, names_note: bool) -> str | None:
    """Repeat the last question for what a follow-up names ("what about Gull Hide?") or on its condition
    ("and on mac?"); None where it goes on in another way, or the last asked for its subject alone.

    :param content: the words of the last question that say something, as they are written.
    :param names_note: whether the follow-up names a note.
    """
    base = last_question(last)
    plain, other = _normalized(text), new_subject(text)
    state = _STATE.fullmatch(plain)
    state_text = _text_after_words(text, plain[: state.start(1)].count(" ")) if state else ""
    if (
        again := _replace_numbered_name(other, base)
        or _replace_number(plain, base, last)
        or _replace_ending(state_text, base, set())
    ):
        return again
    # What has capitals is a name, but in a language that gives every noun one.
    spoken = [one for one in other.split() if fold(one).casefold() not in ALL_FUNCTION_WORDS]
    is_name = bool(spoken) and all(one[:1].isupper() for one in spoken)
    if other and _OWNS.search(other) and (replaced := _replace_owner(other, base, last)):
        return replaced
    if not names_note and (not is_name or parse_question(text).language == "de"):
        other = ""
    # Who has what is no name, and not one thing ("who has allergies").
    before, has, _ = base.partition(f" {last.subject}" if last.subject.islower() else "\0")
    leads = any(map(_is_article_or_owner, [*before.split()[-1:], *other.split()[:1]]))
    somebody = is_name or _INSTEAD.match(plain)  # "and birthdays?"
    if other and has and somebody and "person" in parse_question(base).forms and not leads:
        return with_subject(base, other)
    is_kind = is_name and last.subject.islower() and _WHICH.match(_normalized(base))
    old_subject = next(iter(capitalized_names(base) if is_kind else ()), last.subject)
    if other and (replaced := _replace_owner(other, base, last) or replace_subject(old_subject, other, base)):
        return replaced
    if other and base != last.question and last.question == with_subject(base, last.subject):
        return with_subject(base, _without_article(other))
    match = (_INSTEAD if other else _CONDITION).match(plain)
    if match is None:
        return None
    condition, subject = plain[match.end() :], {*_normalized(last.subject).split()}
    provided = _PROVIDED.match(condition) is not None
    if _ASKS.search(condition) or (_PRONOUNS.search(condition) and not provided):
        return None
    added = _text_after_words(text, match[0].count(" "))
    if not other and (moved := _replace_ending(added, base, subject if names_note else set())):
        return moved
    own = {_normalized(word) for word in content} - subject
    if (
        (names_note and not condition.isdigit())
        or not own
        or _TOWARDS.match(condition)
        or len(condition.split()) > MAX_CONDITION_WORDS + 2 * provided
    ):
        return None
    carried = _ADDED.search(last.question) if base != last.question else None
    return with_subject(base, f"{carried[1]} {added}" if carried else added)


def _without_article(other: str) -> str:
    """Return a name without its article."""
    return " ".join(dropwhile(lambda one: fold(one).casefold() in ALL_FUNCTION_WORDS, other.split()))


def _replace_numbered_name(other: str, base: str) -> str:
    """A question with another name in the place of one that has a word of it in its place ("and room 2?",
    after "what is in room 1?"); empty for none."""
    name, words = _without_article(other), [*_WORD.finditer(base)]
    new, old = _normalized(name).split(), [_normalized(one[0]) for one in words]
    for at in range(len(old) - len(new) + 1):
        was = old[at : at + len(new)]
        same = [one for one, two in zip(was, new, strict=True) if one == two]
        if same and was != new and ALL_FUNCTION_WORDS.isdisjoint(was):
            return f"{base[: words[at].start()]}{name}{base[words[at + len(new) - 1].end() :]}"
    return ""


def _replace_number(plain: str, base: str, last: Turn) -> str:
    """A question with another number, or year, in the place of its only one ("and in 15?", after "what
    happened in session 14?"), or of a month whose year was not typed; empty for none."""
    new = _NUMBER.fullmatch(plain)
    year = "(?=" if new and re.match(_YEAR, new[1]) else "(?!"
    old_number = rf"(?<![\w.,:/-]){year}(?:19|20)\d\d\b)\d+(?![.,:/-]?\w)"
    if year == "(?=" and not re.search(old_number, last.typed_question):
        old_number = rf"(?i:{'|'.join(MONTH_NUMBERS)}) {old_number}"
    replaced, times = re.subn(old_number, new[1], base) if new else ("", 0)
    return replaced if times == 1 else ""


def _replace_owner(other: str, base: str, last: Turn) -> str:
    """A question with another in the place of whose something was ("and Katrin's?" after "what is my
    salary?"), or of the pronoun that stood for its subject; empty for none."""
    match = _OWNER.search(base) if _OWNS.search(other) else None
    if (
        match is None
        and not _BEFORE.match(_normalized(other))
        and base != last.question
        and len(fold(base)) == len(base)
    ):
        match = _PRONOUNS.search(fold(base).casefold())
    return f"{base[: match.start()]}{other}{base[match.end() :]}" if match else ""


def _replace_ending(condition: str, base: str, subject: Set[str]) -> str:
    """A question with another place, time or person at its end ("and in Seville?", after "… in Malta?");
    empty where one of them is a name, or a number, and the other none, and it does not end on its subject."""
    word, _, name = condition.partition(" ")
    tail = rf"(?<!\w){re.escape(word)} ((?:\S+ )?[^\s?!.]+)[\s?!.…]*$"
    end = re.search(tail, base, re.IGNORECASE)
    if end is None or not 0 < len(name.split()) <= MAX_FOLLOW_UP_WORDS:
        return ""
    old_ending = end[1]
    # A place for a place, and no condition for what it is asked of.
    is_same_kind = (
        old_ending[0].isdigit() == name[0].isdigit() and old_ending[0].isupper() == name[0].isupper()
    )
    is_same_kind = is_same_kind and ALL_FUNCTION_WORDS.isdisjoint(f"{old_ending} {name}".split())
    if not is_same_kind and not (subject and {*_normalized(old_ending).split()} <= subject):
        return ""
    return f"{base[: end.start(1)]}{name}?"


MAX_SUBJECT_WORDS = 8  # words of one that another is put in the place of


def replace_subject(subject: str, other: str, base: str) -> str:
    """Return a question with another name in the place of its subject, or of half of it if the other half
    is not in it; empty where neither is in it."""
    words = [one for one in subject.split() if not _DATED.fullmatch(one)]
    if len(words) > MAX_SUBJECT_WORDS:
        return ""
    other = _OWNS.sub("", other)
    spans = sorted(combinations(range(len(words) + 1), 2), key=lambda span: span[0] - span[1])
    # With the word before it that what is named has, too ("the"), as it has to be for a place.
    first = re.escape(other.partition(" ")[0])
    article_sign = "" if _BEFORE.match(_normalized(other)) else "?"
    for begin, end in (one for one in spans if 2 * (one[1] - one[0]) >= len(words)):
        name = _OWNS.sub("", " ".join(words[begin:end]))
        if fold(name).casefold() in ALL_FUNCTION_WORDS or not re.search(r"\w", name):
            continue
        pattern = re.compile(rf"(?:\b{first} ){article_sign}(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
        if pattern.search(base):
            words_left = {*_normalized(pattern.sub("", base, count=1)).split()}
            apart = {*_normalized(" ".join([*words[:begin], *words[end:]])).split()}
            return pattern.sub(lambda _: other, base, count=1) if words_left.isdisjoint(apart) else ""
    return ""


def lacks_subject(text: str, content: Sequence[str]) -> bool:
    """Whether a follow-up that names no note is about what was asked before it.

    :param content: its words that say something, as they are written.
    """
    plain = _normalized(text)
    if capitalized_names(text):
        return False
    own = [word for word in content if fold(word).casefold() not in _NOTHING_OWN]
    if _PRONOUNS.search(plain) or refers_back(text) or not own or _ELLIPSIS.fullmatch(plain):
        return True
    goes_on = _GOES_ON.match(plain)
    asks = goes_on is not None and _ASKS.search(plain[goes_on.end() :]) is not None
    return goes_on is not None and len(own) <= MAX_FOLLOW_UP_WORDS - asks


def may_be_follow_up(text: str, content: Sequence[str]) -> bool:
    """Whether a question that could be one of its own may be about what was asked before it ("what was the
    cause?", "side effects?"); ``content`` as for :func:`lacks_subject`."""
    plain = _normalized(text)
    short = len(content) <= MAX_FOLLOW_UP_WORDS and plain.count(" ") < MAX_SMALL_TALK_WORDS
    return short and (plain.count(" ") < MAX_FOLLOW_UP_WORDS or _ASKS.search(plain) is not None)


def _is_article_or_owner(word: str) -> bool:
    """Whether a word is an article or says whose something is."""
    article = LEADING_ARTICLE.fullmatch(f"{fold(word).casefold()} ") or word[1:] in ("'", "’")
    return bool(article or _OWNER.fullmatch(word))


def subject_of(
    question: str, named_titles: Sequence[str], cited_titles: Sequence[str], content: Sequence[str]
) -> str:
    """Return what a question and its answer were about; empty where nothing tells.

    :param named_titles: titles of the notes that the question is about by its words.
    :param cited_titles: titles of the notes that the answer quotes, in its order.
    :param content: the words of the question that say something, as they are written.
    """
    if named_titles:
        return named_titles[0]
    names = capitalized_names(question)
    about = _BEFORE.sub("", parse_question(question).defined_term)
    about = "" if all(map(is_question_word, about.split())) else about  # "Who was the youngest"
    subject = about if all(name in about for name in names) else " ".join(names)
    is_short = len(content) < MAX_CONDITION_WORDS
    if subject or is_short:
        # In full where the note that is quoted first is called so, and little else.
        title = {one for one in _normalized(next(iter(cited_titles), "")).split() if not one.isdigit()}
        called = {*_normalized(subject).split()} <= title
        shared = len(title & {*_normalized(question).split()})
        if called and title and len(title) <= 2 * shared:
            return cited_titles[0]
    if is_short and not about and (main_noun := _main_noun(question, {*content, *names})):
        return main_noun
    return subject or next((title for title in cited_titles if not _DATED.fullmatch(title)), "")


_SUBJECTS = frozenset(WORD_LISTS["subjects"])
_PARTICIPLE = re.compile(r"\w*[aeiouy]\w*[^\We]ed|ge\w{2,}(?:t|en)")  # no "shed", no "seed"
_VERB = re.compile(rf"(?:{_alternatives('before_verb')}) \w+")
_WHICH = re.compile(rf"(?:{_alternatives('which')}) ")
_DOES = frozenset(("do", "does", "did"))


def _main_noun(question: str, tells: Set[str]) -> str:
    """The name or noun that a question is about, as it is written; empty where it has none.

    :param tells: its words that say something.
    """
    words = [*re.finditer(r"\b[dl]['’](?=\w)|[\w'’-]+", question, re.IGNORECASE)]
    plain = [_normalized(one[0]) for one in words]
    asks = [parse_question(one[0]).form == "yesno" for one in words]
    says = [at for at, one in enumerate(words) if tells & {one[0], *one[0].split("-")}]
    language = parse_question(question).language
    small = FUNCTION_WORDS.get(language, ALL_FUNCTION_WORDS)
    behind, is_which = _VERB.match(" ".join([language, *plain])), _WHICH.match(" ".join(plain))
    # A verb behind who does it ("did I lend"), or behind "who", is none, nor what only says how it is asked.
    verbs = [at > 1 and plain[at - 1] in _SUBJECTS and asks[at - 2] for at in range(len(words))]
    verbs = [one or bool(behind and behind[0].count(" ") == at) for at, one in enumerate(verbs, 1)]
    says_nothing = [
        verbs[at] or one in _NOTHING_OWN or one in small or is_question_word(one)
        for at, one in enumerate(plain)
    ]
    # What has an article is spoken of, and not what is asked of it ("colour is the front room"), else
    # what has a verb before it that asks ("licence does Heron", but no "which boats are dry").
    leads = [at for at in range(1, max(says, default=0)) if _is_article_or_owner(words[at][0])]
    leads += [at - 1 for at in says if at and asks[at - 1] and not (at > says[0] and is_which)]
    begins = [at + 1 for at in leads if not _PLACED.fullmatch(plain[at - 1])]
    for first in (*begins[:1], *says[:1]):
        span = [*dropwhile(says_nothing.__getitem__, range(first, says[-1] + 1))]
        span = [*takewhile(lambda at: not (asks[at] or _PRONOUNS.fullmatch(plain[at])), span)]
        before = first - 1 - _is_article_or_owner(words[first - 1][0]) if first else -1
        if span[:1] == [first] and before >= 0 and asks[before]:
            # "Does Ada charge", "was the boat cleaned"
            name = [*takewhile(lambda at: words[at][0][0].isupper(), span)]
            last = words[span[-1]][0]
            verb = plain[before] in _DOES or (_PARTICIPLE.fullmatch(last) is not None)
            ends = (
                span[-1] + 1 == len(words)
                and len(span) > 1
                and not _is_article_or_owner(words[span[-1] - 1][0])
            )
            span = (name if plain[before] in _DOES else []) or (span[:-1] if verb and ends else span)
        while span and says_nothing[span[-1]]:
            span.pop()
        if any(not _DATED.fullmatch(one := plain[at]) and one not in MONTH_NUMBERS for at in span):
            return question[words[span[0]].start() : words[span[-1]].end()]
    return ""


def subject_with_condition(last: Turn) -> str:
    """Return the subject of a turn with the condition that was added last, for its follow-up."""
    added = _ADDED.search(last.question) if last.question != last.typed_question else None
    on = added[1] if added and last.subject and last.subject != added[1] else ""
    return f"{last.subject} {on}".rstrip()


def with_subject(text: str, subject: str) -> str:
    """Return a follow-up as it is searched for: with its subject in brackets."""
    return f"{text.rstrip(' ?!.…')} ({subject})?"


class CarriedSubjectSynthesizer(VaultSynthesizer):
    """Answers a follow-up as another synthesizer does, and says first what it was taken to be about;
    where that is not known, it says no more than this."""

    def __init__(self, inner: VaultSynthesizer, subject: str) -> None:
        """:param subject: empty where it is not known."""
        super().__init__(inner._vault, inner._llm, inner._checker)
        self._inner = inner
        self._subject = subject

    def draft(self, query: str, material: Material) -> Draft:
        """Answer as the inner one, below what the question was taken to be about."""
        if not self._subject:
            return Draft(UNCLEAR_SUBJECT, "none", material=material.without_connected())
        first = f"Taken as a question about *{escape_body(escape_title(self._subject))}*.\n\n"
        own = query.removesuffix(with_subject("", self._subject))
        draft = self._inner.draft(query, replace(material, own_question=own))
        said = tuple(one.shifted(len(first)) for one in draft.quoted_spans)
        return replace(draft, text=first + draft.text, quoted_spans=said)


class SmallTalkSynthesizer(VaultSynthesizer):
    """Answers what asks nothing new: by the passages that are handed to it, else with a sentence."""

    def __init__(self, inner: VaultSynthesizer, reply: str, opening: str = MORE_OPENING) -> None:
        super().__init__(inner._vault, inner._llm, inner._checker)
        self._reply, self._opening = reply, opening

    def draft(self, query: str, material: Material) -> Draft:  # noqa: ARG002 (it is known)
        """Quote the passages as they begin."""
        return draft_note_list(replace(material, list_heading=self._opening), sentence_spans)

    def _stream_response(self, words: str, material: Material) -> Generator[str, None, Response | None]:
        if material.sources:
            return (yield from super()._stream_response(words, material))
        yield self._reply
        return respond(Draft(self._reply, "none"), material)
