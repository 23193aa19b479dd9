# ruff: noqa: E501 (a rule and its example read best side by side)
"""What a query is after, by phrase rules in four languages, and what each signal weighs for it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from notehop.config import Settings
from notehop.indexing.embed.models import languages_read
from notehop.indexing.tokens import NAMES, clear_language

Intent = Literal["none", "status", "discovery", "concept", "person", "timeline"]

ABOUT = "{x}"
"""The hole of a rule."""

_PART = re.compile(r"\([^)]*\)|\[[^\]]*\]|\{x\}|[^ ]+")
_WORD = re.compile(r"[^ ']+")


@dataclass(frozen=True, slots=True)
class Rule:
    """A phrase that tells an intent; ``example`` is a query that it takes."""

    intent: Intent
    language: str
    phrase: str
    example: str
    strict: bool = False


def _rules(
    intent: Intent, language: str, *rows: tuple[str, str], strict: bool = False
) -> list[Rule]:
    return [Rule(intent, language, phrase, example, strict) for phrase, example in rows]


RULES: tuple[Rule, ...] = (
    *_rules(
        "status",
        "en",
        (
            "(what is|what's|whats) the [current|latest|present] (status|progress|state of play) "
            "(of|on|with|for|in|at) {x}",
            "What is the status of Atlas?",
        ),
        ("(what is|what's|whats) the (current|present) (state|situation) (of|on|with|for|in|at) {x}",
         "What's the current state of Atlas?"),
        ("(what is|what's|whats) [the] (latest|new|news|newest) (on|with|about|from|for|in|at) {x}",
         "What is the latest on Atlas?"),
        ("(what is|what's|whats) (happening|going on|up) (with|at|on) {x}",
         "What is happening with Atlas?"),
        ("[any|the|latest] (news|updates|update) (on|about|from|for) {x}", "Any news on Atlas?"),
        ("[current|latest] (status|progress) (of|on|for) {x}", "Status of Atlas"),
        ("(give me|i need) (an update|a status update|the latest|the status) (on|of|for|about) {x}",
         "Give me an update on Atlas"),
        ("where (are we|do we stand|am i|are things|do things stand) (with|on|at|in) {x}",
         "Where are we with Atlas?"),
        ("where does {x} stand", "Where does Atlas stand?"),
        ("(how are|how're) (things|we doing|we) (with|at|on|in) {x}", "How are things at Atlas?"),
        ("(how is|how's) it going (with|at|on) {x}", "How's it going with Atlas?"),
    ),
    *_rules(
        "status",
        "en",
        ("how (does|do) {x} stand", "How does Atlas stand?"),
        ("how far (is|are) {x}", "How far is Atlas?"),
        ("how far (along is|along are|have we got with|did we get with|are we with) {x}",
         "How far along is Atlas?"),
        ("(how is|how's|how are) {x} [going|doing|coming along|progressing|getting on]",
         "How is Atlas going?"),
        ("{x} [current|latest] (status|progress|update|news)", "Atlas status"),
        ("status {x}", "status Atlas"),
        strict=True,
    ),
    *_rules(
        "status",
        "de",
        ("(wie|was) ist der [aktuelle|derzeitige|jetzige|letzte|neueste|neuste] (stand|status) "
         "(bei|beim|von|vom|der|des|zu|zum|zur|in|im|mit|um|fur) {x}", "Wie ist der Stand bei Atlas?"),
        ("[aktueller|derzeitiger|letzter] (stand|status) (bei|beim|von|vom|der|des|zu|zum|zur|in|im) {x}",
         "Aktueller Stand von Atlas"),
        ("wie steht es (um|mit|bei|beim) {x}", "Wie steht es um Atlas?"),
        ("wie (steht's|stehts) (um|mit|bei|beim) {x}", "Wie steht's um Atlas?"),
        ("(was gibt es|was gibt's|was gibts|gibt es|gibt's) neues (zu|zum|zur|bei|beim|von|vom|uber|mit|in|im) {x}",
         "Was gibt es Neues bei Atlas?"),
        ("was ist (neu|los) (bei|beim|an|am|in|im|mit) {x}", "Was ist neu bei Atlas?"),
        ("(neuigkeiten|neues|update) (zu|zum|zur|bei|beim|von|vom|uber|aus) {x}", "Neues zu Atlas"),
        ("wie weit (sind wir|bin ich|ist man) (mit|bei|beim|in|im) {x}", "Wie weit sind wir mit Atlas?"),
        ("wo stehen wir (mit|bei|beim|in|im) {x}", "Wo stehen wir mit Atlas?"),
    ),
    *_rules(
        "status",
        "de",
        ("wie (weit ist|weit sind|steht|lauft|geht es mit|kommt) {x} [voran]", "Wie weit ist Atlas?"),
        ("{x} (stand|status|neuigkeiten)", "Atlas Stand"),
        strict=True,
    ),
    *_rules(
        "status",
        "fr",
        ("(quel est|quelle est) (l'etat|l'avancement|le statut) "
         "[actuel|actuelle|d'avancement] (de|du|des|d'|sur|pour) {x}", "Quel est l'état de Atlas ?"),
        ("ou en (est-on avec|est-on de|sommes-nous avec|sommes-nous de|suis-je avec|est|sont) {x}",
         "Où en est Atlas ?"),
        ("(quoi de neuf|du nouveau|des nouvelles|du neuf) (sur|avec|pour|de|du|chez|a propos de) {x}",
         "Quoi de neuf sur Atlas ?"),
        ("[quelles sont] [les] (dernieres nouvelles|nouvelles) (de|du|des|sur) {x}",
         "Quelles sont les dernières nouvelles de Atlas ?"),
        ("(etat d'avancement|avancement|statut) (de|du|des|d') {x}", "Avancement de Atlas"),
        ("comment (avance|avancent|se porte|ca avance avec|ca va avec) {x}", "Comment avance Atlas ?"),
    ),
    *_rules(
        "status",
        "es",
        ("cual es (el estado|el avance|el estatus) [actual] (de|del|con) {x}",
         "¿Cuál es el estado de Atlas?"),
        ("en que (estado|punto) (esta|estan|se encuentra|quedo) {x}", "¿En qué estado está Atlas?"),
        ("que (hay de nuevo|novedades hay|noticias hay|tal va) (con|de|del|en|sobre) {x}",
         "¿Qué hay de nuevo con Atlas?"),
        ("[ultimas] (novedades|noticias) (de|del|sobre|en) {x}", "Novedades de Atlas"),
        ("(estado|avance|estatus) (actual de|actual del|de|del) {x}", "Estado de Atlas"),
        ("como (va|van|vamos con|avanza|avanzan|sigue|anda|esta el tema de) {x}", "¿Cómo va Atlas?"),
        ("(en que|por donde|donde) (vamos|estamos) con {x}", "¿En qué vamos con Atlas?"),
    ),
    *_rules(
        "timeline",
        "en",
        ("[what is|what's|show me] [the|a] (timeline|chronology) (of|for) {x}",
         "What is the timeline of Atlas?"),
        ("[what is|what's] the history of {x}", "The history of Atlas"),
        ("history of {x}", "History of Atlas"),
        ("how did {x} (develop|evolve|come about|unfold|start|begin)", "How did Atlas come about?"),
        ("what (has happened|happened) (with|to|at|in|on) {x}", "What happened with Atlas?"),
        ("{x} (timeline|history|chronology)", "Atlas timeline"),
        strict=True,
    ),
    *_rules(
        "timeline",
        "de",
        ("[was ist] [der|die] (zeitplan|zeitleiste|chronik|chronologie|verlauf|geschichte|historie|ablauf) "
         "(von|vom|des|der|zu|zum|zur|bei|beim) {x}", "Die Chronik von Atlas"),
        ("wie (kam es|ist es gekommen) (zu|zum|zur) {x}", "Wie kam es zu Atlas?"),
        ("was (geschah|ist passiert|passierte|ist geschehen) (mit|bei|beim) {x}", "Was geschah mit Atlas?"),
        strict=True,
    ),
    *_rules(
        "timeline",
        "fr",
        ("[quelle est|quel est] [la|l'|le|une] (chronologie|histoire|historique|calendrier) (de|du|des|d') {x}",
         "La chronologie de Atlas"),
        ("(que s'est-il passe|qu'est-il arrive) (avec|a|au|pour) {x}", "Que s'est-il passé avec Atlas ?"),
        strict=True,
    ),
    *_rules(
        "timeline",
        "es",
        ("[cual es] [la|el] (cronologia|historia|historial|linea de tiempo|calendario) (de|del) {x}",
         "La cronología de Atlas"),
        ("que (paso|ha pasado) con {x}", "¿Qué pasó con Atlas?"),
        strict=True,
    ),
    *_rules(
        "person",
        "en",
        ("(who is|who's|who was|whos) {x}", "Who is Priya?"),
        ("what (does|did) {x} do", "What does Priya do?"),
        strict=True,
    ),
    *_rules("person", "de", ("wer (ist|war) {x}", "Wer ist Priya?"),
            ("was macht {x}", "Was macht Priya?"), strict=True),
    *_rules("person", "fr", ("(qui est|qui etait|c'est qui) {x}", "Qui est Priya ?"),
            ("que fait {x}", "Que fait Priya ?"), strict=True),
    *_rules("person", "es", ("(quien es|quien era|quien fue) {x}", "¿Quién es Priya?"),
            ("que hace {x}", "¿Qué hace Priya?"), strict=True),
    *_rules(
        "concept",
        "en",
        ("(what is|what's|what are|whats) [meant by] {x}", "What is a tidal prism?"),
        ("what does {x} mean", "What does tidal prism mean?"),
        ("(define|explain) {x}", "Explain tidal prism"),
        ("[the] (definition|meaning) of {x}", "Definition of tidal prism"),
        strict=True,
    ),
    *_rules(
        "concept",
        "de",
        ("was (ist|sind|bedeutet|bedeuten|heisst|heißt|versteht man unter) {x}", "Was ist ein Atlas?"),
        ("(erklare|erklar|erklaere) [mir] {x}", "Erkläre mir Atlas"),
        ("(definition|bedeutung) (von|des|der) {x}", "Definition von Atlas"),
        strict=True,
    ),
    *_rules(
        "concept",
        "fr",
        ("(qu'est-ce que|qu'est ce que|qu'est-ce qu'|c'est quoi|que signifie|que veut dire) [c'est que|c'est qu'] {x}",
         "Qu'est-ce que c'est qu'un atlas ?"),
        ("(definis|explique) [moi] {x}", "Explique Atlas"),
        ("[la] (definition|signification) (de|du|d') {x}", "Définition de Atlas"),
        strict=True,
    ),
    *_rules(
        "concept",
        "es",
        ("que (es|son|significa|significan|quiere decir) {x}", "¿Qué es un atlas?"),
        ("(define|explica|explicame) {x}", "Explica Atlas"),
        ("[la] (definicion|significado) (de|del) {x}", "Definición de Atlas"),
        strict=True,
    ),
    *_rules(
        "discovery",
        "en",
        ("what (do i|do we|have i|have we) (have|know|written|got) (on|about) {x}",
         "What do I know about Atlas?"),
        ("[find|show me|list|show] [all|my|all my|any|related] notes (on|about|around) {x}",
         "All my notes about Atlas"),
        ("[find|show me|list|show] (everything|anything) (on|about|around|related to) {x}",
         "Everything about Atlas"),
        ("(what is|what's|notes) (related|connected|linked) to {x}", "What is related to Atlas?"),
        ("tell me [more|everything] about {x}", "Tell me about Atlas"),
    ),
    *_rules(
        "discovery",
        "de",
        ("was (weiss|weiß|habe|wissen|haben) (ich|wir) (uber|zu|zum|zur) {x}", "Was weiß ich über Atlas?"),
        ("[zeige|zeig|finde] [mir] [alle|meine|alle meine] (notizen|notiz|alles) (uber|zu|zum|zur|rund um|um) {x}",
         "Alle Notizen zu Atlas"),
        ("was hangt mit {x} zusammen", "Was hängt mit Atlas zusammen?"),
        ("erzahl [mir] [mehr|alles] (uber|von|vom) {x}", "Erzähl mir mehr über Atlas"),
    ),
    *_rules(
        "discovery",
        "fr",
        ("que (sais-je|sait-on|savons-nous|savons nous) (de|du|sur|a propos de) {x}",
         "Que sais-je sur Atlas ?"),
        ("[montre-moi|trouve] [toutes|tous] [mes|les] (notes|tout) (sur|a propos de|au sujet de) {x}",
         "Toutes mes notes sur Atlas"),
        ("qu'est-ce qui est lie a {x}", "Qu'est-ce qui est lié à Atlas ?"),
        ("parle-moi (de|du|d') {x}", "Parle-moi de Atlas"),
    ),
    *_rules(
        "discovery",
        "es",
        ("que (se|sabemos|tengo|tenemos) (de|del|sobre|acerca de) {x}", "¿Qué sé sobre Atlas?"),
        ("[muestrame|busca|encuentra] [todas|todos] [mis|las] (notas|todo) (de|del|sobre|acerca de) {x}",
         "Todas mis notas sobre Atlas"),
        ("que (esta|tiene) (relacionado|que ver) con {x}", "¿Qué está relacionado con Atlas?"),
        ("(cuentame|hablame) [mas] (de|del|sobre) {x}", "Cuéntame de Atlas"),
    ),
)  # fmt: skip
"""In the order in which they are tried."""

_PHRASES = [rule.phrase for rule in RULES]

AROUND: tuple[str, ...] = (
    "a", "an", "the", "my", "our", "your", "this",
    "der", "die", "das", "dem", "den", "des", "ein", "eine", "einem", "einen", "einer", "mein",
    "meine", "meinem", "meiner", "unser", "unsere", "unserem", "unserer",
    "le", "la", "les", "l'", "un", "une", "mon", "ma", "mes", "notre", "nos", "du", "d'", "qu'un",
    "el", "los", "las", "una", "mi", "mis", "nuestro", "nuestra",
)  # fmt: skip
"""Words before the name of what a query is about that are no part of it."""

AFTER: tuple[str, ...] = (
    "now", "right now", "today", "currently", "at the moment", "these days", "so far", "lately",
    "recently", "again", "please", "project", "this week",
    "jetzt", "gerade", "heute", "derzeit", "aktuell", "momentan", "im moment", "zurzeit", "denn",
    "bitte", "eigentlich", "diese woche",
    "maintenant", "actuellement", "aujourd'hui", "en ce moment", "cette semaine",
    "ahora", "ahora mismo", "actualmente", "hoy", "por favor", "esta semana",
)  # fmt: skip
"""Words behind it."""


MOST_WORDS = 24
"""Words of a query that can be a question about one thing; longer ones are text."""

_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": "'", "-": " ", "_": " ", ":": " "})
_LONG_GAP = " " * 10
EDGES = " \t\r\n.,;:!?¿¡…\"'“”„«»()[]{}*#"

Named = Callable[[Collection[str]], Collection[str]]
"""Names -> those of them that are the title or an alias of a note."""


@dataclass(frozen=True, slots=True)
class IntentReading:
    """What a query is after, and what about: ``about`` is its text where no rule took it.

    ``rule`` is the one that took it, None where none did or the intent was named.
    """

    intent: Intent
    about: str
    rule: Rule | None = None


def read(text: str, named: Named) -> IntentReading:
    """Return the intent of a query by the first rule that takes it, ``none`` if there is none.

    :param named: asked once at most, and only where a strict rule could take the query.
    """
    taken = list(_taken(text))
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
    for rule, found in _taken(text):
        if rule.intent == intent:
            return IntentReading(intent, found)
    return IntentReading(intent, text)


def names_of(said: str) -> list[str]:
    """The names that words may stand for: as they are, and without words around a name."""
    found = [bare(said)]
    for name in found:
        words = name.split()
        before = (bare(name[len(one) :]) for one in AROUND if _starts(name, one))
        after = (bare(name[: -len(one)]) for one in AFTER if _ends(name, one))
        found += [one for one in (*before, *after) if one and len(words) > 1 and one not in found]
        if "'" in name and name.lower().endswith("'s") and (own := name[:-2]) not in found:
            found.append(own)
    return [name for name in found if name]


def bare(name: str) -> str:
    """A name without the punctuation around it."""
    return name.strip(EDGES)


def _taken(text: str) -> Iterator[tuple[Rule, str]]:
    """The rules that take a text, with what stands in the hole, as it is written."""
    for at, said in taken_by(_PHRASES, text):
        if said:
            yield RULES[at], said


def taken_by(phrases: Sequence[str], text: str) -> Iterator[tuple[int, str]]:
    """The phrases that take a whole text, by their place, and what stands in the hole, if any.

    Compiled are only those whose words stand in the text: to compile all of them took longer than
    to open an index.
    """
    question = _question_of(text)
    if question is None:
        return
    plain, written = question
    words = set(_WORD.findall(written))
    for at, phrase in enumerate(phrases):
        if any(map(words.isdisjoint, _first_words(phrase))):
            continue
        if found := _pattern_of(phrase).fullmatch(written):
            first, end = found.span("x") if ABOUT in phrase else (0, 0)
            yield at, plain[first:end].strip(EDGES)


def _question_of(text: str) -> tuple[str, str] | None:
    """A text that may be a question about one thing, as it is written and as patterns take it.

    None for what is too long for one, or holds a rule of dashes: a pattern tries every way to share
    the blanks of a long run among its words.
    """
    plain = unicodedata.normalize("NFC", " ".join(text.split())).strip(EDGES)
    if not plain or len(plain.split()) > MOST_WORDS:
        return None
    written = f"{flat(plain)} "
    if len(written.split()) > 2 * MOST_WORDS or _LONG_GAP in written:
        return None
    return plain, written


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


def _starts(name: str, word: str) -> bool:
    blank = "" if word.endswith("'") else " "
    return name.translate(_APOSTROPHES).lower().startswith(word + blank)


def _ends(name: str, word: str) -> bool:
    return name.translate(_APOSTROPHES).lower().endswith(f" {word}")


DECIDED_BY = "decided_by"
"""What the metadata of a hit hold whose place signals decided: their names."""

DECIDING: Mapping[str, frozenset[str]] = {"status": frozenset({"subject", "recent"})}
"""Intent -> the signals that decide in it: the newest news of a project are what a question for its
status is after, however little their text resembles it."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Signal name -> weight, 0 or more; ``reasons`` tells in words what a language changed.

    ``deciding`` are the signals whose hits stand first whatever their text resembles.
    """

    by_signal: dict[str, float]
    reasons: tuple[str, ...] = ()
    deciding: frozenset[str] = frozenset()


def weigh(text: str, settings: Settings, intent: Intent, language: str) -> Weights:
    """Return the weights of a query: those of the settings, as its intent and language change them.

    A model that does not read a language ranks by the names and numbers in it: as an equal, it
    would drag down what the words find (docs/decisions/words.md has the measurement).

    :param text: the query without its filters; where its words leave its language open, it is that
        of the notes.
    :param language: of the notes, as the index was built for it.
    """
    retrieval = settings.retrieval
    weights = retrieval.weights.model_dump()
    if intent != "none":
        weights |= getattr(retrieval.intents, intent).model_dump(exclude_none=True)
    deciding = DECIDING.get(intent, frozenset())
    read = languages_read(settings.embedding)
    asked = None if read is None else clear_language(text)
    # Notes in no language that is known may be lists, code or what else: that is no reason.
    spoken = asked or ("" if language == "und" else language)
    left = weights | {"semantic": weights["semantic"] * retrieval.unread_share}
    # The last signal that finds hits is left as it is: something has to rank.
    if read is None or not spoken or spoken in read or retrieval.unread_share == 1:
        return Weights(weights, (), deciding)
    if not any(left.values()):
        return Weights(weights, (), deciding)
    whose = "the query is in" if asked else "the notes are in"
    reason = f"{whose} {NAMES.get(spoken, spoken)}, which the embedding model does not read"
    return Weights(left, (reason,), deciding)
