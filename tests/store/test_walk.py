"""Rules of the walk: what is a note, in which order, what is left out and why, and that it always ends."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from vault_memory.errors import IdentityError, VaultNotFoundError
from vault_memory.identity import nfc
from vault_memory.model import Target
from vault_memory.store import Rules, Scan, walk
from vault_memory.store.walk import is_under

Write = Callable[[str, str], Path]

NFC = "Caf\u00e9"
NFD = "Cafe\u0301"
posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
unprivileged = pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may list everything")


def scan(root: Path, *, use_gitignore: bool = False) -> Scan:
    return walk(root, Rules(root, use_gitignore=use_gitignore))


def paths(found: Scan) -> list[str]:
    return [entry.path for entry in found.entries]


def reasons(found: Scan) -> dict[str, str]:
    return {left.path: left.reason for left in found.left_out}


def test_notes_come_in_one_order(notes: Path, write: Write) -> None:
    """Notes are ordered by path, folder by folder, however the disk lists them."""
    expected = ["A.md", "a b/x.md", "a/b/y.md", "a/x.md", "a/é.md", "z.markdown"]
    wanted = sorted(expected, key=lambda path: path.split("/"))
    for path in random.Random(7).sample(expected, len(expected)):
        write(path, "text")
    found = scan(notes)
    assert paths(found) == wanted
    assert found.entries[0].target == Target("", "A")
    assert found.entries[0].stamp.size == 4
    assert (found.left_out, found.quarantined, found.unlisted, found.other_files) == ((), (), (), 0)


def test_other_files_are_counted_only(notes: Path, write: Write) -> None:
    """Pictures and the like are no notes and need no reason."""
    for path in ("a.md", "b.png", "c.canvas", "sub/d.pdf", ".DS_Store", "4913"):
        write(path, "")
    found = scan(notes)
    assert paths(found) == ["a.md"]
    assert found.left_out == ()
    assert found.other_files == 5


@pytest.mark.parametrize(
    ("path", "left_out", "reason"),
    [
        (".obsidian/plugins/x/README.md", ".obsidian", "starts with a dot"),
        (".trash/Old.md", ".trash", "starts with a dot"),
        ("a/node_modules/x/README.md", "a/node_modules", "packages of node"),
        (".hidden.md", ".hidden.md", "starts with a dot"),
        (".Plan.md.icloud", ".Plan.md.icloud", "in the cloud"),
        (".n.md.tmp", ".n.md.tmp", "starts with a dot"),
        ("n.md.tmp", "n.md.tmp", "temporary file of an editor"),
        ("n.md~", "n.md~", "temporary file of an editor"),
        ("#n.md#", "#n.md#", "temporary file of an editor"),
        ("~$n.md", "~$n.md", "temporary file of an editor"),
        (".n.md.swp", ".n.md.swp", "starts with a dot"),
        ("Log.sync-conflict-20240102-030405-ABCDEFG.md", "", "Syncthing"),
        ("Log.sync-conflict-20150102-030405.md", "", "Syncthing"),
        ("Log (Mira's conflicted copy 2024-01-02).md", "", "Dropbox"),
        ("Log (conflicted copy 2024-01-02).md", "", "Dropbox"),
        ("Log (Mira's conflicted copy 2024-01-02) (1).md", "", "Dropbox"),
        ("Log (conflicted copy 2024-01-02 030405).md", "", "Nextcloud"),
        ("Log (conflicted copy mira 2024-01-02 030405).md", "", "Nextcloud"),
        ("Log (Conflicted copy MyMacBook2 202411281430).md", "", "Obsidian Sync"),
        ("Log (SFConflict mira@example.org 2024-01-02-03-04-05).md", "", "Seafile"),
    ],
)
def test_what_is_no_note_is_listed_with_its_reason(
    notes: Path, write: Write, path: str, left_out: str, reason: str
) -> None:
    """Hidden folders, copies of sync tools, temporaries and stubs are left out, and the rule is named."""
    write("Log.md", "")
    write(path, "")
    found = scan(notes)
    assert paths(found) == ["Log.md"]
    assert list(reasons(found)) == [left_out or path]
    assert reason in reasons(found)[left_out or path]


@pytest.mark.parametrize(
    "name",
    [
        "Quiz 2",
        "Report (1)",
        "On the conflicted copy 2024-01-02",
        "Notes (conflicted copy)",
        "Log.sync-conflict-2024",
        "Untitled (Conflict)",
        "# heading",
        "a~b",
        "tmp",
        "node_modules",
    ],
)
def test_what_only_looks_like_a_copy_is_a_note(notes: Path, write: Write, name: str) -> None:
    """Only the exact names that tools give are left out."""
    write(f"{name}.md", "")
    assert paths(scan(notes)) == [f"{name}.md"]


def test_links_are_reported_once_and_never_followed(notes: Path, write: Write, tmp_path: Path) -> None:
    """Links out of the vault, to its own folders, to themselves and to nothing: the walk ends, no note comes twice."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "Secret.md").write_text("secret", encoding="utf-8")
    write("a/Note.md", "")
    for name, goal in {
        "a/loop": notes,
        "a/out": outside,
        "Alias.md": notes / "a" / "Note.md",
        "Secret.md": outside / "Secret.md",
        ".#n.md": notes / "nothing",
        "self.md": notes / "self.md",
    }.items():
        (notes / name).symlink_to(goal)
    found = scan(notes)
    assert paths(found) == ["a/Note.md"]
    assert list(reasons(found)) == [".#n.md", "Alias.md", "Secret.md", "a/loop", "a/out", "self.md"]
    assert set(reasons(found).values()) == {"a link; links are not followed"}
    assert found.quarantined == ()


def test_the_root_may_be_a_link(notes: Path, write: Write, tmp_path: Path) -> None:
    """The folder that a person names is the vault, whatever leads to it."""
    write("a.md", "")
    (tmp_path / "link").symlink_to(notes)
    assert paths(scan(tmp_path / "link")) == ["a.md"]


@posix
def test_what_is_no_file_is_never_opened(notes: Path) -> None:
    """A FIFO with the name of a note is left out; a folder with the name of a note is a folder."""
    os.mkfifo(notes / "fifo.md")
    (notes / "folder.md").mkdir()
    (notes / "folder.md" / "a.md").touch()
    found = scan(notes)
    assert paths(found) == ["folder.md/a.md"]
    assert reasons(found) == {"fifo.md": "neither a file nor a folder"}


@posix
def test_a_name_that_is_no_text_is_quarantined(notes: Path) -> None:
    """A file or folder whose name is not UTF-8 cannot be an address; it is listed, printable, and not read."""
    (notes / os.fsdecode(b"caf\xe9.md")).touch()
    (notes / os.fsdecode(b"m\xfcll")).mkdir()
    (notes / os.fsdecode(b"m\xfcll") / "a.md").touch()
    (notes / os.fsdecode(b"bild\xe9.png")).touch()
    found = scan(notes)
    assert paths(found) == []
    assert [(file.path, file.scope) for file in found.quarantined] == [("caf\\xe9.md", ""), ("m\\xfcll", "")]
    assert all(isinstance(file.error, IdentityError) for file in found.quarantined)
    assert str(found.quarantined[0].error).startswith("caf\\xe9.md: the name is not UTF-8")
    assert found.other_files == 1


def test_of_two_spellings_one_is_the_record(notes: Path, write: Write) -> None:
    """Of files that are one name in NFC, the one spelled so is the record; the other is quarantined."""
    write(f"{NFC}.md", "1")
    write(f"{NFD}.md", "22")
    write(f"{NFD}/alone.md", "3")
    found = scan(notes)
    assert [(entry.path, entry.target) for entry in found.entries] == [
        (f"{NFD}/alone.md", Target(NFC, "alone")),
        (f"{NFC}.md", Target("", NFC)),
    ]
    assert [file.path for file in found.quarantined] == [f"{NFD}.md"]
    assert isinstance(found.quarantined[0].error, IdentityError)
    assert "another file has the same name" in found.quarantined[0].reason


def test_of_two_other_spellings_the_first_is_the_record(notes: Path, write: Write) -> None:
    """Where no file is spelled in NFC, the first in walk order is the record."""
    first, second = "a\u0323\u0302.md", "\u1ea1\u0302.md"
    write(first, "")
    write(second, "")
    found = scan(notes)
    assert paths(found) == [first]
    assert [file.path for file in found.quarantined] == [second]
    assert found.entries[0].target == Target("", "\u1ead")


def test_folders_of_two_spellings_are_one_scope(notes: Path, write: Write) -> None:
    """Notes of both folders are records; only a name that is in both is quarantined once."""
    write(f"{NFC}/both.md", "")
    write(f"{NFD}/both.md", "")
    write(f"{NFC}/one.md", "")
    write(f"{NFD}/two.md", "")
    found = scan(notes)
    assert {entry.target for entry in found.entries} == {Target(NFC, name) for name in ("both", "one", "two")}
    assert [file.path for file in found.quarantined] == [f"{NFD}/both.md"]


@pytest.mark.parametrize("kind", ["missing", "file"])
def test_the_root_must_be_a_folder(tmp_path: Path, kind: str) -> None:
    """A missing folder and a file are errors, never an empty vault."""
    if kind == "file":
        (tmp_path / kind).touch()
    with pytest.raises(VaultNotFoundError):
        scan(tmp_path / kind)


@posix
def test_what_lies_too_deep_is_reported(notes: Path) -> None:
    """A path that is longer than the system takes is quarantined, folder or note, and the walk goes on."""
    (notes / "a.md").touch()
    here = os.open(notes, os.O_RDONLY)
    below = os.pathconf(notes, "PC_PATH_MAX") - 100 - len(str(notes))
    depth = 0
    while depth < below:
        step = below - depth if below - depth < 250 else 100
        here, depth = enter(here, "d" * (step - 1)), depth + step
    os.close(os.open("n" * 200 + ".md", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(os.open("b.md", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(enter(here, "e" * 200))
    found = scan(notes)
    assert [len(path) for path in paths(found)] == [len("a.md"), below - 1 + len("/b.md")]
    note, folder = sorted(found.quarantined, key=lambda file: file.path.endswith("e"))
    assert note.path.endswith(".md")
    assert "cannot be looked at" in note.reason
    assert folder.path in found.unlisted
    assert "cannot be listed" in folder.reason


def enter(here: int, name: str) -> int:
    """Make a folder and go into it, by descriptors, because its path may be too long to be used."""
    os.mkdir(name, dir_fd=here)
    deeper = os.open(name, os.O_RDONLY, dir_fd=here)
    os.close(here)
    return deeper


@unprivileged
def test_a_closed_folder_is_unlisted(notes: Path, write: Write) -> None:
    """A folder that may not be listed is reported with its reason; its notes are unknown, not gone."""
    write("closed/a.md", "")
    write("b.md", "")
    (notes / "closed").chmod(0)
    try:
        found = scan(notes)
    finally:
        (notes / "closed").chmod(0o700)
    assert paths(found) == ["b.md"]
    assert found.unlisted == ("closed",)
    assert found.quarantined[0].path == "closed"


@unprivileged
def test_a_note_that_cannot_be_looked_at_is_quarantined(notes: Path, write: Write) -> None:
    """Where a folder can be listed but not searched, each of its notes is reported."""
    write("closed/a.md", "")
    (notes / "closed").chmod(0o400)
    try:
        found = scan(notes)
    finally:
        (notes / "closed").chmod(0o700)
    assert [file.path for file in found.quarantined] == ["closed/a.md"]
    assert "cannot be looked at" in found.quarantined[0].reason


def test_a_look_at_some_paths_is_a_part_of_the_walk(notes: Path, write: Write) -> None:
    """What is found at and below some paths, in whatever spelling, is what a walk over everything finds there."""
    for path in ("top.md", "a/one.md", "a/b/two.md", "a/b/draft.md", ".hidden/x.md", "out/y.md", "a/p.png"):
        write(path, "")
    write(f"a/{NFC}.md", "1")
    write(f"a/{NFD}.md", "2")
    write(".vaultignore", "out/\ndraft.md\n")
    write("a/b/.vaultignore", "!draft.md\n")
    (notes / "link").symlink_to(notes / "a")
    rules = Rules(notes)
    everything = walk(notes, rules)
    assert len(everything.entries) == 5
    shown = [str(path.relative_to(notes)) for path in sorted(notes.rglob("*"))]
    for path in [*shown, "missing.md", "a/missing/x.md", "link/one.md"]:
        some = walk(notes, rules, [path])
        under = [nfc(path)]
        assert some.entries == tuple(entry for entry in everything.entries if is_under(nfc(entry.path), under))
        assert some.left_out == tuple(left for left in everything.left_out if is_under(left.path, under))
        assert some.quarantined == () or [file.path for file in some.quarantined] == [f"a/{NFD}.md"]
    assert walk(notes, rules, ["a", "a/b", ""]).entries == everything.entries
    assert paths(walk(notes, rules, ["a/b", "a", "top.md"])) == paths(everything)
    with pytest.raises(VaultNotFoundError):
        walk(notes / "missing", Rules(notes / "missing"), ["a"])


def test_a_name_of_255_bytes_is_a_note(notes: Path, write: Write) -> None:
    """The longest name that a disk takes is read as any other."""
    name = "é" * 126
    write(f"{name}.md", "")
    assert scan(notes).entries[0].target == Target("", name)


def test_twenty_thousand_notes_are_found(notes: Path) -> None:
    """Every one of many notes is found once, in order."""
    for folder in range(20):
        (notes / f"{folder:02}").mkdir()
        for note in range(1000):
            (notes / f"{folder:02}" / f"{note:04}.md").touch()
    assert paths(scan(notes)) == [f"{folder:02}/{note:04}.md" for folder in range(20) for note in range(1000)]
