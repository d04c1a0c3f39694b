"""Rules of put and delete: what was put is read back, nothing else changes, and no writer undoes another unseen."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from vault_memory.config import ReadSettings
from vault_memory.errors import (
    FrontmatterError,
    IdentityError,
    RecordNotFoundError,
    UnsafePathError,
    VaultNotFoundError,
    WriteRejectedError,
)
from vault_memory.files import TEMPORARY_PREFIX, TEMPORARY_SUFFIX
from vault_memory.model import Record, Target
from vault_memory.store import REMOVED, FileTreeMemoryStore, walk
from vault_memory.store.ignore import Rules

Write = Callable[[str, str], Path]

NFC = "Caf\u00e9"
NFD = "Cafe\u0301"
BAD = "---\ntitle: a: b\n---\ntext"
NOTE = Target("a", "Note")
posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
unprivileged = pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write everywhere")


@pytest.fixture
def store(notes: Path) -> FileTreeMemoryStore:
    """A store over the empty folder that lists bad records."""
    return FileTreeMemoryStore(notes, on_record_error="skip")


def tree(root: Path) -> dict[str, bytes | None]:
    """Everything below a folder: paths and bytes."""
    return {
        str(path.relative_to(root)): path.read_bytes() if path.is_file() else None for path in sorted(root.rglob("*"))
    }


def test_a_new_record_is_a_file(store: FileTreeMemoryStore, notes: Path) -> None:
    """Folders are made as needed, and nothing but the note is left on the disk."""
    report = store.put(Target("a/b", "New note"), "Some text.", {"tags": ["boat"], "year": 2021})
    assert (report.created, report.changed, report.errors) == (True, True, ())
    assert report.record == store.get(Target("a/b", "New note"))
    assert report.record.path == "a/b/New note.md"
    assert report.record.metadata == {"tags": ["boat"], "year": 2021}
    assert list(tree(notes)) == ["a", "a/b", "a/b/New note.md"]
    assert tree(notes)["a/b/New note.md"] == b"---\ntags:\n  - boat\nyear: 2021\n---\nSome text."


@pytest.mark.parametrize(
    "body",
    [
        "",
        "\n\n  text  \n\n",
        "one\r\ntwo\rthree\n\x0b\x0c\x85\u2028",
        "---\ntitle: not a header\n---\nrest",
        "---\n---\n",
        "---",
        "--- \nx",
        "\ufeffmark",
        "\ufeff---\na: b\n---\n",
        "👩‍🌾 日本語",
    ],
)
@pytest.mark.parametrize("metadata", [None, {}, {"title": "T"}])
def test_what_was_put_is_read_back(store: FileTreeMemoryStore, body: str, metadata: dict[str, str] | None) -> None:
    """Body and properties come back as they were given, on a new record and over an old one."""
    for _ in range(2):
        record = store.put(NOTE, body, metadata).record
        assert store.get(NOTE) == record
        assert record.body == body
        assert record.metadata == (metadata or {})
    store.put(NOTE, "other", {"kept": True})
    assert store.put(NOTE, body).record.metadata == {**(metadata or {}), "kept": True}
    assert store.get(NOTE).body == body


def test_the_header_stays_as_it_is_written(store: FileTreeMemoryStore, write: Write) -> None:
    """Without a change of properties the header is kept byte for byte, comments and line ends included."""
    header = "---\r\n# by hand\r\ntitle:   'T'   \r\ndate: 2024-01-02\r\n---\r\n"
    file = write("a/Note.md", f"{header}old")
    store.put(NOTE, "new\r\n")
    store.put(NOTE, "newer", {"title": "T"})
    assert file.read_bytes().decode() == f"{header}newer"


def test_properties_that_are_not_named_stay(store: FileTreeMemoryStore, write: Write) -> None:
    """Given properties replace those of the same name, others stay in their place, and `REMOVED` takes one out."""
    write("a/Note.md", "---\nfirst: 1\ncustom: [x]\nlast: no\n---\nbody")
    record = store.put(NOTE, "body", {"first": 2, "new": None}).record
    assert list(record.metadata.items()) == [("first", 2), ("custom", ["x"]), ("last", "no"), ("new", None)]
    record = store.put(NOTE, "body", {"custom": REMOVED, "never there": REMOVED}).record
    assert list(record.metadata) == ["first", "last", "new"]


def test_text_that_is_there_is_not_written_again(store: FileTreeMemoryStore, notes: Path) -> None:
    """A put of the same text touches nothing and tells no hook."""
    told: list[Target] = []
    store.put(NOTE, "text", {"a": 1})
    store.add_write_hook(lambda target, _: told.append(target))
    before = (notes / "a" / "Note.md").stat()
    report = store.put(NOTE, "text", {"a": 1})
    assert (report.created, report.changed, report.record) == (False, False, store.get(NOTE))
    assert (notes / "a" / "Note.md").stat() == before
    assert told == []


@posix
def test_a_record_keeps_its_mode(store: FileTreeMemoryStore, write: Write) -> None:
    """A private note stays private."""
    file = write("a/Note.md", "old")
    file.chmod(0o600)
    store.put(NOTE, "new")
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_record_keeps_its_spelling(store: FileTreeMemoryStore, notes: Path, write: Write) -> None:
    """A put goes to the file that is the record, and a new one into the folder that is there."""
    write(f"{NFD}/{NFD}.md", "old")
    assert store.put(Target(NFC, NFC), "new").record.path == f"{NFD}/{NFD}.md"
    assert store.put(Target(NFC, "b"), "b").record.path == f"{NFD}/b.md"
    assert sorted(tree(notes)) == sorted([NFD, f"{NFD}/{NFD}.md", f"{NFD}/b.md"])


def test_a_name_that_is_there_may_be_written(store: FileTreeMemoryStore, write: Write) -> None:
    """Portable names are asked of new files only."""
    write("names/100% sure? #1 [draft]^.md", "old")
    assert store.put(Target("names", "100% sure? #1 [draft]^"), "new").changed


@pytest.mark.parametrize(
    ("target", "error", "message"),
    [
        (Target("..", "x"), UnsafePathError, "not a place inside the vault"),
        (Target("a/../..", "x"), UnsafePathError, "not a place inside the vault"),
        (Target("/absolute", "x"), UnsafePathError, "not a place inside the vault"),
        (Target("a//b", "x"), UnsafePathError, "not a place inside the vault"),
        (Target("link", "x"), UnsafePathError, "link is a link"),
        (Target("link/deeper", "x"), UnsafePathError, "link is a link"),
        (Target("", "alias"), UnsafePathError, "alias.md is a link"),
        (Target("", "dangling"), UnsafePathError, "dangling.md is a link"),
        (Target("", "bad"), WriteRejectedError, "bad.md:2: .* is quarantined and stays as it is"),
        (Target("", "folder"), WriteRejectedError, "folder.md is there and is not a file"),
        (Target("good.md", "x"), WriteRejectedError, "good.md is there and is not a folder"),
        (Target("private", "x"), WriteRejectedError, r"would be left out \(named by .vaultignore:1\)"),
        (Target("private", "old"), WriteRejectedError, r"is not a note of this vault \(named by .vaultignore:1\)"),
        (Target("node_modules/x", "y"), WriteRejectedError, "packages of node"),
        (Target("", "x (conflicted copy 2024-01-02)"), WriteRejectedError, "conflict copy"),
        (Target(".obsidian", "x"), IdentityError, r"^.obsidian/x.md: .* starts with a dot"),
        (Target("", "a:b"), IdentityError, r"^a:b.md: .* holds one of"),
        (Target("", "a/b"), IdentityError, "holds one of"),
        (Target("", ""), IdentityError, "is empty"),
        (Target("", "GOOD"), IdentityError, "'good.md' is there and differs only in letter case"),
        (Target("Sub", "new"), IdentityError, "'sub' is there and differs only in letter case"),
        (Target("", "é" * 127), IdentityError, "at most 255"),
    ],
)
def test_a_write_that_must_not_happen_changes_nothing(
    store: FileTreeMemoryStore, notes: Path, write: Write, target: Target, error: type[Exception], message: str
) -> None:
    """Outside, behind links, on quarantined or ignored files, under names that cannot travel: the disk stays."""
    write("good.md", "good")
    write("sub/note.md", "")
    write("private/old.md", "old")
    write(".vaultignore", "private/\n")
    write("bad.md", BAD)
    (notes / "folder.md").mkdir()
    (notes.parent / "outside").mkdir()
    (notes / "link").symlink_to(notes.parent / "outside")
    (notes / "alias.md").symlink_to(notes / "good.md")
    (notes / "dangling.md").symlink_to(notes.parent / "outside" / "new.md")
    before = tree(notes.parent)
    with pytest.raises(error, match=message):
        store.put(target, "text")
    assert tree(notes.parent) == before


@pytest.mark.parametrize(
    ("body", "metadata", "error", "message"),
    [
        ("half \ud83d", None, WriteRejectedError, r"a/Note.md: .* half a character .*at character 5"),
        ("x", {"title": "half \ud83d"}, (WriteRejectedError, FrontmatterError), "Note.md"),
        ("nul \x00", None, WriteRejectedError, "could not be read back"),
        ("x" * 200, None, WriteRejectedError, "bound is 100"),
        ("x", {"a": object()}, WriteRejectedError, "could not be read back.*`?a`?"),
    ],
)
def test_text_that_could_not_be_read_back_is_not_written(
    notes: Path, body: str, metadata: dict[str, object] | None, error: type[Exception], message: str
) -> None:
    """It is refused before a folder is made."""
    store = FileTreeMemoryStore(notes, settings=ReadSettings(max_note_bytes=100))
    with pytest.raises(error, match=message):
        store.put(NOTE, body, metadata)
    assert tree(notes) == {}


def test_the_expected_digest_decides(store: FileTreeMemoryStore, notes: Path) -> None:
    """A write happens only over what its writer read; `None` means that there must be nothing."""
    with pytest.raises(WriteRejectedError, match="no longer there"):
        store.put(NOTE, "x", expected_digest="0" * 32)
    first = store.put(NOTE, "one", expected_digest=None).record
    with pytest.raises(WriteRejectedError, match="there already"):
        store.put(NOTE, "two", expected_digest=None)
    second = store.put(NOTE, "two", expected_digest=first.digest).record
    for write in (
        lambda: store.put(NOTE, "three", expected_digest=first.digest),
        lambda: store.delete(NOTE, expected_digest=first.digest),
    ):
        with pytest.raises(WriteRejectedError, match=r"^a/Note.md: the record has changed"):
            write()
    assert store.get(NOTE) == second
    assert store.put(NOTE, "three").changed
    assert store.delete(NOTE, expected_digest=store.get(NOTE).digest).record.body == "three"
    assert list(tree(notes)) == ["a"]


def test_delete_removes_the_file_alone(store: FileTreeMemoryStore, notes: Path) -> None:
    """The report holds the record as it was; a second deletion finds nothing."""
    put = store.put(NOTE, "text").record
    report = store.delete(NOTE)
    assert (report.record, report.created, report.changed) == (put, False, True)
    assert store.find(NOTE) is None
    assert tree(notes) == {"a": None}
    for target in (NOTE, Target("..", "x"), Target("", "a")):
        with pytest.raises(RecordNotFoundError, match="no such record to delete"):
            store.delete(target)


def test_delete_leaves_what_is_no_good_record(store: FileTreeMemoryStore, notes: Path, write: Write) -> None:
    """A quarantined file is not deleted, nor what a link leads to, nor the link."""
    write("bad.md", BAD)
    write("good.md", "")
    (notes / "link.md").symlink_to(notes / "good.md")
    before = tree(notes)
    with pytest.raises(WriteRejectedError, match="quarantined"):
        store.delete(Target("", "bad"))
    with pytest.raises(RecordNotFoundError):
        store.delete(Target("", "link"))
    assert tree(notes) == before


def test_a_missing_vault_is_never_made(store: FileTreeMemoryStore, notes: Path) -> None:
    """A folder that is not there may be a disk that is not mounted."""
    notes.rmdir()
    for write in (lambda: store.put(NOTE, "x"), lambda: store.delete(NOTE)):
        with pytest.raises(VaultNotFoundError):
            write()
    assert not notes.exists()


def test_a_put_heals_quarantine(store: FileTreeMemoryStore, write: Write) -> None:
    """A record that was bad, was repaired by hand and then written is off the list."""
    write("a/Note.md", BAD)
    assert len(list(store.records())) == 0
    assert len(store.quarantined) == 1
    write("a/Note.md", "repaired")
    store.put(NOTE, "new")
    assert store.quarantined == ()


@posix
def test_a_disk_that_refuses_changes_nothing(store: FileTreeMemoryStore, notes: Path, write: Write) -> None:
    """The system's reason is given, folders that were made are gone, and the old text stays."""
    import resource

    write("a/Note.md", "old")
    before = tree(notes)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        for target in (NOTE, Target("new/folder", "x")):
            with pytest.raises(WriteRejectedError, match=r"nothing was changed: File too large"):
                store.put(target, "x" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert tree(notes) == before


@unprivileged
def test_a_read_only_note_stays(store: FileTreeMemoryStore, write: Write) -> None:
    """Who took away the right to write meant it."""
    write("a/Note.md", "old").chmod(0o400)
    for call in (lambda: store.put(NOTE, "new"), lambda: store.delete(NOTE)):
        with pytest.raises(WriteRejectedError, match="read-only"):
            call()
    assert store.get(NOTE).body == "old"


def test_hooks_hear_of_every_write(store: FileTreeMemoryStore) -> None:
    """They run after the write, with the record or nothing, in the order in which they were added."""
    told: list[tuple[str, Target, Record | None, Record | None]] = []
    store.add_write_hook(lambda target, record: told.append(("first", target, record, store.find(target))))
    store.add_write_hook(lambda target, record: told.append(("second", target, record, store.find(target))))
    put = store.put(NOTE, "text").record
    store.delete(NOTE)
    assert told == [
        ("first", NOTE, put, put),
        ("second", NOTE, put, put),
        ("first", NOTE, None, None),
        ("second", NOTE, None, None),
    ]


def test_a_hook_that_fails_does_not_undo_the_write(
    store: FileTreeMemoryStore, caplog: pytest.LogCaptureFixture
) -> None:
    """Its error is logged and reported, and the other hooks still run."""
    told: list[Target] = []

    def failing(target: Target, record: Record | None) -> None:
        raise ConnectionError("the model is away")

    store.add_write_hook(failing)
    store.add_write_hook(lambda target, record: told.append(target))
    report = store.put(NOTE, "text")
    assert [str(error) for error in report.errors] == ["the model is away"]
    assert report.changed
    assert store.get(NOTE).body == "text"
    assert told == [NOTE]
    assert "a/Note.md is written, but a write hook failed: the model is away" in caplog.text
    assert len(store.delete(NOTE).errors) == 1


def test_a_hook_may_write(store: FileTreeMemoryStore) -> None:
    """Hooks run outside of the lock, so that another write does not wait for itself."""

    def follow(target: Target, record: Record | None) -> None:
        if record is not None and target == NOTE:
            store.put(Target("a", "Log"), f"wrote {target}")

    store.add_write_hook(follow)
    store.put(NOTE, "text")
    assert store.get(Target("a", "Log")).body == "wrote a/Note"


def test_what_a_killed_writer_left_is_invisible_and_goes_away(
    store: FileTreeMemoryStore, notes: Path, write: Write
) -> None:
    """No walk lists a leftover; the next new note of the folder removes one that is an hour old."""
    left = write(f"a/{TEMPORARY_PREFIX}0123{TEMPORARY_SUFFIX}", "half a no")
    os.utime(left, (0, 0))
    found = walk(notes, Rules(notes))
    assert (found.entries, found.left_out, found.quarantined) == ((), (), ())
    store.put(NOTE, "text")
    assert list(tree(notes)) == ["a", "a/Note.md"]


KILLED = """
import sys
from vault_memory.model import Target
from vault_memory.store import FileTreeMemoryStore
store = FileTreeMemoryStore(sys.argv[1], load=False)
n = 0
while True:
    n += 1
    store.put(Target("a", "Note"), f"{n:09}" * 40_000, {"n": n})
    print(n, flush=True)
"""


def test_a_killed_writer_leaves_no_half_note(notes: Path) -> None:
    """Whenever a process is killed while it writes, the note is a whole one, and never older than what was reported."""
    for puts in (1, 2, 3, 5, 8):
        with subprocess.Popen([sys.executable, "-c", KILLED, str(notes)], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            for _ in range(puts):
                writer.stdout.readline()
            writer.kill()
            reported = [int(line) for line in writer.stdout.read().splitlines() if line] or [puts]
        record = FileTreeMemoryStore(notes).get(NOTE)
        number = record.metadata["n"]
        assert record.body == f"{number:09}" * 40_000
        assert number >= max(reported)
        (notes / "a" / "Note.md").unlink()


COUNTER = """
import sys
from vault_memory.errors import WriteRejectedError
from vault_memory.model import Target
from vault_memory.store import FileTreeMemoryStore
store = FileTreeMemoryStore(sys.argv[1], load=False)
target = Target("", "Counter")
done = 0
while done < 40:
    record = store.get(target)
    try:
        store.put(target, str(int(record.body) + 1), expected_digest=record.digest)
        done += 1
    except WriteRejectedError:
        pass
"""


def test_two_processes_lose_no_update(store: FileTreeMemoryStore, notes: Path) -> None:
    """Two writers that each count up what they read, and try again when refused, together count to the sum."""
    store.put(Target("", "Counter"), "0")
    writers = [subprocess.Popen([sys.executable, "-c", COUNTER, str(notes)]) for _ in range(2)]
    assert [writer.wait() for writer in writers] == [0, 0]
    assert store.get(Target("", "Counter")).body == "80"


def test_two_threads_lose_no_update(store: FileTreeMemoryStore) -> None:
    """The same holds inside one process, over one store."""
    store.put(NOTE, "0")

    def count() -> None:
        done = 0
        while done < 25:
            record = store.get(NOTE)
            try:
                store.put(NOTE, str(int(record.body) + 1), expected_digest=record.digest)
                done += 1
            except WriteRejectedError:
                continue

    threads = [threading.Thread(target=count) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.get(NOTE).body == "75"
