"""Tokens, phrases and compounds: queries and index agree; which language a text is in."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.product import COMPOUNDS_MOST as MOST
from tests.support.product import (
    FIELDS,
    LANGUAGES,
    MAX_LENGTH,
    PART,
    WITHIN,
    LexicalIndex,
    Phrase,
    SettingsError,
    Tokenizer,
    Vocabulary,
    detect_language,
    field_tokens,
    fold,
    joined_words,
    words_in_order,
)

ENGLISH = Tokenizer("en")

# What a text becomes, in any order.
SPLITS = {
    "plain words, stemmed": ("Linked notes, linking.", "link note link"),
    "one letter": ("a b R", "a b r"),
    "snake case": ("foo_bar", "foo_bar foobar foo bar"),
    "camel case": ("fooBar", "foobar foo bar"),
    "acronym, then word": ("HTMLParser", "htmlparser html parser"),
    "plural acronym": ("PDFs", "pdfs pdf"),
    "letters and digits": ("utf8", "utf8 utf 8"),
    "ordinal": ("2nd", "2nd 2 nd"),
    "version": ("2026.4.10", "2026.4.10 2026 4 10"),
    "version with letters": ("v2.1-beta", "v2.1-beta v2 1 beta v 2"),
    "decimal": ("3.14", "3.14 3 14"),
    "date": ("2024-05-01", "2024-05-01 2024 05 01"),
    "hyphens": ("state-of-the-art", "state-of-the-art state of the art"),
    "two parts are one word too": ("e-mail", "e-mail email e mail"),
    "non-breaking hyphen": ("wi\u2011fi", "wi-fi wifi wi fi"),
    "C++": ("C++", "c++ c"),
    "C++ with a version": ("C++17", "c++ c 17"),
    "C#": ("C# code", "c# c code"),
    "no sharp in a heading link": ("A#b", "a b"),
    "extension": (".md files", ".md md file"),
    "file name": ("notes.md", "notes.md notesmd note md"),
    "end of sentence": ("the end. Then", "the end then"),
    "ellipsis": ("wait...what", "wait what"),
    "initials": ("U.S.A.", "u.s.a usa u s a"),
    "ampersand": ("R&D", "r&d rd r d"),
    "possessive": ("Alice's plan", "alic plan"),
    "typographic possessive": ("Alice\u2019s plan", "alic plan"),
    "contraction": ("don't", "dont"),
    "we'll is no well": ("we'll", "we"),
    "elision": ("l'homme", "l homm lhomm"),
    "name with apostrophe": ("O'Brien", "o brien obrien"),
    "Markdown emphasis": ("__init__ _so_", "init so"),
    "hash is not taken apart": ("a94a8fe5ccb19ba61c4c", "a94a8fe5ccb19ba61c4c"),
    "URL": ("https://a.io/docs", "https a.io aio a io doc"),
    "tag": ("#project/alpha", "project alpha"),
    "full width": ("ＡＢＣ１", "abc1 abc 1"),
    "ligature": ("ﬁle", "file"),
    "soft hyphen": ("note\u00adbook", "notebook"),
    "combined accent": ("cafe\u0301", "cafe"),
    "stroke letters": ("Łódź Ørsted Æsir", "lodz orst aesir"),
    "sharp s": ("Straße", "strass"),
    "Turkish capital": ("İstanbul", "istanbul"),
    "Greek": ("Οδός", "οδοσ"),
    "Arabic vowel signs": ("مُحَمَّد", "محمد"),
    "Hindi stays whole": ("हिन्दी", "हिन्दी"),
    "Russian yo": ("ёлки", "елк"),
    "Russian short i is a letter": ("мой", "мо"),
    "Chinese": ("黑猫好", "黑猫 猫好 黑 猫 好"),
    "single character": ("猫", "猫"),
    "Japanese": ("のテスト", "のテ テス スト の テ ス ト"),
    "half width katakana": ("ﾃｽﾄ", "テス スト テ ス ト"),
    "repeats are counted": ("はは", "はは は は"),
    "Korean": ("한국어", "한국 국어 한 국 어"),
    "between scripts": ("iPhone手机", "iphon i phone 手机 手 机"),
    "Thai": ("ไทย", "ไท ทย ไ ท ย"),
    "emoji": ("done ✅🎉", "done ✅ 🎉"),
    "emoji with skin and joiner": ("👍🏽 👩\u200d💻", "👍 👩 💻"),
    "flag": ("🇩🇪", "🇩🇪"),
    "keycap": ("1️⃣", "1"),
    "punctuation alone": ("-- ... ___ | → #", ""),
    "empty": ("", ""),
}


@pytest.mark.parametrize(("text", "expected"), SPLITS.values(), ids=SPLITS)
def test_a_text_becomes_these_tokens(text: str, expected: str) -> None:
    assert sorted(ENGLISH(text)) == sorted(expected.split())


SAME = {
    "case": ("Obsidian OBSIDIAN", "obsidian obsidian"),
    "accents": ("résumé naïve Škoda", "resume naive Skoda"),
    "decomposed file name": (unicodedata.normalize("NFD", "Übergröße"), "übergröße"),
    "compound": ("front matter", "front-matter"),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_spellings_of_a_word_meet(one: str, other: str) -> None:
    assert set(ENGLISH(one)) <= set(ENGLISH(other))


STEMS = {
    "de": ("Häuser", "Haus"),
    "en": ("linking", "links"),
    "es": ("comunicación", "comunicaciones"),
    "fr": ("évaluées", "évaluer"),
    "it": ("lavorando", "lavorare"),
    "nl": ("boeken", "boek"),
    "pt": ("informações", "informação"),
    "ru": ("новая", "новые"),
    "sv": ("nycklarna", "nycklar"),
}


@pytest.mark.parametrize(("language", "words"), STEMS.items(), ids=STEMS)
def test_a_language_stems_its_words(language: str, words: tuple[str, str]) -> None:
    one, other = words
    tokenizer = Tokenizer(language)
    assert tokenizer(one) == tokenizer(other)
    assert Tokenizer("und")(one) != Tokenizer("und")(other)


@pytest.mark.parametrize("language", ["zh", "ja", "ko", "ru"])
def test_english_words_are_stemmed_where_latin_letters_are_foreign(language: str) -> None:
    assert Tokenizer(language)("linked notes") == ["link", "note"]


QUERIES = {
    "function words go": ("what is the plan for apollo", "plan apollo"),
    "a query of nothing else stays": ("The Who", "the who"),
    "contractions too": ("what's John's plan", "john plan"),
    "capitals stay": ("vitamin A", "vitamin a"),
    "capitals inside stay": ("who is on the IT team", "it team"),
    "but not I": ("what did I say", "say"),
    "nor where all is in capitals": ("WHAT IS THE PLAN", "plan"),
    "inside a compound the whole stays": ("state-of-the-art", "state-of-the-art state art"),
    "pairs, not characters": ("黑猫好", "黑猫 猫好"),
    "a character alone": ("猫 cat", "猫 cat"),
    "one letter": ("C", "c"),
    "emoji": ("🎉", "🎉"),
    "nothing": ("?!", ""),
}


@pytest.mark.parametrize(("query", "expected"), QUERIES.values(), ids=QUERIES)
def test_a_query_asks_for_these_tokens(query: str, expected: str) -> None:
    assert sorted(ENGLISH.query(query)) == sorted(expected.split())


def test_single_characters_count_in_chinese_queries() -> None:
    assert sorted(Tokenizer("zh").query("黑猫")) == sorted(["黑猫", "黑", "猫"])


@given(text=st.text(), language=st.sampled_from(LANGUAGES))
def test_what_a_query_asks_for_the_index_of_the_same_text_holds(text: str, language: str) -> None:
    tokenizer = Tokenizer(language)
    indexed = tokenizer(text)
    asked = tokenizer.query(text)
    assert set(asked) <= set(indexed)
    assert bool(asked) == bool(indexed)


@given(text=st.text())
def test_tokens_are_short_solid_and_folded(text: str) -> None:
    for token in ENGLISH(text):
        assert token
        assert not any(character.isspace() for character in token)
        assert token == fold(token)


@given(text=st.text(st.characters(min_codepoint=0x20, max_codepoint=0x24F)))
def test_accents_make_no_difference(text: str) -> None:
    plain = "".join(
        letter
        for letter in unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text))
        if not unicodedata.combining(letter)
    )
    assert sorted(ENGLISH(plain)) == sorted(ENGLISH(unicodedata.normalize("NFKC", text)))


def test_a_blob_is_cut_and_not_taken_apart() -> None:
    tokens = ENGLISH("x1" * 200_000 + " end")
    assert tokens == [("x1" * 200_000)[:MAX_LENGTH], "end"]


def test_a_long_slug_is_found_by_its_words() -> None:
    slug = "-".join(["alpha", "beta", "gamma"] * 10)
    assert set(ENGLISH(slug)) == set(ENGLISH("alpha beta gamma"))


def test_an_unknown_language_is_refused_with_those_there_are() -> None:
    with pytest.raises(SettingsError, match=r"'xx'.*auto.*sv"):
        Tokenizer("xx")


def test_fields_are_tokenized_apart_and_empty_ones_left_out() -> None:
    fields = field_tokens(
        ENGLISH,
        title="Apollo",
        aliases=["Moon plan", "A11"],
        tags=["project/space"],
        page_type=None,
        headings=[(1, "Goals"), (2, "Crew"), (2, "Dates"), (3, "Launch"), (5, "Weather")],
        content="",
    )
    assert fields == {
        "title": ("apollo",),
        "aliases": ("moon", "plan", "a11", "a", "11"),
        "tags": ("project", "space"),
        "h1": ("goal",),
        "h2": ("crew", "date"),
        "h3": ("launch", "weather"),
    }
    assert [field for field in FIELDS if field in fields] == list(fields)


SENTENCES = {
    "en": (
        "What did we decide about the budget?",
        "She moved to London last year.",
        "Things to buy for the new house",
        "The meeting notes are in the archive folder, and nobody has read them yet.",
        "How to prune tomato plants",
    ),
    "de": (
        "Was haben wir über das Budget beschlossen?",
        "Sie ist letztes Jahr nach London gezogen.",
        "Dinge, die wir für das neue Haus brauchen",
        "Die Notizen der Besprechung liegen im Archiv, und niemand hat sie gelesen.",
        "Wie schneidet man Tomaten?",
    ),
    "fr": (
        "Qu'avons-nous décidé pour le budget ?",
        "Elle a déménagé à Londres l'année dernière.",
        "Ce qu'il faut acheter pour la maison",
        "Les notes de la réunion sont dans le dossier et personne ne les a lues.",
        "Comment tailler les tomates",
    ),
    "es": (
        "¿Qué decidimos sobre el presupuesto?",
        "Ella se mudó a Londres el año pasado.",
        "Cosas que comprar para la casa nueva",
        "Las notas de la reunión están en el archivo y nadie las ha leído todavía.",
        "Cómo podar los tomates",
    ),
    "it": (
        "Che cosa abbiamo deciso per il bilancio?",
        "Si è trasferita a Londra l'anno scorso.",
        "Le cose da comprare per la nuova casa",
        "Gli appunti della riunione sono nell'archivio e nessuno li ha ancora letti.",
        "Come potare i pomodori",
    ),
    "pt": (
        "O que decidimos sobre o orçamento?",
        "Ela se mudou para Londres no ano passado.",
        "Coisas para comprar para a casa nova",
        "As notas da reunião estão no arquivo e ninguém as leu até agora.",
        "Como podar os tomates do quintal",
    ),
    "nl": (
        "Wat hebben we besloten over het budget?",
        "Zij is vorig jaar naar Londen verhuisd.",
        "Dingen die we voor het nieuwe huis moeten kopen",
        "De notities van de vergadering staan in het archief en niemand heeft ze gelezen.",
        "Hoe snoei je tomaten",
    ),
    "sv": (
        "Vad bestämde vi om budgeten?",
        "Hon flyttade till London förra året.",
        "Saker att köpa till det nya huset",
        "Anteckningarna från mötet ligger i arkivet och ingen har läst dem.",
        "Hur man beskär tomater",
    ),
    "ru": (
        "Что мы решили насчёт бюджета?",
        "Она переехала в Лондон в прошлом году.",
        "Что купить для нового дома",
        "Заметки со встречи лежат в архиве, и никто их не читал.",
        "Как подрезать помидоры",
    ),
    "zh": ("我们对预算做了什么决定？", "会议记录在档案文件夹里，还没有人读过。", "怎么修剪番茄"),
    "ja": ("予算について何を決めましたか", "会議のメモはアーカイブにある。", "新しい家のために買うもの"),
    "ko": ("예산에 대해 무엇을 결정했습니까?", "회의 메모는 보관함에 있습니다.", "토마토 가지치기 방법"),
    "und": (
        "Hvad besluttede vi om budgettet, og hvorfor har ingen læst noterne fra mødet endnu, "
        "når de ligger i mappen og alle har adgang til dem?",
        "Co postanowiliśmy w sprawie budżetu i dlaczego nikt jeszcze nie przeczytał notatek ze "
        "spotkania, które są w folderze i do których każdy ma dostęp?",
        "Bütçe hakkında ne karar verdik ve toplantı notlarını neden henüz kimse okumadı, oysa "
        "hepsi klasörde duruyor ve herkes onlara erişebilir?",
        "Що ми вирішили щодо бюджету і чому ніхто ще не читав нотатки із зустрічі, які лежать у "
        "теці і до яких кожен має доступ?",
        "Gallia est omnis divisa in partes tres quarum unam incolunt Belgae aliam Aquitani tertiam "
        "qui ipsorum lingua Celtae nostra Galli appellantur",
    ),
}  # fmt: skip


def test_short_texts_are_identified() -> None:
    """At least 19 of 20 sentences, most of 5 to 10 words; each language, taken together, always."""
    cases = [(code, text) for code, texts in SENTENCES.items() for text in texts]
    wrong = [(code, detect_language([text]), text) for code, text in cases]
    wrong = [case for case in wrong if case[0] != case[1]]
    assert len(wrong) <= len(cases) / 20, wrong
    together = {code: detect_language(texts) for code, texts in SENTENCES.items() if code != "und"}
    assert together == {code: code for code in together}


UNCERTAIN = {
    "no text": [],
    "empty texts": ["", "  "],
    "numbers": ["2024-05-01 42"],
    "names": ["Kubernetes", "PostgreSQL"],
}


@pytest.mark.parametrize("texts", UNCERTAIN.values(), ids=UNCERTAIN)
@pytest.mark.parametrize("default", ["en", "de"])
def test_with_nothing_to_go_by_the_default_stands(texts: list[str], default: str) -> None:
    assert detect_language(texts, default) == default


def test_english_terms_do_not_hide_chinese() -> None:
    assert (
        detect_language(["用 Python 写一个 REST API 的笔记，包括 Docker 部署和测试的方法"]) == "zh"
    )


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        pytest.param("tide gate", "The Tide Gate shuts.", id="case"),
        pytest.param("tide gate", "the tide-gate", id="hyphen"),
        pytest.param("tide-gate", "the **tide**\ngate", id="marks-and-lines"),
        pytest.param("cafe creme", "Café, crème", id="accents"),
        pytest.param("the gate's lid", "the gate’s lid", id="apostrophes"),
        pytest.param("the gate lid", "the gate's lid", id="possessive"),
        pytest.param("don't", "dont", id="contraction"),
        pytest.param("foo bar", "foo_bar", id="identifier"),
        pytest.param("2026.4.10", "v1, 2026.4.10!", id="version"),
        pytest.param("1.5 bar", "held 1.5 bar", id="number"),
        pytest.param("C++", "in C++ and C", id="signs"),
        pytest.param("東京", "東京都の", id="within-an-unspaced-run"),
        pytest.param("ｔｉｄｅ", "tide", id="width"),
        pytest.param("gate", "gate", id="one-word"),
        pytest.param("the end of", "at the end of it", id="function-words"),
    ],
)
def test_it_stands_there(phrase: str, text: str) -> None:
    assert Phrase(phrase).stands_in(joined_words(text))


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        pytest.param("tide gate", "the gate of the tide", id="order"),
        pytest.param("tide gate", "tide and gate", id="words-between"),
        pytest.param("tide gate", "the tide gates", id="another-ending"),
        pytest.param("gate", "gateway navigate", id="part-of-a-word"),
        pytest.param("C", "C++", id="signs"),
        pytest.param("京東", "東京都", id="characters-in-order"),
        pytest.param("gate", "", id="no-text"),
    ],
)
def test_it_does_not(phrase: str, text: str) -> None:
    assert not Phrase(phrase).stands_in(joined_words(text))


texts = st.text(
    st.sampled_from("abcXYZ019 éßñİŁ'’-_.+#&東京が한국ไท👍🇩🇪½ﬁ\n\u0301\u200b/:()[]|*")
    | st.characters(),
    max_size=60,
)


@given(text=texts, language=st.sampled_from(sorted(LANGUAGES)))
def test_every_word_said_is_found_by_its_token(text: str, language: str) -> None:
    tokenizer = Tokenizer(language)
    held = set(tokenizer(text))
    assert {tokenizer.of_phrase_word(word) for word in words_in_order(text)} <= held


@given(text=texts)
def test_every_stretch_of_a_text_stands_in_it(text: str) -> None:
    words = words_in_order(text)
    for start in range(len(words)):
        stretch = " ".join(words[start : start + 3])
        assert f" {stretch} " in joined_words(text)


class Shelf:
    def __init__(self, language: str, *words: str) -> None:
        self.tokenizer = Tokenizer(language)
        documents = [
            (f"{at:03}", {"content": (word,)}) for at, word in enumerate(map(self.stem, words))
        ]
        self.index = LexicalIndex.build(documents)

    def stem(self, word: str) -> str:
        return self.tokenizer.of_phrase_word(word.casefold())

    def asked(self, query: str) -> dict[str, float]:
        tokens = self.tokenizer.query(query)
        weights = self.tokenizer.weights(tokens, self.index)
        return {token: weight for token, weight in weights.items() if token not in tokens}


@pytest.mark.parametrize(
    ("language", "words", "query", "found"),
    [
        pytest.param("de", ["Roggenmehl", "Roggen"], "Mehl", {"roggenmehl": WITHIN}, id="last"),
        pytest.param("de", ["Rauchmelder"], "Rauch", {"rauchmeld": WITHIN}, id="first"),
        pytest.param("de", ["Arbeitszimmer", "Arbeit"], "Zimmer", {"arbeitszimm": WITHIN}, id="with-a-link"),
        pytest.param(
            "de",
            ["Haftpflichtversicherungen"],
            "Versicherung",
            {"haftpflichtversicher": WITHIN},
            id="a-first-part-never-seen-alone",
        ),
        pytest.param("de", ["Mehl", "Roggen"], "Roggenmehl", {"rogg": PART, "mehl": PART}, id="parts"),
        pytest.param(
            "de",
            ["Arbeit", "Zimmer"],
            "Arbeitszimmer",
            {"arbeit": PART, "zimm": PART},
            id="link-out",
        ),
        pytest.param("de", ["Verstand", "Gegenstand"], "Stand", {}, id="small-words-are-no-parts"),
        pytest.param("de", ["Garten"], "Arten", {}, id="one-letter-is-no-part"),
        pytest.param("de", ["Eisen"], "Eis", {}, id="a-short-word-stands-in-too-many"),
        pytest.param("nl", ["boekenkast", "kast"], "boeken", {"boekenkast": WITHIN}, id="dutch"),
        pytest.param("sv", ["sommarhus", "sommar"], "hus", {}, id="swedish-short"),
        pytest.param("sv", ["fiskebåt", "fiske"], "båten", {}, id="swedish-three-letters"),
        pytest.param("en", ["notebook"], "book", {}, id="english-is-left-alone"),
        pytest.param("zh", ["水温"], "温", {}, id="chinese-has-its-pairs"),
    ],
)  # fmt: skip
def test_compounds(language: str, words: list[str], query: str, found: dict[str, float]) -> None:
    assert Shelf(language, *words).asked(query) == found


def test_what_was_asked_keeps_its_weight() -> None:
    shelf = Shelf("de", "Mehl", "Roggenmehl")
    tokens = shelf.tokenizer.query("Mehl Mehl")
    assert shelf.tokenizer.weights(tokens, shelf.index)["mehl"] == 2.0
    ranked = shelf.index.top(shelf.tokenizer.weights(["mehl"], shelf.index), 5)
    assert [id_ for id_, _ in ranked] == ["000", "001"]


def test_of_many_compounds_the_commonest_are_asked() -> None:
    shelf = Shelf("de", *(f"{chr(97 + at)}oggenmehl" for at in range(MOST + 4)), "toggenmehl")
    asked = shelf.asked("Mehl")
    assert len(asked) == MOST
    assert "toggenmehl" in asked


@given(
    words=st.sets(st.text("abc", min_size=1, max_size=6), max_size=20),
    part=st.text("abc", min_size=1, max_size=3),
)
def test_a_vocabulary_finds_what_a_look_at_each_word_finds(words: set[str], part: str) -> None:
    found = Vocabulary(sorted(words)).with_part(part)
    expected = [
        word
        for word in sorted(words)
        if (word.startswith(part) or word.endswith(part)) and len(word) > len(part)
    ]
    assert found == expected
