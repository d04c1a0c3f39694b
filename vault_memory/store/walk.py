"""One ordered pass over a vault's folder: what are its notes, what is left out, and what cannot be a note.

Nothing is read but names, stamps and ignore files.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from vault_memory.errors import IdentityError, RecordError, UnsafePathError
from vault_memory.files import Listed, Stamp, kind_of, list_folder, missing_vault
from vault_memory.identity import is_note_name, is_utf8, nfc, path_of, printable, target_of
from vault_memory.model import LeftOut, Quarantined, Target
from vault_memory.store.ignore import Chain, Rules, is_note_like

WHOLE = ("",)
"""The paths of a walk that looks at everything."""


class FileEntry(NamedTuple):
    """A note's file.

    Attributes:
        path: Relative to the vault, `/`-separated, spelled as on the disk.
        stamp: What tells without reading whether it changed.
    """

    path: str
    stamp: Stamp

    @property
    def target(self) -> Target:
        """The record's identity; worked out when asked for, as most files of a walk are only compared."""
        return target_of(self.path)


@dataclass(frozen=True, slots=True)
class Scan:
    """What a walk found; each part is in walk order, which is by path, folder by folder.

    Attributes:
        entries: The notes.
        left_out: What is not a note of this vault and could be taken for one, with the rule that says so.
        quarantined: What cannot be a record whatever its text says, and folders that cannot be listed.
        unlisted: Scopes of the folders that cannot be listed: of what is below them nothing is known.
        other_files: Number of files that are no notes, such as pictures.
    """

    entries: tuple[FileEntry, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    quarantined: tuple[Quarantined, ...] = ()
    unlisted: tuple[str, ...] = ()
    other_files: int = 0


def walk_order(found: FileEntry | LeftOut | Quarantined) -> str:
    """Return the key of walk order: a `/` sorts before every character that a name can have."""
    return found.path.replace("/", "\0")


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder that waits for its turn: `base` as on the disk, with a `/` at the end, and the chain above it."""

    base: str
    scope: str
    chain: Chain


@dataclass(slots=True)
class _Found:
    entries: list[FileEntry] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    quarantined: list[Quarantined] = field(default_factory=list)
    unlisted: list[str] = field(default_factory=list)
    waiting: list[_Folder] = field(default_factory=list)
    other_files: int = 0


def walk(root: Path, rules: Rules, under: Collection[str] = WHOLE) -> Scan:
    """Find every note below a folder, or at and below some paths in it.

    Links are never followed, so that every loop ends, nothing outside is touched and no note is listed twice. What
    vanishes during the walk is not there.

    Args:
        root: The vault's folder.
        rules: What a walk leaves out.
        under: Files and folders to look at, relative to the root; what is not there gives nothing.

    Raises:
        VaultNotFoundError: The folder is missing, a file, or cannot be listed.
    """
    found = _Found()
    if "" in under:
        found.waiting.append(_Folder("", "", ()))
    else:
        _list(found, root, _Folder("", "", ()), rules, frozenset())
        for base, names in _by_folder(under):
            _take_some(found, root, base, names, rules)
    while found.waiting:
        _list(found, root, found.waiting.pop(), rules)
    return _finish(found)


def checked_paths(paths: str | os.PathLike[str] | Collection[str | os.PathLike[str]]) -> tuple[str, ...]:
    """Return paths inside a vault in their normal form; one text is one path.

    Raises:
        UnsafePathError: A path is absolute, or leads out of the vault.
    """
    given = (paths,) if isinstance(paths, str | os.PathLike) else tuple(paths)
    normal = []
    for path in (os.fspath(one).replace(os.sep, "/") for one in given):
        steps = [step for step in path.split("/") if step not in ("", ".")]
        if path.startswith("/") or ".." in steps or not is_utf8(path):
            raise UnsafePathError(f"{path!r} is not a path inside the vault; give paths relative to it")
        normal.append("/".join(steps))
    return tuple(normal)


def is_under(path: str, under: Collection[str]) -> bool:
    """Tell whether a path is at or below one of some others; everything is below `""`."""
    return any(not top or path == top or path.startswith(f"{top}/") for top in under)


def _by_folder(under: Collection[str]) -> list[tuple[str, frozenset[str]]]:
    """Return the names to look for in each folder; a path below another one of them needs no look of its own."""
    names: dict[str, set[str]] = {}
    tops: set[str] = set()
    for path in sorted(under, key=lambda path: path.count("/")):
        parts = path.split("/")
        if any("/".join(parts[:depth]) in tops for depth in range(1, len(parts) + 1)):
            continue
        tops.add(path)
        base, slash, name = path.rpartition("/")
        names.setdefault(base + slash, set()).add(nfc(name))
    return [(base, frozenset(wanted)) for base, wanted in sorted(names.items())]


def _take_some(found: _Found, root: Path, base: str, names: frozenset[str], rules: Rules) -> None:
    """Look for names in a folder, by the same rules that a walk from the root follows on its way there."""
    chain = rules.extend((), "")
    steps = base.split("/")[:-1]
    for depth in range(1, len(steps) + 1):
        folder = "/".join(steps[:depth])
        if kind_of(root / folder) != "folder" or rules.reason(chain, folder, "folder") is not None:
            return
        if depth < len(steps):
            chain = rules.extend(chain, f"{folder}/")
    above = () if not base else chain
    _list(found, root, _Folder(base, nfc(base[:-1]), above), rules, names)


def _list(found: _Found, root: Path, folder: _Folder, rules: Rules, names: frozenset[str] | None = None) -> None:
    """Take what is in a folder, or only what has one of some names in NFC."""
    try:
        listed = list_folder(f"{root}/{folder.base}")
    except OSError as error:
        if not folder.base:
            raise missing_vault(root, error) from error
        _note_unlisted(found, folder, error)
    else:
        _take_folder(found, folder, listed, rules, names)


def _note_unlisted(found: _Found, folder: _Folder, error: OSError) -> None:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return
    found.unlisted.append(folder.scope)
    reason = f"this folder cannot be listed, its notes are unknown: {error.strerror}"
    found.quarantined.append(_quarantined(folder.base[:-1], RecordError(reason)))


def _take_folder(
    found: _Found, folder: _Folder, listed: list[Listed], rules: Rules, names: frozenset[str] | None
) -> None:
    chain = rules.extend(folder.chain, folder.base, {item.name for item in listed})
    if names is None:
        for file in chain[len(folder.chain) :]:
            found.quarantined.extend(file.faults)
    for item in listed if names is None else [item for item in listed if nfc(item.name) in names]:
        if item.kind in ("file", "other") and not is_note_like(item.name):
            found.other_files += 1
        elif not is_utf8(item.name):
            found.quarantined.append(_quarantined(folder.base + item.name, _not_utf8()))
        elif (reason := rules.reason(chain, folder.base + item.name, item.kind)) is not None:
            found.left_out.append(LeftOut(folder.base + item.name, reason))
        elif item.kind == "folder":
            base = f"{folder.base}{item.name}/"
            found.waiting.append(_Folder(base, nfc(base[:-1]), chain))
        elif is_note_name(item.name):
            _take_note(found, folder, item)
        else:
            found.other_files += 1


def _take_note(found: _Found, folder: _Folder, item: Listed) -> None:
    path = folder.base + item.name
    try:
        stamp = item.stamp()
    except FileNotFoundError:
        return
    except OSError as error:
        found.quarantined.append(_quarantined(path, RecordError(f"cannot be looked at: {error.strerror}")))
    else:
        found.entries.append(FileEntry(path, stamp))


def _not_utf8() -> IdentityError:
    return IdentityError("the name is not UTF-8, so it cannot be an address; rename it")


def _quarantined(path: str, error: RecordError) -> Quarantined:
    shown = printable(path)
    return Quarantined(shown, nfc(shown.rpartition("/")[0]), error.at(shown), error.line)


def _finish(found: _Found) -> Scan:
    entries, twins = _without_twins(sorted(found.entries, key=walk_order))
    return Scan(
        entries=tuple(entries),
        left_out=tuple(sorted(found.left_out, key=walk_order)),
        quarantined=tuple(sorted([*found.quarantined, *twins], key=walk_order)),
        unlisted=tuple(sorted(found.unlisted)),
        other_files=found.other_files,
    )


def _without_twins(entries: list[FileEntry]) -> tuple[list[FileEntry], list[Quarantined]]:
    """Keep one file of each name: two spellings of one text (NFC and NFD) look alike and are one address."""
    if all(entry.path.isascii() for entry in entries):
        return entries, []
    chosen: dict[Target, FileEntry] = {}
    for entry in entries:
        first = chosen.setdefault(entry.target, entry)
        if first is not entry and entry.path == path_of(entry.target):
            chosen[entry.target] = entry
    if len(chosen) == len(entries):
        return entries, []
    twins = [entry for entry in entries if chosen[entry.target] is not entry]
    return sorted(chosen.values(), key=walk_order), [_twin(entry, chosen[entry.target]) for entry in twins]


def _twin(entry: FileEntry, record: FileEntry) -> Quarantined:
    reason = f"another file has the same name, spelled in another Unicode form ({record.path!a}); rename one of them"
    return _quarantined(entry.path, IdentityError(reason))
