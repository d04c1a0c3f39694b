"""Writing the state: whole records, inside one transaction."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from vault_memory.index.lexical import LexicalFragment, LexicalIndex
from vault_memory.index.state.schema import packed_checksum, read_meta, to_json, write_meta
from vault_memory.markdown.line_numbers import count_line_ends
from vault_memory.model import Fragment, FragmentLocator, Quarantined, Record, Target, Vector

# A reader that is further behind than this loads everything anew, so tombstones need not be kept for ever.
REMOVED_KEPT_GENERATIONS = 10_000

# Counted as they change, because counting rows for every answer would cost more than the answer.
COUNTED = ("records", "fragments", "pending")


@dataclass(frozen=True, slots=True)
class IndexedFragment:
    """A fragment as the state keeps it.

    Attributes:
        fragment: Its place, text and headings.
        lines: First and last line in the file, 1-based, both inclusive.
        vector_key: Digest of the text that was embedded.
    """

    fragment: Fragment
    lines: tuple[int, int]
    vector_key: bytes


@dataclass(frozen=True, slots=True)
class IndexedRecord:
    """A record as the state keeps it.

    Attributes:
        record: The record that was read.
        stamp: The file's stamp at that time; empty if it has to be read again whatever its stamp.
        fragments: Its fragments, by rising start.
        matrix: Their vectors, shape (n, dimensions), float32; `None` if they could not be embedded.
        failure: Why they could not.
    """

    record: Record
    stamp: str
    fragments: tuple[IndexedFragment, ...]
    matrix: Vector | None
    failure: str | None = None


def _only_a_name(record: Record) -> IndexedFragment:
    """Return the empty place at the start of a record without text, so that its title and aliases are found."""
    line = count_line_ends(record.header) + 1
    return IndexedFragment(Fragment(FragmentLocator(0, 0), ""), (line, line), b"")


class StateWriter:
    """Changes of the state that appear together."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._lexical = LexicalIndex(connection)
        self._meta = read_meta(connection)
        self._generation = int(self._meta.get("generation", "0")) + 1
        self._counts = {name: int(self._meta.get(name, "0")) for name in COUNTED}
        self._changed = False

    @property
    def facts(self) -> Mapping[str, str]:
        """What the state says of itself."""
        return self._meta

    def put(self, indexed: IndexedRecord) -> None:
        """Replace all that the state holds of a record."""
        record = indexed.record
        self._drop(record.target)
        cursor = self._connection.execute(
            "INSERT INTO records (scope, name, path, stamp, digest, title, kind, tags, metadata, fragments,"
            " failure, generation) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                record.target.scope,
                record.target.id,
                record.path,
                indexed.stamp,
                record.digest,
                record.title,
                record.kind,
                to_json(record.tags),
                to_json(dict(record.metadata)),
                len(indexed.fragments),
                indexed.failure,
                self._generation,
            ),
        )
        self._count(1, len(indexed.fragments), indexed.failure)
        rid = cursor.lastrowid
        if rid is None:
            raise sqlite3.DatabaseError("a record row was stored without a number")
        self._put_fragments(rid, indexed)
        target = record.target
        self._connection.execute("DELETE FROM removed WHERE scope = ? AND name = ?", (target.scope, target.id))

    def _put_fragments(self, rid: int, indexed: IndexedRecord) -> None:
        record, fragments = indexed.record, [kept.fragment for kept in indexed.fragments]
        rows = indexed.fragments or (_only_a_name(record),)
        self._connection.executemany(
            "INSERT INTO fragments VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    rid,
                    kept.fragment.locator.start,
                    kept.fragment.locator.end,
                    ordinal,
                    *kept.lines,
                    to_json(kept.fragment.heading_path),
                    kept.fragment.digest,
                    kept.vector_key,
                )
                for ordinal, kept in enumerate(rows)
            ),
        )
        places = np.array([[f.locator.start for f in fragments], [f.locator.end for f in fragments]], dtype=np.int32)
        embedded = indexed.matrix is not None and len(indexed.matrix) == len(fragments)
        matrix = np.ascontiguousarray(indexed.matrix, np.float32).tobytes() if embedded else b""
        self._connection.execute(
            "INSERT INTO packed VALUES (?, ?, ?, ?)",
            (rid, places.tobytes(), matrix, packed_checksum(places.tobytes(), matrix)),
        )
        self._lexical.add_fragments(
            record.target,
            record.title,
            record.aliases,
            [LexicalFragment(row.fragment.locator, row.fragment.text, row.fragment.heading_path) for row in rows],
        )

    def remove(self, target: Target) -> None:
        """Drop a record; an unknown one is no fault."""
        if self._drop(target):
            self._connection.execute(
                "INSERT OR REPLACE INTO removed VALUES (?, ?, ?)", (target.scope, target.id, self._generation)
            )

    def _drop(self, target: Target) -> bool:
        self._changed = True
        row = self._connection.execute(
            "SELECT rid, fragments, failure FROM records WHERE scope = ? AND name = ?", (target.scope, target.id)
        ).fetchone()
        if row is None:
            return False
        rid, fragments, failure = row
        for table in ("fragments", "packed", "records"):
            self._connection.execute(f"DELETE FROM {table} WHERE rid = ?", (rid,))
        self._lexical.remove(target)
        self._count(-1, -fragments, failure)
        return True

    def _count(self, records: int, fragments: int, failure: str | None) -> None:
        self._counts["records"] += records
        self._counts["fragments"] += fragments
        self._counts["pending"] += records if failure is not None else 0

    def restamp(self, stamps: Iterable[tuple[Target, str, str]]) -> None:
        """Note that files were read and found unchanged: target, path and stamp of each."""
        self._connection.executemany(
            "UPDATE records SET path = ?, stamp = ? WHERE scope = ? AND name = ?",
            ((path, stamp, target.scope, target.id) for target, path, stamp in stamps),
        )

    def set_quarantine(self, files: Collection[Quarantined]) -> None:
        """Replace the list of files that cannot be loaded; a file that stays on it keeps its first-seen time."""
        seen = dict(self._connection.execute("SELECT path, first_seen FROM quarantine"))
        self._connection.execute("DELETE FROM quarantine")
        now = time.time()
        self._connection.executemany(
            "INSERT OR REPLACE INTO quarantine VALUES (?, ?, ?, ?, ?, ?)",
            (
                (file.path, file.scope, type(file.error).__name__, file.reason, file.line, seen.get(file.path, now))
                for file in files
            ),
        )

    def digest_of(self, target: Target) -> str | None:
        """Return the digest under which a record is held, if it is."""
        row = self._connection.execute(
            "SELECT digest FROM records WHERE scope = ? AND name = ?", (target.scope, target.id)
        ).fetchone()
        return row[0] if row else None

    def mark_synced(self, unlisted: Collection[str] = ()) -> None:
        """Note that a whole pass over the folder has ended now, and which scopes could not be listed."""
        write_meta(self._connection, {"synced_at": repr(time.time()), "unlisted": to_json(list(unlisted))})

    def finish(self) -> None:
        """Give the changes their generation number and forget tombstones that no reader needs."""
        if not self._changed:
            return
        floor = max(int(self._meta["floor"]), self._generation - REMOVED_KEPT_GENERATIONS)
        self._connection.execute("DELETE FROM removed WHERE generation <= ?", (floor,))
        facts = {"generation": self._generation, "floor": floor, **self._counts}
        write_meta(self._connection, {name: str(value) for name, value in facts.items()})
