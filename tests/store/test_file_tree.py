"""Rules of reading a store: what it answers is what is on the disk now, and every failure takes one way."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from vault_memory.config import ReadSettings
from vault_memory.errors import (
    FrontmatterError,
    IdentityError,
    RecordEncodingError,
    RecordError,
    RecordNotFoundError,
    VaultNotFoundError,
)
from vault_memory.model import Target, content_digest
from vault_memory.store import FileTreeMemoryStore

Write = Callable[[str, str], Path]

NFC = "Caf\u00e9"
NFD = "Cafe\u0301"
BAD = "---\ntitle: a: b\n---\ntext"
posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
unprivileged = pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may read everything")


def lenient(root: Path) -> FileTreeMemoryStore:
    return FileTreeMemoryStore(root, on_record_error="skip")


def test_records_come_in_walk_order(notes: Path, write: Write) -> None:
    """Each record has its target, its path as on the disk, its properties and its body."""
    write("b/Note.md", "---\ntags: [boat]\n---\nbody")
    write("a.md", "plain")
    store = FileTreeMemoryStore(notes)
    first, second = store.records()
    assert (first.target, first.path, first.body) == (Target("", "a"), "a.md", "plain")
    assert (second.target, second.path, second.body) == (Target("b", "Note"), "b/Note.md", "body")
    assert second.tags == ("boat",)
    assert second.digest == content_digest((notes / "b" / "Note.md").read_bytes())
    assert store.targets() == (first.target, second.target)
    assert store.get(second.target) == second == store.find(second.target)


def test_an_empty_folder_is_a_store(notes: Path) -> None:
    """A vault without notes has no records, and that is no error."""
    store = FileTreeMemoryStore(notes)
    assert list(store.records()) == []
    assert store.targets() == store.quarantined == ()


def test_the_first_bad_record_fails_the_open(notes: Path, write: Write) -> None:
    """By default the first record in walk order that cannot be loaded raises, with its path once."""
    write("a.md", "good")
    write("b/bad.md", BAD)
    (notes / "c.md").write_bytes(b"caf\xe9")
    with pytest.raises(FrontmatterError, match=r"^b/bad.md:2: ") as caught:
        FileTreeMemoryStore(notes)
    assert str(caught.value).count("bad.md") == 1
    assert (caught.value.path, caught.value.line) == ("b/bad.md", 2)


@posix
def test_a_bad_name_fails_as_a_bad_text(notes: Path, write: Write) -> None:
    """A name that cannot be an address raises in its turn, and at each scan."""
    write("z.md", BAD)
    (notes / os.fsdecode(b"m\xfcll.md")).touch()
    with pytest.raises(IdentityError, match=r"^m\\xfcll.md: "):
        FileTreeMemoryStore(notes)
    store = FileTreeMemoryStore(notes, load=False)
    with pytest.raises(IdentityError):
        store.scan()
    assert [file.path for file in store.quarantined] == ["m\\xfcll.md"]


def test_skipped_records_are_listed(notes: Path, write: Write) -> None:
    """With `skip` the good ones load, and each bad one is listed with path, scope, error and line."""
    write("a.md", "good")
    bad = write("b/bad.md", BAD)
    (notes / "c.md").write_bytes(b"\ncaf\xe9")
    before = bad.read_bytes(), bad.stat().st_mtime_ns
    store = lenient(notes)
    assert [record.path for record in store.records()] == ["a.md"]
    assert [(file.path, file.scope, file.line) for file in store.quarantined] == [("b/bad.md", "b", 2), ("c.md", "", 2)]
    assert store.skipped_records == store.quarantined
    assert [type(file.error) for file in store.quarantined] == [FrontmatterError, RecordEncodingError]
    assert all(str(file.error).startswith(file.path) for file in store.quarantined)
    assert store.targets() == (Target("", "a"),)
    assert (bad.read_bytes(), bad.stat().st_mtime_ns) == before


def test_a_vault_of_bad_records_is_fine(notes: Path, write: Write) -> None:
    """Where nothing can be loaded, all of it is listed."""
    write("a.md", BAD)
    write("b.md", BAD)
    store = lenient(notes)
    assert list(store.records()) == []
    assert len(store.quarantined) == 2


def test_a_record_leaves_quarantine_when_it_is_good_or_gone(notes: Path, write: Write) -> None:
    """Whatever reads the file again, or finds it gone, clears it; what goes bad is added."""
    for name in ("a", "b", "c", "d"):
        write(f"{name}.md", BAD)
    store = lenient(notes)
    write("a.md", "good")
    assert store.get(Target("", "a")).body == "good"
    (notes / "b.md").unlink()
    assert store.find(Target("", "b")) is None
    (notes / "c.md").unlink()
    assert [file.path for file in store.quarantined] == ["c.md", "d.md"]
    store.scan()
    assert [file.path for file in store.quarantined] == ["d.md"]
    write("d.md", "good")
    write("a.md", BAD)
    assert [record.path for record in store.records()] == ["d.md"]
    assert [file.path for file in store.quarantined] == ["a.md"]


def test_a_quarantined_record_raises_its_error(notes: Path, write: Write) -> None:
    """A record that is there but bad is not missing."""
    write("a.md", BAD)
    store = lenient(notes)
    for read in (store.get, store.find):
        with pytest.raises(FrontmatterError, match=r"^a.md:2: "):
            read(Target("", "a"))


def test_the_facade_scans_and_loads(notes: Path, write: Write) -> None:
    """Without loading, the store is there at once; entries are loaded one by one."""
    write("a.md", "text")
    write("b.md", BAD)
    store = FileTreeMemoryStore(notes, load=False, on_record_error="fail")
    assert store.quarantined == ()
    good, bad = store.scan().entries
    assert store.load(good).body == "text"
    with pytest.raises(FrontmatterError):
        store.load(bad)
    assert [file.path for file in store.quarantined] == ["b.md"]
    bad_file = notes / "b.md"
    bad_file.unlink()
    with pytest.raises(RecordError, match=r"^b.md: it vanished"):
        store.load(bad)
    assert store.quarantined == ()


@pytest.mark.parametrize("load", [True, False])
def test_a_store_needs_a_folder(tmp_path: Path, load: bool) -> None:
    """A missing folder and a file are refused at once, in one clear sentence."""
    (tmp_path / "file").touch()
    with pytest.raises(VaultNotFoundError, match="there is no such folder"):
        FileTreeMemoryStore(tmp_path / "missing", load=load)
    with pytest.raises(VaultNotFoundError, match="is a file, not a folder"):
        FileTreeMemoryStore(tmp_path / "file", load=load)


def test_a_folder_that_goes_away_is_no_empty_vault(notes: Path, write: Write) -> None:
    """After the open a missing folder is still an error for whatever walks."""
    write("a.md", "text")
    store = FileTreeMemoryStore(notes)
    shutil.rmtree(notes)
    for call in (store.scan, store.records, store.targets):
        with pytest.raises(VaultNotFoundError):
            call()
    with pytest.raises(RecordNotFoundError):
        store.get(Target("", "a"))


def test_what_is_not_there_is_told_with_near_names(notes: Path, write: Write) -> None:
    """The message names the same id elsewhere, and nearly the same id in the same folder."""
    write("Garden/Seedlings.md", "")
    write("Old/Seedlings.md", "")
    write("Garden/Compost.md", "")
    store = FileTreeMemoryStore(notes)
    with pytest.raises(RecordNotFoundError, match=r"'Seedlings'; did you mean 'Garden/Seedlings' or 'Old/Seedlings'\?"):
        store.get(Target("", "Seedlings"))
    with pytest.raises(RecordNotFoundError, match=r"did you mean 'Garden/Seedlings'\?"):
        FileTreeMemoryStore(notes, load=False).get(Target("Garden", "Seedling"))
    with pytest.raises(RecordNotFoundError, match=r"has the target 'zzz'$"):
        store.get(Target("", "zzz"))


@pytest.mark.parametrize(
    "target",
    [
        Target("", ""),
        Target("", ".."),
        Target("..", "outside"),
        Target("a/..", "note"),
        Target("a//b", "note"),
        Target("/", "note"),
        Target("", "a/note"),
        Target("", "x" * 300),
        Target("", "nul\x00"),
        Target("", "half \ud83d"),
        Target("x/" * 3000, "deep"),
        Target(".hidden", "note"),
        Target("", ".hidden"),
        Target("link", "note"),
        Target("", "link"),
        Target("", "folder"),
        Target("private", "note"),
        Target("", "Quiz (conflicted copy 2024-01-02)"),
    ],
)
def test_only_what_a_walk_lists_can_be_got(notes: Path, write: Write, target: Target) -> None:
    """No name leads outside, behind a link, to a folder, or to what is left out; odd names are just not there."""
    (notes.parent / "outside.md").write_text("outside", encoding="utf-8")
    write("a/note.md", "")
    write(".hidden/note.md", "")
    write(".hidden.md", "")
    write("private/note.md", "")
    write("Quiz (conflicted copy 2024-01-02).md", "")
    write(".vaultignore", "/private/\n")
    (notes / "link").symlink_to(notes / "a")
    (notes / "link.md").symlink_to(notes / "a" / "note.md")
    (notes / "folder.md").mkdir()
    store = FileTreeMemoryStore(notes)
    assert store.targets() == (Target("a", "note"),)
    assert store.find(target) is None
    with pytest.raises(RecordNotFoundError):
        store.get(target)


def test_every_listed_target_can_be_got(notes: Path, write: Write) -> None:
    """Whatever spelling a name has on the disk, the record is found under its target, and under the spelling."""
    paths = [
        f"{NFD}/{NFD}.md",
        f"{NFC}/two.md",
        f"{NFC}.markdown",
        "a.MD",
        "a.markdown.md",
        "names/100% sure? #1 [draft]^.md",
    ]
    for path in paths:
        write(path, path)
    store = FileTreeMemoryStore(notes)
    assert {store.get(target).path for target in store.targets()} == set(paths)
    assert store.get(Target(NFD, NFD)).body == store.get(Target(NFC, NFC)).body == f"{NFD}/{NFD}.md"


def test_the_record_of_two_spellings_is_the_one_of_the_walk(notes: Path, write: Write) -> None:
    """A name in NFC wins, unless a rule leaves it out."""
    write(f"{NFC}.md", "nfc")
    write(f"{NFD}.md", "nfd")
    store = lenient(notes)
    assert store.get(Target("", NFC)).body == "nfc"
    assert [record.body for record in store.records()] == ["nfc"]
    (notes / f"{NFC}.md").unlink()
    assert store.get(Target("", NFC)).body == "nfd"
    assert [record.body for record in store.records()] == ["nfd"]
    assert store.quarantined == ()


@posix
def test_an_unusual_file_does_not_stop_a_store(notes: Path, write: Write) -> None:
    """A FIFO, a huge file and a file without bytes: the store opens, and only the huge one is quarantined."""
    os.mkfifo(notes / "fifo.md")
    write("huge.md", "x" * 101)
    write("empty.md", "")
    store = FileTreeMemoryStore(notes, on_record_error="skip", settings=ReadSettings(max_note_bytes=100))
    assert [record.path for record in store.records()] == ["empty.md"]
    assert [str(file.error) for file in store.quarantined] == ["huge.md: the file has 101 bytes, the bound is 100"]


@posix
def test_what_turns_up_in_place_of_a_note_is_quarantined(notes: Path, write: Write) -> None:
    """A file that was replaced by a FIFO or a link after the scan is neither waited for nor followed."""
    write("a.md", "")
    write("b.md", "")
    store = FileTreeMemoryStore(notes)
    first, second = store.scan().entries
    for path in ("a.md", "b.md"):
        (notes / path).unlink()
    os.mkfifo(notes / "a.md")
    (notes / "b.md").symlink_to(notes)
    with pytest.raises(RecordError, match=r"^a.md: it is not a regular file"):
        store.load(first)
    with pytest.raises(RecordError, match=r"^b.md: cannot be read: "):
        store.load(second)


@unprivileged
def test_a_file_that_may_not_be_read_is_quarantined(notes: Path, write: Write) -> None:
    """An unreadable file is listed with the system's reason, and so is one in a closed folder when asked for."""
    write("a.md", "").chmod(0)
    write("closed/b.md", "")
    (notes / "closed").chmod(0)
    try:
        store = lenient(notes)
        assert [file.path for file in store.quarantined] == ["a.md", "closed"]
        assert store.quarantined[0].reason == "cannot be read: Permission denied"
        with pytest.raises(RecordError, match=r"^closed/b.md: cannot be looked at: Permission denied"):
            store.get(Target("closed", "b"))
    finally:
        (notes / "closed").chmod(0o700)


def test_every_exception_takes_the_one_way(notes: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even a fault of a library quarantines just the record, with its path and its cause."""
    write("a.md", "x")
    write("b.md", "y")
    for fault in (ValueError("odd"), RecursionError("deep"), MemoryError(), KeyError("k")):

        def broken(*_: object, fault: Exception = fault) -> None:
            raise fault

        with monkeypatch.context() as patch:
            patch.setattr("vault_memory.store.loading.parse_record", broken)
            store = lenient(notes)
        assert [file.path for file in store.quarantined] == ["a.md", "b.md"]
        assert type(fault).__name__ in store.quarantined[0].reason
        assert store.quarantined[0].error.__cause__ is fault


def test_a_note_that_vanishes_during_the_reading_is_not_there(notes: Path, write: Write) -> None:
    """Records that go away while they are listed are passed over, even under `fail`."""
    for name in ("a", "b", "c"):
        write(f"{name}.md", name)
    bodies = []
    for record in FileTreeMemoryStore(notes).records():
        bodies.append(record.body)
        (notes / "b.md").unlink(missing_ok=True)
    assert bodies == ["a", "c"]


def test_a_name_of_255_bytes_is_read(notes: Path, write: Write) -> None:
    """The longest name that a disk takes can be listed, got and written."""
    target = Target("", "é" * 126)
    write(f"{target.id}.md", "text")
    store = FileTreeMemoryStore(notes)
    assert store.targets() == (target,)
    assert store.put(target, "new").changed
    assert store.get(target).body == "new"


def test_twenty_thousand_empty_notes_open(notes: Path) -> None:
    """Many notes without text are many records, and no error."""
    for folder in range(20):
        (notes / str(folder)).mkdir()
        for note in range(1000):
            (notes / str(folder) / f"{note}.md").touch()
    assert len(FileTreeMemoryStore(notes).targets()) == 20_000
