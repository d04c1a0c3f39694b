"""What comes in from outside, turned into arrays that the index can trust, or refused with the place and the reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vault_memory.errors import DimensionMismatchError, InvalidFragmentError, QueryError
from vault_memory.index.cosine.blocks import Rows, Whole
from vault_memory.index.cosine.kernel import ROWS_AT_ONCE, Scores, row_dots
from vault_memory.index.counts import as_integer
from vault_memory.model import EmbeddedFragment, Target, Vector

if TYPE_CHECKING:
    import numpy.typing as npt

# Locators are kept as 64-bit integers; a body with more characters than that cannot exist.
LARGEST_LOCATOR = 2**63 - 1
FLOATS = (np.float32, np.float64)
# Rows that claim to have length 1 may miss it by what 32-bit rounding and foreign arithmetic explain, not by more.
UNIT_TOLERANCE = 1e-3
# Squares of numbers between this and its inverse are far from both ends of a 64-bit float.
SAFE_LENGTH = 1e-100


def read_fragments(target: Target, fragments: Sequence[EmbeddedFragment], dimensions: int | None) -> Rows:
    """Check a record's fragments, of which there is at least one, and return them as rows.

    Raises:
        InvalidFragmentError: A locator is no span, or a vector is not a row of finite numbers.
        DimensionMismatchError: A vector's width is not `dimensions`, or not that of the first one.
    """
    places = [_read_span(fragment, number, target) for number, fragment in enumerate(fragments)]
    starts, ends = np.array(places, dtype=np.int64).T
    return Rows(unit_rows(_read_vectors(target, fragments, dimensions)), starts, ends)


def _read_vectors(target: Target, fragments: Sequence[EmbeddedFragment], dimensions: int | None) -> npt.NDArray[Any]:
    # Good vectors, which is nearly all of them, are checked as one matrix; only others are looked at one by one.
    matrix = _finite_matrix(fragments)
    if matrix is not None and matrix.shape[1] == (dimensions or matrix.shape[1]):
        return matrix
    vectors: list[Scores] = []
    for number, fragment in enumerate(fragments):
        where = f"fragment {number} of {target}"
        try:
            vector = read_vector(fragment.vector)
        except ValueError as error:
            raise InvalidFragmentError(f"{where}: {error}; embed its text again") from error
        dimensions = dimensions or len(vector)
        if dimensions == 0:
            raise InvalidFragmentError(f"{where}: the vector is empty; embed its text again")
        check_width(len(vector), dimensions, where)
        vectors.append(vector)
    return np.stack(vectors)


def _finite_matrix(fragments: Sequence[EmbeddedFragment]) -> npt.NDArray[Any] | None:
    try:
        matrix = np.array([fragment.vector for fragment in fragments])
    except (ValueError, TypeError):
        return None
    good = matrix.ndim == 2 and matrix.size > 0 and matrix.dtype in FLOATS and np.isfinite(matrix).all()
    return matrix if good else None


def read_vector(vector: npt.ArrayLike) -> Scores:
    """Return a vector as 64-bit numbers, shape (d,).

    Raises:
        ValueError: It is not one row of finite real numbers; the message says why.
    """
    try:
        row = np.asarray(vector)
    except (ValueError, TypeError) as error:
        raise ValueError("the vector is not one row of numbers") from error
    if row.ndim != 1:
        raise ValueError(f"the vector has shape {row.shape} where one row of numbers is needed")
    if row.dtype.kind not in "fiu":
        raise ValueError(f"the vector holds {row.dtype} where real numbers are needed")
    # A wider float than 64 bits that overflows here is refused below.
    with np.errstate(over="ignore"):
        wide: Scores = row.astype(np.float64)
    if not np.isfinite(wide).all():
        raise ValueError("the vector holds a number that is not finite")
    return wide


def read_query(vector: npt.ArrayLike) -> Scores:
    """Return a query vector as 64-bit numbers, shape (d,).

    Raises:
        QueryError: It is not one row of finite numbers.
    """
    try:
        return read_vector(vector)
    except ValueError as error:
        raise QueryError(f"query: {error}; embed the question again") from error


def read_matrix(matrix: npt.ArrayLike, *, normalized: bool) -> Vector:
    """Return rows of length 1, or zero, shape (n, d), float32; rows that claim to be so are checked and not copied.

    Raises:
        InvalidFragmentError: It is not a matrix of finite numbers, or a row that claims to have length 1 has another.
    """
    rows = np.asarray(matrix)
    if rows.ndim != 2 or rows.shape[1] == 0 or rows.dtype.kind != "f":
        raise InvalidFragmentError(f"the matrix has shape {rows.shape} of {rows.dtype}; give (rows, dimensions) floats")
    for first in range(0, len(rows), ROWS_AT_ONCE):
        part = rows[first : first + ROWS_AT_ONCE]
        good = _are_units(part) if normalized else np.isfinite(part).all(axis=1)
        if not good.all():
            row = first + int(np.argmin(good))
            wrong = "has not length 1" if normalized else "is not finite"
            raise InvalidFragmentError(f"row {row} of the matrix {wrong}; embed its text again")
    return np.ascontiguousarray(rows, dtype=np.float32) if normalized else unit_rows(rows)


def read_places(starts: npt.ArrayLike, ends: npt.ArrayLike) -> tuple[Whole, Whole]:
    """Return locators as integers, two arrays of shape (n,).

    Raises:
        InvalidFragmentError: They are not integers with `0 <= start < end`, as many ends as starts.
    """
    places = [np.asarray(starts), np.asarray(ends)]
    if any(place.ndim != 1 or place.dtype.kind not in "iu" for place in places):
        raise InvalidFragmentError("starts and ends are two rows of integers; give arrays of an integer type")
    first, last = (place.astype(np.int64) for place in places)
    if len(first) != len(last):
        raise InvalidFragmentError(f"there are {len(first)} starts and {len(last)} ends; give one of each per row")
    wrong = (first < 0) | (first >= last)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InvalidFragmentError(f"row {row}: [{first[row]}, {last[row]}) is no span; 0 <= start < end is needed")
    return first, last


def read_counts(targets: Sequence[Target], counts: npt.ArrayLike, rows: Rows) -> Whole:
    """Return how many of the rows belong to each target, shape (targets,).

    Raises:
        InvalidFragmentError: The counts are not integers of at least 1 for different targets that use up all rows.
    """
    numbers = np.asarray(counts)
    if numbers.shape != (len(targets),) or numbers.dtype.kind not in "iu" or (numbers < 1).any():
        raise InvalidFragmentError(f"counts: give an integer of at least 1 for each of the {len(targets)} targets")
    whole: Whole = numbers.astype(np.int64)
    if not whole.sum() == len(rows) == len(rows.starts):
        raise InvalidFragmentError(
            f"the counts add up to {whole.sum()}, but there are {len(rows)} vectors and {len(rows.starts)} locators"
        )
    if len(set(targets)) < len(targets):
        raise InvalidFragmentError("a target is named twice; give all fragments of a record together")
    return whole


def check_width(width: int, dimensions: int, where: str) -> None:
    """Refuse a vector of another width than the index has.

    Raises:
        DimensionMismatchError: The widths differ.
    """
    if width != dimensions:
        raise DimensionMismatchError(
            f"{where}: the vector has {width} numbers and the index {dimensions}; "
            "use the embedder that made the index, or rebuild the index"
        )


def unit_rows(rows: npt.NDArray[Any]) -> Vector:
    """Return finite rows scaled to length 1, shape (n, d), float32; a zero row stays zero."""
    units = np.empty(rows.shape, dtype=np.float32)
    for first in range(0, len(rows), ROWS_AT_ONCE):
        units[first : first + ROWS_AT_ONCE] = scaled(rows[first : first + ROWS_AT_ONCE])
    return units


def scaled(rows: npt.NDArray[Any]) -> Scores:
    """Return finite rows scaled to length 1, in 64 bits; a zero row stays zero.

    Where squares could underflow or overflow, as those of 1e-300 and 1e300 do, a power of two is taken out first. That
    loses nothing, so rows that differ only by such a factor become the same row.
    """
    wide: Scores = rows.astype(np.float64)
    with np.errstate(over="ignore"):
        lengths = np.sqrt(row_dots(wide, wide))
    if not SAFE_LENGTH < lengths.min() <= lengths.max() < 1.0 / SAFE_LENGTH:
        exponents = np.frexp(np.abs(wide).max(axis=1))[1]
        wide *= np.ldexp(1.0, -np.clip(exponents, -1000, 1000))[:, None]
        lengths = np.sqrt(row_dots(wide, wide))
        lengths[lengths == 0.0] = 1.0
    wide /= lengths[:, None]
    return wide


def _are_units(rows: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Tell of each row whether it has length 1 or is zero; one that is not finite has and is neither."""
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.einsum("ij,ij->i", rows, rows)
    units: npt.NDArray[np.bool_] = (np.abs(squares - 1.0) <= UNIT_TOLERANCE) | (squares == 0.0)
    return units


def _read_span(fragment: EmbeddedFragment, number: int, target: Target) -> tuple[int, int]:
    start, end = as_integer(fragment.locator.start), as_integer(fragment.locator.end)
    if start is None or end is None or not 0 <= start < end <= LARGEST_LOCATOR:
        raise InvalidFragmentError(
            f"fragment {number} of {target}: [{fragment.locator.start!r}, {fragment.locator.end!r}) is no span; "
            "give integers with 0 <= start < end"
        )
    return start, end
