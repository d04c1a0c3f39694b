"""The word pieces are those of the `tokenizers` package, on any text."""

import sys
import unicodedata
from importlib.resources import as_file, files
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.embed.static import VOCABULARY_FILE
from vault_memory.embed.wordpiece import WordPiece

tokenizers = pytest.importorskip("tokenizers")

# All that have a meaning, and of the hundreds of thousands without one or for private use every 64th.
CHARACTERS = [
    char
    for char in map(chr, range(sys.maxunicode + 1))
    if (category := unicodedata.category(char)) != "Cs" and (category not in ("Cn", "Co") or ord(char) % 64 == 0)
]
RESOURCE = files("vault_memory.embed").joinpath("static_table", VOCABULARY_FILE)
PIECES = WordPiece(RESOURCE.read_text(encoding="utf-8").split("\n")[:-1])


def make_oracle() -> Any:
    """Return BERT's uncased tokenizer over the packaged vocabulary; `[SEP]` written in a text is plain text."""
    with as_file(RESOURCE) as vocabulary:
        oracle = tokenizers.BertWordPieceTokenizer(str(vocabulary), lowercase=True)
    oracle._tokenizer.encode_special_tokens = True
    return oracle


ORACLE = make_oracle()


def oracle_ids(texts: list[str]) -> list[list[int]]:
    """Return the oracle's ids of each text."""
    return [encoding.ids for encoding in ORACLE.encode_batch(texts, add_special_tokens=False)]


def is_settled(char: str) -> bool:
    """Tell whether the character has had its category since Unicode 3.2, so that no table of either side differs."""
    return unicodedata.category(char) == unicodedata.ucd_3_2_0.category(char) != "Cn"


SETTLED = [char for char in CHARACTERS if is_settled(char)]
ODD = [char for char in SETTLED if unicodedata.category(char)[0] in "MZPC" or unicodedata.decomposition(char)]
ASCII = CHARACTERS[:128]


def test_every_character() -> None:
    """Each character between two letters gives the oracle's ids, unless a later Unicode gave it another category."""
    texts = [f"a{char}b" for char in CHARACTERS]
    differing = [
        char for char, text, ids in zip(CHARACTERS, texts, oracle_ids(texts), strict=True) if PIECES.encode(text) != ids
    ]
    assert not [hex(ord(char)) for char in differing if is_settled(char)]
    assert len(differing) < 1000


@given(st.lists(st.one_of(*(st.sampled_from(pool) for pool in (ASCII, ODD, SETTLED)), st.just(" ")), max_size=60))
def test_any_text(characters: list[str]) -> None:
    """Any text of settled characters, of all planes, gives the oracle's ids."""
    text = "".join(characters)
    assert [PIECES.encode(text)] == oracle_ids([text])


@given(
    st.lists(st.sampled_from([piece.removeprefix("##") for piece in PIECES.ids]), max_size=12),
    st.sampled_from(["", " ", "-"]),
)
def test_pieces_put_together(pieces: list[str], glue: str) -> None:
    """Words made of the vocabulary's own pieces are cut as the oracle cuts them."""
    text = glue.join(pieces)
    assert [PIECES.encode(text)] == oracle_ids([text])
