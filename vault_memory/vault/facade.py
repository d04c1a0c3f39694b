"""`Vault`: the calls that users write."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from vault_memory.chunking import chunk_markdown
from vault_memory.config import Settings
from vault_memory.context import SOURCES_BY_RANK, Budget, Context, Layout, build_context
from vault_memory.embed import Embedder, load_embedder
from vault_memory.errors import EmbeddingError, StateLostError, VaultBusyError
from vault_memory.indexer import Progress, SyncPlan
from vault_memory.model import (
    Fragment,
    FragmentLocator,
    Hit,
    Metadata,
    Passage,
    Quarantined,
    Record,
    Retrieval,
    Status,
    SyncReport,
    Target,
)
from vault_memory.retrieve.query import Mode, Query, checked_query, checked_tags
from vault_memory.retrieve.spans import read_hit, read_span
from vault_memory.store import IGNORE_NAMES, UNSET, WHOLE, OnRecordError, Unset, WriteReport
from vault_memory.vault.parts import Parts, join_parts

if TYPE_CHECKING:
    from vault_memory.watch import Batch, Follower

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")


class Vault:
    """A folder of Markdown notes, searchable down to the exact place.

    Open one with `Vault.open`. All methods may be called from several threads.
    """

    def __init__(self, parts: Parts) -> None:
        self._store = parts.store
        self._state = parts.state
        self._embedder = parts.embedder
        self._chunking = parts.chunking
        self._searcher = parts.searcher
        self._indexer = parts.indexer
        self._store.add_write_hook(self._index_write)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        on_record_error: OnRecordError = "skip",
        embedder: str | Embedder = "default",
        state_dir: str | os.PathLike[str] | None = None,
        settings: Settings | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Open a folder: read what is new, index it, and be ready to search.

        Args:
            path: The folder. It is only read, and written by `put` and `delete` alone.
            on_record_error: `skip` lists notes that cannot be loaded in `quarantined`; `fail` raises for the first.
            embedder: An object with the members of `Embedder`, or a spec string such as `default`.
            state_dir: The folder for derived state; the user's cache folder by default.
            settings: Sizes and bounds.
            progress: Called with the number of notes read so far and in all.

        Raises:
            VaultNotFoundError: The path is missing or no folder.
            VaultEmptiedError: The folder had notes when it was last opened, and now it has none.
            RecordError: A note cannot be loaded and `on_record_error` is `fail`.
            ConfigError: The embedder is unknown or lacks a member.
            FragmentIndexError: The state folder cannot be used.

        Example:
            >>> with Vault.open("sample_vault") as vault:
            ...     vault.status().records
            67
        """
        vault = cls.attach(
            path, on_record_error=on_record_error, embedder=embedder, state_dir=state_dir, settings=settings
        )
        try:
            vault.sync(progress=progress)
        except VaultBusyError as error:
            # Searches must not wait for another process's work: what it has done so far is there.
            logger.warning("%s", error)
        except BaseException:
            vault.close()
            raise
        return vault

    @classmethod
    def attach(
        cls,
        path: str | os.PathLike[str],
        *,
        on_record_error: OnRecordError = "skip",
        embedder: str | Embedder = "default",
        state_dir: str | os.PathLike[str] | None = None,
        settings: Settings | None = None,
    ) -> Self:
        """Open a folder as it was last indexed, without looking for changes; the arguments are those of `open`.

        Example:
            >>> with Vault.attach("sample_vault") as vault:
            ...     vault.sync().failed
            {}
        """
        return cls(join_parts(load_embedder(embedder), path, on_record_error, state_dir, settings or Settings()))

    def search(  # noqa: PLR0913  # The filters are fixed by name in callers' code; each is optional.
        self,
        query: str,
        *,
        top_k: int = 10,
        max_per_record: int | None = None,
        mode: Mode = "hybrid",
        scope: str | None = None,
        tags: Sequence[str] = (),
        kind: str | None = None,
        where: Mapping[str, Any] | None = None,
        threshold: float | None = None,
    ) -> Retrieval:
        """Return the places that answer a question, best first, with the evidence for them.

        Args:
            query: The question, or the words to find; `"a phrase"` in double quotes must occur as it is.
            top_k: Number of hits wanted.
            max_per_record: At most this many hits of one note, so that a long one cannot hide the others.
            mode: `hybrid` joins keywords and meaning; `semantic` and `lexical` use one of them.
            scope: Only notes of this folder and the folders below it.
            tags: Only notes with all of these tags; `plant` finds `plant/tomato` too.
            kind: Only notes of this kind.
            where: Only notes with these properties.
            threshold: Only hits with at least this score.

        Raises:
            QueryError: The question is empty, a number is below 1, or a property is unknown.

        Example:
            >>> with Vault.open("sample_vault") as vault:
            ...     len({hit.target for hit in vault.search("seedlings", top_k=3, max_per_record=1)})
            3
        """
        narrowed = (scope, checked_tags(tags), kind, where, threshold)
        asked = checked_query(Query(query, top_k, max_per_record, mode, *narrowed))
        return self._mended(lambda: self._searcher.search(asked))

    def _mended(self, act: Callable[[], Answer]) -> Answer:
        """Do what needs the state; if that was lost, make it anew from the folder first."""
        try:
            return act()
        except StateLostError as error:
            logger.warning("%s; the index is made anew", error)
            self._state.renew(damaged=error.damaged)
            self._indexer.sync(WHOLE, allow_empty=True)
            return act()

    def context(
        self,
        query: str,
        *,
        max_chars: int | None = None,
        max_tokens: int | None = None,
        layout: Layout = SOURCES_BY_RANK,
        **filters: Any,
    ) -> Context:
        """Return text that can be put before a language model, each passage in a block that can be cited.

        Args:
            query: The question.
            max_chars: Bound for the whole text; the first passage that does not fit ends it.
            max_tokens: Likewise, in estimated tokens.
            layout: Order and form of the blocks.
            filters: What `search` takes: `top_k`, `max_per_record`, `mode`, `scope` and the others.

        Example:
            >>> with Vault.open("sample_vault") as vault:
            ...     vault.context("how do I water seedlings", max_chars=4000).passages[0].id
            'Garden/Seedlings.md#1'
        """
        found = self.search(query, **filters)
        built = build_context(found.hits, self.read, Budget(max_chars, max_tokens), layout)
        return replace(built, evidence=found.evidence)

    def read(self, place: Hit | Target, locator: FragmentLocator | None = None) -> Passage:
        """Return exactly the text of a hit, of a span of a record, or of a whole body.

        Raises:
            RecordNotFoundError: No record has this target.
            StaleSpanError: The record changed and the span is no longer in it.

        Example:
            >>> with Vault.open("sample_vault") as vault:
            ...     vault.read(vault.search("watering seedlings")[0]).text[:11]
            '## Watering'
        """
        if isinstance(place, Hit) and locator is None:
            return read_hit(self._store.get(place.target), place)
        target = place.target if isinstance(place, Hit) else place
        return read_span(self._store.get(target), locator, self._chunking)

    def get(self, target: Target) -> Record:
        """Return a record as it is on the disk now.

        Raises:
            RecordNotFoundError: No record has this target.
            RecordError: The record is quarantined.

        Example:
            >>> with Vault.open("sample_vault") as vault:
            ...     vault.get(Target("Garden", "Seedlings")).path
            'Garden/Seedlings.md'
        """
        return self._store.get(target)

    def records(self) -> Iterator[Record]:
        """Yield every record that can be loaded, in the order of the walk, as it is on the disk now.

        Example:
            >>> with Vault.open("sample_vault") as vault:
            ...     titles = [record.title for record in vault.records()]
        """
        return self._store.records()

    def fragments(self, target: Target) -> list[Fragment]:
        """Return the fragments of a record as it is on the disk now, by rising start.

        Raises:
            RecordNotFoundError: No record has this target.

        Example:
            >>> with Vault.open("sample_vault") as vault:
            ...     vault.fragments(Target("Garden", "Seedlings"))[0].heading_path
            ('Seedlings',)
        """
        return chunk_markdown(self._store.get(target).body, self._chunking)

    def put(
        self,
        target: Target,
        body: str,
        metadata: Metadata | None = None,
        *,
        expected_digest: str | Unset | None = UNSET,
    ) -> WriteReport:
        """Write a record and index it.

        Args:
            target: Where.
            body: The text after the header, stored as it is.
            metadata: Properties to set; those not named stay. `None` keeps the header as it is.
            expected_digest: The digest that the writer read, so that no update is lost; `None` for a new record.

        Returns:
            The record, and in `errors` why it could not be indexed, if it could not; the next sync repairs that.

        Raises:
            WriteRejectedError: The digest is not the expected one, or the file is quarantined.
            UnsafePathError: The name would leave the vault.
            IdentityError: The name is not portable.

        Example:
            >>> import tempfile
            >>> with tempfile.TemporaryDirectory() as folder, Vault.open(folder) as vault:
            ...     _ = vault.put(Target("boat", "Mast"), "Varnish the mast in April.", {"tags": ["boat"]})
            ...     vault.search("varnish")[0].path
            'boat/Mast.md'
        """
        return self._store.put(target, body, metadata, expected_digest=expected_digest)

    def delete(self, target: Target, *, expected_digest: str | Unset = UNSET) -> WriteReport:
        """Delete a record and take it out of the indexes.

        Raises:
            RecordNotFoundError: No record has this target.
            WriteRejectedError: The digest is not the expected one, or the file is quarantined.

        Example:
            >>> import tempfile
            >>> with tempfile.TemporaryDirectory() as folder, Vault.open(folder) as vault:
            ...     _ = vault.put(Target("", "Draft"), "To be thrown away.")
            ...     vault.delete(Target("", "Draft")).changed
            True
        """
        return self._store.delete(target, expected_digest=expected_digest)

    def _index_write(self, target: Target, record: Record | None) -> None:
        if record is None:
            self._mended(lambda: self._indexer.remove(target))
            return
        failure = self._mended(lambda: self._indexer.put(record))
        if failure is not None:
            raise EmbeddingError(f"{record.path} is written but not embedded yet: {failure}")

    def plan(self, *, verify: bool = False) -> SyncPlan:
        """Return what `sync` would do, without reading a note or changing anything.

        Example:
            >>> with Vault.open("sample_vault") as vault:
            ...     vault.plan().scan.left_out[0].path
            '.obsidian'
        """
        return self._indexer.plan(verify=verify, allow_empty=True)

    def sync(
        self,
        *,
        paths: Collection[str] = WHOLE,
        verify: bool = False,
        allow_empty: bool = False,
        progress: Progress | None = None,
    ) -> SyncReport:
        """Make the indexes equal to the folder, in one pass.

        Args:
            paths: Files and folders to look at, there or gone, relative to the vault; all of it by default.
            verify: Read every note, also where size and times say that it did not change.
            allow_empty: Accept that a vault which had notes has none.
            progress: Called with the number of notes read so far and in all.

        Raises:
            VaultNotFoundError: The folder is missing or cannot be listed; the index stays as it is.
            VaultEmptiedError: It had notes, and now it has none; the index stays as it is.

        Example:
            >>> with Vault.open("sample_vault") as vault:
            ...     vault.sync().changed
            ()
        """
        return self._mended(
            lambda: self._indexer.sync(paths, verify=verify, allow_empty=allow_empty, progress=progress)
        )

    def watch(self, on_sync: Callable[[SyncReport], None] | None = None) -> Follower:
        """Follow the folder in the background until the returned follower is left or stopped.

        Args:
            on_sync: Called after each pass with what it did, on the follower's thread; what it raises is logged.

        Example:
            >>> import pathlib, tempfile
            >>> with tempfile.TemporaryDirectory() as folder, Vault.open(folder) as vault:
            ...     with vault.watch() as live:
            ...         _ = pathlib.Path(folder, "Mast.md").write_text("Varnish the mast in April.")
            ...         _ = live.wait_settled()
            ...     vault.search("varnish")[0].path
            'Mast.md'
        """
        from vault_memory.watch import FolderWatcher, Follower, tell  # noqa: PLC0415  # Few vaults are followed.

        def sync(batch: Batch) -> None:
            report = self.sync(paths=WHOLE if batch.everything else batch.paths)
            if on_sync is not None:
                tell(on_sync, report)

        return Follower(FolderWatcher(self._store.root, IGNORE_NAMES), sync)

    @property
    def quarantined(self) -> tuple[Quarantined, ...]:
        """Files that are there but cannot be loaded, each with path, scope and error; never touched."""
        return self._store.quarantined

    def status(self) -> Status:
        """Return what the vault holds and how fresh it is.

        Example:
            >>> with Vault.open("sample_vault") as vault:
            ...     vault.status().quarantined
            4
        """
        freshness = self._mended(self._state.freshness)
        return Status(str(self._store.root), str(self._state.path), str(self._embedder.fingerprint), freshness)

    def close(self) -> None:
        """Let go of the state file; the vault's folder needs no closing."""
        self._state.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
