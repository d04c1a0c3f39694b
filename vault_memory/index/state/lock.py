"""One writer at a time: a lock that names its holder, and that the system lets go of when its holder dies."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vault_memory.errors import FragmentIndexError, VaultBusyError

if sys.platform == "win32":  # pragma: no cover - Windows has its own way to lock.
    import msvcrt
else:
    import fcntl

POLL_SECONDS = 0.02


@contextmanager
def sync_lock(path: Path, wait_seconds: float) -> Iterator[None]:
    """Hold the lock of a state file.

    Args:
        path: The lock file, beside the state.
        wait_seconds: How long to wait for another holder.

    Raises:
        VaultBusyError: Another process still holds it; the message names the process.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    except OSError as error:
        raise FragmentIndexError(f"the lock {path} cannot be used ({error}); delete what is in its place") from error
    try:
        deadline = time.monotonic() + wait_seconds
        while not _try_lock(descriptor):
            if time.monotonic() >= deadline:
                holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip() if hasattr(os, "pread") else ""
                raise VaultBusyError(
                    f"process {holder or 'unknown'} is indexing this vault; wait until it has ended, or stop it"
                )
            time.sleep(POLL_SECONDS)
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(descriptor)


if sys.platform == "win32":  # pragma: no cover - Windows has its own way to lock.

    def _try_lock(descriptor: int) -> bool:
        # A byte far behind the text is locked, so that others can still read who holds it.
        os.lseek(descriptor, 1024, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
