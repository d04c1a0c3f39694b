"""Laws of addresses, for every name that a disk can hold."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from vault_memory.errors import IdentityError
from vault_memory.identity import NoteCodec, check_portable, is_note_name, path_of, target_of
from vault_memory.model import Target

characters = st.characters(blacklist_characters="/\x00", blacklist_categories=["Cs"])
# Suffixes are drawn often, because names that end in several of them are where two could become one.
pieces = st.lists(st.one_of(st.sampled_from([".md", ".MD", ".markdown", "."]), st.text(characters, max_size=4)))
names = pieces.map("".join).filter(bool)
note_paths = st.lists(names, min_size=1, max_size=3).map("/".join).filter(is_note_name)


def nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


@given(note_paths)
def test_the_path_comes_back_from_its_target(path: str) -> None:
    """`path_of(target_of(path))` is the path in NFC."""
    assert path_of(target_of(path)) == nfc(path)


@given(st.lists(names, max_size=2).map("/".join), names)
def test_the_target_comes_back_from_its_path(scope: str, name: str) -> None:
    """`target_of(path_of(target))` is the target in NFC, and its path is that of a note."""
    path = path_of(Target(scope, name))
    assert is_note_name(path)
    assert target_of(path) == Target(nfc(scope), nfc(name))


@given(note_paths, note_paths)
def test_two_notes_never_share_a_target(first: str, second: str) -> None:
    """Paths that differ in NFC have targets that differ."""
    assert (target_of(first) == target_of(second)) == (nfc(first) == nfc(second))


@given(names)
def test_portable_names_are_bounded_and_plain(name: str) -> None:
    """What passes the check has at most 255 bytes, is never hidden, and has nothing around it."""
    try:
        check_portable(Target("", name))
    except IdentityError:
        return
    assert len(path_of(Target("", name)).encode()) <= 255
    assert name[0] != "."
    assert name == name.strip()
    assert not set(name) & set('<>:"|?*\\/')


@given(names.filter(lambda name: nfc(name) == name), st.lists(names, max_size=2).map("/".join).map(nfc))
def test_the_codec_of_plain_notes_goes_both_ways(name: str, scope: str) -> None:
    """Encoding and decoding undo each other."""
    codec = NoteCodec()
    target = Target(scope, name)
    assert codec.encode(codec.decode(target)) == target
