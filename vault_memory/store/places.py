"""Where a target lies on the disk, or would lie. No folder is listed as long as the plain path answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vault_memory.errors import IdentityError, UnsafePathError, WriteRejectedError
from vault_memory.files import is_same_file, kind_of, list_names
from vault_memory.identity import check_portable, nfc, path_of, printable
from vault_memory.model import Target
from vault_memory.store.ignore import Rules


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record is written.

    Attributes:
        path: Relative to the vault, `/`-separated, folders spelled as on the disk.
        exists: Whether its file is there.
        siblings: Names in its folder, if the file is new and the folder is not.
    """

    path: str
    exists: bool
    siblings: tuple[str, ...] = ()


class _Listings:
    """What is in the folders that one question is about, each listed once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._names: dict[str, tuple[str, ...]] = {}

    def names(self, base: str) -> tuple[str, ...]:
        """Return the names in a folder, given with a `/` at its end; none if it is no folder, or a link."""
        if base not in self._names:
            is_folder = not base or kind_of(self._root / base[:-1]) == "folder"
            self._names[base] = tuple(list_names(self._root / base)) if is_folder else ()
        return self._names[base]

    def same(self, base: str, step: str) -> list[str]:
        """Return the names in a folder that are this one in NFC, the best spelling first."""
        return sorted((name for name in self.names(base) if nfc(name) == step), key=lambda name: (name != step, name))


class Places:
    """Finds the files of targets by the same rules as a walk, without walking."""

    def __init__(self, root: Path, rules: Rules) -> None:
        self._root = root
        self._rules = rules

    def find(self, target: Target) -> str | None:
        """Return the path of a record's file, or `None` where a walk would list none.

        Raises:
            OSError: A folder on the way may not be looked at.
        """
        return self._find(target, _Listings(self._root))

    def _find(self, target: Target, listings: _Listings) -> str | None:
        path = path_of(target)
        if "/" in target.id or not _is_inside(path):
            return None
        return next((spelling for spelling in self._spellings(path, listings) if self._is_note(spelling)), None)

    def for_writing(self, target: Target) -> Place:
        """Return where a record is, or is to be made.

        Raises:
            UnsafePathError: The place is outside of the vault, or behind a link.
            IdentityError: A name is not portable, or differs only in letter case from one that is there.
            WriteRejectedError: Something that is no note has the name, or a rule leaves the place out.
            OSError: A folder on the way may not be looked at.
        """
        path = path_of(target)
        if not _is_inside(path):
            raise UnsafePathError(f"{printable(path)!r} is not a place inside the vault")
        listings = _Listings(self._root)
        found = self._find(target, listings)
        if found is not None:
            return Place(found, exists=True)
        check_portable(target)
        new = self._new_path(path, listings)
        reason = self._rules.reason_for_note(new)
        if reason is not None:
            raise WriteRejectedError(f"{new}: a note at this place would be left out ({reason}); choose another one")
        return Place(new, exists=False, siblings=listings.names(new[: new.rfind("/") + 1]))

    def _is_note(self, path: str) -> bool:
        """Tell whether a walk would list the path: a file, not behind a link, that no rule leaves out."""
        if kind_of(self._root / path) != "file":
            return False
        steps = path.split("/")
        folders = ("/".join(steps[:depth]) for depth in range(1, len(steps)))
        return all(kind_of(self._root / folder) == "folder" for folder in folders) and (
            self._rules.reason_for_note(path) is None
        )

    def _spellings(self, path: str, listings: _Listings) -> Iterator[str]:
        """Yield the paths on the disk that are one path in NFC, the best first."""
        exact = self._root / path
        # A disk that ignores case answers to every spelling; only its listing tells which one is the name.
        if kind_of(exact) is not None and not is_same_file(exact, self._root / path.swapcase()):
            yield path
        spellings = [""]
        for step in path.split("/"):
            spellings = [f"{base}{name}/" for base in spellings for name in listings.same(base, step)]
        yield from sorted((spelling[:-1] for spelling in spellings), key=lambda found: (found != path, found))

    def _new_path(self, path: str, listings: _Listings) -> str:
        """Return the path of a new file, through the folders that are there as they are spelled there."""
        base, steps = "", path.split("/")
        while steps and (same := listings.same(base, steps[0])):
            self._check_step(base + same[0], is_last=len(steps) == 1)
            base, steps = f"{base}{same[0]}/", steps[1:]
        for name in listings.names(base):
            if nfc(name).casefold() == steps[0].casefold():
                there = printable(base + name)
                raise IdentityError(f"{there!r} is there and differs only in letter case; use that name")
        return base + "/".join(steps)

    def _check_step(self, path: str, *, is_last: bool) -> None:
        """Refuse what is on the way, or in the place, of a new file."""
        kind = kind_of(self._root / path)
        if kind == "link":
            raise UnsafePathError(f"{path} is a link; nothing is written through links")
        if is_last and kind == "file":
            reason = self._rules.reason_for_note(path)
            raise WriteRejectedError(f"{path} is not a note of this vault ({reason}) and stays as it is")
        if is_last or kind != "folder":
            raise WriteRejectedError(f"{path} is there and is not a {'file' if is_last else 'folder'}")


def _is_inside(path: str) -> bool:
    """Tell whether a path stays below the vault's folder, whatever characters the system takes for separators."""
    parts = tuple(path.split("/"))
    return ".." not in parts and Path(path).parts == parts
