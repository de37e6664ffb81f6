"""Hostile text cannot steer a terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlprof.model.clean import clean_text

ANY_TEXT = st.text(st.characters(exclude_categories=()))  # lone surrogates included


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("plain name", "plain name"),
        ("größe 学習", "größe 学習"),
        ("\x1b[31mred", "␛[31mred"),
        ("a\nb\tc\r", "a␊b␉c␍"),
        ("nul\x00", "nul␀"),
        ("\x9b31m", "\\x9b31m"),
        ("\x7f", "␡"),
        ("\ud800", "\\ud800"),
        ("\u202eexe.txt", "\\u202eexe.txt"),
        ("\u2028", "\\u2028"),
        ("\U000e0001", "\\U000e0001"),
    ],
)
def test_what_a_terminal_would_obey_is_shown_instead(hostile: str, shown: str) -> None:
    assert clean_text(hostile) == shown


@given(ANY_TEXT, st.integers(min_value=0, max_value=50))
def test_clean_text_holds_no_control_character_and_keeps_its_limit(text: str, limit: int) -> None:
    cleaned = clean_text(text, limit)
    assert len(cleaned) <= limit
    assert not {unicodedata.category(character) for character in cleaned} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    cleaned.encode("utf-8")


@given(ANY_TEXT)
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    assert clean_text(clean_text(text)) == clean_text(text)


def test_a_text_that_is_too_long_says_that_it_was_cut() -> None:
    assert clean_text("x" * 10, 5) == "xxxx…"
    assert clean_text("x" * 5, 5) == "xxxxx"
