"""Reading the state: one consistent view, and the rows that it gives."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vault_memory.errors import StateLostError
from vault_memory.index.lexical import LexicalAnswer, LexicalIndex
from vault_memory.index.state.schema import packed_checksum, read_meta
from vault_memory.model import FragmentLocator, Freshness, Metadata, Target, Vector, content_digest

if TYPE_CHECKING:
    import numpy.typing as npt

# SQLite took no more than 999 values in one statement for a long time.
KEYS_PER_QUERY = 500


class KnownRecord(NamedTuple):
    """What the record table says of a file: enough to decide whether it changed.

    Attributes:
        scope: The record's scope.
        name: The record's id.
        path: Spelled as on the disk.
        stamp: The file's stamp when it was read; empty if it has to be read again whatever its stamp.
        digest: Digest of its bytes.
        failure: Why it is not wholly indexed, if it is not.
    """

    scope: str
    name: str
    path: str
    stamp: str
    digest: str
    failure: str | None

    @property
    def target(self) -> Target:
        """The record's identity."""
        return Target(self.scope, self.name)


@dataclass(frozen=True, slots=True)
class FragmentDetail:
    """All that a hit shows beyond its place and score."""

    path: str
    title: str
    lines: tuple[int, int]
    heading_path: tuple[str, ...]
    record_digest: str
    fragment_digest: str
    locator: FragmentLocator
    text: str


@dataclass(frozen=True, slots=True)
class PackedRecord:
    """A record's places and vectors as the index loads them.

    Attributes:
        target: The record.
        places: Starts and ends, shape (2, n), int32.
        matrix: Unit or zero rows as packed float32 bytes, n rows.
    """

    target: Target
    places: bytes
    matrix: bytes


class Snapshot:
    """One consistent view of the state."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._meta = read_meta(connection)
        self._lexical = LexicalIndex(connection)

    @property
    def facts(self) -> Mapping[str, str]:
        """What the state says of itself."""
        return self._meta

    @property
    def state_id(self) -> str:
        """What names this state; one that was made anew has another id."""
        return self._meta["id"]

    @property
    def generation(self) -> int:
        """Number of the last committed change."""
        return int(self._meta["generation"])

    @property
    def floor(self) -> int:
        """The oldest generation from which a reader can catch up; an older one has to load everything."""
        return int(self._meta["floor"])

    def freshness(self) -> Freshness:
        """Return what the view holds and how far it is from the folder."""
        (quarantined,) = self._connection.execute("SELECT count(*) FROM quarantine").fetchone()
        synced_at = self._meta.get("synced_at")
        return Freshness(
            **{name: int(self._meta.get(name, "0")) for name in ("records", "fragments", "pending")},
            stale=self._stale_records(),
            quarantined=quarantined,
            generation=self.generation,
            synced_at=float(synced_at) if synced_at else None,
        )

    def _stale_records(self) -> int:
        return sum(map(self.count_in_scope, json.loads(self._meta.get("unlisted", "[]"))))

    def known_records(self, under: Iterable[str] = ("",)) -> dict[str, KnownRecord]:
        """Return the record table by path, or the part of it at and below some paths of the disk."""
        known: dict[str, KnownRecord] = {}
        for path in under:
            # Every path below a folder sorts between `folder/` and `folder0`, the character after the slash.
            rows = self._connection.execute(
                "SELECT scope, name, path, stamp, digest, failure FROM records"
                + (" WHERE path = ? OR (path > ? AND path < ?)" if path else ""),
                (path, f"{path}/", f"{path}0") if path else (),
            )
            known.update((row[2], KnownRecord._make(row)) for row in rows)
        return known

    def check(self) -> None:
        """Look for damage in every page, and at every packed row.

        Raises:
            StateLostError: There is some.
        """
        (verdict,) = self._connection.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise StateLostError(f"the state is damaged: {verdict}", damaged=True)
        for _ in self.packed_since(-1):
            pass

    def count_in_scope(self, scope: str) -> int:
        """Return the number of records in a folder and the folders below it."""
        (count,) = self._connection.execute(
            "SELECT count(*) FROM records WHERE ? = '' OR scope = ? OR (scope > ? AND scope < ?)",
            (scope, scope, f"{scope}/", f"{scope}0"),
        ).fetchone()
        return int(count)

    def envelopes(self) -> Iterator[tuple[Target, str, tuple[str, ...], Metadata]]:
        """Yield target, kind, tags and metadata of every record, for filters."""
        for scope, name, kind, tags, metadata in self._connection.execute(
            "SELECT scope, name, kind, tags, metadata FROM records ORDER BY scope, name"
        ):
            yield Target(scope, name), kind, tuple(json.loads(tags)), json.loads(metadata)

    def quarantine(self) -> list[tuple[str, str, str, str, int | None]]:
        """Return path, scope, name of the error's class, reason and line of each quarantined file, by path."""
        return self._connection.execute(
            "SELECT path, scope, error, reason, line FROM quarantine ORDER BY path"
        ).fetchall()

    def query_lexical(
        self,
        text: str,
        top_k: int,
        max_per_record: int | None = None,
        *,
        scope: str | None = None,
        targets: Collection[Target] | None = None,
    ) -> LexicalAnswer:
        """Ask the lexical index of this view."""
        return self._lexical.query(text, top_k, max_per_record, scope=scope, targets=targets)

    def details(self, places: Sequence[tuple[Target, int]]) -> list[FragmentDetail]:
        """Return what is known of fragments, given by record and start, in the order asked for.

        Raises:
            KeyError: A place is not in this view.
        """
        texts = self._lexical.texts(places)
        return [self._detail(target, start, texts[target, start]) for target, start in places]

    def _detail(self, target: Target, start: int, text: str) -> FragmentDetail:
        row = self._connection.execute(
            "SELECT path, title, first_line, last_line, heading_path, r.digest, f.digest, start, end"
            " FROM records r JOIN fragments f USING (rid) WHERE scope = ? AND name = ? AND start = ?",
            (target.scope, target.id, start),
        ).fetchone()
        if row is None:
            raise KeyError((target, start))
        path, title, first, last, headings, record_digest, digest, begin, end = row
        if content_digest(text) != digest:
            raise StateLostError(f"a text of {path} is not as it was written", damaged=True)
        heading_path = tuple(json.loads(headings))
        locator = FragmentLocator(begin, end)
        return FragmentDetail(path, title, (first, last), heading_path, record_digest, digest, locator, text)

    def vectors(self, keys: Sequence[bytes], dimensions: int) -> dict[bytes, Vector]:
        """Return the vectors that the state already has for some texts, by key."""
        found: dict[bytes, Vector] = {}
        for first in range(0, len(keys), KEYS_PER_QUERY):
            asked = keys[first : first + KEYS_PER_QUERY]
            rows = self._connection.execute(
                "SELECT vector_key, ordinal, matrix FROM fragments JOIN packed USING (rid)"
                f" WHERE vector_key IN ({','.join('?' * len(asked))}) AND length(matrix) > 0 GROUP BY vector_key",
                asked,
            )
            for key, ordinal, matrix in rows:
                found[key] = np.frombuffer(matrix, np.float32, dimensions, ordinal * dimensions * 4)
        return found

    def packed_since(self, generation: int) -> Iterator[PackedRecord]:
        """Yield the vectors of every record that changed after a generation, in the order of their targets."""
        rows = self._connection.execute(
            "SELECT scope, name, places, matrix, checksum FROM records LEFT JOIN packed USING (rid)"
            " WHERE generation > ? ORDER BY scope, name",
            (generation,),
        )
        for scope, name, places, matrix, checksum in rows:
            if places is None or packed_checksum(places, matrix) != checksum:
                raise StateLostError(f"the vectors of {scope}/{name} are not as they were written", damaged=True)
            yield PackedRecord(Target(scope, name), places, matrix)

    def removed_since(self, generation: int) -> list[Target]:
        """Return the records that went away after a generation."""
        rows = self._connection.execute("SELECT scope, name FROM removed WHERE generation > ?", (generation,))
        return [Target(*row) for row in rows]


def unpack_places(places: bytes) -> npt.NDArray[np.int32]:
    """Return starts and ends, shape (2, n)."""
    return np.frombuffer(places, np.int32).reshape(2, -1)
