"""Put and delete: everything that can fail is checked first, then one atomic step changes the disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from vault_memory.config import ReadSettings
from vault_memory.errors import IdentityError, RecordError, RecordNotFoundError, WriteRejectedError
from vault_memory.files import (
    can_write,
    delete_file,
    exclusive,
    new_folders,
    remove_stale_temporaries,
    replace_file,
)
from vault_memory.identity import path_of, printable
from vault_memory.model import EMPTY_METADATA, Metadata, Record, Target
from vault_memory.records import parse_record, render_record
from vault_memory.store.loading import load_record
from vault_memory.store.places import Place, Places


class Unset(Enum):
    """The type of `UNSET`."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET
"""Stands for "no expectation", where `None` means "no such record"."""


class Removed(Enum):
    """The type of `REMOVED`."""

    REMOVED = "removed"


REMOVED: Final = Removed.REMOVED
"""As the value of a property given to `put`, it takes the property out; `None` is a value that YAML has."""


@dataclass(frozen=True, slots=True)
class WriteReport:
    """What a write did.

    Attributes:
        record: The record as it is now; for a deletion, as it was.
        created: Whether its file is new.
        changed: Whether the disk changed; text that is there already is not written again.
        errors: What write hooks raised. The write stands, and the next sync repairs what they left undone.
    """

    record: Record
    created: bool
    changed: bool
    errors: tuple[Exception, ...] = ()


class Writer:
    """Changes the records of one folder; one writer at a time, over all threads and processes that use this class."""

    def __init__(self, root: Path, places: Places, settings: ReadSettings) -> None:
        self._root = root
        self._places = places
        self._settings = settings

    def put(self, target: Target, body: str, metadata: Metadata | None, expected: str | Unset | None) -> WriteReport:
        """Write a record; see `FileTreeMemoryStore.put`."""
        with exclusive(self._root), _refusals(target):
            place = self._places.for_writing(target)
            existing = self._existing(place.path, target) if place.exists else None
            _check_expected(place.path, existing, expected)
            record, data = self._compose(target, place.path, body, metadata, existing)
            if existing is not None and existing.digest == record.digest:
                return WriteReport(existing, created=False, changed=False)
            self._write(place, data)
        return WriteReport(record, created=existing is None, changed=True)

    def delete(self, target: Target, expected: str | Unset) -> WriteReport:
        """Delete a record; see `FileTreeMemoryStore.delete`."""
        with exclusive(self._root), _refusals(target):
            path = self._places.find(target)
            if path is None:
                raise RecordNotFoundError(f"{printable(path_of(target))}: there is no such record to delete")
            record = self._existing(path, target)
            _check_expected(path, record, expected)
            delete_file(self._root / path)
        return WriteReport(record, created=False, changed=True)

    def _existing(self, path: str, target: Target) -> Record:
        try:
            record = load_record(self._root, path, target, self._settings)
        except RecordError as error:
            raise WriteRejectedError(f"{error}; the file is quarantined and stays as it is: repair it first") from error
        if not can_write(self._root / path):
            raise WriteRejectedError(f"{path} is read-only and stays as it is")
        return record

    def _compose(
        self, target: Target, path: str, body: str, metadata: Metadata | None, existing: Record | None
    ) -> tuple[Record, bytes]:
        """Return the record and the bytes of its file, after making sure that reading them gives the record."""
        wanted = _merged(existing.metadata if existing else EMPTY_METADATA, metadata)
        try:
            data = render_record(wanted, body, existing=existing).encode("utf-8")
            record = parse_record(target, path, data, self._settings)
        except UnicodeEncodeError as error:
            half = f"{error.object[error.start]!r} at character {error.start}"
            raise WriteRejectedError(f"{path}: the text holds half a character ({half}), which no file can") from error
        except RecordError as error:
            raise WriteRejectedError(f"{path}: this could not be read back: {error.reason}") from error
        # The renderer promises this; no note is staked on it.
        if record.body != body:
            raise WriteRejectedError(f"{path}: this body could not be read back as it is")
        return record, data

    def _write(self, place: Place, data: bytes) -> None:
        with new_folders(self._root, place.path.rpartition("/")[0]):
            file = self._root / place.path
            replace_file(file, data)
        remove_stale_temporaries(file.parent, place.siblings)


def _merged(old: Metadata, given: Metadata | None) -> Metadata:
    if given is None:
        return old
    return {key: value for key, value in {**old, **given}.items() if value is not REMOVED}


def _check_expected(path: str, existing: Record | None, expected: str | Unset | None) -> None:
    """Refuse a write that would undo another writer's."""
    found = existing.digest if existing is not None else None
    if expected is UNSET or expected == found:
        return
    if expected is None:
        fact = "a record is there already"
    elif found is None:
        fact = "the record is no longer there"
    else:
        fact = f"the record has changed since it was read (digest {found}, expected {expected})"
    raise WriteRejectedError(f"{path}: {fact}; nothing was written: read it again and decide anew")


@contextmanager
def _refusals(target: Target) -> Iterator[None]:
    """Say which record it was that could not be written."""
    path = printable(path_of(target))
    try:
        yield
    except IdentityError as error:
        error.at(path)
        raise
    except OSError as error:
        raise WriteRejectedError(f"{path} cannot be written, nothing was changed: {error.strerror}") from error
