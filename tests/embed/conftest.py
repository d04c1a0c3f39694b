"""The packaged vocabulary, read once."""

from importlib.resources import files

import pytest

from vault_memory.embed.static import VOCABULARY_FILE
from vault_memory.embed.wordpiece import WordPiece


@pytest.fixture(scope="session")
def packaged_pieces() -> WordPiece:
    """Return the vocabulary of the default embedder."""
    path = files("vault_memory.embed").joinpath("static_table", VOCABULARY_FILE)
    return WordPiece(path.read_text(encoding="utf-8").split("\n")[:-1])
