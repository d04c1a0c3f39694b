"""The state file: all that is derived from a vault, in one SQLite file that may be deleted at any time.

One writer at a time changes it, by transactions that hold whole records; any number of readers see one generation
each. Nothing here is the truth: a state whose facts (schema, chunker, settings, embedder) differ is made anew.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from vault_memory.errors import FragmentIndexError
from vault_memory.index.lexical import LexicalIndex
from vault_memory.index.state.lock import sync_lock
from vault_memory.index.state.schema import SCHEMA_VERSION, TABLES, differing_facts, read_meta, write_meta
from vault_memory.index.state.snapshot import Snapshot
from vault_memory.index.state.writer import StateWriter

BUSY_TIMEOUT_SECONDS = 60.0


class State:
    """The state file of one vault; safe to use from several threads and processes.

    Attributes:
        path: Where it is.
        rebuilt_because: Names of the facts that differed when it was opened, or what was damaged; empty for a state
            that is new or was taken over as it was.

    Raises:
        FragmentIndexError: The file cannot be made or opened; the message names the folder.
    """

    def __init__(self, path: Path, facts: Mapping[str, str]) -> None:
        self.path = path
        self.rebuilt_because: tuple[str, ...] = ()
        self._facts = {"schema": str(SCHEMA_VERSION), **facts}
        self._writing = threading.Lock()
        self._syncing = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._idle_lock = threading.Lock()
        self._open()

    def _open(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._prepare()
        except sqlite3.OperationalError as error:
            raise FragmentIndexError(
                f"the state file {self.path} cannot be opened ({error}); choose another state folder"
            ) from error
        except OSError as error:
            raise FragmentIndexError(
                f"the state folder {self.path.parent} cannot be used ({error}); choose another one"
            ) from error
        except sqlite3.DatabaseError as error:
            self._set_aside()
            self._prepare()
            self.rebuilt_because = (f"damaged: {error}",)

    def _prepare(self) -> None:
        with closing(self._connect()) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("BEGIN IMMEDIATE")
            held = read_meta(connection)
            differing = differing_facts(held, self._facts)
            if differing:
                _drop_everything(connection)
                for statement in TABLES.split(";\n"):
                    connection.execute(statement)
                LexicalIndex(connection).create()
                # The generation goes on, so that a process that still reads the old content notices the change.
                generation = int(held.get("generation", "0")) + 1
                write_meta(connection, {**self._facts, "generation": str(generation), "floor": str(generation)})
            connection.execute("COMMIT")
        if held:
            self.rebuilt_because = tuple(differing)

    def _set_aside(self) -> None:
        """Move a damaged file out of the way, so that a person can still look at it."""
        self.path.replace(self.path.with_suffix(".damaged"))
        for suffix in ("-wal", "-shm"):
            Path(f"{self.path}{suffix}").unlink(missing_ok=True)

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=BUSY_TIMEOUT_SECONDS, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA cache_size = -32768")
        return connection

    @contextmanager
    def reading(self) -> Iterator[Snapshot]:
        """Give one consistent view of the state, whatever is written meanwhile."""
        with self._idle_lock:
            connection = self._idle.pop() if self._idle else None
        connection = connection or self._connect()
        try:
            connection.execute("BEGIN")
            yield Snapshot(connection)
        finally:
            connection.rollback()
            with self._idle_lock:
                self._idle.append(connection)

    @contextmanager
    def writing(self) -> Iterator[StateWriter]:
        """Give a writer whose changes appear together when the block ends, or not at all if it raises."""
        with self._writing, closing(self._connect()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                writer = StateWriter(connection)
                yield writer
                writer.finish()
            except BaseException:
                connection.rollback()
                raise
            connection.execute("COMMIT")

    @contextmanager
    def syncing(self, wait_seconds: float = BUSY_TIMEOUT_SECONDS) -> Iterator[None]:
        """Be the one that brings the state up to date, over all threads and processes.

        Raises:
            VaultBusyError: Another process still is after so many seconds.
        """
        with self._syncing, sync_lock(self.path.with_suffix(".lock"), wait_seconds):
            yield

    def close(self) -> None:
        """Close every connection; the state can be used again afterwards."""
        with self._idle_lock:
            while self._idle:
                self._idle.pop().close()


def _drop_everything(connection: sqlite3.Connection) -> None:
    names = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
        " ORDER BY sql LIKE 'CREATE VIRTUAL%' DESC"
    ).fetchall()
    for (name,) in names:
        connection.execute(f'DROP TABLE IF EXISTS "{name}"')
