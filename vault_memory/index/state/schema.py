"""Tables of the state file, and the facts under which its content is valid."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from zlib import crc32

SCHEMA_VERSION = 2

# Places and vectors of a record lie packed in one row, because opening a vault reads all of them: a row per fragment
# would cost more time than the bytes. Fragments have a row each as well, since a hit and a reused vector look up one.
TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE records (
    rid INTEGER PRIMARY KEY, scope TEXT NOT NULL, name TEXT NOT NULL, path TEXT NOT NULL,
    stamp TEXT NOT NULL, digest TEXT NOT NULL, title TEXT NOT NULL, kind TEXT NOT NULL,
    tags TEXT NOT NULL, metadata TEXT NOT NULL, fragments INTEGER NOT NULL, failure TEXT, generation INTEGER NOT NULL,
    UNIQUE (scope, name)
);
CREATE INDEX records_generation ON records (generation);
CREATE INDEX records_path ON records (path);
CREATE TABLE packed (
    rid INTEGER PRIMARY KEY, places BLOB NOT NULL, matrix BLOB NOT NULL, checksum INTEGER NOT NULL
);
CREATE TABLE fragments (
    rid INTEGER NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL, ordinal INTEGER NOT NULL,
    first_line INTEGER NOT NULL, last_line INTEGER NOT NULL, heading_path TEXT NOT NULL,
    digest TEXT NOT NULL, vector_key BLOB NOT NULL,
    PRIMARY KEY (rid, start)
) WITHOUT ROWID;
CREATE INDEX fragments_vector_key ON fragments (vector_key);
CREATE TABLE removed (scope TEXT NOT NULL, name TEXT NOT NULL, generation INTEGER NOT NULL, PRIMARY KEY (scope, name));
CREATE TABLE quarantine (
    path TEXT PRIMARY KEY, scope TEXT NOT NULL, error TEXT NOT NULL, reason TEXT NOT NULL, line INTEGER,
    first_seen REAL NOT NULL
);
"""


def read_meta(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the facts of a state file, or nothing if it has no tables yet."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
        return {}
    return dict(connection.execute("SELECT key, value FROM meta"))


def write_meta(connection: sqlite3.Connection, facts: Mapping[str, str]) -> None:
    """Set some of the facts."""
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", facts.items())


def differing_facts(held: Mapping[str, str], wanted: Mapping[str, str]) -> list[str]:
    """Return the names of the facts under which a state would have to be rebuilt, in order."""
    return sorted(name for name, value in wanted.items() if held.get(name) != value)


def packed_checksum(places: bytes, matrix: bytes) -> int:
    """Return what tells that a record's packed row is as it was written: a database does not notice a flipped bit."""
    return crc32(matrix, crc32(places))


def to_json(value: object) -> str:
    """Return compact JSON that keeps every script readable."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
