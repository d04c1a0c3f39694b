"""Changed paths of a folder, in batches: a source, not a boss.

An event only says where to look; what is there now decides. So a lost, doubled or misnamed event costs a delay and
never the truth, and every batch may be answered by the same pass over the disk that a person starts by hand.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from watchdog.events import EVENT_TYPE_CLOSED_NO_WRITE, EVENT_TYPE_OPENED, FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver
from watchdog.observers.polling import PollingObserver

from vault_memory.identity import is_note_name

logger = logging.getLogger(__name__)

Told = TypeVar("Told")

# A save is several events (truncate, write, close; or write, rename): a batch waits until they have ended.
QUIET_SECONDS = 0.08
# A folder that never rests, such as one with a log in it, must not hold back the others for ever.
LONGEST_SECONDS = 1.0
# Above this a pass over the whole folder costs less than one look per path; and a storm of events may have lost some.
MANY_PATHS = 1000
POLL_SECONDS = 1.0
RECONCILE_SECONDS = 300.0
HEALTH_SECONDS = 1.0
RETRY_SECONDS = 1.0

# Opening and reading a file changes nothing, and a folder's own event repeats what its entries' events say.
_SAYS_NOTHING = frozenset({EVENT_TYPE_OPENED, EVENT_TYPE_CLOSED_NO_WRITE})


@dataclass(frozen=True, slots=True)
class Batch:
    """Where something may have changed.

    Attributes:
        paths: Files and folders, relative to the root, `/`-separated, spelled as on the disk.
        everything: Whether the paths are not to be trusted, and all has to be looked at.
    """

    paths: frozenset[str] = frozenset()
    everything: bool = False


EVERYTHING = Batch(everything=True)


class FolderWatcher:
    """Collects what the platform tells of a folder; where it tells nothing, the folder is polled.

    Args:
        root: The folder.
        rule_names: Names of files that decide what is a note, so that a change of one asks for a look at everything.
    """

    def __init__(self, root: Path, rule_names: Collection[str] = ()) -> None:
        self._root = os.fsencode(root.resolve())
        self._rule_names = frozenset(rule_names)
        self._changed = threading.Condition()
        self._paths: set[str] = set()
        self._everything = False
        self._first_event = self._last_event = 0.0
        self._observer: BaseObserver | None = None
        self._identity = (0, 0)

    def start(self) -> None:
        """Begin to listen. What changed before is for the caller's first pass.

        Raises:
            OSError: The folder cannot be watched in any way.
        """
        status = Path(os.fsdecode(self._root)).stat()
        self._identity = (status.st_dev, status.st_ino)
        try:
            self._observer = self._observe(Observer())
        except OSError as error:
            # The usual cause is the system's bound on watches: slower is better than blind.
            logger.warning("changes are polled every %g s, because watching is not possible: %s", POLL_SECONDS, error)
            self._observer = self._observe(PollingObserver(timeout=POLL_SECONDS))

    def _observe(self, observer: BaseObserver) -> BaseObserver:
        observer.schedule(_Handler(self._note), os.fsdecode(self._root), recursive=True)
        try:
            observer.start()
        except BaseException:
            # What was started before the fault would otherwise hold a thread and a watch for ever.
            observer.unschedule_all()
            raise
        return observer

    @property
    def is_alive(self) -> bool:
        """Whether the observer and all that feeds it still run, and the folder is there."""
        observer = self._observer
        return (
            observer is not None
            and observer.is_alive()
            and bool(observer.emitters)
            and all(emitter.is_alive() for emitter in observer.emitters)
            and self._is_same_folder()
        )

    def _is_same_folder(self) -> bool:
        """Tell whether the folder at the root's path is the one that is watched: a mount may have replaced it."""
        try:
            status = Path(os.fsdecode(self._root)).stat()
        except OSError:
            return False
        return (status.st_dev, status.st_ino) == self._identity

    def stop(self) -> None:
        """Stop listening; what was noted so far can still be taken."""
        observer, self._observer = self._observer, None
        if observer is not None:
            observer.stop()
            observer.join()

    def wake(self) -> None:
        """Ask for a batch with everything in it, at once."""
        with self._changed:
            self._everything = True
            self._first_event = self._last_event = -LONGEST_SECONDS
            self._changed.notify_all()

    def take(self, timeout: float) -> Batch | None:
        """Return the next batch once its events have ended, or nothing if there is none within `timeout` seconds."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while True:
                now = time.monotonic()
                ready_at = self._ready_at(deadline)
                if ready_at <= now:
                    break
                self._changed.wait(ready_at - now)
            if not (self._paths or self._everything):
                return None
            batch = Batch(frozenset(self._paths), self._everything or len(self._paths) > MANY_PATHS)
            self._paths, self._everything = set(), False
            return batch

    def _ready_at(self, deadline: float) -> float:
        if not (self._paths or self._everything):
            return deadline
        return min(self._last_event + QUIET_SECONDS, self._first_event + LONGEST_SECONDS)

    def _note(self, path: str | bytes, *, is_folder: bool) -> None:
        relative = os.fsdecode(os.path.relpath(os.fsencode(path), self._root)).replace(os.sep, "/")
        parts = relative.split("/")
        is_rule = parts[-1] in self._rule_names or relative == "."
        if not is_rule and (any(part.startswith(".") for part in parts) or not (is_folder or is_note_name(relative))):
            return
        with self._changed:
            self._last_event = time.monotonic()
            if not (self._paths or self._everything):
                self._first_event = self._last_event
            self._everything |= is_rule
            if len(self._paths) <= MANY_PATHS:
                self._paths.add(relative)
            self._changed.notify_all()


class _Handler(FileSystemEventHandler):
    """Hands on where something happened; both ends of a move, and never what kind of event it was."""

    def __init__(self, note: Callable[..., None]) -> None:
        self._note = note

    def on_any_event(self, event: FileSystemEvent) -> None:
        if event.event_type in _SAYS_NOTHING or (event.is_directory and event.event_type == "modified"):
            return
        for path in (event.src_path, event.dest_path):
            if path:
                self._note(path, is_folder=event.is_directory)


class Follower:
    """Answers every batch of a watcher by one pass, on a thread of its own, until it is stopped.

    Args:
        watcher: Where batches come from.
        sync: Makes one pass over what a batch names; what it raises is logged, kept in `error`, and tried again.
        reconcile_seconds: How often everything is looked at although no event asked for it.
    """

    def __init__(
        self, watcher: FolderWatcher, sync: Callable[[Batch], object], reconcile_seconds: float = RECONCILE_SECONDS
    ) -> None:
        self._watcher = watcher
        self._sync = sync
        self._reconcile_seconds = reconcile_seconds
        self._stopping = threading.Event()
        self._passes = threading.Condition()
        self._begun = self._ended = 0
        self._thread = threading.Thread(target=self._follow, name="vault-memory-follower", daemon=True)
        self.error: Exception | None = None

    def start(self) -> None:
        """Listen first, then make a first pass: what changes between the two is not missed."""
        self._watcher.start()
        self._watcher.wake()
        self._thread.start()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """End after the pass that runs; called from within a pass, it ends behind it."""
        self._stopping.set()
        self._watcher.wake()
        if self._thread.ident is not None and self._thread is not threading.current_thread():
            self._thread.join()
        self._watcher.stop()

    def wait_settled(self, timeout: float = 30.0) -> bool:
        """Wait until a pass over everything that began after this call has ended; tell whether it did in time.

        From within a pass it cannot be waited for, and the answer is no.
        """
        if self._thread is threading.current_thread():
            return False
        with self._passes:
            wanted = self._begun + 1
            self._watcher.wake()
            return self._passes.wait_for(lambda: self._ended >= wanted, timeout)

    def _follow(self) -> None:
        reconciled_at = time.monotonic()
        while not self._stopping.is_set():
            batch = self._watcher.take(HEALTH_SECONDS)
            if self._stopping.is_set():
                return
            if not self._watcher.is_alive:
                batch = self._revive() or batch
            elif time.monotonic() - reconciled_at > self._reconcile_seconds:
                batch = EVERYTHING
            if batch is None:
                continue
            if batch.everything:
                reconciled_at = time.monotonic()
            self._answer(batch)

    def _answer(self, batch: Batch) -> None:
        with self._passes:
            self._begun += batch.everything
        try:
            self._sync(batch)
            self.error = None
        except Exception as error:
            # A follower must outlive every fault of a pass: the disk may come back, the lock may be let go.
            if str(error) != str(self.error):
                logger.warning("a pass over the folder failed and will be tried again: %s", error)
            self.error = error
            self._stopping.wait(RETRY_SECONDS)
            self._watcher.wake()
        with self._passes:
            self._ended += batch.everything
            self._passes.notify_all()

    def _revive(self) -> Batch | None:
        """Start the watcher anew, if its folder is there, and ask for a look at everything."""
        self._watcher.stop()
        try:
            self._watcher.start()
        except OSError as error:
            self.error = error
            self._stopping.wait(RETRY_SECONDS)
            return None
        logger.warning("watching has begun anew after it had stopped")
        return EVERYTHING


def tell(observer: Callable[[Told], None], fact: Told) -> None:
    """Call an observer; nothing that it raises may end or repeat the work that it is told of."""
    try:
        observer(fact)
    except BaseException:
        logger.exception("an observer of the watch failed")
