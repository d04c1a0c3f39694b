"""What every fragment index does, whatever it is made of; each rule is run over all implementations."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from operator import index as whole

import numpy as np
import numpy.typing as npt
import pytest

from vault_memory.errors import DimensionMismatchError, FragmentIndexError, InvalidFragmentError, QueryError
from vault_memory.index.cosine import InMemoryFragmentCosineIndex
from vault_memory.index.protocol import FragmentIndex
from vault_memory.model import EmbeddedFragment, FragmentHit, FragmentLocator, Target


class BruteForceIndex:
    """The slow reference: a dictionary, a loop over everything, one sort."""

    def __init__(self) -> None:
        self._records: dict[Target, list[tuple[FragmentLocator, npt.NDArray[np.float32]]]] = {}
        self._dimensions: int | None = None

    @property
    def record_count(self) -> int:
        """Count the records."""
        return len(self._records)

    @property
    def fragment_count(self) -> int:
        """Count the fragments."""
        return sum(map(len, self._records.values()))

    def has(self, target: Target) -> bool:
        """Look the record up."""
        return target in self._records

    def add_fragments(self, target: Target, fragments: Sequence[EmbeddedFragment]) -> int:
        """Check everything, then replace."""
        kept = []
        dimensions = self._dimensions
        for fragment in fragments:
            start, end = fragment.locator.start, fragment.locator.end
            if type(start) is not int or type(end) is not int or not 0 <= start < end < 2**63:
                raise InvalidFragmentError("no span")
            unit = _unit(fragment.vector, InvalidFragmentError)
            dimensions = dimensions or len(unit)
            if len(unit) == 0:
                raise InvalidFragmentError("empty")
            if len(unit) != dimensions:
                raise DimensionMismatchError("another width")
            kept.append((fragment.locator, unit.astype(np.float32)))
        self._records.pop(target, None)
        if kept:
            self._records[target] = kept
            self._dimensions = dimensions
        return len(kept)

    def remove(self, target: Target) -> Target:
        """Forget the record."""
        self._records.pop(target, None)
        return target

    def query(
        self,
        vector: npt.ArrayLike,
        top_k: int,
        max_per_record: int | None = None,
        *,
        scope: str | None = None,
        targets: Collection[Target] | None = None,
    ) -> list[FragmentHit]:
        """Score everything, sort, walk down under the cap."""
        for number in (top_k, max_per_record if max_per_record is not None else 1):
            if isinstance(number, bool) or not hasattr(number, "__index__") or whole(number) < 1:
                raise QueryError("no whole number")
        unit = _unit(vector, QueryError)
        if self._records and len(unit) != self._dimensions:
            raise DimensionMismatchError("another width")
        hits = [
            FragmentHit(target, locator, min(1.0, max(-1.0, round(float(row.astype(np.float64) @ unit), 12))))
            for target, fragments in self._records.items()
            for locator, row in fragments
            if not scope or f"{target.scope}/".startswith(f"{scope}/")
            if targets is None or target in targets
        ]
        answer: list[FragmentHit] = []
        for hit in sorted(hits, key=lambda hit: (-hit.score, hit.target, hit.locator)):
            taken = sum(other.target == hit.target for other in answer)
            if len(answer) < top_k and (max_per_record is None or taken < max_per_record):
                answer.append(hit)
        return answer


def _unit(vector: npt.ArrayLike, refuse: type[Exception]) -> npt.NDArray[np.float64]:
    try:
        row = np.asarray(vector)
    except ValueError as error:
        raise refuse("ragged") from error
    if row.ndim != 1 or row.dtype.kind not in "fiu" or not np.isfinite(row).all():
        raise refuse("no row of finite numbers")
    row = row.astype(np.float64)
    largest = np.abs(row).max(initial=0.0)
    if largest == 0.0:
        return row
    row = row / largest
    return np.asarray(row / np.sqrt(row @ row))


@pytest.fixture(params=[InMemoryFragmentCosineIndex, BruteForceIndex], ids=["cosine", "reference"])
def index(request: pytest.FixtureRequest) -> FragmentIndex:
    """Return an empty index of each implementation."""
    made = request.param()
    assert isinstance(made, FragmentIndex)
    return made


A, B, C = Target("", "a"), Target("notes", "b"), Target("notes/deep", "c")


def at(start: int, *vector: float) -> EmbeddedFragment:
    """Return a fragment of ten characters."""
    return EmbeddedFragment(FragmentLocator(start, start + 10), list(vector))


def places(hits: Sequence[FragmentHit]) -> list[tuple[str, int]]:
    """Return record name and start of each hit."""
    return [(hit.target.id, hit.locator.start) for hit in hits]


def test_add_returns_and_counts_what_a_record_holds(index: FragmentIndex) -> None:
    """`add_fragments` returns how many fragments the record holds; the counters and `has` agree."""
    assert index.add_fragments(A, [at(0, 1, 0), at(10, 0, 1)]) == 2
    assert (index.record_count, index.fragment_count) == (1, 2)
    assert index.has(A)
    assert not index.has(B)


def test_add_replaces_the_whole_record(index: FragmentIndex) -> None:
    """A second `add_fragments` leaves nothing of the first and touches no other record."""
    index.add_fragments(A, [at(0, 1, 0), at(10, 0, 1)])
    index.add_fragments(B, [at(0, 1, 0)])
    assert index.add_fragments(A, [at(70, 1, 1)]) == 1
    assert (index.record_count, index.fragment_count) == (2, 2)
    assert places(index.query([1, 0], 10)) == [("b", 0), ("a", 70)]


def test_empty_list_removes_the_record(index: FragmentIndex) -> None:
    """An empty list removes the record and returns 0, whether it was there or not, and sets no width."""
    assert index.add_fragments(A, []) == 0
    index.add_fragments(A, [at(0, 1, 0, 0)])
    assert index.add_fragments(A, []) == 0
    assert (index.record_count, index.fragment_count, index.has(A)) == (0, 0, False)


def test_remove_is_idempotent_and_exact(index: FragmentIndex) -> None:
    """`remove` returns the target, whether it is there or not, and takes only that scope and id."""
    index.add_fragments(Target("x", "a"), [at(0, 1)])
    index.add_fragments(Target("y", "a"), [at(0, 1)])
    for _ in range(2):
        assert index.remove(Target("x", "a")) == Target("x", "a")
    assert not index.has(Target("x", "a"))
    assert index.has(Target("y", "a"))


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (5, 5),
        (6, 5),
        (-1, 5),
        (0.0, 5),
        (0, 5.0),
        (float("nan"), 5),
        ("0", 5),
        (False, 5),
        (0, True),
        (None, 5),
        (0, 2**63),
    ],
)
def test_locator_that_is_no_span_is_refused(index: FragmentIndex, start: int, end: int) -> None:
    """Locators are integers with `0 <= start < end`; a truth value is none."""
    with pytest.raises(InvalidFragmentError):
        index.add_fragments(A, [EmbeddedFragment(FragmentLocator(start, end), [1.0])])
    assert not index.has(A)


@pytest.mark.parametrize(
    "vector",
    [[1, float("nan")], [1, float("inf")], [], [[1, 2]], 3.0, ["1", "2"], [1, None], [1j, 2], [[1], [2, 3]], None],
    ids=repr,
)
def test_vector_that_is_no_row_of_finite_numbers_is_refused(index: FragmentIndex, vector: npt.ArrayLike) -> None:
    """A vector that cannot have a direction is refused."""
    with pytest.raises(InvalidFragmentError):
        index.add_fragments(A, [EmbeddedFragment(FragmentLocator(0, 1), vector)])
    assert not index.has(A)


@pytest.mark.parametrize(
    "bad",
    [at(20, 1, 2, 3), at(20, 1), at(20, float("nan"), 1), EmbeddedFragment(FragmentLocator(3, 3), [1.0, 0.0])],
    ids=["wide", "narrow", "nan", "locator"],
)
def test_whole_list_is_checked_before_anything_changes(index: FragmentIndex, bad: EmbeddedFragment) -> None:
    """After a refused list the record is as it was."""
    index.add_fragments(A, [at(0, 1, 0), at(10, 0, 1)])
    before = index.query([1, 2], 10)
    with pytest.raises(FragmentIndexError):
        index.add_fragments(A, [at(50, 1, 1), bad])
    assert index.query([1, 2], 10) == before


def test_refused_first_list_sets_no_width(index: FragmentIndex) -> None:
    """A list whose vectors differ in width is refused, and the width stays open."""
    with pytest.raises(DimensionMismatchError):
        index.add_fragments(A, [at(0, 1, 0), at(10, 1)])
    assert index.add_fragments(A, [at(0, 1, 0, 0)]) == 1


def test_width_survives_removal_of_everything(index: FragmentIndex) -> None:
    """The first stored fragment fixes the width, and emptying the index does not forget it."""
    index.add_fragments(A, [at(0, 1, 0)])
    index.remove(A)
    with pytest.raises(DimensionMismatchError):
        index.add_fragments(A, [at(0, 1, 0, 0)])


def test_vectors_of_any_number_type_are_copied(index: FragmentIndex) -> None:
    """Lists, tuples and arrays of integers or floats are vectors, and a later change of them has no effect."""
    vector = np.array([3.0, 4.0])
    index.add_fragments(A, [EmbeddedFragment(FragmentLocator(0, 1), vector)])
    vector[:] = [1.0, 0.0]
    for number, other in enumerate(([3, 4], (3.0, 4.0), np.array([3, 4], np.uint8), np.array([3, 4], np.float16))):
        index.add_fragments(Target("b", str(number)), [EmbeddedFragment(FragmentLocator(0, 1), other)])
    assert [hit.score for hit in index.query([0.0, 1.0], 10)] == pytest.approx([0.8] * 5, abs=1e-7)


@pytest.mark.parametrize("number", [0, -1, True, False, 2.0, 1.5, float("nan"), "3", np.float64(2)])
@pytest.mark.parametrize("name", ["top_k", "max_per_record"])
def test_numbers_of_a_query_are_whole_and_positive(index: FragmentIndex, name: str, number: int) -> None:
    """`top_k` and `max_per_record` are whole numbers of at least 1, also on an empty index."""
    with pytest.raises(QueryError):
        index.query([1.0], **{"top_k": 1, name: number})


def test_missing_top_k_is_refused(index: FragmentIndex) -> None:
    """`None` bounds the hits of one record, but not the answer."""
    with pytest.raises(QueryError):
        index.query([1.0], None)  # type: ignore[arg-type] # The wrong type is what is tested.


def test_numpy_integers_are_whole_numbers(index: FragmentIndex) -> None:
    """A number may come out of an array."""
    index.add_fragments(A, [at(0, 1, 0), at(10, 0, 1)])
    assert len(index.query([1, 0], np.int64(2), np.uint8(1))) == 1  # type: ignore[arg-type] # As above.


def test_empty_index_answers_nothing_to_any_width(index: FragmentIndex) -> None:
    """An empty index returns no hits, before the width is looked at."""
    assert index.query([1.0, 2.0, 3.0], 5) == []
    index.add_fragments(A, [at(0, 1, 0)])
    index.remove(A)
    assert index.query([1.0, 2.0, 3.0], 5) == []
    assert index.query([], 5) == []


@pytest.mark.parametrize("vector", [[1.0], [1.0, 2.0, 3.0], []])
def test_query_of_another_width_is_refused(index: FragmentIndex, vector: list[float]) -> None:
    """A question from another space than the index's has no answer."""
    index.add_fragments(A, [at(0, 1, 0)])
    with pytest.raises(DimensionMismatchError):
        index.query(vector, 1)


@pytest.mark.parametrize("vector", [[1, float("nan")], [float("-inf"), 1], [[1.0, 0.0]], ["a", "b"]], ids=repr)
def test_query_that_is_no_row_of_finite_numbers_is_refused(index: FragmentIndex, vector: npt.ArrayLike) -> None:
    """A question without a direction is a `QueryError`, not an empty answer."""
    index.add_fragments(A, [at(0, 1, 0)])
    with pytest.raises(QueryError):
        index.query(vector, 1)


def test_scores_are_cosines_best_first(index: FragmentIndex) -> None:
    """Scores are the cosine of query and fragment, plain floats, and fall."""
    index.add_fragments(A, [at(0, 3, 4), at(10, -1, 0), at(20, 5, 0)])
    hits = index.query([2, 0], 10)
    assert places(hits) == [("a", 20), ("a", 0), ("a", 10)]
    assert [hit.score for hit in hits] == pytest.approx([1.0, 0.6, -1.0], abs=1e-7)
    assert all(type(hit.score) is float and -1.0 <= hit.score <= 1.0 for hit in hits)
    assert all(type(hit.locator.start) is int for hit in hits)


def test_zero_vectors_score_zero(index: FragmentIndex) -> None:
    """A zero row scores 0 to every question, and every row scores 0 to a zero question, in target order."""
    index.add_fragments(B, [at(10, 0, 0), at(0, -1, 0), at(5, 1, 0)])
    index.add_fragments(A, [at(0, 0, 0)])
    assert [(hit.target.id, hit.score) for hit in index.query([1, 0], 4)] == [("b", 1), ("a", 0), ("b", 0), ("b", -1)]
    hits = index.query([0, 0], 4)
    assert places(hits) == [("a", 0), ("b", 0), ("b", 5), ("b", 10)]
    assert {hit.score for hit in hits} == {0.0}


@pytest.mark.parametrize("factor", [1e30, 1e-30, 1e300, 1e-300, 5e-324])
def test_length_of_a_vector_does_not_matter(index: FragmentIndex, factor: float) -> None:
    """Huge and tiny vectors have the score of their direction."""
    index.add_fragments(A, [at(0, factor, factor)])
    assert index.query([1, 0], 1)[0].score == pytest.approx(0.5**0.5, abs=1e-7)
    assert index.query([factor, factor], 1)[0].score == pytest.approx(1.0, abs=1e-7)


def test_equal_scores_are_ordered_by_target_then_start(index: FragmentIndex) -> None:
    """Ties do not depend on the order in which records came."""
    for target in (C, A, B):
        index.add_fragments(target, [at(30, 1, 1), at(0, 1, 1), at(10, 2, 2)])
    assert places(index.query([1, 1], 9)) == [(name, start) for name in "abc" for start in (0, 10, 30)]
    assert places(index.query([1, 1], 4, 2)) == [("a", 0), ("a", 10), ("b", 0), ("b", 10)]


def test_negative_scores_are_answers(index: FragmentIndex) -> None:
    """The best of bad fragments are returned; whether they are good enough is not the index's question."""
    index.add_fragments(A, [at(0, -1, 0), at(10, -1, 1)])
    index.add_fragments(B, [at(0, -3, 1)])
    assert places(index.query([1, 0], 2, 1)) == [("a", 10), ("b", 0)]


def test_cap_is_applied_before_the_cut(index: FragmentIndex) -> None:
    """A record that owns the best nine of ten fragments hides no other: `top_k` hits come whenever they exist."""
    index.add_fragments(A, [at(10 * n, 100, n % 7) for n in range(900)])
    for number in range(100):
        index.add_fragments(Target("rest", f"{number:03}"), [at(0, 1, 1 + number)])
    hits = index.query([1, 0], 10, 1)
    assert places(hits) == [("a", 0), *((f"{number:03}", 0) for number in range(9))]
    assert [hit.target.id for hit in index.query([1, 0], 10, 3)[:4]] == ["a", "a", "a", "000"]


def test_bounds_beyond_the_content_have_no_effect(index: FragmentIndex) -> None:
    """`top_k` and a cap larger than the index return everything."""
    index.add_fragments(A, [at(0, 1, 0), at(10, 0, 1)])
    index.add_fragments(B, [at(0, 1, 1)])
    assert len(index.query([1, 0], 1000, 1000)) == 3
    assert len(index.query([1, 0], 10**30, 1)) == 2


def test_scope_keeps_a_folder_and_those_below(index: FragmentIndex) -> None:
    """`scope` is a folder with all below it, not a prefix of a name; `""` is everything."""
    for target in (A, B, C, Target("notes2", "d")):
        index.add_fragments(target, [at(0, 1, 0)])
    assert [hit.target.id for hit in index.query([1, 0], 9, scope="notes")] == ["b", "c"]
    assert [hit.target.id for hit in index.query([1, 0], 9, scope="notes/deep")] == ["c"]
    assert len(index.query([1, 0], 9, scope="")) == len(index.query([1, 0], 9, scope=None)) == 4
    assert index.query([1, 0], 9, scope="nowhere") == index.query([1, 0], 9, scope="note") == []


def test_targets_keep_just_those_records(index: FragmentIndex) -> None:
    """`targets` names records; unknown ones add nothing, none at all keeps nothing, and a scope narrows further."""
    for target in (A, B, C):
        index.add_fragments(target, [at(0, 1, 0)])
    index.remove(A)
    assert [hit.target for hit in index.query([1, 0], 9, targets={C, A, Target("", "never")})] == [C]
    assert index.query([1, 0], 9, targets=[]) == []
    assert [hit.target for hit in index.query([1, 0], 9, scope="notes/deep", targets=[B, C])] == [C]
    assert index.query([1, 0], 9, scope="notes/deep", targets=[B]) == []


def test_filters_are_applied_before_scoring(index: FragmentIndex) -> None:
    """Better fragments outside the filter take no place in the answer."""
    for number in range(300):
        index.add_fragments(Target("good", f"{number:03}"), [at(0, 1, 0), at(10, 1, 0)])
        index.add_fragments(Target("poor", f"{number:03}"), [at(0, 0, 1), at(10, 1, 300 + number)])
    hits = index.query([1, 0], 3, 1, scope="poor")
    assert places(hits) == [("000", 10), ("001", 10), ("002", 10)]
    assert index.query([1, 0], 1, targets=[Target("poor", "007")])[0].target.id == "007"
