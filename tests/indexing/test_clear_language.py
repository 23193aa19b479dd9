"""A few words are in a language only where they leave no doubt."""

from __future__ import annotations

import pytest

from notehop.indexing.tokens import LANGUAGES, NAMES, clear_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("When did we decide about the launch?", "en"),
        ("wann ist die Abgabe?", "de"),
        ("pourquoi avons-nous choisi cette solution ?", "fr"),
        ("¿cuándo empieza la reunión con los vecinos del barrio?", "es"),
        ("где лежит ключ", "ru"),
        ("холодильник", "ru"),
        ("де лежить ключ від підвалу, що з нею", "und"),
        ("乌龙茶用多少度的水", "zh"),
        ("Chrome 浏览器为什么崩溃", "zh"),
        ("会議の議事録", "ja"),
        ("회의록", "ko"),
        ("κλειδί του υπογείου", "und"),
        ("مفتاح القبو", "und"),
    ],
)
def test_clear(text: str, language: str) -> None:
    assert clear_language(text) == language


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-11-22",
        "Kühlschrank",
        "Atlas Budget",
        "non-existent task field",
        "task task task task task",
        "V1 e a t",
        "Sci-fi",
        "GET /api/v2",
    ],
)
def test_not_clear(text: str) -> None:
    assert clear_language(text) is None


def test_every_language_has_a_name() -> None:
    assert set(NAMES) == set(LANGUAGES)
