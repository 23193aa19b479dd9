"""Owns which language a text is in, by small words, letters and endings, or script; and those words."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache

from notehop.indexing.tokens.words import fold

_BY_LANGUAGE: Mapping[str, str] = {
    "en": """
        a about above after again all also am an and any are arent as at be because been before
        being below between both but by can cannot cant could couldnt did didnt do does doesnt
        doing dont down during each either else ever every few for from had hadnt has hasnt have
        havent having he her here hers herself him himself his how however i if in into is isnt it
        its itself just let many may me might more most much must my myself neither no nor not of
        off on once only or other our ours ourselves out over own same shall she should shouldnt
        since so some such than that the their theirs them themselves then there these they this
        those through to too under until up upon us very was wasnt we were werent what when where
        whether which while who whom whose why will with within without wont would wouldnt yes yet
        you your yours yourself
        """,
    "de": """
        ab aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin
        bis bist da dabei dadurch dafur damit dann das dass dazu dein deine dem den denn der des
        dessen die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem
        einen einer eines er es etwas euch fur gegen gibt habe haben hat hatte hatten hier hinter
        ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist ja jede jedem jeden jeder jedes
        kann kein keine keinen konnen konnte man mehr mein meine mich mir mit muss mussen nach nicht
        nichts noch nun nur ob oder ohne schon sehr sein seine seinem seinen seiner seit selbst sich
        sie sind so soll sollen sollte sondern sonst sowie uber um und uns unser unter viel vom von
        vor wann war waren warum was weil welche welchem welchen welcher welches wenn wer werde
        werden wie wieder wir wird wo wurde wurden zu zum zur zwischen
        """,
    "fr": """
        afin ai ainsi alors apres as au aucun aucune aussi autre autres aux avait avant avec avez
        avoir avons c ca car ce ceci cela celle celles celui cependant ces cet cette ceux chaque
        chez ci comme comment d dans de depuis des deux doit donc dont du elle elles en encore entre
        es est et etaient etait etant ete etes etre eu eux fait faire faut font furent fut il ils j
        jamais je l la laquelle le lequel les lesquelles lesquels leur leurs lors lui m ma mais me
        meme memes mes moi moins mon n ne ni nos notre nous on ont ou par parce pas pendant peu peut
        peuvent plus plusieurs pour pourquoi puis qu quand que quel quelle quelles quelque quels qui
        quoi s sa sans se sera ses si soit son sont sous sur t ta tandis te tes toi ton tous tout
        toute toutes tres tu un une vers vos votre vous y
        """,
    "es": """
        a acerca ahora al algo alguna algunas alguno algunos ambos antes aquel aquella aqui asi
        aunque bien cada como con contra cual cuales cuando cuanto de debe deben del desde donde dos
        durante e el ella ellas ellos en entre era eran eres es esa esas ese eso esos esta estaba
        estan estar estas este esto estos fue fueron ha habia han hasta hay he la las le les lo los
        mas me mi mientras mis mismo mucho muchos muy nada ni no nos nosotros nuestra nuestro o os
        otra otras otro otros para pero poco por porque pues puede pueden que quien quienes se sea
        segun ser si sido sin sino sobre solo son soy su sus tambien tampoco tanto te tenia tiene
        tienen toda todas todo todos tras tu tus u un una unas uno unos usted ustedes y ya yo
        """,
    "it": """
        a ad agli ai al alcune alcuni alla alle allo allora altre altri altro anche ancora avere
        aveva c che chi ci cio come con contro cosa cosi cui d da dagli dai dal dalla dalle dallo
        degli dei del della delle dello dentro di dopo dove dunque e ed era erano essere fa fino fra
        fu gia gli ha hanno ho i il in io l la le lei li lo loro lui ma me mentre mi mia mie miei
        mio molti molto ne negli nei nel nella nelle nello noi non nostra nostro o ogni oppure
        perche piu poi prima puo qual quale quali quando quanto quella quelle quelli quello questa
        queste questi questo qui quindi se sempre senza sei si sia siamo sono sopra sotto sta stata
        stati stato su sua sue sugli sui sul sulla sulle sullo suo suoi tra tu tua tuo tutta tutte
        tutti tutto un una uno vi viene voi
        """,
    "pt": """
        a ainda alem algo alguma algumas alguns ambos ante antes ao aos apenas apos aquela aquele
        aquilo as assim ate cada com como contra da das de dela dele deles depois desde desse desta
        deste deve do dos durante e ela elas ele eles em embora enquanto entao entre era eram essa
        essas esse esses esta estao estar estas estava este estes estou eu foi foram ha isso isto ja
        la lhe mais mas me mesmo meu meus minha muito muitos na nao nas nem nenhum no nos nossa
        nosso num numa o onde os ou outra outras outro outros para pela pelas pelo pelos per pode
        podem pois por porem porque qual quais quando quanto que quem se seja sem sempre ser seu
        seus si sido sua suas sobre sob tambem tem tendo ter teve todas todo todos tudo um uma umas
        uns voce voces
        """,
    "nl": """
        aan achter al alle alleen alles als altijd andere ben bij binnen daar dan dat de deze die
        dit doen door dus een eens elk en er ergens geen haar had hadden heb hebben hebt heeft hem
        hen het hier hij hoe hun iets ik in is ja je jij jou jouw jullie kan kon kunnen maar meer
        men met mij mijn moet moeten na naar niet niets nog nu of om omdat onder ons onze ook op
        over reeds sinds te tegen tenzij toch toen tot tussen u uit uw van vanaf veel voor waar
        waarom wanneer want waren was wat we wel welk welke werd werden wie wij wil worden wordt zal
        ze zeer zich zij zijn zo zoals zonder zou zouden zullen
        """,
    "sv": """
        aldrig alla allt an andra att av bara bli blir blev da dar darfor de dem den denna deras
        dess dessa det detta dig din dina ditt dock du efter eftersom eller en ett finns for fran ga
        genom ha hade han har hennes hon honom hos hur i icke igen ingen inget inom inte ja jag kan
        kunde ligger man med medan mellan men mer mig min mina mitt mot mycket nagon nagot nagra nar
        ni nu ner och ocksa om oss over pa redan sa samma samt sedan ska skall skulle
        sig sin sina sitt som till tills under upp ut utan vad var vara varfor varje varit vem vi
        vid vilka vilken vilket vill ar
        """,
    "ru": """
        а без более бы был была были было быть в вам вас весь во вот все всего всех вы где да даже
        для до его ее если есть еще же за здесь и из или им их к как какая какие какой когда которая
        которого которой которые который кто ли либо между меня мне может можно мой моя мы на над
        надо нам нас наш не него нее нет ни них но ну о об однако он она они оно от очень перед по
        под после потому почему при про раз с сам свой себя сейчас со так также такой там тебя тем
        то тогда того тоже только том тот ты у уже хотя чего чей чем через что чтобы эта эти это
        этого этой этом этот я
        """,
}

# Languages that are not stemmed but look like one that is: their small words keep them apart.
_OF_NEIGHBOURS: Mapping[str, str] = {
    "da": "af at blev bliver da deres det dette efter eller en er et fra han har hvad hvis hvor "
    "hvordan i ikke jeg kan kun med mellem men mere nar nogle noget og ogsa om op pa skal som "
    "til uden ud var ved vi vil vaere",
    "no": "av at ble blir de den det dette eller en er et etter for fra ha han har hva hvis hvor "
    "hvordan i ikke jeg kan med mellom men mer nar noe noen og ogsa om opp pa skal som til uten "
    "ut var ved vi vil vaere",
    "pl": "aby ale bez bedzie byl byla byc co czy dla do gdy i ich ich jak jako jego jest jesli "
    "juz kiedy ktora ktore ktory lub ma moze mozna na nie o od oraz po pod przed przez przy sa "
    "sie tak tego tej ten to tylko tym w z za ze zostanie",
    "cs": "a aby ale ani by byl byla bylo byt co do i jak jako je jeho jejich jen jsem jsou k "
    "kdyz kde ktera ktere ktery ma mezi mit muze na nebo o od po pod pokud pro proto protoze "
    "s se si tak take tento to u uz v ve z za ze",
    "fi": "ei etta ja jo joka jos kanssa kuin kun mika mita mutta myos niin nyt oli olla on ovat "
    "sen se siita tai tama tassa voi vain",
    "tr": "ama bir bu cok da daha de degil gibi her icin ile ise kadar ki mi ne o olan olarak "
    "sonra su ve veya var ya",
    "hu": "a az azt csak de egy ez ezt es ha hogy is kell lehet meg mert mint nem s vagy van volt",
    "ro": "a al ale au ca care ce cu cum daca de din dupa este fi in la mai nu o pe pentru prin "
    "sa sau se si sunt un una unei unui",
    "ca": "a al als amb aquest aquesta com de del dels el els en es fer ha hi i la les mes no "
    "o per pero que seva si son un una uns",
    "uk": "або але би була було бути в вже від він вона вони все де для до є з за і й із його її "
    "коли на не ні про по також та так те ти то тому у це цей що щоб як який якщо",
    "bg": "а ако без бъде в ви все да до е за и из или им има как като която които който кои "
    "ли ми може на не но от по при с са се си след със така те това той тя че ще",
}

FUNCTION_WORDS: Mapping[str, frozenset[str]] = {
    code: frozenset(words.split()) for code, words in _BY_LANGUAGE.items()
}
"""Language that the tokenizer stems -> its small words."""

NEIGHBOURS: Mapping[str, frozenset[str]] = {
    code: frozenset(words.split()) for code, words in _OF_NEIGHBOURS.items()
}
"""Language it does not stem, but that looks like one of those -> some of its small words."""


LANGUAGES = (*sorted(FUNCTION_WORDS), "ja", "ko", "und", "zh")
"""Codes that a tokenizer takes: nine stemmed languages, Japanese, Korean, Chinese, and ``und``
(undetermined, ISO 639-2: some other language, for which words are left as they are)."""

_READ_EACH = 2_000
_READ_ALL = 1_000_000
"""Characters read of one text and of all: enough to be sure, 0.2 s at most."""

# Letters and endings, looked for in each word.
_EVIDENCE: Mapping[str, str] = {
    "en": r"th|wh|ght$|.{3}(?:ing|tion|ness|ly|ed)$",
    "de": r"ß|[äöü]|sch|.{3}(?:ung|ungen|heit|keit|lich|ieren|chen)$",
    "fr": r"[çèêëîïôûœ]|eau|.{3}(?:ment|eux|euse|ique|tion|aire|ées?)$",
    "es": r"[ñ]|.{2}(?:ción|ciones|dad|mente|ado|ada|miento|ar|os|as)$",
    "it": r"[ìò]|zz|gli|.{3}(?:zione|zioni|mente|are|ato|ità|aggio)$",
    "pt": r"[ãõ]|nh|lh|.{2}(?:ção|ções|dade|mente|ado|ada|agem|os|as)$",
    "nl": r"ij|aa|oo|sch|.{3}(?:lijk|lijke|heid|ing|en)$",
    "sv": r"[åäö]|sk|.{3}(?:ning|het|arna|erna|ande|ade|tion)$",
    "ru": r"[ыэё]|.{2}(?:ий|ой|ая|ое|ого|ему|ние|ния|ть|тся|ться|ов|ами|ах)$",
    "da": r"[æø]|.{3}(?:hed|erne|ede|ning)$",
    "no": r"[æø]|.{3}(?:het|ene|ing)$",
    "pl": r"[ąęłńśźż]|sz|cz|rz",
    "cs": r"[ěřůčšž]",
    "fi": r"ää|yy|kk|.{3}(?:ssa|ssä|lla|llä|sta|stä)$",
    "tr": r"[ığş]",
    "hu": r"[őű]|sz|gy",
    "ro": r"[șțşţă]",
    "ca": r"·|ny$|.{3}(?:ció|itat)$",
    "uk": r"[іїєґ]",
    "bg": r"ъ|.{3}(?:ът|ият|ата|ето)$",
}
_EVIDENCE_WEIGHT = 0.5
"""Against 1 for a small word that one language alone has: many share letters and endings."""
_SURE = 20
"""Words from which on finding no known language means that it is none of them."""
_ENOUGH = 0.13
"""Points a word below which no known language is at work: technical prose of the nine has 0.25 to
0.39, Welsh, Estonian, Latin, Vietnamese and Indonesian at most 0.11."""

_CLEAR = 1.5
"""Points without which a few words are in no clear language: one small word and a letter or ending.
Less takes `non-existent task` for Italian; with it one in 700 English headings is another's."""
_CLEARER = 2.0
"""How many times the points of the next one it has: names and loan words look like two."""

NAMES: Mapping[str, str] = {
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "nl": "Dutch",
    "pt": "Portuguese",
    "ru": "Russian",
    "sv": "Swedish",
    "und": "another language",
    "zh": "Chinese",
}
"""What the languages are called."""

_LETTERS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_APOSTROPHE = re.compile(r"['’]")
_KANA = re.compile(r"[\u3041-\u30ff]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_CYRILLIC = re.compile(r"[\u0400-\u052f]")
# Greek, Armenian, Hebrew, Arabic, the scripts of South and South East Asia, Georgian, Ethiopic.
_OTHER = re.compile(r"[\u0370-\u03ff\u0530-\u109f\u10a0-\u10ff\u1200-\u139f\u1780-\u17ff]")


def _points() -> dict[str, dict[str, float]]:
    owners: dict[str, list[str]] = {}
    for code, words in (*FUNCTION_WORDS.items(), *NEIGHBOURS.items()):
        for word in sorted(words):
            owners.setdefault(word, []).append(code)
    return {word: dict.fromkeys(codes, len(codes) ** -0.5) for word, codes in owners.items()}


_POINTS = _points()
_PATTERNS = {code: re.compile(pattern) for code, pattern in _EVIDENCE.items()}


def detect_language(texts: Iterable[str], default: str = "en") -> str:
    """The language most of ``texts`` are in: a code of :data:`LANGUAGES`.

    The beginning of each text is read, until a million characters are; more texts are not asked
    for. Of sentences of 10 to 18 words of man pages 98 in 100 are named rightly, of 6 to 9 words
    93, of a few words 75 (many of them hold English commands); of whole vaults all.

    :param default: the answer where there is nothing to go by: no text, or names and numbers only.
    :returns: ``und`` where there are words enough, but of none of the known languages.
    """
    words: Counter[str] = Counter()
    han = kana = hangul = 0
    left = _READ_ALL
    for text in texts:
        part = unicodedata.normalize("NFKC", text[: min(_READ_EACH, left)])
        left -= len(part)
        words.update(_LETTERS.findall(part.casefold()))
        if not part.isascii():
            han += len(_HAN.findall(part))
            kana += len(_KANA.findall(part))
            hangul += len(_HANGUL.findall(part))
        if left <= 0:
            break
    spaced = _spaced(words)
    return _by_characters(han, kana, hangul, spaced) or _by_words(spaced, default)


def clear_language(text: str) -> str | None:
    """The language of a few words, where they leave no doubt: of a query, of one note.

    By their script, or where the small words, letters and endings of one language say so and twice
    as loudly as those of any other.

    :returns: a code of :data:`LANGUAGES`; ``und`` for a script that none of them is written in;
        None where it is not clear.
    """
    part = unicodedata.normalize("NFKC", text[:_READ_EACH])
    words = _spaced(Counter(_LETTERS.findall(part.casefold())))
    if not part.isascii():
        han, kana, hangul = (len(one.findall(part)) for one in (_HAN, _KANA, _HANGUL))
        if (language := _by_characters(han, kana, hangul, words)) is not None:
            return language
        for script, language in ((_CYRILLIC, "ru"), (_OTHER, "und")):
            if 2 * sum(times for word, times in words.items() if script.match(word)) > sum(
                words.values()
            ):
                return _by_words(words, language)
    # Letters alone are variables, options and initials; a word said often proves no more than once.
    scores = _scores({word: 1 for word in words if len(word) > 1})
    if not scores:
        return None
    best, *others = sorted(scores, key=lambda code: (-scores[code], code))
    second = max((scores[code] for code in others), default=0.0)
    if scores[best] < _CLEAR or scores[best] < _CLEARER * second:
        return None
    return best if best in FUNCTION_WORDS else "und"


def _by_characters(han: int, kana: int, hangul: int, spaced: Mapping[str, int]) -> str | None:
    """The language of characters that stand without spaces; None where words are more."""
    # Two characters make about a word.
    if han + kana + hangul <= 2 * sum(spaced.values()):
        return None
    if hangul > han + kana:
        return "ko"
    return "ja" if kana > 0.1 * han else "zh"


def _spaced(words: Counter[str]) -> dict[str, int]:
    """The words of scripts that put spaces between them, Korean left out."""
    return {word: times for word, times in words.items() if word < "\u1100"}


def _by_words(words: Mapping[str, int], default: str) -> str:
    total = sum(words.values())
    scores = _scores(words)
    if not scores:
        return "und" if total >= _SURE else default
    best = min(scores, key=lambda code: (-scores[code], code))
    if scores[best] < _ENOUGH * total:
        return "und" if total >= _SURE else default
    return best if best in FUNCTION_WORDS else "und"


def _scores(words: Mapping[str, int]) -> dict[str, float]:
    """The points of each language that has any."""
    scores: defaultdict[str, float] = defaultdict(float)
    for word, times in words.items():
        for code, points in _points_of(word):
            scores[code] += times * points
    return dict(scores)


@lru_cache(maxsize=10_000)
def _points_of(word: str) -> tuple[tuple[str, float], ...]:
    """The points that a word gives to languages; looked up for each word of each query."""
    found = [
        point for part in _APOSTROPHE.split(word) for point in _POINTS.get(fold(part), {}).items()
    ]
    found += [(code, _EVIDENCE_WEIGHT) for code, one in _PATTERNS.items() if one.search(word)]
    return tuple(found)
