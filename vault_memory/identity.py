"""Paths to targets and back, and the names that this package is willing to write.

Reading takes every name that a disk has; only what can be written is bounded.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from vault_memory.errors import IdentityError
from vault_memory.model import Target

SUFFIX = ".md"
NOTE_SUFFIXES = (SUFFIX, ".markdown")

# Most file systems (ext4, XFS, NTFS, APFS, FAT) stop at 255; some count bytes, so the count in bytes fits all of them.
MAX_NAME_BYTES = 255

_OTHER_SUFFIX = re.compile(r"\.(?:md|markdown)\Z", re.IGNORECASE)
_FORBIDDEN = re.compile(r'[<>:"|?*\\/\x00-\x1f\x7f-\x9f]')
# https://learn.microsoft.com/windows/win32/fileio/naming-a-file, section "Naming conventions".
_DEVICE = re.compile(r"(?:CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9¹²³]) *(?:\..*)?", re.IGNORECASE | re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")

_FAULTS: tuple[tuple[Callable[[str], object], str], ...] = (
    (lambda name: not name, "is empty"),
    (lambda name: name.startswith("."), "starts with a dot, which hides it"),
    (lambda name: name.endswith("."), "ends with a dot"),
    (lambda name: name != name.strip(), "starts or ends with a space"),
    (_FORBIDDEN.search, 'holds one of < > : " | ? * \\ / or a control character'),
    (_SURROGATE.search, "is not valid Unicode text"),
    (_DEVICE.fullmatch, "is a device on Windows"),
)


def nfc(text: str) -> str:
    """Return the text in the Unicode form that identity is decided in."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def is_note_name(name: str) -> bool:
    """Tell whether a file of this name is a note: `*.md` or `*.markdown`, in any letter case."""
    return name.lower().endswith(NOTE_SUFFIXES)


def note_id(name: str) -> str:
    """Return the id of a note's file name: `.md` is cut off, every other suffix stays.

    A name that would still end like a note without its `.md`, as `a.markdown.md` does, is kept whole: otherwise it
    would share its id with `a.markdown`.
    """
    return name.removesuffix(SUFFIX) if not _is_kept_whole(name) else name


def note_name(note: str) -> str:
    """Return the file name of an id; the inverse of `note_id` on the names of notes."""
    return note if _is_kept_whole(note) else f"{note}{SUFFIX}"


def _is_kept_whole(name: str) -> bool:
    """Tell whether the name, without all `.md` at its end, still has the suffix of a note."""
    if ".m" not in name[: -len(SUFFIX)].lower():
        # The usual name has one suffix at most, so this look is all that most of them cost.
        return is_note_name(name) and not name.endswith(SUFFIX)
    end = len(name)
    while name.endswith(SUFFIX, 0, end):
        end -= len(SUFFIX)
    return _OTHER_SUFFIX.search(name[:end]) is not None


def target_of(path: str) -> Target:
    """Return the identity of a note's file.

    Args:
        path: Relative to the vault, `/`-separated, in any Unicode form.
    """
    scope, _, name = nfc(path).rpartition("/")
    return Target(scope, note_id(name))


def path_of(target: Target) -> str:
    """Return the path of a record's file in NFC; the inverse of `target_of` on the paths of notes."""
    name = nfc(note_name(target.id))
    return f"{nfc(target.scope)}/{name}" if target.scope else name


def in_nfc(target: Target) -> Target:
    """Return the target under which a record is known, however it was typed."""
    return Target(nfc(target.scope), nfc(target.id))


def is_utf8(name: str) -> bool:
    """Tell whether a name from the disk is text: bytes that are not UTF-8 arrive as lone surrogates (PEP 383)."""
    return name.isascii() or _SURROGATE.search(name) is None


def printable(path: str) -> str:
    r"""Return a path that can be printed and stored: a byte that is no UTF-8 becomes `\xNN`."""
    return _SURROGATE.sub(lambda match: _escaped(ord(match[0])), path)


def _escaped(surrogate: int) -> str:
    byte = surrogate - 0xDC00
    return f"\\x{byte:02x}" if 0x80 <= byte <= 0xFF else f"\\u{surrogate:04x}"


def check_portable(target: Target) -> None:
    """Refuse a target whose folders or file cannot be written, or cannot be copied to another system.

    Spaces inside a name and letters of every script are fine.

    Raises:
        IdentityError: The reason names the part and what is wrong with it.
    """
    folders = target.scope.split("/") if target.scope else []
    for name in (*folders, target.id):
        _check_name(name)
    for name in (*folders, note_name(target.id)):
        size = len(name.encode("utf-8"))
        if size > MAX_NAME_BYTES:
            raise IdentityError(f"the name {name[:40]!r}… has {size} bytes; at most {MAX_NAME_BYTES} fit on a disk")


def _check_name(name: str) -> None:
    for has_fault, fault in _FAULTS:
        if has_fault(name):
            raise IdentityError(f"the name {printable(name)!r} {fault}; choose another one")


class NoteCodec:
    """Identity of plain notes: the entity id is the path without the suffix, `Garden/Seedlings`."""

    def encode(self, entity_id: str) -> Target:
        """Return the target of an entity id."""
        scope, _, name = nfc(entity_id).rpartition("/")
        return Target(scope, name)

    def decode(self, target: Target) -> str:
        """Return the entity id of a target."""
        return str(target)
