r"""Rules of line numbers: a line ends at `\n`, `\r\n` or `\r` only."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from vault_memory.markdown.line_numbers import count_line_ends, line_ranges

texts = st.text(alphabet="ab \n\r\x0b\x0c\x85\u2028", max_size=40)


def lines_by_hand(text: str) -> list[int]:
    """The 1-based line of each character, counted one by one."""
    numbers, line = [], 1
    for position, character in enumerate(text):
        numbers.append(line)
        ends = character == "\n" or (character == "\r" and text[position + 1 : position + 2] != "\n")
        line += ends
    return numbers


@given(texts)
def test_form_feeds_and_their_kind_end_no_line(text: str) -> None:
    """Only the three line ends count."""
    assert count_line_ends(text) == len(re.findall(r"\r\n|\r|\n", text))


@given(texts, st.data())
def test_spans_get_the_lines_of_their_first_and_last_character(text: str, data: st.DataObject) -> None:
    """The lines of a span are those of its first and last character, wherever it lies."""
    if not text:
        return
    starts = sorted(data.draw(st.lists(st.integers(0, len(text) - 1), min_size=1, max_size=4)))
    spans = [(start, data.draw(st.integers(start + 1, len(text)))) for start in starts]
    numbers = lines_by_hand(text)
    expected = [(numbers[start] + 3, numbers[end - 1] + 3) for start, end in spans]
    assert line_ranges(text, spans, lines_before=3) == expected
