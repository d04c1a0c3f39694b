"""Cutting text into the pieces of the vocabulary."""

import json
import unicodedata
from pathlib import Path

import pytest

from vault_memory.embed.wordpiece import WordPiece, split_words

VOCABULARY = ["[UNK]", "[SEP]", "un", "##known", "##k", "known", "a", "##b", "[", "]", "sep", ".", "東", "e", "σ"]
REFERENCE = json.loads((Path(__file__).parent / "tokenize_reference.json").read_text(encoding="utf-8"))["cases"]


def pieces_of(text: str) -> list[str]:
    """Return the pieces of a text in the small vocabulary."""
    return [VOCABULARY[number] for number in WordPiece(VOCABULARY).encode(text)]


@pytest.mark.parametrize("case", REFERENCE, ids=lambda case: ascii(case["text"])[:40])
def test_reference_cases(case: dict[str, object], packaged_pieces: WordPiece) -> None:
    """The ids of every reference string are those of the reference implementation."""
    assert packaged_pieces.encode(str(case["text"])) == case["ids"]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("unknown", ["un", "##known"]),
        ("known", ["known"]),
        ("unk", ["un", "##k"]),
        ("unx", ["[UNK]"]),
        ("a" + "b" * 99, ["a"] + ["##b"] * 99),
        ("a" + "b" * 100, ["[UNK]"]),
        ("", []),
        (" \t\r\n", []),
    ],
)
def test_longest_piece_from_the_left(text: str, pieces: list[str]) -> None:
    """A word takes the longest piece each time, and is unknown as a whole if a rest is not covered or it is too long."""
    assert pieces_of(text) == pieces


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("a.a", ["a", ".", "a"]),
        ("a東a", ["a", "東", "a"]),
        ("[SEP]", ["[", "sep", "]"]),
        ("É e\u0301", ["e", "e"]),
        ("a\u0000\u00ad\ue000\ufffd\x1c\x85b", ["a", "##b"]),
        ("a\u00a0a\u2028a\u3000a", ["a", "a", "a", "a"]),
        ("ΣΣ", ["[UNK]"]),
        ("Σ", ["σ"]),
        ("a\ud800", ["[UNK]"]),
    ],
)
def test_normalising(text: str, pieces: list[str]) -> None:
    """Punctuation and ideographs stand alone, accents and controls go, white space parts, letters are lower-cased."""
    assert pieces_of(text) == pieces


def test_lower_case_is_letter_by_letter() -> None:
    """A final sigma becomes the same letter as any other."""
    assert split_words("ΣΊΣΥΦΟΣ") == ["σισυφοσ"]


def test_marks_that_canonical_order_moves(packaged_pieces: WordPiece) -> None:
    """No piece holds a combining character that stays after normalising, so their order cannot matter."""
    characters = set("".join(packaged_pieces.ids))
    assert not [char for char in characters if unicodedata.combining(char)]


def test_characters_of_every_plane(packaged_pieces: WordPiece) -> None:
    """Any code point, surrogates included, may stand in a text; more of them than are remembered too."""
    text = " ".join(map(chr, range(0x20, 0x110000, 7)))
    assert len(packaged_pieces.encode(text)) > 0x110000 // 8
