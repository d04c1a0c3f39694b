"""Text to the pieces of BERT's uncased vocabulary: the longest piece from the left, word by word.

The rules are those of Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers" (2018), whose vocabulary
the static table uses: controls are dropped, accents too, letters are lower-cased one by one, every punctuation
character and every CJK ideograph is a word of its own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

MAX_WORD_CHARS = 100
UNKNOWN = "[UNK]"
CONTINUED = "##"

# So many characters of a word tell how long a piece may be that starts with them, which spares most of the tries.
# If no piece does, only a shorter one can fit.
OPENING_CHARS = 3
SHORTER = OPENING_CHARS - 1

_IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
_DROPPED_CATEGORIES = frozenset({"Cc", "Cf", "Co"})
_REPLACEMENT_CHARACTER = "\ufffd"

# Everything but printable ASCII and its white space. Such runs are seldom in most notes, so that the rest of a text
# passes through two compiled expressions and one `str.lower`, never through a loop of ours.
_ODD_RUN = re.compile(r"[^\t\n\r -~]+")
_WORD = re.compile(r"[^\t\n\r !-/:-@\[-`{-~]+|[!-/:-@\[-`{-~]")


class _PlainForms(dict[int, str]):
    """What each character outside printable ASCII becomes, worked out when it is first met.

    The canonical order of combining marks needs no thought: the marks that it moves are dropped, but for a few of
    category Mc which no piece of the vocabulary holds, and a word with one of those is unknown in any order.
    """

    LIMIT = 1 << 16

    def __missing__(self, code: int) -> str:
        form = _plain_form(chr(code))
        if len(self) < self.LIMIT:
            self[code] = form
        return form


def _plain_form(char: str) -> str:
    """Return a character as BERT's normaliser leaves it, with spaces round it if it is a word of its own."""
    category = unicodedata.category(char)
    if category in _DROPPED_CATEGORIES or char == _REPLACEMENT_CHARACTER:
        return ""
    if char.isspace():
        return " "
    decomposed = unicodedata.normalize("NFD", char)
    form = "".join(part.lower() for part in decomposed if unicodedata.category(part) != "Mn")
    stands_alone = category.startswith("P") or any(first <= ord(char) <= last for first, last in _IDEOGRAPHS)
    return f" {form} " if stands_alone else form


_PLAIN_FORMS = _PlainForms()


def split_words(text: str) -> list[str]:
    """Return the normalised words of a text in order; punctuation characters and ideographs are words too."""
    plain = _ODD_RUN.sub(lambda run: run[0].translate(_PLAIN_FORMS), text)
    words: list[str] = _WORD.findall(plain.lower())
    return words


class WordPiece:
    """A vocabulary of pieces, and the cutting of words into them.

    Args:
        vocabulary: The pieces; a piece's position is its id. Pieces that go on within a word start with `##`.
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self.ids = {piece: number for number, piece in enumerate(vocabulary)}
        self.unknown = self.ids[UNKNOWN]
        self._longest: dict[str, int] = {}
        for piece in vocabulary:
            mark = len(CONTINUED) if piece.startswith(CONTINUED) else 0
            opening = piece[: mark + OPENING_CHARS]
            self._longest[opening] = max(self._longest.get(opening, SHORTER), len(piece) - mark)

    def pieces(self, word: str) -> list[int]:
        """Return the ids of the pieces that cover a normalised word, or just the unknown id if none do.

        A word of more than 100 characters is unknown, as in the reference implementation; this bounds the work.
        """
        if len(word) > MAX_WORD_CHARS:
            return [self.unknown]
        ids: list[int] = []
        start, prefix = 0, ""
        while start < len(word):
            reach = self._longest.get(prefix + word[start : start + OPENING_CHARS], SHORTER)
            for end in range(min(len(word), start + reach), start, -1):
                number = self.ids.get(prefix + word[start:end])
                if number is not None:
                    break
            else:
                return [self.unknown]
            ids.append(number)
            start, prefix = end, CONTINUED
        return ids

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text's pieces in order, without any special piece added.

        A special piece written in the text, such as `[SEP]`, is plain text.
        """
        return [number for word in split_words(text) for number in self.pieces(word)]
