"""A file to a record, and the list of the files that could not be one. Whatever goes wrong, there is one way."""

from __future__ import annotations

import threading
from collections.abc import Collection
from pathlib import Path

from vault_memory.config import ReadSettings
from vault_memory.errors import RecordError
from vault_memory.files import read_file
from vault_memory.identity import printable
from vault_memory.model import Quarantined, Record, Target
from vault_memory.records import parse_record
from vault_memory.store.walk import Scan, is_under, walk_order


def load_record(root: Path, path: str, target: Target, settings: ReadSettings) -> Record:
    """Read a file as a record.

    Raises:
        RecordError: It cannot be one, with its path; the class of the first cause makes no difference.
        FileNotFoundError: It is gone.
    """
    try:
        return parse_record(target, path, read_file(root / path, settings.max_note_bytes), settings)
    except FileNotFoundError:
        raise
    except RecordError as error:
        raise error.at(printable(path)) from error.__cause__
    except OSError as error:
        raise RecordError(f"cannot be read: {error.strerror}").at(printable(path)) from error
    except Exception as error:
        reason = f"cannot be read, by a fault of this program or its libraries ({type(error).__name__}: {error})"
        raise RecordError(reason).at(printable(path)) from error


class Quarantine:
    """The files that are there but cannot be loaded, as far as is known; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_scan: dict[str, Quarantined] = {}
        self._by_loading: dict[str, Quarantined] = {}

    def listed(self) -> tuple[Quarantined, ...]:
        """Return all of them in walk order."""
        with self._lock:
            return tuple(sorted({**self._by_scan, **self._by_loading}.values(), key=walk_order))

    def take_scan(self, scan: Scan, under: Collection[str]) -> None:
        """Take over what a walk at and below some paths could not use; forget files there that it no longer found."""
        there = {entry.path for entry in scan.entries}
        with self._lock:
            elsewhere = {path: file for path, file in self._by_scan.items() if not is_under(path, under)}
            self._by_scan = {**elsewhere, **{file.path: file for file in scan.quarantined}}
            self._by_loading = {
                path: file for path, file in self._by_loading.items() if path in there or not is_under(path, under)
            }

    def add(self, path: str, scope: str, error: RecordError) -> None:
        """Note that a file could not be loaded."""
        with self._lock:
            self._by_loading[path] = Quarantined(path, scope, error, error.line)

    def discard(self, path: str) -> None:
        """Note that a file is good now, or gone."""
        with self._lock:
            self._by_loading.pop(path, None)
