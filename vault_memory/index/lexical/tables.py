"""Tables of the lexical index, inside a connection that somebody else owns.

A fragment's text is kept once, as it was written. FTS5 holds only the inverted index of its terms (a contentless
table); to take a fragment out of it, the terms are made again from the kept text. SQLite 3.34 is enough.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from typing import NamedTuple

from vault_memory.index.lexical.words import CONNECTORS, index_terms
from vault_memory.model import FragmentLocator, Target

NAMES_WEIGHT = 3.0
HEADINGS_WEIGHT = 2.0
TEXT_WEIGHT = 1.0
FORMS_WEIGHT = 1.0
"""How much a term counts in title and aliases, in the heading path, in the text, and as a further form of a word."""

# The tokenizer takes terms as they are: it splits at spaces only, since a term has no other ASCII characters than
# letters, digits and connectors. BM25 of FTS5 has k1 = 1.2 and b = 0.75, which cannot be changed.
TABLES = f"""
CREATE TABLE IF NOT EXISTS lexical_records (
    record INTEGER PRIMARY KEY, scope TEXT NOT NULL, id TEXT NOT NULL, names BLOB NOT NULL, UNIQUE (scope, id)
);
CREATE TABLE IF NOT EXISTS lexical_fragments (
    fragment INTEGER PRIMARY KEY, record INTEGER NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL,
    headings BLOB NOT NULL, text BLOB NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS lexical_fragments_place ON lexical_fragments (record, start);
CREATE VIRTUAL TABLE IF NOT EXISTS lexical_terms USING fts5 (
    names, headings, words, forms, content='', tokenize="ascii tokenchars '{CONNECTORS}'"
);
CREATE VIRTUAL TABLE IF NOT EXISTS lexical_vocabulary USING fts5vocab (lexical_terms, row);
"""

_ADD_TERMS = "INSERT INTO lexical_terms (rowid, names, headings, words, forms) VALUES (?, ?, ?, ?, ?)"
_DELETE_TERMS = (
    "INSERT INTO lexical_terms (lexical_terms, rowid, names, headings, words, forms) VALUES ('delete', ?, ?, ?, ?, ?)"
)
_STORED = "SELECT fragment, names, headings, text FROM lexical_fragments JOIN lexical_records USING (record)"
_BM25 = ", ".join(map(str, (NAMES_WEIGHT, HEADINGS_WEIGHT, TEXT_WEIGHT, FORMS_WEIGHT)))
_MATCHING = (
    " FROM lexical_terms CROSS JOIN lexical_fragments ON fragment = lexical_terms.rowid WHERE lexical_terms MATCH ?"
)
# FTS5 sorts by its own rank before the join, so that only rows that are really read cost a look at the other table.
_RANKED = f"SELECT fragment, record, start, \"end\", -rank{_MATCHING} AND rank MATCH 'bm25({_BM25})' ORDER BY rank"
# Under a filter most rows may be in vain, so here it is scoring that comes last. The plus sign keeps FTS5 from looking
# up the fragments one by one, each as a query of its own.
_RANKED_OF_RECORDS = (
    f'SELECT fragment, record, start, "end", -bm25(lexical_terms, {_BM25}) AS score{_MATCHING}'
    " AND +lexical_terms.rowid IN"
    " (SELECT fragment FROM lexical_fragments WHERE record IN (SELECT value FROM json_each(?)))"
    " ORDER BY score DESC"
)


class RankedRow(NamedTuple):
    """A fragment that matches, with its BM25 score."""

    fragment: int
    record: int
    start: int
    end: int
    score: float


class FragmentText(NamedTuple):
    """What the tables keep of one fragment; `headings` holds the heading path, a line each."""

    locator: FragmentLocator
    headings: str
    text: str


class LexicalTables:
    """Reads and writes of the tables; nothing is begun or committed here."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def create(self) -> None:
        """Create the tables that are missing."""
        # One by one, because a script would commit the owner's transaction.
        for statement in TABLES.split(";\n"):
            self._connection.execute(statement)

    def count(self, table: str) -> int:
        """Return the number of rows of one of the tables."""
        number: int = self._connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        return number

    def insert(self, target: Target, names: str, fragments: Sequence[FragmentText]) -> None:
        """Add a record that is not there yet, under its names: title and aliases, a line each."""
        terms = list(_terms(names, [(fragment.headings, fragment.text) for fragment in fragments]))
        record = self._connection.execute(
            "INSERT INTO lexical_records (scope, id, names) VALUES (?, ?, ?)", (target.scope, target.id, _kept(names))
        ).lastrowid
        (last,) = self._connection.execute("SELECT coalesce(max(fragment), 0) FROM lexical_fragments").fetchone()
        self._connection.executemany(
            "INSERT INTO lexical_fragments VALUES (?, ?, ?, ?, ?, ?)",
            [
                (number, record, locator.start, locator.end, _kept(headings), _kept(text))
                for number, (locator, headings, text) in enumerate(fragments, last + 1)
            ],
        )
        self._connection.executemany(_ADD_TERMS, [(number, *row) for number, row in enumerate(terms, last + 1)])

    def delete(self, target: Target) -> None:
        """Drop a record, if it is there."""
        record = self._find(target)
        if record is None:
            return
        rows = self._connection.execute(f"{_STORED} WHERE record = ? ORDER BY fragment", (record,)).fetchall()
        terms = _terms(_read(rows[0][1]), [(_read(headings), _read(text)) for _, _, headings, text in rows])
        self._connection.executemany(
            _DELETE_TERMS, [(row[0], *columns) for row, columns in zip(rows, terms, strict=True)]
        )
        self._connection.execute("DELETE FROM lexical_fragments WHERE record = ?", (record,))
        self._connection.execute("DELETE FROM lexical_records WHERE record = ?", (record,))

    def merge(self) -> None:
        """Bring the inverted index into one piece."""
        self._connection.execute("INSERT INTO lexical_terms (lexical_terms) VALUES ('optimize')")

    def target(self, record: int) -> Target:
        """Return which record has this number."""
        return Target(
            *self._connection.execute("SELECT scope, id FROM lexical_records WHERE record = ?", (record,)).fetchone()
        )

    def records(self, scope: str | None, targets: Collection[Target] | None) -> list[int] | None:
        """Return the numbers of the records at or below a scope and among the targets; `None` for all records."""
        if targets is not None:
            below = f"{scope}/" if scope else ""
            found = (self._find(target) for target in set(targets) if f"{target.scope}/".startswith(below))
            return [record for record in found if record is not None]
        if not scope:
            return None
        rows = self._connection.execute(
            # "0" is the character after "/".
            "SELECT record FROM lexical_records WHERE scope = ?1 OR (scope > ?1 || '/' AND scope < ?1 || '0')",
            (scope,),
        )
        return [record for (record,) in rows]

    def ranked(self, expression: str, records: Sequence[int] | None) -> Iterator[RankedRow]:
        """Yield the fragments that match an FTS5 expression, of these records or of all, best first."""
        filtered = records is not None
        parameters = (expression, json.dumps(records)) if filtered else (expression,)
        with closing(self._connection.execute(_RANKED_OF_RECORDS if filtered else _RANKED, parameters)) as rows:
            yield from map(RankedRow._make, rows)

    def frequency(self, term: str) -> int:
        """Return in how many fragments a term occurs."""
        row = self._connection.execute("SELECT doc FROM lexical_vocabulary WHERE term = ?", (term,)).fetchone()
        return row[0] if row else 0

    def terms(self, fragment: int) -> set[str]:
        """Return the terms of a fragment, with those of its names and headings."""
        _, names, headings, text = self._connection.execute(f"{_STORED} WHERE fragment = ?", (fragment,)).fetchone()
        (columns,) = _terms(_read(names), [(_read(headings), _read(text))])
        return set(" ".join(columns).split())

    def find_text(self, target: Target, start: int) -> str | None:
        """Return the text of a record's fragment that starts here."""
        row = self._connection.execute(
            "SELECT text FROM lexical_records JOIN lexical_fragments USING (record)"
            " WHERE scope = ? AND id = ? AND start = ?",
            (target.scope, target.id, start),
        ).fetchone()
        return _read(row[0]) if row else None

    def _find(self, target: Target) -> int | None:
        row = self._connection.execute(
            "SELECT record FROM lexical_records WHERE scope = ? AND id = ?", (target.scope, target.id)
        ).fetchone()
        return row[0] if row else None


def _terms(names: str, texts: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str, str, str]]:
    """Yield what FTS5 is given for each fragment of a record: names, headings, words, further forms of all three."""
    named = index_terms(names)
    for headings, text in texts:
        above, told = index_terms(headings), index_terms(text)
        yield named.words, above.words, told.words, " ".join(filter(None, (named.forms, above.forms, told.forms)))


def _kept(text: str) -> bytes:
    # Text from outside a file may hold half a surrogate pair, which SQLite's own text cannot.
    return text.encode("utf-8", "surrogatepass")


def _read(kept: bytes) -> str:
    return kept.decode("utf-8", "surrogatepass")
