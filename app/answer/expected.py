"""What an answer must have in it, where a question asks for something exact: a sum, a colour, a date.

Pure. A passage that has nothing of the kind may be near such a question, and answers it not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from notehop.app.answer.passages import Passage
from notehop.indexing.tokens.words import fold
from notehop.indexing.vault.dates import month_named

DIGITS = re.compile(r"\d+(?:[.,:/-]\d+)*")
_YEAR = re.compile(r"\b(?:1[5-9]|20|21)\d\d\b")
_DATE = re.compile(r"\b\d{4}-\d\d(?:-\d\d)?\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\b\d{1,2}:\d\d\b")
_WORD = re.compile(r"[^\W\d_]+")
_DAYS = frozenset(
    """
    monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag
    freitag samstag sonntag lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes
    miercoles jueves viernes sabado domingo daily weekly monthly midnight noon
    """.split()  # noqa: SIM905 (a table of words)
)
NUMBER_WORDS = frozenset(
    """
    two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand
    million half dozen
    zwei drei vier funf sechs sieben acht neun zehn zwolf dreizehn vierzehn funfzehn sechzehn
    siebzehn achtzehn neunzehn zwanzig dreissig vierzig funfzig sechzig siebzig achtzig neunzig hundert
    tausend dutzend
    deux trois quatre cinq sept huit neuf dix onze douze treize quatorze quinze vingt trente
    quarante cinquante soixante cent mille douzaine
    tres cuatro cinco siete ocho nueve diez doce trece catorce veinte treinta cuarenta
    cincuenta sesenta cien ciento mil docena
    due tre quattro cinque sette otto dieci undici dodici tredici quindici venti trenta cento
    dois duas quatro oito nove dez onze doze treze quinze vinte
    twee drie vijf zeven acht negen tien twaalf dertien twintig dertig honderd duizend
    tva tre fyra sju atta nio elva tolv tjugo trettio hundra tusen
    """.split()  # noqa: SIM905 (a table of words)
)
"""Numbers that answer "how many" in words, folded; the index tells no numbers from other words, and
to read them all takes longer than an answer may."""

MEASURES: Mapping[str, tuple[re.Pattern[str], re.Pattern[str]]] = {
    name: (re.compile(rf"\b(?:{asked})\b"), re.compile(found))
    for name, asked, found in (
        ("money",
         r"price|costs?|pay|pays|paid|earns?|salary|wage|charges?|fees?|expensive|preis|kosten|kostet"
         r"|prix|coute|precio|cuesta|prezzo|costa|preco|prijs|kost",
         r"[£$€¥]|\b(?:euros?|dollars?|pounds?|pence|cents?|usd|eur|gbp|chf|francs?|free|fee|gratis"
         r"|kostenlos|gratuit)\b|\b\d{1,3}(?:[,.]\d{3})+\b"),
        ("duration",
         r"how long|how many (?:seconds|minutes|hours|days|weeks|months|years)|duration|wie lange?"
         r"|combien de temps|cuanto tiempo|quanto tempo|hoe lang",
         r"\b(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|fortnight|forever|sekunden?"
         r"|minuten?|stunden?|tage?n?|wochen?|monate?n?|jahre?n?|jours?|semaines?|mois|ans|heures?"
         r"|dias?|semanas?|mes|meses|anos?|horas?|giorni|settiman[ae]|mes[ei]|ann[oi]|or[ae]|dagen"
         r"|weken|maanden|jaar|uur)\b|\d ?(?:s|ms|min|h|d|w)\b|\d+:\d\d"),
        ("age",
         r"how old|age of|wie alt|quel age|cuantos anos|quanti anni|hoe oud",
         r"\b(?:born|aged?|nee?|nacid[oa]|nat[oa]|geboren) |\d[ -](?:years?|jahre?|ans|anos|anni|jaar)\b"
         r"|\b(?:built|made|founded in|dates? from|gebaut|seit|depuis|desde|dal)\b[^.]{0,30}"
         r"\b(?:1[5-9]|20)\d\d\b|[- ](?:years?|months?)[- ]old\b"),
        ("size",
         r"how (?:deep|high|tall|wide|far|big|large)|height|depth|width|distance"
         r"|wie (?:tief|hoch|weit|gross|breit)|hoe (?:hoog|diep|ver|groot)",
         r"\d ?(?:m|km|cm|mm|ft|feet|foot|in|inch(?:es)?|miles?|met(?:re|er)s?|kilomet\w+|hectares?"
         r"|ha|px|[kmgt]i?b)\b"),
        ("weight",
         r"how heavy|weights?|weighs?|wie schwer|poids|pese|peso|pesa|gewicht",
         r"\d ?(?:kg|kilos?|kilogram\w*|g|grams?|t|tonnes?|tons?|lbs?|pounds|stone|oz)\b"),
        ("share",
         r"per ?cent|percentage|prozent|pourcentage|porcentaje|percentuale",
         r"%|\bper ?cent|prozent|pour cent|por ciento|per cento"),
        ("contact",
         r"(?:tele)?phone number|telephone|phone|e-?mail(?: address)?|telefonnummer|numero de telephone",
         r"(?<![\d-])\+?\d[\d ()/]{5,}\d(?![\d-])|\w@\w"),
    )
}  # fmt: skip
"""What is measured -> how questions ask for it, and what a text has that says it."""

_COUNTS = re.compile(
    r"\b(?:how many|wie ?viele|combien d[e']?|cuant[oa]s|quant[ei]|quantos|hoeveel)\s?"
    r"(?:of |the |our |my |more )*(?P<what>[^\W\d_]+(?: (?!does|is|was|has)[^\W\d_]+s\b)?)"
)
_KINDS: Mapping[str, tuple[re.Pattern[str], re.Pattern[str]]] = {
    name: (re.compile(asked), re.compile(found))
    for name, asked, found in (
        ("colour",
         r"\b(?:(?:which|what)(?: is| was|s)?(?: the)? colou?r|welche farbe|quelle couleur|(?:que|de que)"
         r" color|che colore|que cor|welke kleur)\b",
         r"\b(?:red|green|blue|yellow|black|white|gr[ea]y|brown|orange|purple|pink|rot|gr[uü]n|blau|gelb"
         r"|schwarz|wei(?:ss|ß)|grau|braun|rouge|verte?|bleue?|jaune|noire?|blanc(?:he)?|gris|roj[oa]|azul"
         r"|amarill[oa]|negr[oa]|blanc[oa]|ross[oa]|giall[oa]|ner[oa]|bianc[oa]|rood|groen|blauw|geel|wit)\b"
         r"|#[0-9a-f]{3,6}\b"),
        ("version",
         r"\b(?:which|what|welche|quelle|que|welke)(?: \w+)? version\b|\bversion number\b",
         r"\bv?\d+(?:\.[\dx]+)+\b|\b\w+ v?\d+\b"),
        ("secret",
         r"\b(?:password|passcode|api key|secret key|access token|passwort|kennwort|mot de passe|contrasena"
         r"|senha|wachtwoord)\b",
         r"(?:password|passcode|key|secret|token|passwort|kennwort|mot de passe|contrasena|senha|wachtwoord)"
         r"\b\W*(?:is|ist|est|es|:|=)\s*\S"),
        ("birthday",
         r"\b(?:birthday|geburtstag|anniversaire|cumpleanos|compleanno|verjaardag)\b"
         r"|^(?:when|wann|quand|cuando|quando|wanneer) .*\b(?:born|geboren|nee?|nacio|nat[oa])\b",
         r"\b(?:birthday|births?|born|geburtstag|geboren|anniversaire|nee?|cumpleanos|nacid[oa]|nat[oa]"
         r"|compleanno|verjaardag)\b"),
        ("date",
         r"^(?:and |so )?(?:when(?: exactly)? (?:is|was|are|were|did|does|do|will|has|have|s)"
         r"|wann|quand|cuando|quando|wanneer)\b|\b(?:deadline|birthday|due date"
         r"|(?:what|which) (?:day|date|year))\b",
         ""),
    )
}  # fmt: skip
"""What is asked for -> how, and what a text has that says it; a date is read by :func:`has_date`."""

_STEPS = re.compile(
    r"^(?:and |so )?(?:how (?:do|does|did|can|to|should)|why|wie \w+ (?:ich|man|wir)|comment)\b"
)
_TWICE = re.compile(
    r"(?:,| and| or| und| et| y| e| en) (?:and )?(?:by |at |in )?"
    r"(?:what|how|who|when|where|which|why|was|wie|wer|wann|wo|welche|quand|combien|cuando|cuanto)\b"
)
"""A question that asks two things: neither is all that an answer may have."""

_MADE = re.compile(r"\b(?:created|updated|modified): \d\S*", re.IGNORECASE)

CLOSE = 4
"""Words between a number and what it counts, at most."""


@dataclass(frozen=True, slots=True)
class Expected:
    """``kind``: a measure, ``count``, ``colour``, ``version``, ``secret``, ``date`` or ``number``; empty for
    nothing exact. ``counted`` is what is counted, in the words of the question."""

    kind: str = ""
    counted: str = ""


def expected(plain: str, forms: Sequence[str], measure: str) -> Expected:
    """Tell what the answer to a question must have in it.

    :param plain: the question, folded, in small letters and without marks.
    :param measure: one of :data:`MEASURES`, or empty.
    """
    if _STEPS.search(plain) or _TWICE.search(plain):
        return Expected()
    if measure == "contact":
        return Expected(measure if re.search(r"number|nummer|numero|address|mail\b", plain) else "")
    if measure:
        return Expected(measure)
    counts = _COUNTS.search(plain)
    if counts is not None:
        return Expected("count", counts["what"])
    for kind, (asks, _) in _KINDS.items():
        if asks.search(plain) and (
            kind != "secret" or forms[0] in ("open", "definition", "person")
        ):
            return Expected(kind)
    return Expected("number" if forms[0] == "number" else "")


def fits(
    wanted: Expected,
    passage: Passage,
    heading: str,
    words: Callable[[str], Sequence[str]],
    known: Collection[str] = (),
) -> bool:
    """Whether a passage has what an answer must have in it.

    :param heading: what the passage stands under.
    :param words: text -> its words, folded and stemmed.
    :param known: numbers of the question, which are no answer to it.
    """
    text = f"{passage.lead} {passage.text}"
    plain = fold(text).casefold()
    if wanted.kind == "count":
        counted = frozenset(words(wanted.counted))
        if passage.kind in ("item", "row") and counted & {*words(f"{passage.lead} {heading}")}:
            return True  # Who lists them lets them be counted.
        return any(counted & {*words(near)} for near in _behind_numbers(plain))
    if wanted.kind == "date":
        # When a note was made is no date of what it is about.
        return has_date(_MADE.sub("", text))
    if wanted.kind == "number":
        return has_number(text, frozenset(known))
    pattern = MEASURES[wanted.kind][1] if wanted.kind in MEASURES else _KINDS[wanted.kind][1]
    return pattern.search(plain) is not None


def _behind_numbers(plain: str) -> list[str]:
    tokens = re.findall(r"[^\W_]+", plain)
    return [
        " ".join(tokens[at + 1 : at + 1 + CLOSE])
        for at, token in enumerate(tokens)
        if token[0].isdigit()
        or token in NUMBER_WORDS
        or token in ("one", "no", "ein", "eine", "un", "une")
    ]


def has_number(text: str, known: frozenset[str] = frozenset()) -> bool:
    """Whether a text has a number, in digits or words, that is not among the known ones."""
    digits = [one for one in DIGITS.findall(text) if one not in known]
    if digits:
        return True
    return any(word in NUMBER_WORDS for word in _WORD.findall(fold(text).casefold()))


def has_date(text: str) -> bool:
    """Whether a text names a day, month, year or time of day."""
    if _DATE.search(text) or _YEAR.search(text):
        return True
    return any(
        word in _DAYS or (month_named(word) is not None and len(word) > 3)
        for word in _WORD.findall(fold(text).casefold())
    )
