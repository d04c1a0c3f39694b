"""`FileTreeMemoryStore`: the records of a folder, as they are on the disk now."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from vault_memory.config import ReadSettings
from vault_memory.errors import RecordError, RecordNotFoundError, VaultNotFoundError
from vault_memory.files import check_folder
from vault_memory.identity import in_nfc, path_of, printable
from vault_memory.model import Metadata, Quarantined, Record, Target
from vault_memory.store.ignore import Rules
from vault_memory.store.loading import Quarantine, load_record
from vault_memory.store.places import Places
from vault_memory.store.protocol import WriteHook
from vault_memory.store.walk import WHOLE, FileEntry, Scan, checked_paths, walk, walk_order
from vault_memory.store.writing import UNSET, Unset, Writer, WriteReport

logger = logging.getLogger(__name__)

OnRecordError = Literal["fail", "skip"]

_DEFAULT_SETTINGS = ReadSettings()
_NEAR_NAMES = 3


class FileTreeMemoryStore:
    """Records as Markdown files in a tree of folders.

    Nothing but names and quarantine is held in memory: a body is read when it is asked for. Reading never changes a
    file. All methods may be called from several threads.

    Args:
        root: The folder; it may itself be a link.
        on_record_error: What a file that cannot be loaded does: `fail` raises for the first one in walk order,
            `skip` lists them in `quarantined` and goes on.
        settings: What is a note, and what bounds a header.
        load: Whether to read every record once, so that all faults are known when the store is there.

    Raises:
        VaultNotFoundError: The folder is missing, a file, or cannot be listed.
        RecordError: A record cannot be loaded, and `on_record_error` is `fail`.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        on_record_error: OnRecordError = "fail",
        settings: ReadSettings = _DEFAULT_SETTINGS,
        load: bool = True,
    ) -> None:
        if not os.fspath(root):
            raise VaultNotFoundError("the path of the vault is empty; give the folder that holds the notes")
        self.root = Path(root).expanduser().absolute()
        self.on_record_error = on_record_error
        self._settings = settings
        self._rules = Rules(self.root, use_gitignore=settings.use_gitignore)
        self._places = Places(self.root, self._rules)
        self._writer = Writer(self.root, self._places, settings)
        self._quarantine = Quarantine()
        self._hooks: list[WriteHook] = []
        self._seen: tuple[FileEntry, ...] | None = None
        check_folder(self.root)
        if load:
            for _ in self.records():
                pass

    @property
    def quarantined(self) -> tuple[Quarantined, ...]:
        """Files that are there but cannot be loaded, as far as they were looked at, in walk order."""
        return self._quarantine.listed()

    @property
    def skipped_records(self) -> tuple[Quarantined, ...]:
        """The same as `quarantined`."""
        return self.quarantined

    def scan(self, under: Collection[str] = WHOLE) -> Scan:
        """Walk the folder, or look at some files and folders in it, without reading a note.

        Args:
            under: What to look at, there or gone, relative to the vault; all of it by default.

        Raises:
            VaultNotFoundError: The folder is missing, a file, or cannot be listed.
            RecordError: A name cannot be an address or a folder cannot be listed, and `on_record_error` is `fail`.
        """
        scan = self._walk(checked_paths(under))
        if self.on_record_error == "fail" and scan.quarantined:
            raise scan.quarantined[0].error
        return scan

    def _walk(self, under: Collection[str] = WHOLE) -> Scan:
        scan = walk(self.root, self._rules, under)
        self._quarantine.take_scan(scan, under)
        if "" in under:
            self._seen = scan.entries
        return scan

    def load(self, entry: FileEntry) -> Record:
        """Read the record of a file that a scan found, and keep `quarantined` up to date.

        Raises:
            RecordError: It cannot be loaded, or is gone; the message starts with the path.
        """
        try:
            return self._load(entry.path, entry.target)
        except FileNotFoundError as error:
            raise RecordError("it vanished while the folder was read").at(entry.path) from error

    def _load(self, path: str, target: Target) -> Record:
        try:
            record = load_record(self.root, path, target, self._settings)
        except RecordError as error:
            self._quarantine.add(path, target.scope, error)
            raise
        except FileNotFoundError:
            self._quarantine.discard(path)
            raise
        self._quarantine.discard(path)
        return record

    def records(self) -> Iterator[Record]:
        """Walk, and yield every record in walk order, as it is on the disk when its turn comes.

        Raises:
            VaultNotFoundError: The folder is missing, a file, or cannot be listed.
            RecordError: A record cannot be loaded, and `on_record_error` is `fail`.
        """
        scan = self._walk()
        return self._each(sorted([*scan.entries, *scan.quarantined], key=walk_order))

    def _each(self, found: list[FileEntry | Quarantined]) -> Iterator[Record]:
        for item in found:
            try:
                if isinstance(item, Quarantined):
                    raise item.error
                yield self._load(item.path, item.target)
            except FileNotFoundError:
                continue
            except RecordError:
                if self.on_record_error == "fail":
                    raise

    def targets(self) -> tuple[Target, ...]:
        """Walk, and return the target of every note that is not known to be bad, in walk order.

        Raises:
            VaultNotFoundError: The folder is missing, a file, or cannot be listed.
            RecordError: A name cannot be an address or a folder cannot be listed, and `on_record_error` is `fail`.
        """
        bad = {file.path for file in self.quarantined}
        return tuple(entry.target for entry in self.scan().entries if entry.path not in bad)

    def find(self, target: Target) -> Record | None:
        """Return a record as it is on the disk now, or `None` if there is none.

        Raises:
            RecordError: Its file is there and cannot be loaded.
        """
        wanted = in_nfc(target)
        try:
            path = self._places.find(wanted)
            if path is not None:
                return self._load(path, wanted)
            self._quarantine.discard(path_of(wanted))
        except FileNotFoundError:
            pass
        except OSError as error:
            reason = f"cannot be looked at: {error.strerror}"
            raise RecordError(reason).at(printable(path_of(wanted))) from error
        return None

    def get(self, target: Target) -> Record:
        """Return a record as it is on the disk now.

        Raises:
            RecordNotFoundError: No record has this target; the message names near ones.
            RecordError: Its file is there and cannot be loaded.
        """
        record = self.find(target)
        if record is None:
            raise self._not_found(in_nfc(target))
        return record

    def _not_found(self, target: Target) -> RecordNotFoundError:
        """Name the records of the same id elsewhere, and those of nearly the same id in the same folder."""
        seen = self._walk().entries if self._seen is None else self._seen
        namesakes = [str(entry.target) for entry in seen if entry.target.id.casefold() == target.id.casefold()]
        siblings = [entry.target.id for entry in seen if entry.target.scope == target.scope]
        close = (str(Target(target.scope, near)) for near in get_close_matches(target.id[:255], siblings, _NEAR_NAMES))
        near = list(dict.fromkeys([*namesakes, *close]))[:_NEAR_NAMES]
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        return RecordNotFoundError(f"no record has the target {printable(str(target))!r}{hint}")

    def put(
        self,
        target: Target,
        body: str,
        metadata: Metadata | None = None,
        *,
        expected_digest: str | Unset | None = UNSET,
    ) -> WriteReport:
        """Write a record: its new text is on the disk, whole, or nothing has changed.

        A file that is there keeps its spelling, its mode, and its header byte for byte where no property changes.

        Args:
            target: Where. Folders that are missing are made.
            body: The text after the header, stored and read back exactly as it is.
            metadata: Properties to set. Those not named stay; `REMOVED` as a value takes one out; `None` for all
                keeps the header as it is.
            expected_digest: The digest of the record that the caller read, or `None` if there must be none. If
                another writer was faster nothing is written.

        Raises:
            WriteRejectedError: The digest is another one; the file is quarantined or read-only; the place is left
                out of the vault; the text could not be read back; or the disk refuses.
            IdentityError: The name of a new record is not portable, or differs from another only in letter case.
            UnsafePathError: The place is outside of the vault or behind a link.
            VaultNotFoundError: The vault's folder is missing; it is never made.
        """
        wanted = in_nfc(target)
        report = self._writer.put(wanted, body, metadata, expected_digest)
        self._quarantine.discard(report.record.path)
        return self._tell_hooks(wanted, report.record, report) if report.changed else report

    def delete(self, target: Target, *, expected_digest: str | Unset = UNSET) -> WriteReport:
        """Delete a record's file; folders stay.

        Args:
            target: Which.
            expected_digest: The digest of the record that the caller read.

        Raises:
            RecordNotFoundError: No record has this target.
            WriteRejectedError: The digest is another one, the file is quarantined or read-only, or the disk refuses.
            VaultNotFoundError: The vault's folder is missing.
        """
        wanted = in_nfc(target)
        report = self._writer.delete(wanted, expected_digest)
        return self._tell_hooks(wanted, None, report)

    def add_write_hook(self, hook: WriteHook) -> None:
        """Call a function after every write that changed the disk: with the record, or `None` after a deletion.

        It runs on the writer's thread when others may write again, so two writes of one record can be told in either
        order. What it raises is logged and put into the report; the write stands.
        """
        self._hooks.append(hook)

    def _tell_hooks(self, target: Target, record: Record | None, report: WriteReport) -> WriteReport:
        errors: list[Exception] = []
        for hook in tuple(self._hooks):
            try:
                hook(target, record)
            except Exception as error:
                logger.warning("%s is written, but a write hook failed: %s", report.record.path, error)
                errors.append(error)
        return WriteReport(report.record, report.created, report.changed, tuple(errors))
