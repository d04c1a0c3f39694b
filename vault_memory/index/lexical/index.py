"""The lexical index: BM25 over fragments, with their titles, aliases and headings."""

from __future__ import annotations

import operator
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby, islice

from vault_memory.errors import InvalidFragmentError
from vault_memory.index.counts import whole_number
from vault_memory.index.lexical.question import ROWS_AT_FIRST, ROWS_GROWTH, Question
from vault_memory.index.lexical.tables import FragmentText, LexicalTables
from vault_memory.index.lexical.words import query_terms
from vault_memory.model import FragmentHit, FragmentLocator, Target

HITS_FOR_COVERAGE = 3
"""Coverage is that of the best of so many first hits: the first one is not always the one that holds most words."""


@dataclass(frozen=True, slots=True)
class LexicalFragment:
    """A fragment as the lexical index takes it: place, text, and the headings above it.

    A record without text may give one empty fragment at 0, so that it is found by its names.
    """

    locator: FragmentLocator
    text: str
    heading_path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LexicalAnswer:
    """What the index answers.

    Attributes:
        hits: Places, best first; the score is BM25, above 0, higher is better.
        coverage: Share of the query's terms, weighted by rarity, that the best lexical hit holds; in [0, 1].
        terms: The query's terms, without stop words unless there is nothing else.
        is_exact: Whether the query has a quoted phrase, which every hit holds.
    """

    hits: tuple[FragmentHit, ...] = ()
    coverage: float = 0.0
    terms: tuple[str, ...] = ()
    is_exact: bool = False


class LexicalIndex:
    """BM25 over the fragments of records.

    All changes are part of the transaction that the connection's owner has open: nothing is begun or committed here.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._tables = LexicalTables(connection)

    def create(self) -> None:
        """Create the tables that are missing."""
        self._tables.create()

    @property
    def record_count(self) -> int:
        """Number of records that hold at least one fragment."""
        return self._tables.count("lexical_records")

    @property
    def fragment_count(self) -> int:
        """Number of fragments held."""
        return self._tables.count("lexical_fragments")

    def add_fragments(
        self, target: Target, title: str, aliases: Sequence[str], fragments: Sequence[LexicalFragment]
    ) -> int:
        """Replace all fragments of a record; return how many it now holds.

        Raises:
            InvalidFragmentError: A locator is no span, or two fragments start at one place. Nothing is changed.
        """
        texts = _checked(target, fragments)
        self._tables.delete(target)
        if texts:
            self._tables.insert(target, "\n".join((title, *aliases)), texts)
        return len(texts)

    def remove(self, target: Target) -> Target:
        """Drop a record's fragments, if it has any; return the target."""
        self._tables.delete(target)
        return target

    def query(
        self,
        text: str,
        top_k: int,
        max_per_record: int | None = None,
        *,
        scope: str | None = None,
        targets: Collection[Target] | None = None,
    ) -> LexicalAnswer:
        """Return the best fragments by BM25, at most `max_per_record` of one record, best first.

        Any text is a query. A text in double quotes is an exact phrase: its words must stand next to each other, in
        that order, in a hit's title and aliases, headings or text. Of the other words a hit holds at least one, or
        none if there is a phrase. Words are compared without letter case, accents and endings.

        In a large index, fragments that hold none of the query's rarer words are looked at only if the others give less
        than `top_k` hits, see `question.ROWS_AT_FIRST`.

        Equal scores are ordered by target, then start. `scope` keeps records of that folder and the folders below it;
        `targets` keeps just those records; like the cap, both hold before the cut, so that there are `top_k` hits
        whenever so many fragments match.

        Raises:
            QueryError: `top_k` or `max_per_record` is no whole number of at least 1.
        """
        top_k = whole_number(top_k, "top_k")
        cap = top_k if max_per_record is None else whole_number(max_per_record, "max_per_record")
        asked = query_terms(text)
        question = Question(asked, self._tables.frequency, self.fragment_count)
        ranked: list[tuple[int, FragmentHit]] = []
        records = self._tables.records(scope, targets)
        rows = ROWS_AT_FIRST if records is None else ROWS_AT_FIRST * ROWS_GROWTH
        while expression := question.expression(rows):
            ranked = list(islice(self._ranked(expression, records, cap), max(top_k, HITS_FOR_COVERAGE)))
            if len(ranked) >= top_k or question.is_whole(rows):
                break
            rows *= ROWS_GROWTH
        held = [self._tables.terms(fragment) for fragment, _ in ranked[:HITS_FOR_COVERAGE]]
        coverage = max(map(question.coverage, held), default=0.0)
        return LexicalAnswer(tuple(hit for _, hit in ranked[:top_k]), coverage, question.terms, bool(asked.phrases))

    def texts(self, places: Sequence[tuple[Target, int]]) -> dict[tuple[Target, int], str]:
        """Return fragments' texts as they were added, by record and start; a place that is not held is left out."""
        found = {place: self._tables.find_text(*place) for place in places}
        return {place: text for place, text in found.items() if text is not None}

    def optimize(self) -> None:
        """Merge the inverted index into one piece; worth its time after a bulk build, when queries follow."""
        self._tables.merge()

    def _ranked(self, expression: str, records: Sequence[int] | None, cap: int) -> Iterator[tuple[int, FragmentHit]]:
        """Yield fragment numbers and hits that pass filter and cap, best first."""
        taken: Counter[int] = Counter()
        target = cache(self._tables.target)
        for score, equal in groupby(self._tables.ranked(expression, records), key=operator.attrgetter("score")):
            for row in sorted(equal, key=lambda row: (target(row.record), row.start)):
                if taken[row.record] < cap:
                    taken[row.record] += 1
                    yield row.fragment, FragmentHit(target(row.record), FragmentLocator(row.start, row.end), score)


def _checked(target: Target, fragments: Sequence[LexicalFragment]) -> list[FragmentText]:
    """Return a record's fragments as the tables keep them, each start once."""
    checked: dict[int, FragmentText] = {}
    for number, (locator, text, heading_path) in enumerate((f.locator, f.text, f.heading_path) for f in fragments):
        try:
            start, end = operator.index(locator.start), operator.index(locator.end)
        except TypeError:
            start, end = 0, 0
        if not (0 <= start < end or (start == end == 0 and not text)) or start in checked:
            raise InvalidFragmentError(
                f"fragment {number} of {target}: [{locator.start!r}, {locator.end!r}) is no span, or starts where "
                "another fragment does; give integers with 0 <= start < end, each start once"
            )
        checked[start] = FragmentText(FragmentLocator(start, end), "\n".join(heading_path), text)
    return list(checked.values())
