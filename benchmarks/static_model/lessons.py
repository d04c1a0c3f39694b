"""What a table is trained on: the taught texts as bags of tokens, their pairs, and the measures of a table."""

from __future__ import annotations

import hashlib
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from passages import Text, load_texts
from teacher import VECTORS_FILE, Vectors, load_tokenizer

Integers = npt.NDArray[np.int64]

UNKNOWN = 100
NEAREST = 10
HELD_OUT_TEXTS = 5000


class Bags:
    """The token ids of many texts, one after the other; a text without tokens is one unknown token."""

    def __init__(self, ids: Sequence[Sequence[int]]) -> None:
        filled = [row or [UNKNOWN] for row in ids]
        self.ids = np.concatenate([np.asarray(row, np.int64) for row in filled])
        self.offsets = np.concatenate([[0], np.cumsum([len(row) for row in filled])]).astype(np.int64)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, texts: Integers) -> tuple[Integers, Integers]:
        """Return the ids of some texts, and where each of them starts."""
        lengths = self.offsets[texts + 1] - self.offsets[texts]
        starts = np.concatenate([[0], np.cumsum(lengths[:-1])]).astype(np.int64)
        return self.ids[np.repeat(self.offsets[texts] - starts, lengths) + np.arange(lengths.sum())], starts

    def embed(self, table: Vectors, texts: Integers) -> Vectors:
        """Return the normalised sums of the table's rows."""
        ids, starts = self.take(texts)
        sums = np.add.reduceat(table[ids], starts, axis=0)
        return sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)

    def document_frequencies(self, size: int) -> Integers:
        """Return in how many texts each token is."""
        frequencies = np.zeros(size, np.int64)
        for start, end in pairwise(self.offsets):
            frequencies[np.unique(self.ids[start:end])] += 1
        return frequencies


@dataclass(frozen=True)
class Lessons:
    """Texts that the teacher has read.

    Attributes:
        bags: Their tokens.
        vectors: The teacher's, shape `(n, 384)`.
        frequencies: In how many texts each token is.
        training: Positions of the texts to learn from.
        held_out: Positions of the texts to measure with: of 2 % of the paragraphs, at most 5,000.
        neighbours: Pairs of passages that follow each other in a paragraph.
        headed: Pairs of a heading and a passage under it.
    """

    bags: Bags
    vectors: Vectors
    frequencies: Integers
    training: Integers
    held_out: Integers
    neighbours: Integers
    headed: Integers


def load_lessons(options: Namespace) -> Lessons:
    """Return all texts that the teacher has read so far."""
    taught = np.load(options.work / VECTORS_FILE, mmap_mode="r")
    kept = np.flatnonzero(np.asarray(taught[:, :8]).any(axis=1))
    all_texts = load_texts(options.work)
    texts = [all_texts[place] for place in kept]
    tokenizer = load_tokenizer(options.teacher)
    encodings = tokenizer.encode_batch_fast([text["text"] for text in texts], add_special_tokens=False)
    bags = Bags([encoding.ids for encoding in encodings])
    held_out = np.array([is_held_out(text) for text in texts])
    return Lessons(
        bags=bags,
        vectors=np.asarray(taught[kept], np.float32),
        frequencies=bags.document_frequencies(tokenizer.get_vocab_size()),
        training=np.flatnonzero(~held_out),
        held_out=np.flatnonzero(held_out)[:HELD_OUT_TEXTS],
        neighbours=neighbour_pairs(texts),
        headed=heading_pairs(texts),
    )


def is_held_out(text: Text) -> bool:
    """Tell whether a text's paragraph, with all its passages, is one of the 2 % that only measure."""
    digest = hashlib.blake2b((text["group"] or text["text"]).encode(), digest_size=4).digest()
    return int.from_bytes(digest) % 50 == 0


def neighbour_pairs(texts: Sequence[Text]) -> Integers:
    """Return pairs of positions of passages that follow each other in one paragraph: shape `(n, 2)`."""
    groups: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        if text["group"]:
            groups.setdefault(text["group"], []).append(place)
    pairs = [pair for places in groups.values() for pair in pairwise(places)]
    return np.array(pairs, np.int64).reshape(-1, 2)


def heading_pairs(texts: Sequence[Text]) -> Integers:
    """Return pairs of positions of a heading and a passage under it: shape `(n, 2)`."""
    place_of = {text["text"].lower(): place for place, text in enumerate(texts) if text.get("query")}
    headings = [text["heading"].lower() for text in texts]
    pairs = [(place_of[heading], place) for place, heading in enumerate(headings) if heading in place_of]
    return np.array(pairs, np.int64).reshape(-1, 2)


def nearest(vectors: Vectors) -> Integers:
    """Return the positions of each row's ten nearest other rows."""
    similarities = vectors @ vectors.T
    np.fill_diagonal(similarities, -2)
    return np.argpartition(-similarities, NEAREST, axis=1)[:, :NEAREST]


def measure(table: Vectors, lessons: Lessons, wanted: Vectors) -> dict[str, float]:
    """Measure a table on the held-out texts.

    Returns:
        `cosine` to the teacher's vector; `nearest`: share of the teacher's ten nearest that the table finds;
        `paragraph` and `teacher_paragraph`: how often the next passage of the paragraph is among the ten nearest.
    """
    own, teachers = lessons.bags.embed(table, lessons.held_out), wanted[lessons.held_out]
    found, expected = nearest(own), nearest(teachers)
    shared = [len(np.intersect1d(*both)) / NEAREST for both in zip(found, expected, strict=True)]
    place_of = {text: place for place, text in enumerate(lessons.held_out)}
    pairs = [(place_of[a], place_of[b]) for a, b in lessons.neighbours if a in place_of and b in place_of]
    figures = {
        "cosine": (own * teachers[:, : own.shape[1]]).sum(axis=1).mean(),
        "nearest": np.mean(shared),
        "paragraph": np.mean([b in found[a] for a, b in pairs]) if pairs else 0.0,
        "teacher_paragraph": np.mean([b in expected[a] for a, b in pairs]) if pairs else 0.0,
    }
    return {name: round(float(figure), 4) for name, figure in figures.items()}
