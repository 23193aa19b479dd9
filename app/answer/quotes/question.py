"""Parses what a question asks for: a definition, a list, steps, a number. Pure.

Told by the words that questions begin with, in the languages that the tokenizer stems and that have
them; what is not recognised is *open*, and answered by likeness alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from notehop.app.answer.quotes import WORD_LISTS
from notehop.app.answer.quotes.exact_values import EXACT_PATTERNS, MEASURE_KINDS
from notehop.indexing.tokens.words import FUNCTION_WORDS, detect_language, fold

_COUNTS = re.compile(
    r"\b(?:how many|wie ?viele|combien (?:de\b|d')|cuant[oa]s|quant[ei]|quantos|hoeveel)\s?"
    r"(?:of |the |our |my |more )*(?P<what>[^\W\d_]+"
    r"(?: (?!does|is|was|has)[^\W\d_]+s\b| (?:live|leben|wohnen|viven)\b)?)"
)
_STEPS = re.compile(
    r"^(?:and |so )?(?:how (?:do|does|did|can|to|should)|why|wie \w+ (?:ich|man|wir)|comment)\b"
)
_TWICE = re.compile(
    r"(?:,| and| or| und| et| y| e| en) (?:and )?(?:by |at |in )?"
    r"(?:what|how|who|when|where|which|why|was|wie|wer|wann|wo|welche|quand|combien|cuando|cuanto)\b"
)
"""A question that asks two things: neither is all that an answer may have."""

_WHENEVER = re.compile(
    r"^(?:and |so )?when (?:is an? (?!\w+ with\b)"
    r"|are (?!(?:the|our|my|your|his|her|their|these|we|you|they)\b)).*\w{2}ed$"
    r"|^(?:and |so )?when do (?:you|people) |^wann \w+ man |^quand [\w'-]+-on "
)
"""What is done whenever something happens, or on a day: of "the gate", on a day, of "you", in some case."""

LEADING_ARTICLE = re.compile(
    r"^[\W_]*(?:(?:an?|the|der|die|das|eine?|les?|la|une?|el|los|las|il|lo|het|een|de)\s[\W_]*)?"
)
Form = Literal[
    "open", "definition", "list", "howto", "comparison", "number", "date", "person", "place", "reason",
    "yesno",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its language, and the forms that its answer may have, the likeliest first.

    ``defined_term`` is what is to be defined, in the words of the question; ``sides`` are what is to be
    compared, ``compared_kind`` what of them, a key of :data:`EXACT_PATTERNS` or ``number``; ``measure`` is
    one of :data:`MEASURE_KINDS`, ``exact_kind`` a key of :data:`EXACT_PATTERNS`, ``count``, ``person`` or
    ``number``: what an answer must have in it; ``counted_noun`` is what is counted. Empty where nothing of
    the kind is asked. ``asks_long_form`` tells that the long form of an abbreviation is asked for, and not
    what it is; ``asks_meaning_of_capitals`` that it is the meaning of what is written as one.
    """

    text: str
    forms: tuple[Form, ...] = ("open",)
    defined_term: str = ""
    sides: tuple[str, ...] = ()
    compared_kind: str = ""
    measure: str = ""
    language: str = "en"
    exact_kind: str = ""
    counted_noun: str = ""
    asks_long_form: bool = False
    asks_meaning_of_capitals: bool = False

    @property
    def folded(self) -> str:
        return fold(self.text).casefold()

    @property
    def form(self) -> Form:
        """The likeliest form of the answer."""
        return self.forms[0]

    @property
    def asks_by_role(self) -> bool:
        """Whether somebody is asked for by what he does or is to others: "the captain of the Kestrel"."""
        named = self.defined_term and not (_ROLES.search(self.defined_term) or "'s " in self.defined_term)
        return "person" in self.forms and not named

    @property
    def defines_part(self) -> bool:
        """Whether what is to be defined is something of another: "the cure for gout", "Ada's role"."""
        if not self.defined_term or self.exact_kind or "person" in self.forms:
            return False
        behind = self.folded.partition(self.defined_term)[2].lstrip()
        return "'s " in self.defined_term or bool(_ROLES.search(self.defined_term) or _ROLES.match(behind))


_COMPARATIVES = {
    kind: f"(?:{'|'.join(WORD_LISTS[f'compares_{kind}'])})"
    for kind in ("age", "date", "size", "weight", "money", "number")
}
"""What is compared of two that are named, as in :data:`EXACT_PATTERNS` -> how."""

COMPARATIVE = re.compile("|".join(rf"\b{one}\b" for one in _COMPARATIVES.values()))
_COMPARING_WORDS = (*WORD_LISTS["compares"], *_COMPARATIVES.values())
_OR = "(?:or|oder|ou|o|eller|или)"
_PATTERNS: Mapping[Form, str] = {
    "comparison": r"\b(?:vs|versus|compar\w+|differ\w*|unterschied\w*|vergleich\w*|verglichen"
    r"|difference|diferencia\w*|differenz\w*|diferenca\w*|verschil\w*|pros and cons"
    rf"|(?:{'|'.join(_COMPARING_WORDS)}) .*\b{_OR}|plutot que)\b",
    "howto": r"^(?:and |so |please |tell me |show me |explain )*(?:how (?:do|does|did|to|can|could|"
    r"should|would|is|are|was|were|exactly)\b|steps? (?:to|for)\b|(?:best |easiest )?way to\b"
    r"|what (?:should|can|do|must|shoud) (?:i|we|you)\b)"
    r"|\bwhat (?:now|can i do|should i do|to do)$|\bhow (?:do|can|should|did) (?:i|we|you|one)\b"
    r"|^wie (?!viel|lang|oft|hoch|alt|gross|schwer|weit|heiss|teuer|tief|schnell)\w+"
    r"|^comment\b|^como\b|^come\b|^hoe (?!veel|lang|vaak|hoog|oud|groot|ver)\w+|^hur (?!manga|mycket)",
    "number": r"\bhow (?:much|many|old|long|high|heavy|far|deep|fast|often|big|large|wide|tall|hot|"
    r"cold|soon|late|expensive)\b"
    r"|\b(?:price|cost|costs|number|amount|rate|figure|percentage|per cent|percent|version|release"
    r"|count(?! as\b| towards?\b| for\b)|size|length|weight|height|width|depth|distance|age|temperature"
    r"|salary|reading|port|quantity|total|score|rating|limit|maximum|minimum)\b"
    r"|\b(?:wie ?viele?|wie (?:lang|lange|oft|hoch|alt|gross|schwer|weit|breit|teuer|tief|schnell))\b"
    r"|\b(?:preis|kosten|(?:ge)?kostet|kostete|coute|cuesta|costa|anzahl|prozent|betrag)\b"
    r"|\b(?:combien|prix|cuant[oa]s?|precio|quant[oiae]s?|prezzo|preco|hoeveel|hoe (?:lang|vaak|hoog"
    r"|oud|groot|ver)|hur (?:manga|mycket))\b",
    "date": r"^(?:\w+ )?(?:when|quand|cuando|quando|nar)\b|\b(?:and when|deadline|birthday|due date"
    r"|what (?:day|year|month|time|date)|which (?:day|year|month|date)|since when|until when"
    r"|(?:the|next|last) date|wann|datum|en quelle annee|fecha|(?:che|quale?)(?: \w+){0,2} data|wanneer)\b",
    "person": r"\b(?:called$|names? of|which (?:company|firm|person|people|author)|what company|who|whos"
    r"|whose|whom|wer|wem|wen|wessen|qui|quien|quienes|chi|quem|wie is)\b",
    "place": r"\b(?:where|wo|woher|wohin|ou|donde|dove|onde|waar|var|which (?:city|country|town))\b",
    "reason": r"\b(?:why|reason|how come|what for|because of what|warum|weshalb|wieso|pourquoi"
    r"|por que|perche|waarom|varfor|die (?:of|from)$|woran|de quoi)\b",
    "list": r"^(?:list|name|all|(?:which|what) (?:(?!does|is|was|has|did)\w+ )?"
    r"(?!does|is|was|has|this|us|its|as)\w*[^s\W]s\b|what (?:are|were)\b"
    r"|the (?:two|three|four|five|six|seven|\d+)\b)"
    r"|\ball (?:the|my|our)\b|\b(?:what|which) (?:all|exactly|things|kinds?|types?|sorts?)\b"
    r"|^(?:which|what) of (?:the|our|my|these|those) (?!two\b)"
    r"|^(?:welche|nenne|quels|quelles|cuales|quali|quais|welke|vilka)\b",
    "yesno": r"^(?:is|are|was|were|do|does|did|can|could|may|should|will|would|has|have|am|must"
    r"|ist|sind|kann|darf|hat|haben|wird|soll|muss|gibt|est-ce que|peut-on|puis-je|puedo|posso"
    r"|is er|kan|mag)\b",
}
_FORM_PATTERNS = {form: re.compile(pattern) for form, pattern in _PATTERNS.items()}

_MEANING = r"(?:definition|meaning|bedeutung|signification|definicion|significado|betekenis)"
_SCAFFOLD = re.compile(
    rf"\b{_MEANING}$|"
    r"\b(?:what do (?:i|we|you) mean by|what (?:is|does) (?:that|it)\b|who or what"
    r"|what(?: is|s| are| was| were| does| do| did)?|who(?: is|s| are| was)?|which"
    r"|can you|could you|please|tell me|explain|define|describe|definition of|meaning of|meant by"
    r"|what is meant|mean(?:s|ing)?|says?|stands? for|used(?: for)?|is that|short for|abbreviation|acronyme?"
    r"|sigle|sigla|abkurzung"
    r"|it|all about|about$"
    r"|is|are|does|do|the purpose of|purpose of|called|term|the|a|an|or|exactly|actually|briefly"
    r"|was (?:ist|sind)|(?:was )?(?:bedeute[tn]|heisst|heissen)|wofur steht|steht|versteht man unter"
    r"|definiere|erklare?|mir|bedeutung von|wer ist|ein|eine|der|die|das"
    r"|qu'?est[- ]ce que?|c'?est(?: quoi)?|que signifie|(?:(?:que|ca|cela) )?veut dire(?: quoi)?|definis"
    r"|signifie|qui est|un|une|le|la|les|l|qu|que es|que son|que significa|significa|quiere decir|quien es"
    r"|el|los|las|una|cos'?e|che cosa e|che cos'?e|cosa|vuol dire|definisci|chi e|il|lo|gli|uno"
    r"|o que e|o que significa|defina|quem e|um|uma|o|wat (?:is|zijn|betekent)|betekent|wie is|een"
    r"|het|de|vad (?:ar|betyder)|ar|en|ett)\b"
)
_DEFINES = re.compile(
    r"^(?:(?:so|and|hey|ok) )?(?:who or what (?:is|are)|what(?:s| is| are| was)"
    r"|what does .*\b(?:means?|stands?|refers?|do|is|say)\b"
    r"|who(?:s| is| are| was)|define\b|explain\b|definition of|meaning of"
    r"|can you (?:explain|define)|could you (?:explain|define)"
    r"|what do (?:i|we|you) mean|was (?:ist|sind|bedeute[tn]|heisst)|wer ist|wofur steht|definiere|erklare"
    r"|qu'?est[- ]ce qu|c'?est quoi|que signifie|que veut dire|definis|qui est"
    r"|que (?:es|son|significa)|quien es|cos'?e|che cos|cosa significa|chi e|definisci"
    r"|o que (?:e|significa|sao)|quem e|wat (?:is|zijn|betekent)|wie is|vad (?:ar|betyder))"
    r"|\b(?:stands? for|short for|abbreviation|acronym|what does (?:it|that|the \w+) mean"
    r"|what is (?:it|that)|bedeutet|steht fur|c'?est quoi|veut dire|signifie|significa|vuol dire|betekent)\b"
    rf"|\b{_MEANING}$"
)
_MEANS = re.compile(rf"\b(?:means?|bedeutet|signifie|significa|betekent|betyder|{_MEANING})\b")
_ABBREVIATED = re.compile(
    r"\b(?:stands? for|short for|abbreviation|acronym|steht|abkurzung|akronym|veut dire|acronyme"
    r"|acronimo|sigla|afkorting|forkortning|forkortelse)\b"
)
_INNER = re.compile(
    r"\b(?:who|when|where|why|how|which|because|if|while|and|that|wrong|did|was|were|has|have|agreed"
    r"|between|wer|wann|wo|warum|wenn|und|weil|quand|pourquoi|cuando|quando|wanneer)\b"
)
_DOES = re.compile(r"^\w+[^e\W]ed\b|\b(?:to|we|you|i|our|my|your|supposed)\b")
_NO_TERM = re.compile(
    r"^(?:so |and )?who(?: is|s|'s| are| was| were)? \w+ing (?:for|the|to|at|in|on|our|with)\b"
    r"|\b(?:costs?|colou?rs?)$"
    r"|^(?:what(?: is|s| are| was| were)|(?:was|wie) (?:ist|war)) (?:the|der) names? (?:of|von|d)"
)
"""Who asks "who is paying for it", "what is the total cost" or "the name of the smith" asks for no word."""

_ROLES = re.compile(
    r"\b(?:of|for|in|at|on|to|from|with|by|per|about|von|fur|bei|im|zu|mit|du|des|pour|dans|del"
    r"|para|con|per|di|van|voor|met|av|pa)\b"
)
_ASIDE = re.compile(r" (?:in|for|at|on|within|im|bei|dans|chez|en|voor|inom)(?: |$)")
"""What stands behind says where the term is used: "a seed in the seed bank"."""

_ONCE_MORE = re.compile(r" (?:again|nochmals?|noch mal|noch einmal|deja|de nuevo|di nuovo|alweer)$")
_WHO = re.compile(r"(?:who(?:se)?|we[rmn]|wessen|qui|quien|chi|quem|wie is)\b")
_WHICH = re.compile(r"^what (?:are|were) (?:the|our|my|all)\b")

MAX_TERM_WORDS = 6  # words of what can be defined; more of them ask for a fact
MAX_OPENING_WORDS = 6  # words of a question by which it has said whether it asks for a number

_A, _B = r"(?P<a>[^,?]{2,60}?)", r"(?P<b>[^,?]{2,60})"
_SIDES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:^|\b(?:between|compare|is|are|was|use|take|get|choose)\s+){_A}\s+"
        rf"(?:vs\.?|versus|compared (?:to|with))\s+{_B}",
        rf"\bbetween\s+{_A}\s+and\s+{_B}",
        rf"\bcompare\s+{_A}\s+(?:and|with|to)\s+{_B}",
        rf"\bhow (?:do|does|is|are)\s+{_A}\s+(?:differ(?:ent)? (?:from|to)|different from)\s+{_B}",
        rf"[,:]\s*{_A}\s+{_OR}\s+{_B}",
        rf"\b(?:zwischen|entre|tra|tussen|mellan)\s+{_A}\s+(?:und|et|y|e|en|och)\s+{_B}",
    )
)
_OF_TWO = tuple(
    (kind, re.compile(pattern))
    for kind, more in _COMPARATIVES.items()
    for pattern in (
        rf"\b{more}(?:[^,:?]{{,40}}[,:])?\s+{_A},?\s+{_OR}\s+{_B}",
        rf"^\w+\s+{_A}\s+{more}\s+(?:{'|'.join(WORD_LISTS['than'])})\s+(?!\d){_B}",
    )
)
"""What is compared -> how the two are named: "older, Ada or Bo", "is Ada older than Bo"."""

_BARE_SIDE = re.compile(
    r"^\s*(?:an?|the|my|our|der|die|das|eine?|les?|la|une?|el|los|las|het|een)\s+"
    r"|\s+(?:for|in|on|at|by|when|as|with|if|für|im|bei|pour|dans|para|en|voor)\s.*$",
    re.IGNORECASE,
)
"""What a side of a comparison is without: its article, and what they are compared for."""


def parse_question(text: str) -> Question:
    """Return what a question asks for: its forms, its term, what it compares, measures and counts."""
    plain = _normalized(text)
    about = _find_defined_term(plain)
    language = detect_language([text])
    forms: list[Form] = ["definition"] if about else []
    forms += [form for form, pattern in _FORM_PATTERNS.items() if pattern.search(plain)]
    if about and "list" in forms:
        # "What are the stages" asks which there are, "what are oysters" what they are.
        forms.remove("definition" if _WHICH.match(plain) else "list")
    if "person" in forms and _WHO.match(plain):
        # "Who made the first version" asks for no number.
        forms = [one for one in forms if one != "number"]
    if plain.startswith("was ") and language == "de" and "yesno" in forms:
        forms.remove("yesno")
    compared, sides = _find_comparison(text, language)
    if compared:
        # "Who is older, Ada or Bo" asks for two dates, and for nobody that is not named.
        about, forms = "", ["comparison", *(one for one in forms if one in ("date", "number"))]
    measure = next((name for name in MEASURE_KINDS if EXACT_PATTERNS[name][0].search(plain)), "")
    if ("number" not in forms and measure != "contact") or "person" in forms:
        measure = ""
    exact, counted = _find_exact_kind(plain, forms, measure, language)
    return Question(
        text,
        tuple(forms) or ("open",),
        about,
        sides or (_find_sides(text) if "comparison" in forms else ()),
        compared,
        measure,
        language,
        exact,
        counted,
        bool(about) and _ABBREVIATED.search(plain) is not None,
        bool(about) and _MEANS.search(plain) is not None and _has_capitals(about, text),
    )


def _normalized(text: str) -> str:
    plain = " ".join(re.sub(r"[^\w'\-]+", " ", fold(text).casefold()).split())
    return plain.replace("what's", "whats").replace("who's", "whos")


def _has_capitals(word: str, text: str) -> bool:
    """Whether a word stands in a text with more capitals than the one of a name or sentence."""
    return any(
        fold(one).casefold() == word and sum(map(str.isupper, one)) > 1
        for one in re.findall(r"[\w/-]+", text)
    )


def _find_exact_kind(plain: str, forms: Sequence[Form], measure: str, language: str) -> tuple[str, str]:
    """Return the kind of what an answer must have in it, and the noun that is counted."""
    if _STEPS.search(plain) or _TWICE.search(plain) or _WHENEVER.search(plain):
        return "", ""
    if measure:
        is_exact = measure != "contact" or re.search(r"number|nummer|numero|address|mail\b", plain)
        return (measure if is_exact else ""), ""
    if (counts := _COUNTS.search(plain)) is not None:
        small = FUNCTION_WORDS.get(language, ())  # "How many were at the meeting"
        rest = [one for one in plain[counts.end() :].split() if one not in small]
        return "count", " ".join(rest) if counts["what"] in small else counts["what"]
    # "After the update it still shows the wrong number" asks for none.
    early = _FORM_PATTERNS["number"].search(" ".join(plain.split()[:MAX_OPENING_WORDS])) is not None
    form = next((one for one in forms if early or one != "number"), "open")
    for kind, (asks, _) in EXACT_PATTERNS.items():
        may = kind != "secret" or form in ("open", "definition", "person")
        if kind not in MEASURE_KINDS and may and asks.search(plain):
            return kind, ""
    return (form if form in ("number", "person") else ""), ""


def form_words(text: str) -> frozenset[str]:
    """The words, folded, by which a question asks for a definition: "veut dire"."""
    return frozenset(" ".join(one[0] for one in _SCAFFOLD.finditer(_normalized(text))).split())


def is_form_word(word: str) -> bool:
    """Whether a word says what kind of answer is wanted, and not what it is about: "versus", "big"."""
    plain = fold(word).casefold()
    return bool(
        _SCAFFOLD.fullmatch(plain)
        or _SCAFFOLD.fullmatch(f"{plain} for")
        or _FORM_PATTERNS["comparison"].fullmatch(plain)
        or any(_FORM_PATTERNS["number"].fullmatch(f"{how} {plain}") for how in ("how", "wie", "hoe"))
        or _FORM_PATTERNS["number"].fullmatch(plain)
    )


_ASKED_BY = re.compile("|".join((*WORD_LISTS["asked_by"], *WORD_LISTS["compares"])))
_ASKS = re.compile("|".join(WORD_LISTS["asks"]))
_MOST = re.compile(r"e?st(?:e[nrsm]?)?$")  # "longest", "längste", as they say "longer", "länger"


def is_question_word(word: str) -> bool:
    """Whether a word says in what order, or how, something is asked for, which a note that tells it need not
    say: "lowest", "mustn't"."""
    plain = fold(word).casefold().replace("’", "'")
    if any(plain in words for words in FUNCTION_WORDS.values()) and _ASKS.fullmatch(plain):
        return True
    return bool(_ASKED_BY.fullmatch(plain) or COMPARATIVE.fullmatch(_MOST.sub("er", plain)))


def _find_defined_term(plain: str) -> str:
    """Return the term that a question wants to have defined; empty where it asks for something else."""
    if _DEFINES.search(plain) is None or _NO_TERM.search(plain):
        return ""
    left = " ".join(_SCAFFOLD.sub(" ", _ONCE_MORE.sub("", plain)).split())
    words = left.split()
    if not words or len(words) > MAX_TERM_WORDS or _INNER.search(left) or _DOES.search(left):
        return ""
    left = _ASIDE.split(left)[0].strip(" -") or left
    # "What is the price of oysters" asks for a price, and "what is a tidal prism" for a sentence.
    return "" if _ROLES.search(left) and _FORM_PATTERNS["number"].search(plain) else left


def _find_comparison(text: str, language: str) -> tuple[str, tuple[str, ...]]:
    """Return what of two is compared, and these two; empty where none are."""
    plain = fold(text).casefold()
    whole = text if len(text) == len(plain) else plain
    for kind, pattern in _OF_TWO:
        if found := pattern.search(plain):
            sides = _matched_sides(whole, found)
            begins = {fold(one).casefold().split(" ")[0] for one in sides}
            if all(sides) and begins.isdisjoint(FUNCTION_WORDS.get(language, ())):
                return kind, sides
    return "", ()


def _find_sides(text: str) -> tuple[str, ...]:
    found = next(filter(None, (pattern.search(text) for pattern in _SIDES)), None)
    return _matched_sides(text, found) if found else ()


def _matched_sides(text: str, found: re.Match[str]) -> tuple[str, ...]:
    spans = (slice(*found.span(name)) for name in ("a", "b"))
    return tuple(_BARE_SIDE.sub("", text[one]).strip(" ?.!") for one in spans)
