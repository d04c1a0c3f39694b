"""What a query asks of one lexical index: its terms, how rare they are there, and the expression that FTS5 is given."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from functools import cache
from itertools import accumulate, chain, islice

from vault_memory.index.lexical.words import QueryTerms, Token

MOST_TERMS = 256
"""A longer query is asked by its first terms: a question has some ten, and a pasted page must not take seconds."""

ROWS_AT_FIRST = 3_000
"""How many postings the rarest terms of a query may have together before the commoner ones cannot bring in fragments.

FTS5 scores some 750 rows in a millisecond, so this keeps a usual query under 10 ms. A vault of a few thousand fragments
never meets it. In a larger one, a fragment must hold one of the rarer terms to be looked at; then all terms count, the
rarer ones twice, which is what asking so costs. Measured at a bound of 5 % of all fragments: 99.1 % of xquad-en's
answers among the first five, where no bound gives 99.2 %, and leaving the commoner terms out of the score 98.4 %.
"""

ROWS_GROWTH = 8
"""By how much that number grows each time when the rarest terms alone give too few hits."""

PHRASE_COLUMNS = "{names headings words}"


class Question:
    """A query's terms against an index.

    A word that the index does not know is asked by its pieces, if it knows one of them; a compound is asked as a whole
    too, if the index knows it. Of overlapping pairs just the known ones are asked, if there are any: most others are
    the seam between two words, and say nothing about what the notes lack.

    Attributes:
        terms: The words that tell what is asked, each once, in order.
    """

    def __init__(self, asked: QueryTerms, frequency: Callable[[str], int], fragments: int) -> None:
        self._phrases = asked.phrases
        self._fragments = fragments
        frequency = cache(frequency)
        tokens = list(islice(asked.tokens, MOST_TERMS))
        words = islice(chain.from_iterable(_words_asked(token, frequency) for token in tokens), MOST_TERMS)
        self._frequencies = {word: frequency(word) for word in words}
        self.terms = tuple(self._frequencies)
        wholes = {whole: frequency(whole) for token in tokens for whole in token.wholes}
        known = {term: count for term, count in (self._frequencies | wholes).items() if count}
        self._rarest_first = sorted(known.items(), key=lambda item: item[1])

    def expression(self, rows: int) -> str | None:
        """Return the FTS5 expression that brings in fragments by the rarest terms.

        Args:
            rows: How many postings these terms may have together; there is at least one of them. Required phrases
                bound the work by themselves, so with them all terms bring in fragments.

        Returns:
            The expression, in which nothing comes from the query but quoted terms; `None` if no fragment can match.
        """
        every = [f'"{term}"' for term, _ in self._rarest_first]
        if self._phrases:
            phrases = [_phrase(words) for words in self._phrases]
            return " AND ".join([*phrases, _any([phrases[0], *every])])
        if self.is_whole(rows):
            return _any(every) if every else None
        return f"{_any(every[: self._first_terms(rows)])} AND {_any(every)}"

    def is_whole(self, rows: int) -> bool:
        """Tell whether `expression(rows)` finds every fragment that holds a term, or all phrases."""
        return bool(self._phrases) or self._first_terms(rows) == len(self._rarest_first)

    def coverage(self, held: Collection[str]) -> float:
        """Return the share of the terms that are among `held`, each weighted by its rarity; in [0, 1].

        The weight is the inverse document frequency of BM25 in its form that is never negative,
        `ln(1 + (N - n + 0.5) / (n + 0.5))`. A term that the index does not know weighs as much as one that it has once.
        """
        weights = {term: self._weight(count) for term, count in self._frequencies.items()}
        return math.fsum(weights[term] for term in weights if term in held) / math.fsum(weights.values())

    def _weight(self, count: int) -> float:
        count = max(1, count)
        return math.log1p((self._fragments - count + 0.5) / (count + 0.5))

    def _first_terms(self, rows: int) -> int:
        """Return how many of the rarest terms have at most so many postings together, at least one if there is one."""
        together = list(accumulate(count for _, count in self._rarest_first))
        return max(bisect_right(together, rows), min(1, len(together)))


def _words_asked(token: Token, frequency: Callable[[str], int]) -> tuple[str, ...]:
    known = tuple(filter(frequency, token.words))
    if known:
        return known if token.overlapping else token.words
    return tuple(filter(frequency, token.pieces)) or token.words


def _any(terms: Sequence[str]) -> str:
    return f"({' OR '.join(terms)})"


def _phrase(words: tuple[str, ...]) -> str:
    # Forms stand beside each other without being neighbours in the text; a single character is found only there.
    columns = f"{PHRASE_COLUMNS} : " if len(words) > 1 else ""
    return f'({columns}"{" ".join(words)}")'
