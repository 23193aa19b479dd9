"""Tells whether a passage has the exact thing that is asked for: a sum, an age, a count, a date. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from notehop.app.answer.facts import YEAR_PATTERN
from notehop.app.answer.names import capitalized_names
from notehop.app.answer.quotes import WORD_LISTS
from notehop.app.answer.quotes.blocks import Passage
from notehop.indexing.tokens.words import FUNCTION_WORDS, fold
from notehop.indexing.vault.dates import MONTH_NUMBERS

if TYPE_CHECKING:
    from notehop.app.answer.quotes.question import Question

DIGITS = re.compile(r"\d+(?:[.,:/-]\d+)*")
_DATE = re.compile(
    rf"\b{YEAR_PATTERN}\b"
    r"|\b\d{4}-\d\d(?:-\d\d)?\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b"
    r"|\b\d{1,2}:\d\d\b|\b[0-3]?\d\.(?:0[1-9]|1[0-2])\.(?!\d)"
    r"|\b(?:mo\W+di|mon?\W+tue?|lun?\W+mar|ma\W+di|seg\W+ter|man\W+tis|пн\W+вт)\b"
)
_TIME_DISTANCE = re.compile(
    r"\b(?:days?|weeks?|months?|years?|tage?n?|wochen?|monate?n?|jahre?n?|jours?|semaines?|mois|ans|dias?"
    r"|semanas?|meses|anos?|giorn[oi]|settiman[ae]|mes[ei]|ann[oi]|dag(?:en)?|we(?:ek|ken)|maand(?:en)?|jaar)\b"
    r"[^.,!?]{0,20}\b(?:ago|before|after|later|earlier|zuvor|spater|danach|avant|apres|antes|despues|depois"
    r"|prima|dopo|fa|geleden|later|eerder)\b|\b(?:vor|nach|il y a|hace|ha) (?:\d+|ein\w{0,2}|une?|una)"
    r" (?:tag|woche|monat|jahr|jour|semaine|mois|ans|dia|semana|mes|ano)(?:e?[ns])?\b"
)
_MONTHS = "|".join(sorted({*MONTH_NUMBERS} - FUNCTION_WORDS["en"]))
_OF_MONTH = re.compile(
    rf"\b\d{{1,2}}(?:st|nd|rd|th|\.)? (?:of )?(?:may|{_MONTHS})\b|\b(?:{_MONTHS})\.? \d{{1,4}}\b"
)
WORD = re.compile(r"[^\W\d_]+")
_DAYS, NUMBER_WORDS = (frozenset(WORD_LISTS[name]) for name in ("days", "numbers"))

SYNONYMS = tuple(frozenset(words.split()) for words in WORD_LISTS["alike"])
"""Words that say nearly the same; of units their signs as well."""

MEASURE_KINDS = ("money", "duration", "age", "size", "weight", "share", "contact")
EXACT_PATTERNS: Mapping[str, tuple[re.Pattern[str], re.Pattern[str]]] = {
    name: (re.compile(rf"\b(?:{asked})\b" if name in MEASURE_KINDS else asked), re.compile(found))
    for name, asked, found in (
        ("money",
         r"price|costs?|pay|pays|paid|earns?|salary|wage|charges?|fees?|expensive|preis|(?:ge)?kostet|kosten|kostete"
         r"|prix|coute|precio|cuesta|prezzo|costa|preco|prijs|kost",
         r"[£$€¥]|\b(?:euros?|dollars?|pounds?|pence|cents?|usd|eur|gbp|chf|francs?|(?<!-)free|fee|gratis"
         r"|kostenlos|gratuit)\b|\d ?(?:gp|sp|cp|kr|sek|nok|dkk|pln|czk)\b|\b\d{1,3}(?:[,.]\d{3})+\b"),
        ("duration",
         r"how long|how many (?:seconds|minutes|hours|days|weeks|months|years)|duration|wie lange?"
         r"|combien de temps|cuanto tiempo|quanto tempo|hoe lang",
         r"\b(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|fortnight|forever|sekunden?"
         r"|minuten?|stunden?|tage?n?|wochen?|monate?n?|jahre?n?|jours?|semaines?|mois|ans|heures?"
         r"|dias?|semanas?|mes|meses|anos?|horas?|giorni|settiman[ae]|mes[ei]|ann[oi]|or[ae]|dagen"
         r"|weken|maanden|jaar|uur)\b|\d ?(?:s|ms|mins?|h|hrs?|d|w|wks?|mths?|yrs?)\b|\d+:\d\d"),
        ("age",
         r"how old|age of|wie alt|quel age|cuantos anos|quanti anni|hoe oud",
         r"\d(?:st|nd|rd|th|[.eo]|er)? (?:birthday|geburtstag|anniversaire|cumpleanos|compleanno|verjaardag)"
         r"|\b(?:born|aged?|turn(?:s|ed)(?= \d)|nee?|nacid[oa]|nat[oa]|geboren) "
         r"|\d[ -](?:years?|jahre?|ans|anos|anni|jaar)\b"
         r"|\b(?:built|made|founded in|dates? from|year|gebaut|baujahr|seit|annee|depuis|desde|dal|anno)\b"
         r"[^.]{0,30}"
         r"\b(?:1[5-9]|20)\d\d\b|[- ](?:years?|months?)[- ]old\b"),
        ("size",
         r"how (?:deep|high|tall|wide|far|big|large)|height|depth|width|distance"
         r"|wie (?:tief|weit|breit)|hoe (?:diep|ver)",
         r"\d[ -]?(?:m|km|cm|mm|ft|feet|foot|in|inch(?:es)?|miles?|met(?:re|er)s?|kilomet\w+|hectares?"
         r"|ha|px|[kmgt]i?b|(?:kilo|mega|giga|tera)?(?:bytes?|octets?))\b"),
        ("weight",
         r"how heavy|weights?|weighs?|wie schwer|poids|pese|peso|pesa|gewicht",
         r"\d ?(?:kg|kilos?|kilogram\w*|g|grams?|t|tonnes?|tons?|lbs?|pounds|stone|oz)\b"),
        ("share",
         r"per ?cent|percentage|prozent|pourcentage|porcentaje|percentuale",
         r"%|\bper ?cent|prozent|pour cent|por ciento|per cento"),
        ("contact",
         r"(?:tele)?phone(?: number)?|(?<!an )e-?mail(?: address|(?= (?:of|for|to|von|de|van)\b)|$)"
         r"|telefonnummer|numero de telephone",
         r"(?<![\d-])\+?\d[\d ()/]{5,}\d(?![\d-])|\w@\w"),
        ("colour",
         r"\b(?:(?:which|what)(?: is| was|s)?(?: the)?(?: \w+){0,3} colou?r|welche farbe|quelle couleur"
         r"|(?:que|de que) color|che colore|que cor|welke kleur)\b",
         r"\b(?:red|green|blue|yellow|black|white|gr[ea]y|brown|orange|purple|pink|rot|gr[uü]n|blau|gelb"
         r"|schwarz|wei(?:ss|ß)|grau|braun|rouge|verte?|bleue?|jaune|noire?|blanc(?:he)?|gris|roj[oa]|azul"
         r"|amarill[oa]|negr[oa]|blanc[oa]|ross[oa]|giall[oa]|ner[oa]|bianc[oa]|rood|groen|blauw|geel|wit)\b"
         r"|#[0-9a-f]{3,6}\b"),
        ("version",
         r"\b(?:which|what|welche|quelle|que|welke)(?: \w+)? (?:version|release)\b|\bversion number\b",
         r"\bv?\d+(?:\.[\dx]+)+\b|\b\w+ v?\d+\b"),
        ("secret",
         r"\b(?:passwords?|passcodes?|api keys?|secret keys?|access tokens?|passwort(?:er)?|kennwort(?:er)?"
         r"|mots? de passe|contrasenas?|senhas?|wachtwoord(?:en)?)\b",
         r"(?:password|passcode|\bpw|\bpin|key|secret|token|passwort|kennwort|mot de passe|contrasena|senha"
         r"|wachtwoord)\b(?:(?: [\w']+){0,4}[:=]\s*\S|\W*(?:(?:is|ist|est|es|:|=)\s*\S"
         r"|(?:affichee?|rangee?|ecrite?|guardad[oa]|steht|hangt|klebt|kept|written|stuck|taped)\b))"),
        ("birthday",
         r"\b(?:birthdays?|geburtstage?|anniversaires?|cumpleanos|compleann[oi]|verjaardag(?:en)?)\b"
         r"|^(?:when|wann|quand|cuando|quando|wanneer) .*\b(?:born|geboren|nee?|nacio|nat[oa])\b",
         r"\b(?:birthday|births?|born|geburtstag|geboren|anniversaire|nee?|cumpleanos|nacid[oa]|nat[oa]"
         r"|compleanno|verjaardag)\b"),
        ("date",
         r"^(?:(?:and|so|bis|seit|ab|depuis|desde|hasta|da|ate|sinds|tot) |jusqu'a )?"
         r"(?:when(?: exactly)? (?:is|was|are|were|did|does|do|will|has|have|s)|wann|quand|cuando|quando"
         r"|wanneer)\b|\b(?:deadline|birthday|due date|(?:what|which) (?:day|date|year))\b",
         ""),
    )
}  # fmt: skip
"""What is asked for to the letter -> how, and what a text has that says it: the measures, in their
order, then the other kinds; a date is read by :func:`has_date`."""

FILING_DATE = re.compile(
    r"(?:^|·)\s*(?:date )?(?:created|modified|updated|last modified)(?: (?:at|on))?:\s*(?:\[\[)?\d[^·]*",
    re.IGNORECASE,
)
"""When a note was made: no date of what it is about."""

MAX_WORDS_TO_COUNTED = 4  # words between a number and what it counts, at most
MAX_UNIT_LETTERS = 2  # letters of a word that may be a unit


def has_exact_value(
    question: Question,
    kind: str,
    passage: Passage,
    heading: str,
    words: Callable[[str], Sequence[str]],
    known: Collection[str] = (),
) -> bool:
    """Whether a passage has what an answer must have in it.

    :param kind: as :attr:`Question.exact_kind`.
    :param heading: what the passage stands under.
    :param words: text -> its words, folded and stemmed.
    :param known: numbers of the question, which are no answer to it.
    """
    text = f"{passage.lead} {passage.text}"
    folded = fold(text).casefold()
    if kind == "count":
        counted = frozenset(words(question.counted_noun))
        if passage.kind in ("item", "row") and counted & {*words(f"{passage.lead} {heading}")}:
            return True  # Who lists them lets them be counted.
        others = frozenset(words(synonyms_of(question.counted_noun)))
        return any(counted & {*words(one)} for one in _BESIDE.findall(folded)) or any(
            counted & {*words(behind)} or others & {*words(beside)}
            for behind, beside in _words_beside_numbers(folded)
        )
    if kind == "date":
        return has_date(FILING_DATE.sub("", text)) or has_occasion(text, known)
    if kind == "number":
        return has_number(text, known)
    if kind == "person":
        return any(fold(one).casefold() not in question.folded for one in capitalized_names(text))
    asks, value_pattern = EXACT_PATTERNS[kind]
    if value_pattern.search(folded):
        return True
    if kind in ("birthday", "secret") and asks.search(fold(heading).casefold()):
        # Below "Birthdays" each line with a day tells one, below "Passwords" what is called so.
        if kind == "birthday":
            return has_date(_YEAR_ALONE.sub("", text))
        return re.search(r"[:=–—|] *\S", text) is not None
    # Who names the measure need not say its unit: "price: 35".
    measure = asks.search(question.folded) if kind in MEASURE_KINDS else None
    stems = {*words(f"{measure[0]} {synonyms_of(measure[0])}")} if measure is not None else set[str]()
    tokens = re.findall(r"\w+", f"{heading} {folded}")
    follows = (at for at, word in enumerate(tokens) if stems.intersection(words(word)))
    behind = (tokens[at + 1 : at + 2 + MAX_WORDS_TO_COUNTED] for at in follows)
    return any(word[0].isdigit() for following in behind for word in following) and has_number(text, known)


_YEAR_ALONE = re.compile(r"(?<![\d./-])\d{4}(?![\d-])")  # no day of birth
_BESIDE = re.compile(r"([^\W\d_]+)\W{0,3}[(:=|×]\s*\d")  # "spades (3)"


def _words_beside_numbers(plain: str) -> list[tuple[str, str]]:
    """Return, of each number, the words close behind it, and those on both sides; a unit only at once
    behind it."""
    tokens = re.findall(r"[^\W_]+", plain)
    numbers = NUMBER_WORDS | {"one", "no", "ein", "eine", "un", "une"}
    words_by_number = []
    for at, token in enumerate(tokens):
        if token[0].isdigit() or token in numbers:
            behind = tokens[at + 1 : at + 1 + MAX_WORDS_TO_COUNTED]
            near = (
                one
                for one in (*tokens[max(0, at - MAX_WORDS_TO_COUNTED) : at], *behind)
                if len(one) > MAX_UNIT_LETTERS
            )
            words_by_number.append((" ".join(behind), " ".join((*behind[:1], *near))))
    return words_by_number


def has_number(text: str, known: Collection[str] = ()) -> bool:
    """Whether a text has a number, in digits or words, that is not among the known ones."""
    if any(one not in known for one in DIGITS.findall(text)):
        return True
    return not NUMBER_WORDS.isdisjoint(WORD.findall(fold(text).casefold()))


_BARE_AMOUNT = re.compile(
    r"(?<![\w.,:/#+-])(?!(?:19|20)\d\d\b)[1-9]\d{1,5}(?:,\d{3})?(?:[.,]\d\d)?(?=\s*(?:$|[^\w\s:/%.-]|\.\s))"
)


def has_bare_amount(text: str) -> bool:
    """Whether a number ends a clause, with no word for what it counts, and is no year or time."""
    return _BARE_AMOUNT.search(text) is not None


def has_date(text: str) -> bool:
    """Whether a text names a day, month, year or time of day, or how long before or after something."""
    plain = fold(text).casefold()
    return any(pattern.search(plain) for pattern in (_DATE, _OF_MONTH, _TIME_DISTANCE)) or any(
        not _DAYS.isdisjoint((word, word.removesuffix("s"))) or (word in MONTH_NUMBERS and len(word) > 3)
        for word in WORD.findall(plain)
    )


def is_day(text: str) -> bool:
    """Whether a text is a date, in digits, and nothing else."""
    return has_date(text) and WORD.search(text) is None


_OCCASION = re.compile(
    r"\b(?:[a-z]*(?:month|moon|monat)|session|week|day|year|chapter|sprint|season|kw|woche|tag|jahr|kapitel"
    r"|semaine|semana|settimana) (\d{1,4})\b(?![.,:]\d)|\b[qsw](\d{1,3})\b(?![:*)])",
    re.IGNORECASE,
)


def has_occasion(text: str, known: Collection[str] = ()) -> bool:
    """Whether a text has a session, a week or a day of its own calendar: less surely a time than a date."""
    return any((one[1] or one[2]) not in known for one in _OCCASION.finditer(fold(text)))


_YEARS = re.compile(r"(?<!\d)(19|20)(\d\d)(?:/(\d\d))?(?![\d%]|[.,]\d| ?(?:[€$£]|eur\b))")
_NUMBERED = re.compile(r"([^\W\d_]+)\.? 0*(\d{1,3})(?![\d%]|[.,:/-]\d)")
_SMALL = frozenset[str]().union(*FUNCTION_WORDS.values())


def numbered_names(text: str) -> set[tuple[str, str]]:
    """Return the numbers that tell one thing of a kind from others: years, with "", and those behind a
    word, with it."""
    plain = fold(text).casefold()
    years = (("", a + one) for a, *b in _YEARS.findall(plain) for one in b if one)
    return {*years, *(one for one in _NUMBERED.findall(plain) if one[0] not in _SMALL)}


def synonyms_of(words: str) -> str:
    """Return other words for the same, of what notes are asked for every day."""
    said = frozenset(words.split())
    return " ".join(sorted(frozenset().union(*(one for one in SYNONYMS if one & said)) - said))


_AGENT_NOUNS = tuple(frozenset(words.split()) for words in WORD_LISTS["doing"])
_AGENT_ENDING = re.compile(r"(?:er(?:in)?|or|eur|euse|ant|ent)[ae]?s?$")
_VERB_ENDING = re.compile(r"(?:e?[sdt]|e?te|e|a)$")


def is_agent_noun(noun: str, said: Collection[str]) -> bool:
    """Whether a noun names who does what some words say, as a leader leads; all of them folded."""
    if any(noun in one and not one.isdisjoint(said) for one in _AGENT_NOUNS):
        return True
    stems = {_AGENT_ENDING.sub("", noun)} - {noun}
    return not stems.isdisjoint(said) or not stems.isdisjoint(_VERB_ENDING.sub("", one) for one in said)
