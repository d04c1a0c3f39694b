"""The fragment index of one process: exact cosine over unit rows in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from vault_memory.errors import ConfigError
from vault_memory.index.cosine.arena import Arena
from vault_memory.index.cosine.blocks import BLOCK_ROWS, Rows, Run, Whole
from vault_memory.index.cosine.checks import (
    check_width,
    read_counts,
    read_fragments,
    read_matrix,
    read_places,
    read_query,
    scaled,
)
from vault_memory.index.cosine.rebuild import Embed, Listed, OnRecordError, RebuildError, RebuildReport, fill, list_all
from vault_memory.index.cosine.roster import Roster
from vault_memory.index.cosine.search import State, search
from vault_memory.index.cosine.selection import Wanted
from vault_memory.index.counts import whole_number
from vault_memory.model import EmbeddedFragment, FragmentHit, Target

if TYPE_CHECKING:
    import numpy.typing as npt


class InMemoryFragmentCosineIndex:
    """Many vectors per record, each with a locator; answers are exact and deterministic.

    Vectors are scaled to length 1 on the way in, in 64 bits, and kept as float32; a zero vector scores 0. The width is
    fixed by the first stored fragment, outlives the removal of everything, and is forgotten only by `rebuild`.

    Any number of threads may query while others write: writes run one after the other, each publishes a new `State`
    when it is complete, and a query reads one state from its beginning to its end.

    Example:
        >>> from vault_memory.model import EmbeddedFragment, FragmentLocator, Target
        >>> index = InMemoryFragmentCosineIndex()
        >>> spans = FragmentLocator(0, 9), FragmentLocator(9, 20)
        >>> index.add_fragments(Target("garden", "water"), list(map(EmbeddedFragment, spans, [[1, 0], [3, 4]])))
        2
        >>> [(hit.locator.start, round(hit.score, 6)) for hit in index.query([0, 1], top_k=2)]
        [(9, 0.8), (0, 0.0)]
    """

    def __init__(self, dimensions: int | None = None, *, block_rows: int = BLOCK_ROWS) -> None:
        """Make an empty index.

        Args:
            dimensions: Width of its vectors, if it shall be fixed from the start.
            block_rows: Capacity of a block; smaller ones are compacted sooner and scanned slower.

        Raises:
            ConfigError: A number is below 1.
        """
        for name, value in (("dimensions", dimensions), ("block_rows", block_rows)):
            if value is not None and value < 1:
                raise ConfigError(f"{name} is {value!r}; give a whole number of at least 1")
        self._fixed_dimensions = dimensions
        self._block_rows = block_rows
        self._roster = Roster()
        self._state = State(dimensions=dimensions)
        # One writer at a time; a writer may be called back by the embedding that it waits for.
        self._writing = threading.RLock()
        # Held while roster and state change together, and while a query takes both: microseconds for one record.
        self._publishing = threading.Lock()

    @property
    def dimensions(self) -> int | None:
        """Width of the vectors, once known."""
        return self._state.dimensions

    @property
    def record_count(self) -> int:
        """Number of records that hold at least one fragment."""
        return self._state.records

    @property
    def fragment_count(self) -> int:
        """Number of fragments held."""
        return self._state.fragments

    def has(self, target: Target) -> bool:
        """Tell whether the record holds at least one fragment."""
        with self._publishing:
            return self._roster.find(target) is not None

    def add_fragments(self, target: Target, fragments: Sequence[EmbeddedFragment]) -> int:
        """Replace all fragments of a record, all or nothing; an empty list removes it. Return how many it now holds.

        Raises:
            InvalidFragmentError: A locator is no span, or a vector is not a row of finite numbers.
            DimensionMismatchError: A vector has another width than the index, or than the first one.
        """
        with self._writing:
            if not len(fragments):
                self.remove(target)
                return 0
            rows = read_fragments(target, fragments, self.dimensions)
            self._replace([target], np.array([len(rows)]), rows)
        return len(rows)

    def load(
        self,
        targets: Sequence[Target],
        counts: npt.ArrayLike,
        starts: npt.ArrayLike,
        ends: npt.ArrayLike,
        matrix: npt.ArrayLike,
        *,
        normalized: bool = True,
    ) -> int:
        """Replace all fragments of many records at once, all or nothing, from arrays; return how many were added.

        Args:
            targets: The records, each once.
            counts: Number of fragments of each record, shape (records,), at least 1.
            starts: Locator starts of all fragments, record after record, shape (n,).
            ends: Locator ends, shape (n,).
            matrix: Vectors, shape (n, d), of a float type; the index keeps a copy.
            normalized: Whether the rows have length 1 or are zero, which is then checked instead of made so.

        Raises:
            InvalidFragmentError: The arrays do not fit together, or a row is not what it has to be.
            DimensionMismatchError: The matrix has another width than the index.
        """
        with self._writing:
            rows = Rows(read_matrix(matrix, normalized=normalized), *read_places(starts, ends))
            numbers = read_counts(targets, counts, rows)
            if len(targets):
                check_width(rows.vectors.shape[1], self.dimensions or rows.vectors.shape[1], "the matrix")
                self._replace(targets, numbers, rows)
        return len(rows)

    def remove(self, target: Target) -> Target:
        """Drop a record's fragments, if it has any; return the target."""
        with self._writing:
            found = self._roster.find(target)
            if found is not None:
                arena = Arena(self._state.blocks, self._state.open, self._block_rows)
                gone = arena.drop(*found)
                self._commit(arena, self.dimensions, records=-1, fragments=-gone, leaving=[target])
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
        """Return the `top_k` best fragments by cosine, at most `max_per_record` of one record, best first.

        Equal scores are ordered by target, then start. Scores are in [-1, 1]; those that differ by less than the
        rounding of their sums are equal.

        Args:
            vector: The question, shape (d,); its length does not matter, and a zero vector scores 0 everywhere.
            top_k: Number of hits wanted; fewer are returned only if there are no more.
            max_per_record: Largest number of hits of one record; `None` for no bound.
            scope: Keeps records of that folder and the folders below it; `""` and `None` keep all.
            targets: Keeps just those records.

        Raises:
            QueryError: A number is not a whole one of at least 1, or the vector is not a row of finite numbers.
            DimensionMismatchError: The vector has another width than an index that is not empty.
        """
        top_k = whole_number(top_k, "top_k")
        cap = top_k if max_per_record is None else min(top_k, whole_number(max_per_record, "max_per_record"))
        question = read_query(vector)
        with self._publishing:
            state = self._state
            kept = self._roster.keep(scope, targets)
        if state.fragments == 0:
            return []
        check_width(len(question), state.dimensions or len(question), "query")
        return search(state, scaled(question[None])[0], Wanted(top_k, cap), kept)

    def rebuild(
        self,
        list_records: Callable[[], Iterable[Listed]],
        embed: Embed[Listed],
        *,
        on_record_error: OnRecordError = "fail",
    ) -> RebuildReport:
        """Forget everything, the width too (but for one given at construction), and index what is listed.

        The new content is made beside the old, which answers queries until it is complete. A failed listing leaves
        the index as it was; a later failure leaves it empty.

        Args:
            list_records: Gives the records, in whatever form `embed` takes.
            embed: Gives a record's target and its embedded fragments; none of them declines the record.
            on_record_error: `"fail"` ends at the first record that fails; `"skip"` goes on and lists it in the report.

        Raises:
            RebuildError: The listing or, under `"fail"`, a record failed; it carries the report.
            ConfigError: `on_record_error` is unknown.

        Example:
            >>> from vault_memory.model import EmbeddedFragment, FragmentLocator, Target
            >>> index = InMemoryFragmentCosineIndex()
            >>> def embed(name):
            ...     return Target("", name), [EmbeddedFragment(FragmentLocator(0, len(name)), [1.0, float(len(name))])]
            >>> index.rebuild(lambda: ["rye", "barley"], embed).fragments
            2
        """
        with self._writing:
            records = list_all(list_records, on_record_error)
            fresh = self._empty()
            try:
                report = fill(fresh, records, embed, on_record_error)
            except RebuildError:
                self._take_over(self._empty())
                raise
            self._take_over(fresh)
        return report

    def _empty(self) -> InMemoryFragmentCosineIndex:
        return InMemoryFragmentCosineIndex(self._fixed_dimensions, block_rows=self._block_rows)

    def _take_over(self, other: InMemoryFragmentCosineIndex) -> None:
        with self._publishing:
            self._roster, self._state = other._roster, other._state

    def _replace(self, targets: Sequence[Target], counts: Whole, rows: Rows) -> None:
        with self._publishing:
            known = [found for found in map(self._roster.find, targets) if found is not None]
            numbers = np.fromiter(map(self._roster.enter, targets), dtype=np.int32, count=len(targets))
        arena = Arena(self._state.blocks, self._state.open, self._block_rows)
        gone = sum(arena.drop(number, home) for number, home in known)
        arena.place(Run(rows, numbers, counts))
        self._commit(arena, rows.vectors.shape[1], records=len(targets) - len(known), fragments=len(rows) - gone)

    def _commit(
        self, arena: Arena, dimensions: int | None, *, records: int, fragments: int, leaving: Sequence[Target] = ()
    ) -> None:
        """Show queries what a write made; `records` and `fragments` are how many there are more than before."""
        with self._publishing:
            self._roster.settle(arena.homes)
            for target in leaving:
                self._roster.leave(target)
            records, fragments = self._state.records + records, self._state.fragments + fragments
            self._state = State(arena.blocks, arena.open, self._roster.targets, dimensions, records, fragments)
