"""Makes a follow-up a question that stands alone, without a language model: the last subject is carried
over, and the answer says so first."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Generator, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain, combinations, dropwhile, takewhile

from llama_index.core.base.response.schema import Response

from notehop.app.answer.context import body, one_line
from notehop.app.answer.draft import Draft, of_a_kind
from notehop.app.answer.material import Material
from notehop.app.answer.names import names_of
from notehop.app.answer.quotes import WORD_LISTS
from notehop.app.answer.quotes.question import ARTICLE, is_asked_by, read
from notehop.app.answer.quotes.reading import refers
from notehop.app.answer.synthesizer import VaultSynthesizer, respond
from notehop.app.models.query import Filters
from notehop.app.retrieval.intents import SMALL
from notehop.indexing.tokens.words import FUNCTION_WORDS, fold
from notehop.indexing.vault.dates import MONTH_NUMBERS
from notehop.indexing.vault.plain import sentence_spans


@dataclass(frozen=True, slots=True)
class Turn:
    """A question, as it was searched for, and its answer; ``paths`` are the notes they came from.

    ``typed`` is the question as the user wrote it, which came from no note. ``subject`` is what it
    was about, in words to search for, ``somebody`` whom its answer names; empty where that is not known.
    ``shown`` are the ids of the passages that were quoted, ``refused`` tells that they were no answer.
    ``filters`` stood beside the question; ``year`` is that of the notes that it was narrowed to.
    """

    question: str
    answer: str
    paths: tuple[str, ...] = ()
    typed: str = ""
    subject: str = ""
    somebody: str = ""
    shown: tuple[str, ...] = ()
    refused: bool = False
    filters: Filters = field(default_factory=Filters)
    year: str = ""


def _one_of(*names: str) -> str:
    return "|".join(chain.from_iterable(WORD_LISTS[name] for name in names))


_PRONOUNS = re.compile(rf"\b(?:{_one_of('pronouns')})\b")
_AND = f"(?:(?:{_one_of('goes_on')}) )?"
_OTHER = f"{_AND}(?:{_one_of('instead')})"
_GOES_ON = re.compile(rf"^(?:{_OTHER}|{_one_of('goes_on')})\b")
_INSTEAD = re.compile(f"^{_OTHER} ")
_YEAR = r"(?:19|20)\d\d$"
_CONDITION = re.compile(
    rf"^(?:{_one_of('goes_on')}) (?=(?:{_one_of('condition', 'towards', 'provided')}) |{_YEAR})"
)
_STATE = re.compile(rf"{_AND}(?:{_one_of('asks')}) ((?:{_one_of('be')}) \w+)")
_NUMBER = re.compile(rf"{_AND}(?:(?:{_one_of('instead', 'condition')}) )?(\d+)")
_PLACED = re.compile(_one_of("condition"))
_TOWARDS = re.compile(f"(?:{_one_of('towards')}) ")
_BEFORE = re.compile(f"^(?:{_one_of('condition', 'towards')}) ")
_PROVIDED = re.compile(f"(?:{_one_of('provided')}) ")
_ELLIPSIS = re.compile(
    rf"(?:(?:{_one_of('goes_on')}) )?(?:(?:{_one_of('condition')}) (?:{_one_of('asks')})(?: \w+){{,2}}"
    rf"|(?:{_one_of('asks')})(?: \w+)?)"
)
_ASKS = re.compile(rf"\b(?:{_one_of('asks')})\b")
_NOTHING_OWN = frozenset(WORD_LISTS["nothing_own"])
_COURTESY = re.compile(rf"\b(?:{_one_of('courtesy')})\b")
_POLITE = f"(?:{_one_of('courtesy', 'assent', 'please')})"
_KINDS = ("ability", "asked_before", "more", "reword")
_BESIDE = {
    "courtesy": re.compile(f"{_POLITE}(?: {_POLITE})*"),
    **{
        kind: re.compile(f"(?:{_POLITE} )*(?:{words})(?: (?:{words}))?(?: {_POLITE})*")
        for kind, words in ((kind, _one_of(kind)) for kind in _KINDS)
    },
}
_ADDED = re.compile(r" \(([^()]*)\)\?$")  # what :func:`with_subject` adds
_OWNS = re.compile(r"['’]s?$")
_OWNER = re.compile(
    r"\b(?:(?:my|our|your|his|her|its|their)(?: \w+['’]s)?|(?!(?:wh\w+|how|it|that|there|s?he)\b)\w+['’]s)\b",
    re.IGNORECASE,
)

_DATED = re.compile(r"[\d\W]*")  # the name of a daily note, which nothing is about

FEW = 2
"""Words of its own that may go on from the question before ("and the cost?"); a question has one fewer."""

SHORT = 4
"""Words of a condition at most ("on the new mac"); more of them are a question of their own."""

SAYING = 12
"""Words of a text at most that asks nothing of the notes."""

UNCLEAR = "It is not clear what this is about. Name it in the question."
NO_MORE = "Nothing more was found for that; ask for one thing in particular."
MOST_MORE = 3  # passages that are shown where more is asked for
MORE = "More of what was found"
NEAREST = "Nearest, though no answer"  # where what more is asked for was refused
TOLD = {
    "courtesy": "You are welcome to ask for anything in your notes: what they say is quoted.",
    "ability": "Ask for anything in your notes, a fact, a list or what is to do: what they say is quoted.",
    "asked_before": "Nothing was asked before.",
    "more": UNCLEAR,
    "reword": "Without a language model your notes are quoted word for word, never shortened, "
    "translated or reworded; ask for one thing in particular.",
}
"""What is said to that which asks nothing of the notes."""


_WORD = re.compile(r"[\w']+")


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(fold(text).casefold().replace("’", "'")))


def _after(text: str, words: int) -> str:
    """What stands behind the first words of a text, as :func:`_plain` counts them."""
    text = unicodedata.normalize("NFC", text)
    begins = [found.start() for found in _WORD.finditer(text.replace("’", "'"))]
    return text[begins[words] :].rstrip(' ?!.…"”»]') if words < len(begins) else ""


def beside(text: str, *, first: bool = False) -> str | None:
    """What a text is that asks nothing of the notes: a ``courtesy``, a question for what can be asked
    (``ability``) or was (``asked_before``), or a wish for ``more`` of the last answer or for other words
    (``reword``); None for a question.

    :param first: whether nothing was said before it: then only the first two ask nothing.
    """
    plain = _plain(text)
    if plain.count(" ") >= SAYING:
        return None
    kinds = _BESIDE if not first else ("ability", *("courtesy",) * bool(_COURTESY.search(plain)))
    return next((kind for kind in kinds if _BESIDE[kind].fullmatch(plain)), None)


def another(text: str) -> str:
    """What a follow-up asks the last question of ("what about Gull Hide?", "and Gull Hide?"); empty for
    others."""
    plain = _plain(text)
    if (found := _INSTEAD.match(plain)) and not _PRONOUNS.search(plain[found.end() :]):
        return _after(text, found[0].count(" "))
    if not (found := _GOES_ON.match(plain)) or _CONDITION.match(plain) or _ASKS.search(plain):
        return ""
    rest = plain[found.end() :].split()
    named = [*dropwhile(SMALL.__contains__, rest)]
    if not 0 < len(named) < SHORT or not SMALL.isdisjoint(named) or _PRONOUNS.search(plain):
        return ""
    return _after(text, len(plain.split()) - len(rest))


def asked_last(last: Turn) -> str:
    """The question of a turn, without the subject that it carried."""
    return last.question if last.question == last.typed else _ADDED.sub("?", last.question)


def asked_again(text: str, last: Turn, content: Sequence[str], *, named: bool) -> str | None:
    """The last question, asked of what a follow-up names ("what about Gull Hide?") or on its condition
    ("and on mac?"); None where it goes on in another way, or the last asked for its subject alone.

    :param content: the words of the last question that say something, as they are written.
    :param named: whether the follow-up names a note.
    """
    base = asked_last(last)
    plain, other = _plain(text), another(text)
    state = _STATE.fullmatch(plain)
    like = _after(text, plain[: state.start(1)].count(" ")) if state else ""
    if again := _numbered(other, base) or _counted(plain, base, last) or _moved(like, base, set()):
        return again
    # What has capitals is a name, but in a language that gives every noun one.
    said = [one for one in other.split() if fold(one).casefold() not in SMALL]
    is_name = bool(said) and all(one[:1].isupper() for one in said)
    if other and _OWNS.search(other) and (put := _owned(other, base, last)):
        return put
    if not named and (not is_name or read(text).language == "de"):
        other = ""
    # Who has what is no name, and not one thing ("who has allergies").
    before, has, _ = base.partition(f" {last.subject}" if last.subject.islower() else "\0")
    leads = any(map(_leads, [*before.split()[-1:], *other.split()[:1]]))
    somebody = is_name or _INSTEAD.match(plain)  # "and birthdays?"
    if other and has and somebody and "person" in read(base).forms and not leads:
        return with_subject(base, other)
    is_kind = is_name and last.subject.islower() and _WHICH.match(_plain(base))
    was = next(iter(names_of(base) if is_kind else ()), last.subject)
    if other and (put := _owned(other, base, last) or put_for(was, other, base)):
        return put
    if other and base != last.question and last.question == with_subject(base, last.subject):
        return with_subject(base, _named_in(other))
    found = (_INSTEAD if other else _CONDITION).match(plain)
    if found is None:
        return None
    condition, subject = plain[found.end() :], {*_plain(last.subject).split()}
    provided = _PROVIDED.match(condition) is not None
    if _ASKS.search(condition) or (_PRONOUNS.search(condition) and not provided):
        return None
    written = _after(text, found[0].count(" "))
    if not other and (moved := _moved(written, base, subject if named else set())):
        return moved
    own = {_plain(word) for word in content} - subject
    if (
        (named and not condition.isdigit())
        or not own
        or _TOWARDS.match(condition)
        or len(condition.split()) > SHORT + 2 * provided
    ):
        return None
    carried = _ADDED.search(last.question) if base != last.question else None
    return with_subject(base, f"{carried[1]} {written}" if carried else written)


def _named_in(other: str) -> str:
    """What is named, without its article."""
    return " ".join(dropwhile(lambda one: fold(one).casefold() in SMALL, other.split()))


def _numbered(other: str, base: str) -> str:
    """A question with another name in the place of one that has a word of it in its place ("and room 2?",
    after "what is in room 1?"); empty for none."""
    name, words = _named_in(other), [*_WORD.finditer(base)]
    new, old = _plain(name).split(), [_plain(one[0]) for one in words]
    for at in range(len(old) - len(new) + 1):
        was = old[at : at + len(new)]
        same = [one for one, two in zip(was, new, strict=True) if one == two]
        if same and was != new and SMALL.isdisjoint(was):
            return f"{base[: words[at].start()]}{name}{base[words[at + len(new) - 1].end() :]}"
    return ""


def _counted(plain: str, base: str, last: Turn) -> str:
    """A question with another number, or year, in the place of its only one ("and in 15?", after "what
    happened in session 14?"), or of a month whose year was not typed; empty for none."""
    new = _NUMBER.fullmatch(plain)
    year = "(?=" if new and re.match(_YEAR, new[1]) else "(?!"
    was = rf"(?<![\w.,:/-]){year}(?:19|20)\d\d\b)\d+(?![.,:/-]?\w)"
    if year == "(?=" and not re.search(was, last.typed):
        was = rf"(?i:{'|'.join(MONTH_NUMBERS)}) {was}"
    put, times = re.subn(was, new[1], base) if new else ("", 0)
    return put if times == 1 else ""


def _owned(other: str, base: str, last: Turn) -> str:
    """A question with another in the place of whose something was ("and Katrin's?" after "what is my
    salary?"), or of the pronoun that stood for its subject; empty for none."""
    found = _OWNER.search(base) if _OWNS.search(other) else None
    if (
        found is None
        and not _BEFORE.match(_plain(other))
        and base != last.question
        and len(fold(base)) == len(base)
    ):
        found = _PRONOUNS.search(fold(base).casefold())
    return f"{base[: found.start()]}{other}{base[found.end() :]}" if found else ""


def _moved(condition: str, base: str, subject: Set[str]) -> str:
    """A question with another place, time or person at its end ("and in Seville?", after "… in Malta?");
    empty where one of them is a name, or a number, and the other none, and it does not end on its subject."""
    word, _, name = condition.partition(" ")
    tail = rf"(?<!\w){re.escape(word)} ((?:\S+ )?[^\s?!.]+)[\s?!.…]*$"
    end = re.search(tail, base, re.IGNORECASE)
    if end is None or not 0 < len(name.split()) <= FEW:
        return ""
    was = end[1]
    # A place for a place, and no condition for what it is asked of.
    alike = was[0].isdigit() == name[0].isdigit() and was[0].isupper() == name[0].isupper()
    alike = alike and SMALL.isdisjoint(f"{was} {name}".split())
    if not alike and not (subject and {*_plain(was).split()} <= subject):
        return ""
    return f"{base[: end.start(1)]}{name}?"


LONGEST_SUBJECT = 8  # words of one that another is put in the place of


def put_for(subject: str, other: str, base: str) -> str:
    """A question with another name in the place of its subject, or of half of it if the other half is not
    in it; empty for none."""
    words = [one for one in subject.split() if not _DATED.fullmatch(one)]
    if len(words) > LONGEST_SUBJECT:
        return ""
    other = _OWNS.sub("", other)
    spans = sorted(combinations(range(len(words) + 1), 2), key=lambda span: span[0] - span[1])
    # With the word before it that what is named has, too ("the"), as it has to be for a place.
    first, must = re.escape(other.partition(" ")[0]), "" if _BEFORE.match(_plain(other)) else "?"
    for begin, end in (one for one in spans if 2 * (one[1] - one[0]) >= len(words)):
        name = _OWNS.sub("", " ".join(words[begin:end]))
        if fold(name).casefold() in SMALL or not re.search(r"\w", name):
            continue
        known = re.compile(rf"(?:\b{first} ){must}(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
        if known.search(base):
            left = {*_plain(known.sub("", base, count=1)).split()}
            apart = {*_plain(" ".join([*words[:begin], *words[end:]])).split()}
            return known.sub(lambda _: other, base, count=1) if left.isdisjoint(apart) else ""
    return ""


def lacks_subject(text: str, content: Sequence[str]) -> bool:
    """Whether a follow-up that names no note is about what was asked before it.

    :param content: its words that say something, as they are written.
    """
    plain = _plain(text)
    if names_of(text):
        return False
    own = [word for word in content if fold(word).casefold() not in _NOTHING_OWN]
    if _PRONOUNS.search(plain) or refers(text) or not own or _ELLIPSIS.fullmatch(plain):
        return True
    goes_on = _GOES_ON.match(plain)
    return goes_on is not None and len(own) <= FEW - bool(_ASKS.search(plain[goes_on.end() :]))


def may_go_on(text: str, content: Sequence[str]) -> bool:
    """Whether a question that could be one of its own may be about what was asked before it ("what was the
    cause?", "side effects?"); ``content`` as for :func:`lacks_subject`."""
    plain = _plain(text)
    short = len(content) <= FEW and plain.count(" ") < SAYING
    return short and (plain.count(" ") < FEW or _ASKS.search(plain) is not None)


def _leads(word: str) -> bool:
    """Whether a word is an article or says whose something is."""
    article = ARTICLE.fullmatch(f"{fold(word).casefold()} ") or word[1:] in ("'", "’")
    return bool(article or _OWNER.fullmatch(word))


def subject_of(
    question: str, named: Sequence[str], cited: Sequence[str], content: Sequence[str]
) -> str:
    """What a question and its answer were about; empty where nothing tells.

    :param named: titles of the notes that the question is about by its words.
    :param cited: titles of the notes that the answer quotes, in its order.
    :param content: the words of the question that say something, as they are written.
    """
    if named:
        return named[0]
    names, about = names_of(question), _BEFORE.sub("", read(question).about)
    told = about if all(name in about for name in names) else " ".join(names)
    short = len(content) < SHORT
    if told or short:
        # In full where the note that is quoted first is called so, and little else.
        title = {one for one in _plain(next(iter(cited), "")).split() if not one.isdigit()}
        called = {*_plain(told).split()} <= title
        shared = len(title & {*_plain(question).split()})
        if called and title and len(title) <= 2 * shared:
            return cited[0]
    if short and not about and (spoken := _spoken_of(question, {*content, *names})):
        return spoken
    return told or next((title for title in cited if not _DATED.fullmatch(title)), "")


_SUBJECTS = frozenset(WORD_LISTS["subjects"])
_PARTICIPLE = re.compile(r"\w*[aeiouy]\w*[^\We]ed|ge\w{2,}(?:t|en)")  # no "shed", no "seed"
_VERB = re.compile(rf"(?:{_one_of('before_verb')}) \w+")
_WHICH = re.compile(rf"(?:{_one_of('which')}) ")
_DOES = frozenset(("do", "does", "did"))


def _spoken_of(question: str, tells: Set[str]) -> str:
    """The name or noun that a question is about, as it is written; empty where it has none.

    :param tells: its words that say something.
    """
    words = [*re.finditer(r"\b[dl]['’](?=\w)|[\w'’-]+", question, re.IGNORECASE)]
    plain = [_plain(one[0]) for one in words]
    asks = [read(one[0]).form == "yesno" for one in words]
    says = [at for at, one in enumerate(words) if tells & {one[0], *one[0].split("-")}]
    language = read(question).language
    small = FUNCTION_WORDS.get(language, SMALL)
    behind, is_which = _VERB.match(" ".join([language, *plain])), _WHICH.match(" ".join(plain))
    # A verb behind who does it ("did I lend"), or behind "who", is none, nor what only says how it is asked.
    verbs = [at > 1 and plain[at - 1] in _SUBJECTS and asks[at - 2] for at in range(len(words))]
    verbs = [one or bool(behind and behind[0].count(" ") == at) for at, one in enumerate(verbs, 1)]
    none = [
        verbs[at] or one in _NOTHING_OWN or one in small or is_asked_by(one)
        for at, one in enumerate(plain)
    ]
    # What has an article is spoken of, and not what is asked of it ("colour is the front room"), else
    # what has a verb before it that asks ("licence does Heron", but no "which boats are dry").
    leads = [at for at in range(1, max(says, default=0)) if _leads(words[at][0])]
    leads += [at - 1 for at in says if at and asks[at - 1] and not (at > says[0] and is_which)]
    begins = [at + 1 for at in leads if not _PLACED.fullmatch(plain[at - 1])]
    for first in (*begins[:1], *says[:1]):
        span = [*dropwhile(none.__getitem__, range(first, says[-1] + 1))]
        span = [*takewhile(lambda at: not (asks[at] or _PRONOUNS.fullmatch(plain[at])), span)]
        before = first - 1 - _leads(words[first - 1][0]) if first else -1
        if span[:1] == [first] and before >= 0 and asks[before]:
            # "Does Ada charge", "was the boat cleaned"
            named = [*takewhile(lambda at: words[at][0][0].isupper(), span)]
            last = words[span[-1]][0]
            verb = plain[before] in _DOES or (_PARTICIPLE.fullmatch(last) is not None)
            ends = (
                span[-1] + 1 == len(words) and len(span) > 1 and not _leads(words[span[-1] - 1][0])
            )
            span = (named if plain[before] in _DOES else []) or (
                span[:-1] if verb and ends else span
            )
        while span and none[span[-1]]:
            span.pop()
        if any(not _DATED.fullmatch(one := plain[at]) and one not in MONTH_NUMBERS for at in span):
            return question[words[span[0]].start() : words[span[-1]].end()]
    return ""


def subject_after(last: Turn) -> str:
    """What a follow-up of a turn is about: its subject, on the condition that it was asked on last."""
    added = _ADDED.search(last.question) if last.question != last.typed else None
    on = added[1] if added and last.subject and last.subject != added[1] else ""
    return f"{last.subject} {on}".rstrip()


def with_subject(text: str, subject: str) -> str:
    """The follow-up as it is searched for: with what it is about."""
    return f"{text.rstrip(' ?!.…')} ({subject})?"


class CarriedSubject(VaultSynthesizer):
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
            return Draft(UNCLEAR, "none", material=material.unconnected())
        first = f"Taken as a question about *{body(one_line(self._subject))}*.\n\n"
        own = query.removesuffix(with_subject("", self._subject))
        draft = self._inner.draft(query, replace(material, own=own))
        said = tuple(one.moved(len(first)) for one in draft.said)
        return replace(draft, text=first + draft.text, said=said)


class Beside(VaultSynthesizer):
    """Answers what asks nothing new: by the passages that are handed to it, else with a sentence."""

    def __init__(self, inner: VaultSynthesizer, told: str, opening: str = MORE) -> None:
        super().__init__(inner._vault, inner._llm, inner._checker)
        self._told, self._opening = told, opening

    def draft(self, query: str, material: Material) -> Draft:  # noqa: ARG002 (it is known)
        """Quote the passages as they begin."""
        return of_a_kind(replace(material, listed=self._opening), sentence_spans)

    def _answered(self, words: str, material: Material) -> Generator[str, None, Response | None]:
        if material.sources:
            return (yield from super()._answered(words, material))
        yield self._told
        return respond(Draft(self._told, "none"), material)
