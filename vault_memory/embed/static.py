"""The default embedder: the normalised sum of a text's token vectors, from a table that comes with the package.

No network is run and nothing is fetched. The table (`static_table/`, with its licences) was taught to imitate
bge-small-en-v1.5; `benchmarks/static_model/` makes it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from importlib.resources import files
from itertools import chain, count
from threading import Lock

import numpy as np

from vault_memory.embed.wordpiece import WordPiece, split_words
from vault_memory.model import Fingerprint, Vector

DIMENSIONS = 256
TABLE_FILE = "static-256.npz"
VOCABULARY_FILE = "vocab.txt"

# The first 12 digits of `content_digest` of the table's bytes. A test compares them, so that no start has to hash 8 MB.
TABLE_REVISION = "b12d93408f08"

# Words are summed by so many at a time: 1 MB of rows, which stays in the processor's cache.
SLICE_WORDS = 1024

# Slices are gathered to blocks of so many words, whose new words are worked out together.
BLOCK_WORDS = 4 * SLICE_WORDS

# New words are worked out by so many at a time: a word has at most 100 pieces, which makes 25 MB of rows at worst.
LEARNT_WORDS = 256

# Room for the vectors of distinct words: 64 MB when full, then it is used anew.
KEPT_WORDS = 64 * SLICE_WORDS

# English notes come to about 0.9 by this bound, German and Spanish ones to about 0.5, other scripts to 0.
KNOWN_PIECE_CHARS = 3

# Some words of a text, in order, with the text's position among the texts.
_Slice = tuple[int, list[str]]


class _WordVectors:
    """The vectors of words: one row a word, however many pieces it has, worked out when the word is first met.

    Attributes:
        pieces: The vocabulary.
    """

    def __init__(self) -> None:
        folder = files("vault_memory.embed").joinpath("static_table")
        self.pieces = WordPiece(folder.joinpath(VOCABULARY_FILE).read_text(encoding="utf-8").split("\n")[:-1])
        with folder.joinpath(TABLE_FILE).open("rb") as file, np.load(file) as stored:
            self._table, self._scale = stored["table"], stored["scale"].astype(np.float32)
        self._row_of: dict[str, int] = {}
        self._vectors = np.empty((KEPT_WORDS, DIMENSIONS), np.float32)
        self._slice = np.empty((SLICE_WORDS, DIMENSIONS), np.float32)

    def add_sums(self, block: Sequence[_Slice], sums: Vector) -> None:
        """Add to each text's row of `sums`, shape `(texts, 256)`, the vectors of the words of its slices."""
        distinct = set(chain.from_iterable(words for _, words in block))
        if len(self._row_of) + len(distinct) > KEPT_WORDS:
            self._row_of.clear()
        unmet = list(distinct.difference(self._row_of))
        for start in range(0, len(unmet), LEARNT_WORDS):
            self._learn(unmet[start : start + LEARNT_WORDS])
        for text, words in block:
            rows = np.fromiter(map(self._row_of.__getitem__, words), np.intp, len(words))
            # Only with a given output and without bounds checks does numpy copy rows straight, five times as fast.
            taken = np.take(self._vectors, rows, axis=0, out=self._slice[: len(words)], mode="clip")
            sums[text] += np.add.reduce(taken, axis=0)

    def _learn(self, words: Sequence[str]) -> None:
        """Give each of the words, none of them met before, the sum of its pieces' vectors as its row."""
        ids = [self.pieces.pieces(word) for word in words]
        lengths = np.fromiter(map(len, ids), np.intp, len(ids))
        flat = np.fromiter(chain.from_iterable(ids), np.intp)
        parts = self._table[flat] * self._scale[flat, np.newaxis]
        starts = np.cumsum(lengths) - lengths
        sums = parts[starts]
        # All second pieces, then all third ones: four times as fast as `np.add.reduceat` on rows.
        for position in range(1, int(lengths.max())):
            longer = np.flatnonzero(lengths > position)
            sums[longer] += parts[starts[longer] + position]
        first = len(self._row_of)
        self._vectors[first : first + len(words)] = sums
        self._row_of.update(zip(words, count(first)))


class StaticEmbedder:
    """Vectors of 256 dimensions from the packaged English table, by numpy alone.

    Making one costs nothing: the table is read at the first text. A text's vector depends on that text only, bit for
    bit, never on its company or on earlier texts. May be used from several threads.
    """

    fingerprint = Fingerprint("static-256", TABLE_REVISION, DIMENSIONS, normalized=True)
    max_input_chars: int | None = None

    def __init__(self) -> None:
        self._lock = Lock()
        self._loaded: _WordVectors | None = None

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        """Return one vector per text: shape `(len(texts), 256)`, float32, of length 1.

        A text without a known word has a zero row: it has no direction.
        """
        vectors = np.zeros((len(texts), DIMENSIONS), np.float32)
        for block in _blocks(texts):
            with self._lock:
                self._word_vectors().add_sums(block, vectors)
        for text in range(len(texts)):
            # One by one, and not as one product, so that the rounding cannot depend on the number of texts.
            length = math.sqrt(vectors[text].dot(vectors[text]))
            if length:
                vectors[text] /= length
        return vectors

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question, made like that of a document: shape `(256,)`, float32."""
        vector: Vector = self.embed_documents([text])[0]
        return vector

    def known_share(self, text: str) -> float:
        """Return the share of a text's words that the vocabulary really knows, in [0, 1]; 0 for a text without words.

        A word counts as known if its pieces have three or more characters on average, or if it is one ASCII letter or
        digit. Scripts of which the vocabulary has just the letters so come to 0. Punctuation is not counted.
        """
        words = [word for word in split_words(text) if any(map(str.isalnum, word))]
        with self._lock:
            pieces = self._word_vectors().pieces
        return sum(_is_known(word, pieces) for word in words) / len(words) if words else 0.0

    def _word_vectors(self) -> _WordVectors:
        """Return the word vectors, whose table is read at the first call; the caller holds the lock."""
        if self._loaded is None:
            self._loaded = _WordVectors()
        return self._loaded


def _blocks(texts: Sequence[str]) -> Iterator[list[_Slice]]:
    """Yield the words of the texts in slices, some slices at a time.

    A text is always cut at the same places, so that its sum is rounded in the same way in any company.
    """
    block: list[_Slice] = []
    size = 0
    for text, content in enumerate(texts):
        words = split_words(content)
        for start in range(0, len(words), SLICE_WORDS):
            block.append((text, words[start : start + SLICE_WORDS]))
            size += len(block[-1][1])
            if size >= BLOCK_WORDS:
                yield block
                block, size = [], 0
    yield block


def _is_known(word: str, pieces: WordPiece) -> bool:
    if len(word) == 1:
        return word.isascii()
    ids = pieces.pieces(word)
    if len(ids) == 1:
        return ids[0] != pieces.unknown
    return len(word) >= KNOWN_PIECE_CHARS * len(ids)
