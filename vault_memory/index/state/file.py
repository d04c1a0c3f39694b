"""The state file: all that is derived from a vault, in one SQLite file that may be deleted at any time.

One writer at a time changes it, by transactions that hold whole records; any number of readers see one generation
each. Nothing here is the truth: a state whose facts (schema, chunker, settings, embedder) differ is made anew.
"""

from __future__ import annotations

import secrets
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from vault_memory.errors import EmbedderMismatchError, FragmentIndexError, StateLostError, VaultMemoryError
from vault_memory.index.lexical import LexicalIndex
from vault_memory.index.state.lock import sync_lock
from vault_memory.index.state.schema import SCHEMA_VERSION, TABLES, differing_facts, read_meta, write_meta
from vault_memory.index.state.snapshot import Snapshot
from vault_memory.index.state.writer import StateWriter
from vault_memory.model import Freshness

BUSY_TIMEOUT_SECONDS = 60.0
# A reader looks up a few rows, or reads every page once; a writer of a large batch comes back to its pages.
READ_CACHE_KIB = 8 * 1024
WRITE_CACHE_KIB = 64 * 1024


class State:
    """The state file of one vault; safe to use from several threads and processes.

    Attributes:
        path: Where it is.
        rebuilt_because: What was damaged when it was opened; empty for a state that is new or was taken over.

    Raises:
        FragmentIndexError: The file cannot be made or opened; the message names the folder.
    """

    def __init__(self, path: Path, facts: Mapping[str, str]) -> None:
        self.path = path
        self.rebuilt_because = ""
        self._outdated: tuple[str, ...] = ()
        self._facts = {"schema": str(SCHEMA_VERSION), **facts}
        self._writing = threading.Lock()
        self._syncing = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._idle_lock = threading.Lock()
        self._inode = 0
        self._open()

    def _open(self, *, renew: bool = False) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._prepare(renew=renew)
            except sqlite3.OperationalError:
                raise
            except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
                self._set_aside()
                self._prepare()
                self.rebuilt_because = f"it was damaged: {error}"
            self._inode = self.path.stat().st_ino
        except sqlite3.OperationalError as error:
            raise FragmentIndexError(
                f"the state file {self.path} cannot be opened ({error}); choose another state folder"
            ) from error
        except OSError as error:
            raise FragmentIndexError(
                f"the state folder {self.path.parent} cannot be used ({error}); choose another one"
            ) from error

    def _prepare(self, *, renew: bool = False) -> None:
        with closing(self._connect()) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("BEGIN IMMEDIATE")
            held = read_meta(connection)
            differing = differing_facts(held, self._facts)
            # A look with other settings must not cost the index: it is dropped by who fills it again, see `renew`.
            self._outdated = tuple(differing) if held and not renew else ()
            if differing and not self._outdated:
                _drop_everything(connection)
                for statement in TABLES.split(";\n"):
                    connection.execute(statement)
                LexicalIndex(connection).create()
                write_meta(connection, {**self._facts, "id": secrets.token_hex(8), "generation": "0", "floor": "0"})
            connection.execute("COMMIT")

    def _set_aside(self) -> None:
        """Move a damaged file out of the way, so that a person can still look at it."""
        with suppress(FileNotFoundError):
            self.path.replace(self.path.with_suffix(".damaged"))
        for suffix in ("-wal", "-shm"):
            Path(f"{self.path}{suffix}").unlink(missing_ok=True)

    def renew(self, *, damaged: bool) -> None:
        """Begin with an empty state, after the file was deleted, found damaged, or made with other settings."""
        with self._writing:
            self.close()
            if damaged:
                self._set_aside()
            self._open(renew=True)

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=BUSY_TIMEOUT_SECONDS, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA cache_size = -{READ_CACHE_KIB}")
        return connection

    @contextmanager
    def reading(self) -> Iterator[Snapshot]:
        """Give one consistent view of the state, whatever is written meanwhile.

        Raises:
            StateLostError: The file was deleted or is damaged.
            EmbedderMismatchError: Another process made the state anew under other facts.
        """
        with self._translated():
            with self._idle_lock:
                connection = self._idle.pop() if self._idle else None
            connection = connection or self._connect()
            try:
                connection.execute("BEGIN")
                snapshot = Snapshot(connection)
                self._check_facts(snapshot.facts)
                yield snapshot
            except sqlite3.DatabaseError:
                connection.close()
                raise
            except BaseException:
                self._give_back(connection)
                raise
            self._give_back(connection)

    def freshness(self) -> Freshness:
        """Return what the state holds now."""
        with self.reading() as snapshot:
            return snapshot.freshness()

    def _give_back(self, connection: sqlite3.Connection) -> None:
        connection.rollback()
        with self._idle_lock:
            self._idle.append(connection)

    @contextmanager
    def writing(self) -> Iterator[StateWriter]:
        """Give a writer whose changes appear together when the block ends, or not at all if it raises.

        Raises:
            StateLostError: The file was deleted or is damaged.
            EmbedderMismatchError: Another process made the state anew under other facts.
        """
        with self._writing, self._translated(), closing(self._connect()) as connection:
            connection.execute(f"PRAGMA cache_size = -{WRITE_CACHE_KIB}")
            connection.execute("BEGIN IMMEDIATE")
            try:
                writer = StateWriter(connection)
                self._check_facts(writer.facts)
                yield writer
                writer.finish()
            except BaseException:
                connection.rollback()
                raise
            connection.execute("COMMIT")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn what the database says of its file into errors of ours."""
        try:
            if self._outdated:
                names = ", ".join(self._outdated)
                raise StateLostError(f"the index was made with other settings ({names})", damaged=False)
            if self.path.stat().st_ino != self._inode:
                raise StateLostError(f"the state file {self.path} was replaced", damaged=False)
            yield
        except FileNotFoundError as error:
            raise StateLostError(f"the state file {self.path} was deleted", damaged=False) from error
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF == sqlite3.SQLITE_ERROR:
                raise StateLostError(f"the state file {self.path} cannot be read: {error}", damaged=True) from error
            # A full disk, a lock that does not end and the like say nothing of the content, which stays as it was.
            raise FragmentIndexError(f"the state file {self.path} cannot be used now: {error}") from error
        except sqlite3.DatabaseError as error:
            raise StateLostError(f"the state file {self.path} is damaged: {error}", damaged=True) from error
        except VaultMemoryError:
            raise
        except (ValueError, LookupError) as error:
            # What the state holds was written by this program, so content that it cannot read is damage.
            raise StateLostError(f"the state file {self.path} holds what it may not: {error}", damaged=True) from error

    def _check_facts(self, held: Mapping[str, str]) -> None:
        differing = differing_facts(held, self._facts)
        if differing:
            raise EmbedderMismatchError(
                f"another process made the index anew with other settings ({', '.join(differing)}); open it again"
            )

    @contextmanager
    def syncing(self, wait_seconds: float = BUSY_TIMEOUT_SECONDS) -> Iterator[None]:
        """Be the one that brings the state up to date, over all threads and processes.

        Raises:
            VaultBusyError: Another process still is after so many seconds.
        """
        with self._syncing, sync_lock(self.path.with_suffix(".lock"), wait_seconds):
            yield

    def check(self) -> None:
        """Look for damage in the whole file, which takes as long as reading it.

        Raises:
            StateLostError: There is some.
        """
        with self.reading() as snapshot:
            snapshot.check()

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
