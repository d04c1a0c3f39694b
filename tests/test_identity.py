"""Rules of addresses: path to target and back, and the names that may be written."""

from __future__ import annotations

import pytest

from vault_memory.errors import IdentityError
from vault_memory.identity import (
    NoteCodec,
    check_portable,
    in_nfc,
    is_note_name,
    is_utf8,
    path_of,
    printable,
    target_of,
)
from vault_memory.model import Target
from vault_memory.store import IdentityCodec

NFC = "Caf\u00e9"
NFD = "Cafe\u0301"


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("Note.md", Target("", "Note")),
        ("a/b/Note.md", Target("a/b", "Note")),
        ("names/Cold frame v1.2.md", Target("names", "Cold frame v1.2")),
        ("names/100% sure? #1 [draft]^.md", Target("names", "100% sure? #1 [draft]^")),
        ("Note.markdown", Target("", "Note.markdown")),
        ("Note.MD", Target("", "Note.MD")),
        ("Note.md.md", Target("", "Note.md")),
        ("Note.markdown.md", Target("", "Note.markdown.md")),
        ("Note.MD.md.md", Target("", "Note.MD.md.md")),
        (f"{NFC}/{NFC}.md", Target(NFC, NFC)),
    ],
)
def test_a_path_and_its_target_are_one(path: str, target: Target) -> None:
    """Only `.md` is cut off, dots stay, and the path comes back from the target."""
    assert target_of(path) == target
    assert path_of(target) == path


def test_two_spellings_are_one_target() -> None:
    """Identity is decided in NFC, on folders and on names, whichever way it is asked for."""
    assert target_of(f"{NFD}/{NFD}.md") == target_of(f"{NFC}/{NFC}.md")
    assert path_of(Target(NFD, NFD)) == f"{NFC}/{NFC}.md"
    assert in_nfc(Target(NFD, NFD)) == Target(NFC, NFC)


@pytest.mark.parametrize(
    ("name", "is_note"),
    [("a.md", True), ("a.MD", True), ("a.markdown", True), ("a.md.png", False), ("md", False), ("a.mdx", False)],
)
def test_notes_are_known_by_their_suffix(name: str, is_note: bool) -> None:
    """`*.md` and `*.markdown` are notes, in any letter case, and nothing else is."""
    assert is_note_name(name) is is_note


@pytest.mark.parametrize(
    "target",
    [
        Target("", "Note"),
        Target("", "What we know, so far (2)"),
        Target("Übersicht/日本語", "お茶 の 木"),
        Target("a", "v1.2"),
        Target("a", "100% sure #1 [draft]^"),
        Target("", "console"),
        Target("", "x" * 252),
        Target("a.b", "👩‍🌾"),
    ],
)
def test_names_of_a_vault_are_portable(target: Target) -> None:
    """Spaces inside, punctuation that every system takes, and letters of any script may be written."""
    check_portable(target)


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("", "is empty"),
        (".hidden", "starts with a dot"),
        ("..", "starts with a dot"),
        ("end.", "ends with a dot"),
        (" a", "starts or ends with a space"),
        ("a ", "starts or ends with a space"),
        ("a\u00a0", "starts or ends with a space"),
        *((f"a{character}b", "holds one of") for character in '<>:"|?*\\\x00\n\x7f\x85'),
        ("half \ud83d", "not valid Unicode"),
        *((name, "device") for name in ("con", "NUL", "aux.txt", "Com1", "LPT9.a.b", "com¹", "CONIN$", "nul .x")),
    ],
)
def test_names_that_cannot_travel_are_refused(name: str, fault: str) -> None:
    """The reason names the fault, for a file's name and for a folder's."""
    with pytest.raises(IdentityError, match=fault):
        check_portable(Target("", name))
    with pytest.raises(IdentityError, match=fault):
        check_portable(Target(f"a/{name}/b", "note"))


def test_an_id_is_one_name() -> None:
    """A `/` separates folders and cannot be in an id."""
    with pytest.raises(IdentityError, match="holds one of"):
        check_portable(Target("", "a/b"))


@pytest.mark.parametrize("target", [Target("", "x" * 253), Target("", "é" * 127), Target("日" * 86, "note")])
def test_names_fit_on_every_disk(target: Target) -> None:
    """A name may have 255 bytes in UTF-8, its suffix included."""
    with pytest.raises(IdentityError, match="at most 255"):
        check_portable(target)


def test_names_that_are_no_text_can_be_printed() -> None:
    """A byte that is not UTF-8 is shown by its number; all else is shown as it is."""
    assert printable("caf\udce9/ä.md") == "caf\\xe9/ä.md"
    assert printable("half \ud83d") == "half \\ud83d"
    assert not is_utf8("caf\udce9")
    assert is_utf8("café 👩‍🌾")


def test_the_codec_of_plain_notes_addresses_by_path() -> None:
    """The entity id of a plain note is its path without the suffix, both ways."""
    codec = NoteCodec()
    assert isinstance(codec, IdentityCodec)
    assert codec.encode("Garden/Seedlings") == Target("Garden", "Seedlings")
    assert codec.decode(Target("Garden", "Seedlings")) == "Garden/Seedlings"
    assert codec.encode("Note") == Target("", "Note")
