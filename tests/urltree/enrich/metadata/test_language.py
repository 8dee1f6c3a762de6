"""Detection of the language of clean text."""

from __future__ import annotations

import pytest

from urltree.enrich.metadata import detect_language

TEXTS = {
    "en": "The ferry to the island leaves twice a day, and nobody knows why it is always late.",
    "de": "Die Fähre zur Insel geht zweimal am Tag, und niemand weiß, warum sie spät kommt.",
    "fr": "Le bac vers l'île part deux fois par jour, et personne ne sait pourquoi il tarde.",
    "pl": "Prom na wyspę odpływa dwa razy dziennie i nikt nie wie, dlaczego się spóźnia.",
    "ru": "Паром на остров отходит два раза в день, и никто не знает, почему он опаздывает.",
    "zh": "前往该岛的渡轮每天开两班、没有人知道它为什么总是迟到、但大家都习惯了等待。",
}


@pytest.mark.parametrize("language", TEXTS)
def test_languages_are_told_apart(language: str) -> None:
    """The language of a sentence is recognised in several scripts."""
    assert detect_language(TEXTS[language]) == language


def test_cantonese_is_chinese() -> None:
    """Cantonese counts as zh, as in ISO 639; the model confuses it with other Chinese."""
    assert detect_language("去島上嘅渡輪一日開兩班、冇人知點解成日都遲到、佢哋慣咗等。") == "zh"


@pytest.mark.parametrize("text", ["", "12 345,67 €", "Hello", "\ud800" * 50])
def test_a_text_without_words_has_no_language(text: str) -> None:
    """A text without enough words has no language, because a guess would be worthless."""
    assert detect_language(text) is None


def test_the_beginning_of_a_text_decides() -> None:
    """Only the beginning of a text is read, so that a long text takes no more time."""
    assert detect_language(TEXTS["de"] * 30 + TEXTS["en"] * 300) == "de"
