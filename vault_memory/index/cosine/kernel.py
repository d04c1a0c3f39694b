"""The arithmetic of a query: one scan of a block's rows, one maximum per segment, and exact scores of a few rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vault_memory.index.cosine.blocks import Block, Numbers
from vault_memory.model import Vector

if TYPE_CHECKING:
    import numpy.typing as npt

    Scores = npt.NDArray[np.float64]
else:
    Scores = np.ndarray


# OpenBLAS may hand a matrix-vector product of 9,216 numbers or more to its threads, whose idle worker then spins for
# some 25 ms (its interface/gemv.c: 2304 times GEMM_MULTITHREAD_THRESHOLD, 4; newer releases begin later). Smaller
# products stay on the calling thread.
BLAS_NUMBERS = 9_215
# Gathering a row that a filter keeps and reading it then costs some four times as much as reading rows in order, so
# below this share of a block's rows it is the cheaper way.
GATHER_SHARE = 0.2
# Rows scored exactly at once, so that their 64-bit products stay in the cache.
ROWS_AT_ONCE = 256
# Sums that differ only in the order of their additions differ by less than this, and so become equal scores.
SCORE_DECIMALS = 12


def segment_max(block: Block, query: Vector, segments: Numbers | None = None) -> Vector:
    """Return the largest scan score of each segment of a block, shape (segments,), float32.

    This is the one hot seam: a faster kernel may take its place if its scores stay within `scan_error`.

    Args:
        block: The rows; at least one.
        query: Unit or zero vector, shape (d,).
        segments: Numbers of the wanted segments, rising, at least one; `None` for all.
    """
    if segments is not None and rows_read(block, segments) < block.used:
        lengths = block.lengths[segments]
        return _maxima(scan(block.rows_of(segments).vectors, query), lengths.cumsum() - lengths)
    maxima = _maxima(scan(block.rows.vectors, query), block.bounds[:-1])
    return maxima if segments is None else maxima[segments]


def rows_read(block: Block, segments: Numbers | None) -> int:
    """Return how many rows `segment_max` reads for some segments, or for all."""
    if segments is None:
        return block.used
    kept = int(block.lengths[segments].sum())
    return kept if kept < GATHER_SHARE * block.used else block.used


def scan(rows: Vector, query: Vector) -> Vector:
    """Return the products of contiguous rows with the query, shape (n,), float32, on the calling thread alone."""
    count, width = rows.shape
    # A power of two, so that a full block leaves no rest.
    tile = 1 << (max(1, BLAS_NUMBERS // width).bit_length() - 1)
    tiled = count - count % tile
    scores = np.empty(count, dtype=np.float32)
    np.matmul(rows[:tiled].reshape(-1, tile, width), query, out=scores[:tiled].reshape(-1, tile))
    if tiled < count:
        np.matmul(rows[tiled:], query, out=scores[tiled:])
    return scores


def scan_error(dimensions: int) -> float:
    """Return how far a scan score may lie from the exact score of the same row.

    A float32 product of two rows of length 1 misses by at most `d * u / (1 - d * u)` whatever the order of its
    additions, with u = 2**-24 (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1, and
    Cauchy-Schwarz); rounding the query, lifting the scores for their maxima, and clipping and rounding the exact score
    add less than 6 u.
    """
    return 1.01 * (dimensions + 6) * 2.0**-24


def exact_scores(rows: Vector, query: Scores) -> Scores:
    """Return the cosines that hits carry, shape (n,), in [-1, 1]; equal rows get equal scores, wherever they lie."""
    scores = np.empty(len(rows))
    for first in range(0, len(rows), ROWS_AT_ONCE):
        part = slice(first, first + ROWS_AT_ONCE)
        scores[part] = row_dots(rows[part], query)
    # Adding zero turns -0.0 into 0.0.
    return np.minimum(np.maximum(scores.round(SCORE_DECIMALS), -1.0), 1.0) + 0.0


def row_dots(left: npt.NDArray[Any], right: Scores) -> Scores:
    """Return the product of each row of `left` with `right`, one row or as many, multiplied and added in 64 bits.

    Each row is added up by itself, in an order that depends on its width alone, which a BLAS product does not promise.
    """
    products: Scores = left * right
    sums: Scores = np.add.reduce(products, axis=1)
    return sums


def _maxima(scores: Vector, firsts: Numbers) -> Vector:
    """Return the largest score of each segment; `scores` is used up.

    Positive floats are ordered like their bits, and numpy's `reduceat` of integers takes half the time of that of
    floats. So the scores, which are not below -1 by more than rounding, are lifted above 0 first.
    """
    scores += 2.0
    lifted = np.maximum.reduceat(scores.view(np.int32), firsts)
    maxima: Vector = lifted.view(np.float32) - np.float32(2.0)
    return maxima
