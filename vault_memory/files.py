"""Every disk call on notes: list, look, read, replace, delete, lock. No other module touches a vault's files.

Reading changes nothing and never waits: links are not followed, and what is no regular file is not read.
A write is all or nothing: the new text is on the disk before it takes the place of the old one.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from vault_memory.errors import RecordError, VaultNotFoundError
from vault_memory.model import content_digest

if sys.platform == "win32":  # pragma: no cover - Windows has its own way to lock.
    import msvcrt
else:
    import fcntl

Kind = Literal["file", "folder", "link", "other"]

# A dot-name is never a note, so what a killed writer leaves behind is invisible to every walk.
TEMPORARY_PREFIX = ".vault-memory-"
TEMPORARY_SUFFIX = ".tmp"
# Far longer than any write takes, so that the file of a writer at work is never removed.
STALE_SECONDS = 3600

# O_NONBLOCK: opening a FIFO that took the place of a note must not wait for a writer. Windows lacks both flags.
_READ_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
)
_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)

# A name that is too long or that the system cannot have is a name that is not there; other faults tell nothing.
_NOTHING_THERE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EINVAL, errno.ELOOP})


class Stamp(NamedTuple):
    """What tells without reading that a file is the same as before.

    Attributes:
        size: In bytes.
        modified_ns: When its content changed, in nanoseconds since the epoch; anyone can set it.
        changed_ns: When its content or attributes last changed; on POSIX nobody can set it back.
        inode: Number of the file on its disk; another one after an atomic replace.
    """

    size: int
    modified_ns: int
    changed_ns: int
    inode: int

    def __str__(self) -> str:
        return f"{self.size}:{self.modified_ns}:{self.changed_ns}:{self.inode}"


@dataclass(frozen=True, slots=True)
class Listed:
    """A name in a folder, and what it is; links are told, not followed."""

    name: str
    kind: Kind
    entry: os.DirEntry[str]

    def stamp(self) -> Stamp:
        """Look at the file itself; one disk call.

        Raises:
            OSError: It is gone, or its folder may not be searched.
        """
        found = self.entry.stat(follow_symlinks=False)
        # Windows keeps the time of creation where POSIX keeps the time of the last change.
        changed_ns = max(found.st_mtime_ns, found.st_ctime_ns)
        return Stamp(found.st_size, found.st_mtime_ns, changed_ns, found.st_ino)


def list_folder(folder: str) -> list[Listed]:
    """Return what is in a folder, in no particular order.

    Raises:
        OSError: The folder cannot be listed.
    """
    with os.scandir(folder) as entries:
        return [Listed(entry.name, _kind_of_entry(entry), entry) for entry in entries]


def _kind_of_entry(entry: os.DirEntry[str]) -> Kind:
    if entry.is_file(follow_symlinks=False):
        return "file"
    if entry.is_symlink() or (sys.version_info >= (3, 12) and entry.is_junction()):
        return "link"
    return "folder" if entry.is_dir(follow_symlinks=False) else "other"


def kind_of(path: str | Path) -> Kind | None:
    """Return what is at a path, or `None` if nothing is or can be there; a link is not followed.

    Raises:
        OSError: A folder on the way may not be searched.
    """
    found = _look(path)
    if found is None:
        return None
    if stat.S_ISREG(found.st_mode):
        return "file"
    if stat.S_ISLNK(found.st_mode) or (sys.version_info >= (3, 12) and os.path.isjunction(path)):
        return "link"
    return "folder" if stat.S_ISDIR(found.st_mode) else "other"


def is_same_file(first: str | Path, second: str | Path) -> bool:
    """Tell whether two paths lead to one file, as two letter cases do on a disk that ignores case."""
    one, other = _look(first), _look(second)
    return one is not None and other is not None and os.path.samestat(one, other)


def _look(path: str | Path) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except ValueError:
        # The path holds a NUL or half a character, which no file name can.
        return None
    except OSError as error:
        if error.errno in _NOTHING_THERE:
            return None
        raise


def read_file(path: str | Path, max_bytes: int) -> bytes:
    """Return all bytes of a regular file.

    Raises:
        RecordError: It is no regular file, or larger than `max_bytes`, which is found out before reading.
        OSError: It cannot be opened or read.
    """
    descriptor = os.open(path, _READ_FLAGS)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise RecordError("it is not a regular file")
        if found.st_size > max_bytes:
            raise RecordError(f"the file has {found.st_size} bytes, the bound is {max_bytes}")
        with os.fdopen(descriptor, "rb", buffering=0, closefd=False) as file:
            return file.readall()
    finally:
        os.close(descriptor)


def replace_file(path: Path, data: bytes) -> None:
    """Put a file in place, whole or not at all, and make it last through a power cut.

    Mode and, where allowed, owner of a file that is replaced are kept. A hard link keeps the old text.

    Raises:
        OSError: The disk refuses; what was there is untouched.
    """
    replaced = _look(path)
    temporary = path.with_name(f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}{TEMPORARY_SUFFIX}")
    # A new file gets its mode from the user's umask; a private one is never readable by others on the way.
    descriptor = os.open(temporary, _CREATE_FLAGS, 0o666 if replaced is None else 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if replaced is not None:
                _keep_attributes(descriptor, temporary, replaced)
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _keep_attributes(descriptor: int, temporary: Path, replaced: os.stat_result) -> None:
    if hasattr(os, "fchown"):
        # Only a privileged writer can give a file to its owner; for the others the owner is the same, or stays new.
        with suppress(PermissionError):
            os.fchown(descriptor, replaced.st_uid, replaced.st_gid)
    temporary.chmod(stat.S_IMODE(replaced.st_mode))


def delete_file(path: Path) -> None:
    """Remove a file for good.

    Raises:
        OSError: The disk refuses, and the file is still there.
    """
    path.unlink()
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Make names last. Where folders cannot be synced, a power cut may bring the old name back, never half a file."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def remove_stale_temporaries(folder: Path, names: Iterable[str]) -> None:
    """Remove what killed writers left in a folder an hour ago or earlier, as far as that is possible."""
    for name in names:
        if name.startswith(TEMPORARY_PREFIX) and name.endswith(TEMPORARY_SUFFIX):
            left = folder / name
            with suppress(OSError):
                if time.time() - left.lstat().st_mtime > STALE_SECONDS:
                    left.unlink()


@contextmanager
def new_folders(root: Path, folder: str) -> Iterator[None]:
    """Make the folders of a relative path that are missing; if the block fails, those that it made are gone again.

    Raises:
        OSError: The disk refuses.
    """
    made: list[Path] = []
    try:
        path = root
        for name in folder.split("/") if folder else ():
            path /= name
            with suppress(FileExistsError):
                path.mkdir()
                made.append(path)
        for new in made:
            _sync_folder(new.parent)
        yield
    except BaseException:
        for new in reversed(made):
            with suppress(OSError):
                new.rmdir()
        raise


def can_write(path: Path) -> bool:
    """Tell whether the user may write to a file; an atomic replace alone would not ask."""
    return os.access(path, os.W_OK)


def list_names(folder: str | Path) -> list[str]:
    """Return the names in a folder, in no particular order; none if there is no such folder.

    Raises:
        OSError: The folder cannot be listed.
    """
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries]
    except (FileNotFoundError, NotADirectoryError):
        return []


@contextmanager
def exclusive(root: Path) -> Iterator[None]:
    """Wait until no other writer of this package, in whatever thread or process, is at work in the vault.

    The lock is on the folder's own descriptor, so that no file is written; it ends with its process, however that
    ends. Programs that do not ask for it, such as editors, are not held back.

    Raises:
        VaultNotFoundError: There is no such folder.
    """
    descriptor = _lock(root)
    try:
        yield
    finally:
        _unlock(descriptor)


def check_folder(root: Path) -> None:
    """Make sure that a vault's folder is there and can be listed.

    Raises:
        VaultNotFoundError: It is missing, a file, or may not be listed.
    """
    try:
        os.scandir(root).close()
    except OSError as error:
        raise missing_vault(root, error) from error


def missing_vault(root: Path, error: OSError) -> VaultNotFoundError:
    """Say in one sentence why a vault's folder cannot be listed."""
    if isinstance(error, FileNotFoundError):
        return VaultNotFoundError(f"{root}: there is no such folder")
    if isinstance(error, NotADirectoryError):
        return VaultNotFoundError(f"{root} is a file, not a folder")
    return VaultNotFoundError(f"{root} cannot be listed: {error.strerror}")


def _lock_file(root: Path) -> int:
    """Open the lock file of a vault in the system's temporary folder, for disks whose folders cannot be locked."""
    name = f"vault-memory-{content_digest(os.path.realpath(root))}.lock"
    return os.open(Path(tempfile.gettempdir()) / name, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)


if sys.platform == "win32":  # pragma: no cover - Windows has its own way to lock.

    def _lock(root: Path) -> int:
        check_folder(root)
        descriptor = _lock_file(root)
        while True:
            # The call itself gives up after ten seconds.
            with suppress(OSError):
                msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
                return descriptor

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
        os.close(descriptor)

else:

    def _lock(root: Path) -> int:
        try:
            descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise missing_vault(root, error) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError:
            # Some network disks lock files, but not folders.
            os.close(descriptor)
            descriptor = _lock_file(root)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        return descriptor

    def _unlock(descriptor: int) -> None:
        # Said aloud, because a child of this process may have inherited the descriptor.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)
