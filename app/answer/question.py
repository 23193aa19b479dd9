"""What form of answer a question asks for: a definition, a list, steps, a number. Pure.

Told by the words that questions begin with, in the languages that the tokenizer stems and that have
them; what is not recognised is *open*, and answered by likeness alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from notehop.app.answer.expected import MEASURES, Expected, expected
from notehop.indexing.tokens.languages import detect_language
from notehop.indexing.tokens.words import fold

Form = Literal[
    "open",
    "definition",
    "list",
    "howto",
    "comparison",
    "number",
    "date",
    "person",
    "place",
    "reason",
    "yesno",
]


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its language, and the forms that its answer may have, the likeliest first.

    ``about`` is what is to be defined, in the words of the question; ``sides`` are what is to be
    compared, ``measure`` is one of :data:`notehop.app.answer.expected.MEASURES`. Empty where nothing
    of the kind is asked. ``expected`` is what an answer must have in it. ``abbreviated`` tells that
    the long form of an abbreviation is asked for, and not what it is.
    """

    text: str
    forms: tuple[Form, ...] = ("open",)
    about: str = ""
    sides: tuple[str, ...] = ()
    measure: str = ""
    language: str = "en"
    expected: Expected = field(default_factory=Expected)
    abbreviated: bool = False

    @property
    def form(self) -> Form:
        """The likeliest."""
        return self.forms[0]


_WH = r"(?:what(?:s| is| are| was| were| does| do)?)"
_PATTERNS: Mapping[Form, str] = {
    "comparison": r"\b(?:vs|versus|compar\w+|differ\w*|unterschied\w*|vergleich\w*|verglichen"
    r"|difference|diferencia\w*|differenz\w*|diferenca\w*|verschil\w*|pros and cons"
    r"|(?:more|less|better|worse|bigger|smaller|cheaper|faster) .*\bor\b"
    r"|plutot que|mejor .* o\b)\b",
    "howto": r"^(?:and |so |please |tell me |show me |explain )*(?:how (?:do|does|did|to|can|could|"
    r"should|would|is|are|was|were|exactly)\b|steps? (?:to|for)\b|(?:best |easiest )?way to\b"
    r"|what (?:should|can|do|must|shoud) (?:i|we|you)\b)"
    r"|\bwhat (?:now|can i do|should i do|to do)$|\bhow (?:do|can|should|did) (?:i|we|you|one)\b"
    r"|^wie (?!viel|lang|oft|hoch|alt|gross|schwer|weit|heiss|teuer|tief|schnell)\w+"
    r"|^comment\b|^como\b|^come\b|^hoe (?!veel|lang|vaak|hoog|oud|groot|ver)\w+|^hur (?!manga|mycket)",
    "number": r"\bhow (?:much|many|old|long|high|heavy|far|deep|fast|often|big|large|wide|tall|hot|"
    r"cold|soon|late|expensive)\b"
    r"|\b(?:price|cost|costs|number|amount|rate|figure|percentage|per cent|percent|version|count|"
    r"size|length|weight|height|age|temperature|salary|reading|port|quantity|total|score|rating)\b"
    r"|\b(?:wie ?viele?|wie (?:lang|lange|oft|hoch|alt|gross|schwer|weit|teuer|tief|schnell))\b"
    r"|\b(?:preis|kosten|kostet|coute|cuesta|costa|anzahl|prozent|betrag)\b"
    r"|\b(?:combien|prix|cuant[oa]s?|precio|quant[oiae]s?|prezzo|preco|hoeveel|hoe (?:lang|vaak|hoog"
    r"|oud|groot|ver)|hur (?:manga|mycket))\b",
    "date": r"^(?:\w+ )?(?:when|quand|cuando|quando|nar)\b|\b(?:and when|deadline|birthday|due date"
    r"|what (?:day|year|month|time|date)|which (?:day|year|month|date)|since when|until when"
    r"|(?:the|next|last) date|wann|datum|en quelle annee|fecha|data|wanneer)\b",
    "person": r"\b(?:called$|names? of|which (?:company|firm|person|people|author)|what company|who|whos"
    r"|whose|whom|wer|wem|wen|wessen|qui|quien|quienes|chi|quem|wie is)\b",
    "place": r"\b(?:where|wo|woher|wohin|ou|donde|dove|onde|waar|var|which (?:city|country|town))\b",
    "reason": r"\b(?:why|reason|how come|what for|because of what|warum|weshalb|wieso|pourquoi"
    r"|por que|perche|waarom|varfor)\b",
    "list": r"^(?:list|name|(?:which|what) (?:(?!does|is|was|has|did)\w+ )?"
    r"(?!does|is|was|has|this|us|its|as)\w*[^s\W]s\b|what (?:are|were)\b"
    r"|the (?:two|three|four|five|six|seven|\d+)\b)"
    r"|\ball (?:the|my|our)\b|\b(?:what|which) (?:all|exactly|things|kinds?|types?|sorts?)\b"
    r"|^(?:welche|nenne|quels|quelles|cuales|quali|quais|welke|vilka)\b",
    "yesno": r"^(?:is|are|was|were|do|does|did|can|could|may|should|will|would|has|have|am|must"
    r"|ist|sind|kann|darf|hat|haben|wird|soll|muss|gibt|est-ce que|peut-on|puis-je|puedo|posso"
    r"|is er|kan|mag)\b",
}
_PARSED = {form: re.compile(pattern) for form, pattern in _PATTERNS.items()}

_SCAFFOLD = re.compile(
    r"\b(?:what (?:is|does) (?:that|it)\b|who or what"
    r"|what(?: is|s| are| was| were| does| do| did)?|who(?: is|s| are| was)?|which"
    r"|can you|could you|please|tell me|explain|define|describe|definition of|meaning of|meant by"
    r"|what is meant|mean(?:s|ing)?|stands? for|is that|short for|abbreviation|acronym|it|all about"
    r"|is|are|does|do|the purpose of|purpose of|called|term|the|a|an|or|exactly|actually|briefly"
    r"|was (?:ist|sind|bedeute[tn]|heisst|heissen)|wofur steht|steht|versteht man unter|definiere"
    r"|erklare?|mir|bedeutung von|wer ist|ein|eine|der|die|das"
    r"|qu'?est[- ]ce que?|c'?est(?: quoi)?|que signifie|que veut dire|veut dire|definis|signifie"
    r"|qui est|un|une|le|la|les|l|qu|que es|que son|que significa|significa|quiere decir|quien es"
    r"|el|los|las|una|cos'?e|che cosa e|che cos'?e|cosa|vuol dire|definisci|chi e|il|lo|gli|uno"
    r"|o que e|o que significa|defina|quem e|um|uma|o|wat (?:is|zijn|betekent)|betekent|wie is|een"
    r"|het|de|vad (?:ar|betyder)|ar|en|ett)\b"
)
_DEFINES = re.compile(
    r"^(?:(?:so|and|hey|ok) )?(?:who or what (?:is|are)|what(?:s| is| are| was| does)"
    r"|who(?:s| is| are| was)|define\b|explain\b|definition of|meaning of"
    r"|can you (?:explain|define)|could you (?:explain|define)"
    r"|what do you mean|was (?:ist|sind|bedeute[tn]|heisst)|wer ist|wofur steht|definiere|erklare"
    r"|qu'?est[- ]ce qu|c'?est quoi|que signifie|que veut dire|definis|qui est"
    r"|que (?:es|son|significa)|quien es|cos'?e|che cos|cosa significa|chi e|definisci"
    r"|o que (?:e|significa|sao)|quem e|wat (?:is|zijn|betekent)|wie is|vad (?:ar|betyder))"
    r"|\b(?:stands? for|short for|abbreviation|acronym|what does (?:it|that|the \w+) mean"
    r"|what is (?:it|that)|bedeutet|steht fur|veut dire|signifie|significa|vuol dire|betekent)\b"
)
_ABBREVIATED = re.compile(
    r"\b(?:stands? for|short for|abbreviation|acronym|steht|abkurzung|akronym|veut dire|acronyme"
    r"|acronimo|sigla|afkorting|forkortning|forkortelse)\b"
)
_INNER = re.compile(
    r"\b(?:who|when|where|why|how|which|because|if|while|and|that|did|was|were|has|have|agreed"
    r"|between|wer|wann|wo|warum|wenn|und|weil|quand|pourquoi|cuando|quando|wanneer)\b"
)
_DOES = re.compile(r"^\w+[^e\W]ed\b|\b(?:to|we|you|i|our|my|your|supposed)\b")
_ROLES = re.compile(
    r"\b(?:of|for|in|at|on|to|from|with|by|per|about|von|fur|bei|im|zu|mit|du|des|pour|dans|del"
    r"|para|con|per|di|van|voor|met|av|pa)\b"
)
_ASIDE = re.compile(r" (?:in|for|at|on|within|im|bei|dans|chez|en|in|voor|inom)(?: |$)")
"""What stands behind says where the term is used: "a seed in the seed bank"."""

LONGEST_TERM = 6
"""Words of what can be defined; more of them ask for a fact."""

BEGINS = 6
"""Words of a question by which it has said whether it asks for a number."""

_SIDES = (
    re.compile(r"(?:^|\b(?:between|compare|is|are|was|use|take|get|choose|take)\s+)(?P<a>[^,?]{2,60}?)"
               r"\s+(?:vs\.?|versus|compared (?:to|with))\s+(?P<b>[^,?]{2,60})", re.IGNORECASE),
    re.compile(r"\bbetween\s+(?P<a>[^,?]{2,60}?)\s+and\s+(?P<b>[^,?]{2,60})", re.IGNORECASE),
    re.compile(r"\bcompare\s+(?P<a>[^,?]{2,60}?)\s+(?:and|with|to)\s+(?P<b>[^,?]{2,60})", re.IGNORECASE),
    re.compile(r"\bhow (?:do|does|is|are)\s+(?P<a>[^,?]{2,60}?)\s+"
               r"(?:differ(?:ent)? (?:from|to)|different from)\s+"
               r"(?P<b>[^,?]{2,60})", re.IGNORECASE),
    re.compile(r"\b(?:zwischen|entre|tra|tussen|mellan)\s+(?P<a>[^,?]{2,60}?)\s+(?:und|et|y|e|en|och)\s+"
               r"(?P<b>[^,?]{2,60})", re.IGNORECASE),
)  # fmt: skip

_BARE_SIDE = re.compile(
    r"^\s*(?:an?|the|my|our|der|die|das|eine?|les?|la|une?|el|los|las|het|een)\s+"
    r"|\s+(?:for|in|on|at|when|as|with|if|für|im|bei|pour|dans|para|en|voor)\s.*$",
    re.IGNORECASE,
)
"""What a side of a comparison is without: its article, and what they are compared for."""


def read(text: str) -> Question:
    """Tell what a question asks for."""
    plain = " ".join(re.sub(r"[^\w'\-]+", " ", fold(text).casefold()).split())
    plain = plain.replace("what's", "whats").replace("who's", "whos")
    forms: list[Form] = []
    about = _defined(plain)
    if about:
        forms.append("definition")
    forms += [form for form, pattern in _PARSED.items() if pattern.search(plain)]
    if about and "list" in forms:
        forms.remove("list")
    if (
        "howto" in forms
        and "number" in forms
        and re.match(r"how (?:much|many|old|long|high)", plain)
    ):
        forms.remove("howto")
    language = detect_language([text])
    if plain.startswith("was ") and language == "de" and "yesno" in forms:
        forms.remove("yesno")
    sides = _sides(text) if "comparison" in forms else ()
    measure = next((name for name, (asks, _) in MEASURES.items() if asks.search(plain)), "")
    if measure and "number" not in forms:
        measure = measure if measure == "contact" else ""
    found = tuple(forms) or ("open",)
    # "After the update it still shows the wrong number" asks for none.
    early = _PARSED["number"].search(" ".join(plain.split()[:BEGINS])) is not None
    exact = tuple(form for form in found if early or form != "number") or ("open",)
    wanted = expected(plain, exact, measure)
    abbreviated = bool(about) and _ABBREVIATED.search(plain) is not None
    return Question(text, found, about, sides, measure, language, wanted, abbreviated)


def _defined(plain: str) -> str:
    """What a question wants to have defined; empty where it asks for something else."""
    if _DEFINES.search(plain) is None:
        return ""
    left = " ".join(_SCAFFOLD.sub(" ", plain).split())
    words = left.split()
    if not words or len(words) > LONGEST_TERM or _INNER.search(left) or _DOES.search(left):
        return ""
    left = _ASIDE.split(left)[0].strip(" -") or left
    # "What is the price of oysters" asks for a price, and "what is a tidal prism" for a sentence.
    return "" if _ROLES.search(left) and _PARSED["number"].search(plain) else left


def _sides(text: str) -> tuple[str, ...]:
    for pattern in _SIDES:
        found = pattern.search(text)
        if found is not None:
            return tuple(_BARE_SIDE.sub("", found[name]).strip(" ?.!") for name in ("a", "b"))
    return ()
