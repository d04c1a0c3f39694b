"""Forms of one English word meet, other words do not."""

from __future__ import annotations

import pytest

from vault_memory.index.lexical.stems import stem


@pytest.mark.parametrize(
    "forms",
    [
        "water waters watering watered",
        "move moves moving moved",
        "run runs running",
        "plan plans planning planned",
        "create creates creating created",
        "change changes changing changed",
        "study studies studied",
        "box boxes",
        "match matches matching matched",
        "class classes",
        "size sizes sizing sized",
        "tell tells telling",
        "evolve evolves evolving evolved",
        "note notes noting noted",
        "embed embeds embedding embedded",
        "cache caches caching cached",
    ],
)
def test_forms_of_a_word_meet(forms: str) -> None:
    """Plural, -ing and -ed forms have the stem of the word itself."""
    assert len({stem(form) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("note", "not"),
        ("news", "new"),
        ("evening", "even"),
        ("string", "str"),
        ("thing", "the"),
        ("plane", "plan"),
        ("hoping", "hopping"),
        ("need", "ne"),
        ("hundred", "hundr"),
        ("lens", "len"),
    ],
)
def test_other_words_stay_apart(one: str, other: str) -> None:
    """Cutting an ending does not turn a word into an unrelated one."""
    assert stem(one) != stem(other)


@pytest.mark.parametrize(
    "word", ["as", "bus", "gas", "this", "glass", "virus", "king", "bring", "shed", "speed", "red"]
)
def test_what_only_looks_like_an_ending_stays(word: str) -> None:
    """Short words, and -ss -us -is -eed, are kept."""
    assert stem(word) == word


@pytest.mark.parametrize(
    ("word", "expected"), [("ties", "tie"), ("tied", "tied"), ("flies", "fly"), ("buzzes", "buzz")]
)
def test_short_words_in_ies_and_zzes(word: str, expected: str) -> None:
    """`-ies` is a plural of `-y` only in words of five letters or more."""
    assert stem(word) == expected
