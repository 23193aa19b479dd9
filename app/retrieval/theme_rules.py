# ruff: noqa: E501 (a rule and its example read best side by side)
"""The rules by which a question is one about the whole vault, as data. docs/themes.md lists them.

Written as those of :mod:`notehop.app.retrieval.intents`: a rule must take the whole question; ``{x}``
is what is asked about, and a rule without it asks about all. They are tried only where themes are
switched on.
"""

from __future__ import annotations

from dataclasses import dataclass

from notehop.app.retrieval.intents import taken_by

_MAIN_EN = "[main|major|big|biggest|key|central|important|most important|recurring|common|overall]"
_THEMES_EN = "(themes|theme|topics|topic|subjects|threads|strands|areas)"
_MUST_EN = "(main|major|big|biggest|key|central|important|most important|recurring|common|overall)"
"""Without a word for the vault, topics may be those of a meeting, and themes those of a play."""
_VAULT_EN = (
    "(my vault|this vault|the vault|my notes|these notes|the notes|all my notes|all notes|the whole vault"
    "|my whole vault|my work|my writing|my notebook|here)"
)
_OWN_EN = "(my notes|all my notes|all notes|the whole vault|my whole vault|my vault|my work|my writing|my notebook)"
_THEMES_DE = "(themen|thema|hauptthemen|kernthemen|schwerpunkte|themenbereiche|leitthemen)"
_VAULT_DE = (
    "(meinem vault|diesem vault|dem vault|meinen notizen|diesen notizen|den notizen|allen notizen"
    "|meiner arbeit|meiner notizen|der notizen|des vaults|meines vaults)"
)
_MAIN_DE = (
    "(wichtigsten themen|zentralen themen|grossen themen|groessten themen|wiederkehrenden themen"
    "|hauptthemen|kernthemen|leitthemen)"
)
_THEMES_FR = "(themes|sujets|thematiques|axes)"
_VAULT_FR = "(mes notes|ces notes|les notes|toutes mes notes|mon coffre|ce coffre|mon vault|ce vault|mon travail)"
_MAIN_FR = (
    "(principaux themes|grands themes|themes principaux|themes recurrents|themes centraux"
    "|principales thematiques|grandes thematiques|thematiques principales|thematiques recurrentes)"
)
_OWN_FR = "(mes notes|toutes mes notes|mon coffre|mon vault|mon travail)"
_THEMES_ES = "(temas|asuntos|ejes|lineas)"
_VAULT_ES = "(mis notas|estas notas|las notas|todas mis notas|mi boveda|esta boveda|mi vault|este vault|mi trabajo)"
_MAIN_ES = (
    "(temas principales|principales temas|grandes temas|temas centrales|temas recurrentes"
    "|temas mas importantes)"
)
_OWN_ES = "(mis notas|todas mis notas|mi boveda|mi vault|mi trabajo)"


@dataclass(frozen=True, slots=True)
class ThemeRule:
    """A phrase that asks for themes; ``example`` is a question that it takes, ``about`` its hole."""

    language: str
    phrase: str
    example: str
    about: str = ""


RULES: tuple[ThemeRule, ...] = (
    ThemeRule("en", f"(what are|what're|which are|name|list|show me) [the|my] {_MAIN_EN} {_THEMES_EN} (in|of|across|throughout|running through) {_VAULT_EN}",
              "What are the main themes of my vault?"),
    ThemeRule("en", f"(what are|what're|which are|name|list|show me) (the|my) {_MUST_EN} (themes|topics|subjects|threads|strands)",
              "What are my main topics?"),
    ThemeRule("en", f"(what|which) {_MAIN_EN} {_THEMES_EN} (are there|do i have|run|recur|come up|keep coming up) [in|through|across] {_VAULT_EN}",
              "What themes run through my notes?"),
    ThemeRule("en", f"what (is|are) {_VAULT_EN} [mainly|mostly|all] about", "What is this vault about?"),
    ThemeRule("en", "what (do|have|did) (i|we) (mostly|mainly) (write|written|work|worked|think|thought|take notes) [on|about]",
              "What do I mostly write about?"),
    ThemeRule("en", f"(give me|show me|write) [an|a] (overview|summary) of {_VAULT_EN}", "Give me an overview of my notes"),
    ThemeRule("en", f"(summarise|summarize|sum up) {_VAULT_EN}", "Summarize my vault"),
    ThemeRule("en", f"[an|a] (overview|summary) of {_VAULT_EN}", "Overview of the whole vault"),
    ThemeRule("en", f"(what are|what're|which are|name|list|show me) [the|my] {_MAIN_EN} {_THEMES_EN} (of|in|across|throughout) {_VAULT_EN} (on|about|around|for|with) {{x}}",
              "What are the main themes of my work on the tide gate?", "the tide gate"),
    ThemeRule("en", f"(what are|what're|which are|name|list|show me) [the|my] {_MUST_EN} (themes|theme) (of|in|on|about|around|for|regarding) {{x}}",
              "What are the main themes in Hollin Reach?", "Hollin Reach"),
    ThemeRule("en", f"(what|which) {_MAIN_EN} (themes|theme) (run through|recur in|come up in|are there in|are there around|come up around) {{x}}",
              "What themes come up around oysters?", "oysters"),
    ThemeRule("en", f"(give me|show me|write) [an|a] (overview|summary) of {_OWN_EN} (on|about|around) {{x}}",
              "Give me an overview of my notes on oysters", "oysters"),
    ThemeRule("en", f"(summarise|summarize|sum up) {_OWN_EN} (on|about|around) {{x}}",
              "Summarise all my notes about oysters", "oysters"),
    ThemeRule("de", f"(was sind|welches sind|welche sind|nenne|nenn|zeige|zeig) [mir] [die|meine] [wichtigsten|zentralen|grossen|groessten|wiederkehrenden] {_THEMES_DE} (in|von|aus|meiner|meines|der|des) {_VAULT_DE}",
              "Was sind die wichtigsten Themen in meinen Notizen?"),
    ThemeRule("de", f"(was sind|welches sind|welche sind) [die|meine] [wichtigsten|zentralen|grossen|groessten|wiederkehrenden] {_THEMES_DE} (meiner notizen|der notizen|des vaults|meines vaults|meiner arbeit|dieses vaults)",
              "Was sind die Hauptthemen meiner Notizen?"),
    ThemeRule("de", f"(was sind|welches sind|welche sind) (die|meine) {_MAIN_DE}",
              "Was sind meine wichtigsten Themen?"),
    ThemeRule("de", f"welche {_THEMES_DE} (gibt es|kommen vor|kehren wieder|stecken|habe ich) [in] {_VAULT_DE}",
              "Welche Themen gibt es in meinen Notizen?"),
    ThemeRule("de", f"worum (geht es|geht's|gehts) in {_VAULT_DE}", "Worum geht es in diesem Vault?"),
    ThemeRule("de", "woruber schreibe ich (am meisten|meistens|hauptsachlich|vor allem)", "Worüber schreibe ich am meisten?"),
    ThemeRule("de", "(fasse|fass) (meine notizen|die notizen|alle notizen|alle meine notizen|den vault|meinen vault) zusammen", "Fasse meine Notizen zusammen"),
    ThemeRule("de", "[gib|zeig|zeige] [mir] [einen|ein] uberblick uber (meine notizen|die notizen|alle notizen|den vault|meinen vault|diesen vault)", "Gib mir einen Überblick über meine Notizen"),
    ThemeRule("de", f"(was sind|welches sind|welche sind) [die|meine] [wichtigsten|zentralen|grossen|groessten|wiederkehrenden] {_THEMES_DE} (meiner arbeit|meiner notizen|in meiner arbeit|in meinen notizen) (zu|zum|zur|an|am|uber|rund um|mit) {{x}}",
              "Was sind die Hauptthemen meiner Arbeit am Deich?", "Deich"),
    ThemeRule("de", f"(was sind|welches sind|welche sind) (die|meine) {_MAIN_DE} (bei|beim|in|im|zu|zum|zur|von|vom|rund um|um) {{x}}",
              "Was sind die zentralen Themen rund um Austern?", "Austern"),
    ThemeRule("de", "(fasse|fass) (meine notizen|alle notizen|alle meine notizen) (zu|zum|zur|uber) {x} zusammen",
              "Fasse alle Notizen zum Deich zusammen", "Deich"),
    ThemeRule("de", "[gib|zeig|zeige] [mir] [einen|ein] uberblick uber (meine notizen|alle notizen|alle meine notizen) (zu|zum|zur|uber) {x}",
              "Gib mir einen Überblick über meine Notizen zum Deich", "Deich"),
    ThemeRule("fr", f"(quels sont|quelles sont) (les|mes) [principaux|principales|grands|grandes] {_THEMES_FR} [principaux|principales|recurrents|recurrentes] (de|dans|de tout) {_VAULT_FR}",
              "Quels sont les principaux thèmes de mes notes ?"),
    ThemeRule("fr", f"(quels sont|quelles sont) (les|mes) {_MAIN_FR}",
              "Quels sont mes grands thèmes ?"),
    ThemeRule("fr", f"de quoi (parle|parlent|traite|traitent) {_VAULT_FR}", "De quoi parlent mes notes ?"),
    ThemeRule("fr", f"(resume|resume-moi) {_VAULT_FR}", "Résume mes notes"),
    ThemeRule("fr", f"[donne-moi] [un|une] (apercu|resume|vue d'ensemble) de {_VAULT_FR}", "Donne-moi un aperçu de mes notes"),
    ThemeRule("fr", f"(quels sont|quelles sont) (les|mes) [principaux|principales|grands|grandes] {_THEMES_FR} [principaux|principales|recurrents|recurrentes] (de|dans) {_VAULT_FR} (sur|autour de|a propos de) {{x}}",
              "Quels sont les principaux thèmes de mon travail sur les huîtres ?", "les huîtres"),
    ThemeRule("fr", f"(quels sont|quelles sont) (les|mes) {_MAIN_FR} (de|du|des|d'|dans|sur|autour de|autour du) {{x}}",
              "Quels sont les grands thèmes autour du barrage ?", "barrage"),
    ThemeRule("fr", f"(resume|resume-moi) {_OWN_FR} (sur|a propos de) {{x}}", "Résume toutes mes notes sur les huîtres", "les huîtres"),
    ThemeRule("es", f"(cuales son|que son) (los|las|mis) [principales|grandes] {_THEMES_ES} [principales|centrales|recurrentes|mas importantes] (de|en) {_VAULT_ES}",
              "¿Cuáles son los temas principales de mis notas?"),
    ThemeRule("es", f"cuales son (los|las|mis) {_MAIN_ES}",
              "¿Cuáles son mis grandes temas?"),
    ThemeRule("es", f"de que (tratan|trata|hablan|habla) {_VAULT_ES}", "¿De qué tratan mis notas?"),
    ThemeRule("es", f"(resume|resumeme) {_VAULT_ES}", "Resume mis notas"),
    ThemeRule("es", f"[dame] [un|una] (resumen|vision general|panorama) de {_VAULT_ES}", "Dame un resumen de mis notas"),
    ThemeRule("es", f"cuales son (los|las|mis) [principales|grandes] {_THEMES_ES} [principales|centrales|recurrentes|mas importantes] (de|en) {_VAULT_ES} (sobre|acerca de|en torno a) {{x}}",
              "¿Cuáles son los temas principales de mi trabajo sobre las ostras?", "las ostras"),
    ThemeRule("es", f"cuales son (los|las|mis) {_MAIN_ES} (de|del|en|sobre|acerca de|en torno a) {{x}}",
              "¿Cuáles son los grandes temas del dique?", "dique"),
    ThemeRule("es", f"(resume|resumeme) {_OWN_ES} (sobre|acerca de) {{x}}", "Resume todas mis notas sobre las ostras", "las ostras"),
)  # fmt: skip
"""In the order in which they are tried: those that ask about all come first."""


def asks_for_themes(text: str) -> str | None:
    """What themes of a question are asked for: a subject, or the empty text for all themes.

    :returns: None for a question that no rule takes.
    """
    return next((said for _, said in taken_by([rule.phrase for rule in RULES], text)), None)
