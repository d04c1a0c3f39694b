"""The one writer of indexes: plan what changed, apply it in batches of whole records, report."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from vault_memory.chunking import chunk_markdown
from vault_memory.config import ChunkSettings
from vault_memory.embed import VaultEmbedder
from vault_memory.embed.input import embedding_input, vector_key
from vault_memory.errors import EmbeddingError, RecordError, VaultEmptiedError
from vault_memory.index.state import State
from vault_memory.index.state.snapshot import KnownRecord
from vault_memory.index.state.writer import IndexedFragment, IndexedRecord
from vault_memory.markdown.line_numbers import count_line_ends, line_ranges
from vault_memory.model import Fragment, Record, SyncReport, Target, Vector
from vault_memory.store import WHOLE, FileEntry, FileTreeMemoryStore, Scan, checked_paths

logger = logging.getLogger(__name__)

# A batch is embedded in one call and committed in one transaction. Its size bounds memory and what a kill can undo.
BATCH_RECORDS = 128
BATCH_CHARS = 512 * 1024

# A file that changed this shortly before it was read may change again without a new time stamp: file systems count
# time in steps of up to two seconds (FAT). It is read once more by the next pass.
RACY_NANOSECONDS = 2_000_000_000

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """What a pass has to do.

    Attributes:
        scan: What the walk found.
        known: What the record table says of the files to read and of those that are gone.
        to_read: Files that are new, or that may have changed.
        gone: Known records whose file is no longer there.
        is_whole: Whether all of the vault was looked at.
    """

    scan: Scan
    known: dict[Target, KnownRecord]
    to_read: tuple[FileEntry, ...]
    gone: tuple[Target, ...]
    is_whole: bool


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A record that was read and cut, before its texts are embedded."""

    record: Record
    stamp: str
    fragments: tuple[IndexedFragment, ...]
    texts: tuple[str, ...]


@dataclass(slots=True)
class _Tally:
    """What a pass has done so far; `added` maps the path of each new record to its digest."""

    added: dict[str, str] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)
    restamped: list[tuple[Target, str, str]] = field(default_factory=list)
    embedded: int = 0
    failed: dict[str, str] = field(default_factory=dict)


class Indexer:
    """Keeps the state of a vault equal to its folder."""

    def __init__(
        self, store: FileTreeMemoryStore, state: State, embedder: VaultEmbedder, chunking: ChunkSettings
    ) -> None:
        self._store = store
        self._state = state
        self._embedder = embedder
        self._chunking = chunking

    def sync(
        self,
        under: Collection[str] = WHOLE,
        *,
        verify: bool = False,
        allow_empty: bool = False,
        progress: Progress | None = None,
    ) -> SyncReport:
        """Plan and apply, as the only one that does so on this state.

        Raises:
            VaultBusyError: Another process is at it, and does not end.
        """
        with self._state.syncing():
            if verify:
                self._state.check()
            return self.apply(self.plan(under, verify=verify, allow_empty=allow_empty), progress=progress)

    def plan(self, under: Collection[str] = WHOLE, *, verify: bool = False, allow_empty: bool = False) -> SyncPlan:
        """Compare the folder with the state, without reading a note.

        Args:
            under: Files and folders to look at, there or gone, relative to the vault; all of it by default.
            verify: Plan to read every file, whatever its stamp says.
            allow_empty: Accept that a vault which had notes has none.

        Raises:
            VaultNotFoundError: The folder is missing or cannot be listed.
            VaultEmptiedError: It had notes, and now it has none.
        """
        under = checked_paths(under)
        scan = self._store.scan(under)
        with self._state.reading() as snapshot:
            known = snapshot.known_records(under)
            total = snapshot.freshness().records
        if known and len(known) == total and not scan.entries and not allow_empty:
            raise VaultEmptiedError(
                f"{self._store.root} had {total} notes and now has none; if a disk is not mounted, mount it;"
                " if the notes are really gone, sync once with allow_empty (on the command line: --allow-empty)"
            )
        to_read = tuple(entry for entry in scan.entries if verify or _may_have_changed(entry, known.get(entry.path)))
        present = {entry.path for entry in scan.entries}
        missing = {row.target: row for path, row in known.items() if path not in present}
        # A file that is spelled in another way now is the same record, so targets decide what is gone.
        found = {entry.target for entry in to_read}
        gone = tuple(target for target in missing if target not in found and not _is_unlisted(target, scan))
        read = {row.target: row for entry in to_read if (row := known.get(entry.path)) is not None}
        return SyncPlan(scan, {**missing, **read}, to_read, gone, "" in under)

    def apply(self, plan: SyncPlan, *, progress: Progress | None = None) -> SyncReport:
        """Do what a plan says, batch by batch; a batch that was committed stays, whatever happens later.

        What is new comes before what is gone, so that a note that moved finds its vectors.
        """
        tally = _Tally()
        batch: list[_Prepared] = []
        for done, entry in enumerate(plan.to_read, start=1):
            try:
                prepared = self._read(entry, plan.known.get(entry.target), tally)
                if progress is not None:
                    progress(done, len(plan.to_read))
            except KeyboardInterrupt:
                self._commit(batch, tally, plan.known)
                raise
            if prepared is not None:
                batch.append(prepared)
            if done == len(plan.to_read) or _is_full(batch):
                self._commit(batch, tally, plan.known)
                batch = []
        if plan.is_whole or plan.to_read or plan.gone:
            self._finish(plan, tally)
        return self._report(plan, tally)

    def put(self, record: Record) -> str | None:
        """Index one record that was just written; return why it could not be embedded, if it could not."""
        tally = _Tally()
        self._commit([self._cut(record, "")], tally, None)
        return tally.failed.get(record.path)

    def remove(self, target: Target) -> None:
        """Take one record that was just deleted out of the indexes."""
        with self._state.writing() as writer:
            writer.remove(target)

    def _read(self, entry: FileEntry, known: KnownRecord | None, tally: _Tally) -> _Prepared | None:
        read_at = time.time_ns()
        try:
            record = self._store.load(entry)
        except RecordError:
            if self._store.on_record_error == "fail":
                raise
            return None
        stamp = "" if read_at - entry.stamp.changed_ns < RACY_NANOSECONDS else str(entry.stamp)
        if known is not None and known.digest == record.digest and known.failure is None:
            tally.restamped.append((entry.target, entry.path, stamp))
            return None
        if known is None:
            tally.added[record.path] = record.digest
        elif known.digest != record.digest:
            tally.changed.append(record.path)
        return self._cut(record, stamp)

    def _cut(self, record: Record, stamp: str) -> _Prepared:
        fragments = chunk_markdown(record.body, self._chunking)
        spans = [(fragment.locator.start, fragment.locator.end) for fragment in fragments]
        lines = line_ranges(record.body, spans, count_line_ends(record.header))
        title = record.metadata.get("title")
        names = (*((title,) if isinstance(title, str) else ()), *record.aliases)
        bound = self._embedder.max_input_chars
        texts = tuple(
            embedding_input(fragment.text, _names_above(record.body, fragment), names, bound) for fragment in fragments
        )
        kept = tuple(map(IndexedFragment, fragments, lines, map(vector_key, texts)))
        return _Prepared(record, stamp, kept, texts)

    def _commit(self, batch: Sequence[_Prepared], tally: _Tally, planned: Mapping[Target, KnownRecord] | None) -> None:
        """Write records that were read; one that another writer changed since the plan keeps that newer content."""
        vectors, failures = self._vectors(batch, tally)
        with self._state.writing() as writer:
            for prepared in batch:
                target = prepared.record.target
                if planned is not None and writer.digest_of(target) != _planned_digest(planned, target):
                    continue
                rows = [vectors.get(kept.vector_key) for kept in prepared.fragments]
                complete = [row for row in rows if row is not None]
                whole = len(complete) == len(rows)
                matrix = np.array(complete, np.float32) if whole else None
                failure = None if whole else failures.get(target, "not embedded yet")
                if failure is not None:
                    tally.failed[prepared.record.path] = failure
                writer.put(IndexedRecord(prepared.record, prepared.stamp, prepared.fragments, matrix, failure))

    def _vectors(self, batch: Sequence[_Prepared], tally: _Tally) -> tuple[dict[bytes, Vector], dict[Target, str]]:
        """Return the vectors of a batch by key: those that the state has, and new ones for the other texts."""
        with self._state.reading() as snapshot:
            keys = list(dict.fromkeys(kept.vector_key for prepared in batch for kept in prepared.fragments))
            vectors = snapshot.vectors(keys, self._embedder.fingerprint.dimensions)
        failures: dict[Target, str] = {}
        try:
            self._embed(batch, vectors, tally)
        except EmbeddingError:
            # One text that the embedder cannot take must not cost the others their vectors.
            for prepared in batch:
                try:
                    self._embed([prepared], vectors, tally)
                except EmbeddingError as error:
                    failures[prepared.record.target] = str(error)
                    logger.warning("%s is stored but not embedded: %s", prepared.record.path, error)
        return vectors, failures

    def _embed(self, batch: Sequence[_Prepared], vectors: dict[bytes, Vector], tally: _Tally) -> None:
        wanted: dict[bytes, tuple[str, Target]] = {}
        for prepared in batch:
            for kept, text in zip(prepared.fragments, prepared.texts, strict=True):
                if kept.vector_key not in vectors:
                    wanted.setdefault(kept.vector_key, (text, prepared.record.target))
        if not wanted:
            return
        texts, targets = zip(*wanted.values(), strict=True)
        before = self._embedder.embedded
        rows = self._embedder.embed_documents(texts, targets)
        vectors.update(zip(wanted, rows, strict=True))
        tally.embedded += self._embedder.embedded - before

    def _finish(self, plan: SyncPlan, tally: _Tally) -> None:
        quarantined = self._store.quarantined
        unreadable = {file.path for file in quarantined}
        with self._state.writing() as writer:
            for target in plan.gone:
                writer.remove(target)
            for entry in plan.to_read:
                if entry.path in unreadable:
                    writer.remove(entry.target)
            writer.restamp(tally.restamped)
            writer.set_quarantine(quarantined)
            if plan.is_whole:
                writer.mark_synced(plan.scan.unlisted)

    def _report(self, plan: SyncPlan, tally: _Tally) -> SyncReport:
        moved = _moves(tally.added, [plan.known[target] for target in plan.gone])
        sources = set(moved.values())
        read = len(tally.added) + len(tally.changed)
        unreadable = {file.path for file in self._store.quarantined}
        return SyncReport(
            added=tuple(path for path in tally.added if path not in moved),
            changed=tuple(tally.changed),
            moved=tuple((source, path) for path, source in moved.items()),
            removed=tuple(path for path in (plan.known[target].path for target in plan.gone) if path not in sources),
            unchanged=sum(entry.path not in unreadable for entry in plan.scan.entries) - read,
            quarantined=tuple(self._store.quarantined),
            left_out=plan.scan.left_out,
            embedded=tally.embedded,
            failed=tally.failed,
        )


def _names_above(body: str, fragment: Fragment) -> tuple[str, ...]:
    """Return the headings above a fragment, and the columns of the table that it continues."""
    head = fragment.table_head
    return fragment.heading_path if head is None else (*fragment.heading_path, body[head.start : head.end])


def _moves(added: Mapping[str, str], gone: Sequence[KnownRecord]) -> dict[str, str]:
    """Return the old path of each new one that has the content of a record that is gone, one to one.

    Of several equal ones, the one that kept its file's name is taken first.
    """
    left: dict[str, list[str]] = {}
    for record in gone:
        left.setdefault(record.digest, []).append(record.path)
    moved: dict[str, str] = {}
    for same_name in (True, False):
        for path, digest in added.items():
            fitting = [old for old in left.get(digest, ()) if not same_name or _name(old) == _name(path)]
            if path not in moved and fitting:
                moved[path] = fitting[0]
                left[digest].remove(fitting[0])
    return moved


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _planned_digest(planned: Mapping[Target, KnownRecord], target: Target) -> str | None:
    known = planned.get(target)
    return known.digest if known is not None else None


def _may_have_changed(entry: FileEntry, known: KnownRecord | None) -> bool:
    return known is None or known.stamp != str(entry.stamp) or known.failure is not None


def _is_unlisted(target: Target, scan: Scan) -> bool:
    """Tell whether the record lies in a folder that could not be listed, so that nothing is known of it."""
    return any(f"{target.scope}/".startswith(f"{folder}/") for folder in scan.unlisted)


def _is_full(batch: Sequence[_Prepared]) -> bool:
    return len(batch) >= BATCH_RECORDS or sum(len(prepared.record.body) for prepared in batch) >= BATCH_CHARS
