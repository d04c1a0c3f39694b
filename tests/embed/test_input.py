"""Rules of what an embedder is given for a fragment."""

from __future__ import annotations

from vault_memory.embed.input import embedding_input, vector_key


def test_names_and_headings_stand_above_the_text_once() -> None:
    """Title, aliases and headings come first, each once, and none that the text itself holds."""
    assert embedding_input("Oil it.", ("Mill", "Mill", "Gears"), ("Mill",)) == "Mill\nGears\nOil it."
    assert embedding_input("# Mill\nOil it.", ("Mill",)) == "# Mill\nOil it."


def test_comments_are_not_embedded() -> None:
    """What a reader does not see does not shape the vector."""
    assert embedding_input("Oil %%ask Jo%%it.<!-- a\nb -->").split() == ["Oil", "it."]


def test_names_give_way_to_the_text() -> None:
    """The text is never cut for the names above it."""
    assert embedding_input("0123456789", ("Heading",), max_chars=14) == "Hea\n0123456789"
    assert embedding_input("0123456789", ("Heading",), max_chars=10) == "0123456789"


def test_equal_texts_have_one_key() -> None:
    """The key depends on the embedded text alone."""
    assert vector_key("a") == vector_key("a") != vector_key("b")
