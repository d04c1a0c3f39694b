"""Rules of ignore files: gitignore syntax, the deeper file overrules, and no fault is silent."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from vault_memory.config import ReadSettings
from vault_memory.model import Target
from vault_memory.store import FileTreeMemoryStore, Rules, Scan, walk
from vault_memory.store import ignore as ignore_module

Write = Callable[[str, str], Path]


def scan(root: Path, *, use_gitignore: bool = False) -> Scan:
    return walk(root, Rules(root, use_gitignore=use_gitignore))


def paths(found: Scan) -> list[str]:
    return [entry.path for entry in found.entries]


@pytest.mark.parametrize(
    ("patterns", "kept"),
    [
        ("draft*\n", ["a/note.md", "note.md"]),
        ("/note.md\n", ["a/draft.md", "a/note.md", "draft.md"]),
        ("a/\n", ["draft.md", "note.md"]),
        ("note.md/\n", ["a/draft.md", "a/note.md", "draft.md", "note.md"]),
        ("*.md\n!note.md\n", ["a/note.md", "note.md"]),
        ("!note.md\n*.md\n", []),
        ("a/*\n!a/note.md\n", ["a/note.md", "draft.md", "note.md"]),
        ("# a comment\n\n  \n\\#x\n", ["a/draft.md", "a/note.md", "draft.md", "note.md"]),
        ("\ufeffdraft.md\r\n/note.md\r\n", ["a/note.md"]),
        ("**/note.md\n", ["a/draft.md", "draft.md"]),
    ],
)
def test_patterns_mean_what_git_means(notes: Path, write: Write, patterns: str, kept: list[str]) -> None:
    """Anchors, folders, negation and comments work as in a `.gitignore`; the last line that matches wins."""
    for path in ("note.md", "draft.md", "a/note.md", "a/draft.md"):
        write(path, "")
    write(".vaultignore", patterns)
    assert paths(scan(notes)) == kept


def test_the_reason_is_the_line(notes: Path, write: Write) -> None:
    """What a pattern leaves out says which line of which file did it; a folder is named once and not entered."""
    write("a/.vaultignore", "# private things\n\nprivate/\n")
    write("a/private/x/secret.md", "")
    (found,) = scan(notes).left_out
    assert (found.path, found.reason) == ("a/private", "named by a/.vaultignore:3")


def test_a_deeper_file_overrules(notes: Path, write: Write) -> None:
    """Patterns of a nested file are relative to its folder, and win over those of the folders above."""
    write(".vaultignore", "*.md\n!top.md\n")
    write("a/.vaultignore", "!/kept.md\n")
    for path in ("top.md", "other.md", "a/kept.md", "a/other.md", "a/b/kept.md"):
        write(path, "")
    assert paths(scan(notes)) == ["a/kept.md", "top.md"]


def test_a_folder_that_is_left_out_stays_out(notes: Path, write: Write) -> None:
    """No pattern brings back a note below a folder that is left out, nor a dot-folder."""
    write(".vaultignore", "a/\n!a/note.md\n!.hidden/\n")
    write("a/note.md", "")
    write(".hidden/note.md", "")
    write("b.md", "")
    assert paths(scan(notes)) == ["b.md"]


def test_gitignore_counts_by_option_only(notes: Path, write: Write) -> None:
    """A `.gitignore` is read if asked for, and the `.vaultignore` beside it overrules it."""
    write(".gitignore", "a.md\nb.md\n")
    write(".vaultignore", "!b.md\n")
    write("a.md", "")
    write("b.md", "")
    assert paths(scan(notes)) == ["a.md", "b.md"]
    assert paths(scan(notes, use_gitignore=True)) == ["b.md"]
    store = FileTreeMemoryStore(notes, settings=ReadSettings(use_gitignore=True))
    assert store.targets() == (Target("", "b"),)


def test_patterns_and_names_meet_in_nfc(notes: Path, write: Write) -> None:
    """A pattern leaves out a name in whatever Unicode form each of them is."""
    write(".vaultignore", "Cafe\u0301.md\n")
    write("Caf\u00e9.md", "")
    write("sub/Cafe\u0301.md", "")
    assert paths(scan(notes)) == []


def test_a_line_that_is_no_pattern_is_reported(notes: Path, write: Write) -> None:
    """The other lines count, and the bad one is listed with its number."""
    write("a/.vaultignore", "draft.md\n!\nb.md\n")
    for name in ("draft", "b", "c"):
        write(f"a/{name}.md", "")
    found = scan(notes)
    assert paths(found) == ["a/c.md"]
    assert [(file.path, file.scope, file.line) for file in found.quarantined] == [("a/.vaultignore", "a", 2)]
    assert str(found.quarantined[0].error).startswith("a/.vaultignore:2: '!' is not a pattern")


@pytest.mark.parametrize("kind", ["folder", "link", "fifo"])
def test_an_ignore_file_that_cannot_be_read_is_reported(notes: Path, write: Write, kind: str) -> None:
    """Notes that it may name are kept, and the listing says that it was not heeded."""
    write("a.md", "")
    place = notes / ".vaultignore"
    if kind == "folder":
        place.mkdir()
    elif kind == "link":
        place.symlink_to(notes / "a.md")
    elif hasattr(os, "mkfifo"):
        os.mkfifo(place)
    found = scan(notes)
    assert paths(found) == ["a.md"]
    assert [file.path for file in found.quarantined] == [".vaultignore"]
    assert "cannot be read" in found.quarantined[0].reason


@pytest.mark.parametrize("pattern", ["*a*a*a*a*b", "[a-z]*[a-z]*[a-z]*[a-z]*0", "a" * 5000, "**/" + "*x" * 4 + "/y"])
def test_patterns_that_could_take_for_ever_are_refused_and_listed(tmp_path: Path, pattern: str) -> None:
    """A pattern with many wildcards in a name, or a very long one, leaves nothing out and is listed with its line."""
    (tmp_path / ".vaultignore").write_text(f"drafts/\n{pattern}\n")
    (tmp_path / ("a" * 200 + ".md")).touch()
    scan = walk(tmp_path, Rules(tmp_path))
    assert len(scan.entries) == 1
    assert [(file.path, file.line) for file in scan.quarantined] == [(".vaultignore", 2)]


def test_an_ignore_file_that_is_not_text_is_listed(tmp_path: Path) -> None:
    """An ignore file in another encoding is told, not passed over."""
    (tmp_path / ".vaultignore").write_bytes("caf\xe9.md\n".encode("latin-1"))
    assert [file.path for file in walk(tmp_path, Rules(tmp_path)).quarantined] == [".vaultignore"]


@pytest.mark.parametrize(
    "name",
    [
        ".n.md",
        "~$n.md",
        "#n.md#",
        "n.md~",
        "n.md.swp",
        "n.md.tmp",
        ".n.md.icloud",
        "n.sync-conflict-20240102-030405-ABCDEFG.md",
        "n (conflicted copy 2024-01-02 030405).md",
        "n (Jo's conflicted copy 2024-01-02).md",
        "n (Conflicted copy phone 202401020304).md",
        "n (SFConflict jo@example.org 2024-01-02-03-04-05).md",
    ],
)
def test_the_first_look_at_a_name_passes_over_no_rule(name: str) -> None:
    """Each rule for files is reached by the names that it is for."""
    assert any(pattern.fullmatch(name) for pattern, _ in ignore_module._FILE_RULES)
    assert ignore_module._reason_by_name(name, "file") is not None
