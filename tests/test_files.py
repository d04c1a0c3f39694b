"""Rules of the disk calls: reading never waits or follows, a write is whole or nothing, and writers take turns."""

from __future__ import annotations

import errno
import multiprocessing
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from vault_memory import files
from vault_memory.errors import RecordError, VaultNotFoundError

posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
unprivileged = pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may read everything")


def test_a_folder_tells_what_it_holds(tmp_path: Path) -> None:
    """Files, folders, links and other things are told apart, and links are not followed."""
    (tmp_path / "file").write_text("text", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    expected = {"file": "file", "folder": "folder", "link": "link", "dangling": "link"}
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "fifo")
        expected["fifo"] = "other"
    listed = {item.name: item for item in files.list_folder(str(tmp_path))}
    assert {name: item.kind for name, item in listed.items()} == expected
    assert {name: files.kind_of(tmp_path / name) for name in expected} == expected
    assert listed["file"].stamp().size == 4


@pytest.mark.parametrize("name", ["missing", "file/below", "nul\x00", "half \ud83d", "x" * 256, "loop/x", "é" * 2000])
def test_a_name_that_cannot_be_there_is_not_there(tmp_path: Path, name: str) -> None:
    """Whatever a caller asks for, a name that no disk can hold is just missing."""
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert files.kind_of(tmp_path / name) is None
    assert not files.is_same_file(tmp_path / name, tmp_path / "file")


@unprivileged
def test_a_closed_folder_is_not_an_empty_one(tmp_path: Path) -> None:
    """A folder that may not be searched raises, so that nothing is taken for gone."""
    (tmp_path / "closed").mkdir(mode=0)
    with pytest.raises(PermissionError):
        files.kind_of(tmp_path / "closed" / "note.md")


def test_a_stamp_tells_a_change(tmp_path: Path) -> None:
    """Another size, time or file gives another stamp; setting the time back does not bring the old one back."""
    note = tmp_path / "note.md"

    def stamp() -> files.Stamp:
        return files.list_folder(str(tmp_path))[0].stamp()

    note.write_text("one", encoding="utf-8")
    os.utime(note, ns=(10**9, 10**9))
    first = stamp()
    assert stamp() == first
    assert str(stamp()) == str(first)
    files.replace_file(note, b"two")
    os.utime(note, ns=(10**9, 10**9))
    second = stamp()
    assert (second.size, second.modified_ns) == (first.size, first.modified_ns)
    assert second != first
    assert str(second) != str(first)


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    """The bound is checked before reading; a file of just this size is read."""
    note = tmp_path / "note.md"
    note.write_bytes(b"12345")
    assert files.read_file(note, 5) == b"12345"
    with pytest.raises(RecordError, match="the file has 5 bytes, the bound is 4"):
        files.read_file(note, 4)


@posix
def test_reading_never_waits(tmp_path: Path) -> None:
    """A FIFO without a writer, a folder and a link are refused at once."""
    os.mkfifo(tmp_path / "fifo.md")
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "link.md").symlink_to(tmp_path / "fifo.md")
    for name in ("fifo.md", "folder.md"):
        with pytest.raises(RecordError, match="not a regular file"):
            files.read_file(tmp_path / name, 100)
    with pytest.raises(OSError, match="link"):
        files.read_file(tmp_path / "link.md", 100)


@posix
def test_a_replaced_file_keeps_its_mode(tmp_path: Path) -> None:
    """Private stays private; a new file gets its mode from the user's mask."""
    note = tmp_path / "note.md"
    note.touch()
    note.chmod(0o640)
    files.replace_file(note, b"text")
    assert stat.S_IMODE(note.stat().st_mode) == 0o640
    mask = os.umask(0o027)
    try:
        files.replace_file(tmp_path / "new.md", b"text")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "new.md").stat().st_mode) == 0o640


def test_a_failed_write_leaves_no_trace(tmp_path: Path) -> None:
    """Where the disk refuses, the old content stays and no temporary file is left."""
    (tmp_path / "note.md").mkdir()
    with pytest.raises(OSError, match=r"irectory|denied"):
        files.replace_file(tmp_path / "note.md", b"text")
    assert [path.name for path in tmp_path.iterdir()] == ["note.md"]


def test_new_folders_go_again_when_the_write_fails(tmp_path: Path) -> None:
    """Only the folders that were made are removed, and only on failure."""
    (tmp_path / "a").mkdir()

    @contextmanager
    def failing() -> Iterator[None]:
        with files.new_folders(tmp_path, "a/b/c"):
            assert (tmp_path / "a" / "b" / "c").is_dir()
            yield
            raise ConnectionError

    with pytest.raises(ConnectionError), failing():
        pass
    assert [path.name for path in tmp_path.rglob("*")] == ["a"]
    with files.new_folders(tmp_path, "a/b/c"):
        pass
    assert (tmp_path / "a" / "b" / "c").is_dir()


def test_only_old_leftovers_of_our_own_are_removed(tmp_path: Path) -> None:
    """A temporary file that is an hour old belongs to a dead writer; a young one, and those of others, stay."""
    names = [f"{files.TEMPORARY_PREFIX}{n}{files.TEMPORARY_SUFFIX}" for n in ("old", "young")] + ["other.tmp"]
    for name in names:
        (tmp_path / name).touch()
    for name in (names[0], names[2]):
        os.utime(tmp_path / name, (0, 0))
    files.remove_stale_temporaries(tmp_path, [*names, f"{files.TEMPORARY_PREFIX}gone{files.TEMPORARY_SUFFIX}"])
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names[1:])


def test_names_of_no_folder_are_none(tmp_path: Path) -> None:
    """A folder that is missing has no names."""
    (tmp_path / "file").touch()
    assert files.list_names(tmp_path) == ["file"]
    assert files.list_names(tmp_path / "missing") == files.list_names(tmp_path / "file") == []


def test_a_vault_must_be_a_folder(tmp_path: Path) -> None:
    """A missing folder and a file are told apart in one sentence, for reading and for locking."""
    (tmp_path / "file").touch()
    for check in (files.check_folder, lambda root: files.exclusive(root).__enter__()):
        with pytest.raises(VaultNotFoundError, match=r"missing: there is no such folder$"):
            check(tmp_path / "missing")
        with pytest.raises(VaultNotFoundError, match=r"file is a file, not a folder$"):
            check(tmp_path / "file")
    assert "cannot be listed: Permission denied" in str(
        files.missing_vault(tmp_path, PermissionError(13, "Permission denied"))
    )


def test_one_writer_at_a_time_in_a_process(tmp_path: Path) -> None:
    """Threads that take the lock never meet."""
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        for _ in range(50):
            with files.exclusive(tmp_path):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(most) == {1}
    assert len(most) == 200


HOLDER = """
import sys
from pathlib import Path
from vault_memory.files import exclusive
with exclusive(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@posix
def test_the_lock_ends_with_its_process(tmp_path: Path) -> None:
    """Another process holds the lock until it ends, even if it is killed, and writes no file for it."""
    import fcntl

    with subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdin=-1, stdout=-1) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        descriptor = os.open(tmp_path, os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(descriptor)
        holder.kill()
    with files.exclusive(tmp_path):
        assert list(tmp_path.iterdir()) == []


@posix
def test_a_disk_that_locks_no_folders_is_locked_by_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file lies in the system's temporary folder, never in the vault."""
    import fcntl

    real = fcntl.flock

    def flock(descriptor: int, operation: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.ENOTSUP, "Operation not supported")
        real(descriptor, operation)

    root, temporary = tmp_path / "vault", tmp_path / "temporary"
    root.mkdir()
    temporary.mkdir()
    monkeypatch.setattr(fcntl, "flock", flock)
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    with files.exclusive(root):
        (lock,) = temporary.iterdir()
        with lock.open() as file, pytest.raises(BlockingIOError):
            real(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with files.exclusive(root):
        assert list(root.iterdir()) == []


@posix
def test_a_child_does_not_keep_the_lock(tmp_path: Path) -> None:
    """A process that was forked under the lock does not hold it when its parent lets go."""
    context = multiprocessing.get_context("fork")
    release = context.Event()
    with files.exclusive(tmp_path):
        child = context.Process(target=release.wait)
        child.start()
    with files.exclusive(tmp_path):
        release.set()
    child.join()
    assert child.exitcode == 0
