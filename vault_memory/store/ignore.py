"""What is not a note of a vault although it lies in its folder, and why."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

from vault_memory.errors import RecordError
from vault_memory.files import Kind, read_file
from vault_memory.identity import nfc
from vault_memory.model import Quarantined

VAULT_IGNORE = ".vaultignore"
GIT_IGNORE = ".gitignore"
IGNORE_NAMES = (VAULT_IGNORE, GIT_IGNORE)
LINK = "a link; links are not followed"

# Patterns of one folder are a page of text at most; a larger file is something else under that name.
_MAX_IGNORE_BYTES = 1024 * 1024
_MAX_PATTERN_CHARS = 1000
_MAX_WILDCARDS = 3
_SHOWN_CHARS = 60
_WILDCARDS = re.compile(r"\*+")
_LINE_END = re.compile(r"\r\n|\n|\r")

# The copies have the suffix of their original.
_ENDING = r"(?:\.[^.]*)?"

# A name is left out by the first rule that it matches. The copies of sync tools are known by the exact names that
# these document. A lone number, as iCloud and people write it, is none of them: `Quiz 2.md` is a note.
_FILE_RULES = tuple(
    (re.compile(pattern, re.DOTALL), reason)
    for pattern, reason in (
        (r"\..+\.icloud", "its text is in the cloud, not on this disk"),
        (r"\..*", "its name starts with a dot"),
        (r"~\$.*|#.*#|.*(?:~|\.swp|\.tmp)", "a temporary file of an editor"),
        # https://docs.syncthing.net/users/syncing.html: date, time, the first seven characters of the device's id.
        (r".*\.sync-conflict-\d{8}-\d{6}(?:-[A-Z2-7]{7})?" + _ENDING, "a conflict copy of Syncthing"),
        # https://help.dropbox.com/organize/conflicted-copy; Nextcloud and ownCloud add the time of day.
        (
            r".* \((?:[^()]+ )?conflicted copy(?: [^()]+)? \d{4}-\d\d-\d\d(?: \d{6})?(?: \d+)?\)(?: \(\d+\))?"
            + _ENDING,
            "a conflict copy of Dropbox or Nextcloud",
        ),
        # https://obsidian.md/help/sync/troubleshoot
        (r".* \(Conflicted copy .+ \d{12}\)" + _ENDING, "a conflict copy of Obsidian Sync"),
        # https://manual.seafile.com: the last editor, if known, and the time.
        (r".* \(SFConflict (?:.+ )?\d{4}(?:-\d\d){5}\)" + _ENDING, "a conflict copy of Seafile"),
    )
)
# What every name has that a rule for files matches: one look spares an ordinary name all of them.
_SUSPECT = re.compile(r"^[.~#]|(?:~|\.swp|\.tmp)\Z|onflict")
_FOLDER_RULES = (
    (re.compile(r"\..*", re.DOTALL), "a folder whose name starts with a dot"),
    (re.compile("node_modules"), "packages of node"),
)
_NOTE_LIKE = re.compile(r"\.(?:md|markdown)(?:~|#|\.swp|\.tmp|\.icloud)?\Z", re.IGNORECASE)


def is_note_like(name: str) -> bool:
    """Tell whether a person could take a file for a note, so that its absence needs a reason."""
    return _NOTE_LIKE.search(name) is not None


def _reason_by_name(name: str, kind: Kind) -> str | None:
    if kind != "folder" and not _SUSPECT.search(name):
        return None
    rules = _FOLDER_RULES if kind == "folder" else _FILE_RULES
    return next((reason for pattern, reason in rules if pattern.fullmatch(name)), None)


@dataclass(frozen=True, slots=True)
class IgnoreFile:
    """The patterns of one ignore file.

    Attributes:
        path: The file, relative to the vault.
        base: The folder that its patterns are relative to, with a `/` at the end, `""` at the root.
        spec: The patterns that could be understood.
        lines: The line number of each pattern.
        faults: Why it could not be read, or a line of it could not be understood.
    """

    path: str
    base: str
    spec: GitIgnoreSpec
    lines: tuple[int, ...] = ()
    faults: tuple[Quarantined, ...] = ()

    def verdict(self, path: str, kind: Kind) -> tuple[bool, str] | None:
        """Return whether a path is left out, and which line says so; `None` if no line speaks of it."""
        relative = path[len(self.base) :] + ("/" if kind == "folder" else "")
        checked = self.spec.check_file(relative)
        if checked.include is None or checked.index is None:
            return None
        return checked.include, f"named by {self.path}:{self.lines[checked.index]}"


Chain = tuple[IgnoreFile, ...]
"""The ignore files that bear on a folder, the outermost first."""


class Rules:
    """What a walk leaves out. Ignore files of deeper folders overrule those above, and the last line of a file wins.

    Args:
        root: The vault's folder.
        use_gitignore: Whether `.gitignore` files count; `.vaultignore` beside one overrules it.
    """

    def __init__(self, root: Path, *, use_gitignore: bool = False) -> None:
        self._root = root
        self._names = (GIT_IGNORE, VAULT_IGNORE) if use_gitignore else (VAULT_IGNORE,)

    def extend(self, chain: Chain, base: str, names: Iterable[str] | None = None) -> Chain:
        """Return the chain of a folder.

        Args:
            chain: The chain of the folder above.
            base: The folder, with a `/` at the end, `""` at the root.
            names: What is in it, if that is known.
        """
        there = self._names if names is None else [name for name in self._names if name in names]
        read = (_read_ignore_file(self._root, base, name) for name in there)
        return (*chain, *(file for file in read if file is not None))

    def reason(self, chain: Chain, path: str, kind: Kind) -> str | None:
        """Return why what is at a path is left out, if it is."""
        name = path.rpartition("/")[2]
        if kind == "link":
            return LINK
        if (reason := _reason_by_name(name, kind)) is not None:
            return reason
        if kind == "other":
            return "neither a file nor a folder"
        return _reason_by_chain(chain, nfc(path), kind)

    def reason_for_note(self, path: str) -> str | None:
        """Return why a note at a path is or would be left out, judging each folder on the way."""
        chain = self.extend((), "")
        folders = path.split("/")[:-1]
        for depth in range(1, len(folders) + 1):
            folder = "/".join(folders[:depth])
            if (reason := self.reason(chain, folder, "folder")) is not None:
                return reason
            chain = self.extend(chain, f"{folder}/")
        return self.reason(chain, path, "file")


def _reason_by_chain(chain: Chain, path: str, kind: Kind) -> str | None:
    for file in reversed(chain):
        verdict = file.verdict(path, kind)
        if verdict is not None:
            left_out, reason = verdict
            return reason if left_out else None
    return None


def _read_ignore_file(root: Path, base: str, name: str) -> IgnoreFile | None:
    path = base + name
    try:
        text = read_file(root / path, _MAX_IGNORE_BYTES).decode("utf-8-sig")
    except FileNotFoundError:
        return None
    except (OSError, RecordError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        fault = _fault(path, f"this ignore file cannot be read, so what it names is not left out: {reason}")
        return IgnoreFile(path, nfc(base), GitIgnoreSpec.from_lines([]), faults=(fault,))
    return _parse(path, nfc(base), text)


def _parse(path: str, base: str, text: str) -> IgnoreFile:
    faults: list[Quarantined] = []
    good: list[tuple[int, str]] = []
    for number, line in _patterns(text):
        try:
            _check_cost(line)
            GitIgnoreSpec.from_lines([line])
        except ValueError as error:
            shown = line if len(line) <= _SHOWN_CHARS else f"{line[:_SHOWN_CHARS]}…"
            faults.append(_fault(path, f"{shown!r} is not a pattern ({error}); correct or remove the line", number))
        else:
            good.append((number, line))
    spec = GitIgnoreSpec.from_lines(line for _, line in good)
    return IgnoreFile(path, base, spec, tuple(number for number, _ in good), tuple(faults))


def _check_cost(line: str) -> None:
    """Refuse a pattern that could take for ever to match: each `*` in a name multiplies the ways to try.

    Raises:
        ValueError: It is too long, or has too many wildcards in one name.
    """
    if len(line) > _MAX_PATTERN_CHARS:
        raise ValueError(f"longer than {_MAX_PATTERN_CHARS} characters")
    if max(len(_WILDCARDS.findall(name)) for name in line.split("/")) > _MAX_WILDCARDS:
        raise ValueError(f"more than {_MAX_WILDCARDS} wildcards in one name")


def _patterns(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(_LINE_END.split(text), start=1):
        if line.strip() and not line.startswith("#"):
            yield number, nfc(line)


def _fault(path: str, reason: str, line: int | None = None) -> Quarantined:
    return Quarantined(path, nfc(path.rpartition("/")[0]), RecordError(reason, path=path, line=line), line)
