"""Laws of writing: a put is read back, and the walk, the store and the disk tell the same."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from vault_memory.errors import IdentityError, RecordNotFoundError, VaultMemoryError
from vault_memory.model import Target
from vault_memory.store import FileTreeMemoryStore

# A NUL in the first bytes marks data that is no note.
characters = st.characters(blacklist_characters="\x00", blacklist_categories=["Cs"])
lines = st.sampled_from(["---", "---\n", "--- \r\n", "\ufeff", "a: b\n", "\r", "\x85", "# x\n"])
bodies = st.lists(st.one_of(lines, st.text(characters, max_size=8)), max_size=8).map("".join)
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.text(characters, max_size=12))
properties = st.dictionaries(
    st.text(characters, min_size=1, max_size=6), st.one_of(scalars, st.lists(scalars, max_size=3)), max_size=3
)
names = st.one_of(st.sampled_from(["a", "A", "b.md", "é", "e\u0301", "..", ".x", "con"]), st.text(max_size=5))


@contextmanager
def empty_store() -> Iterator[FileTreeMemoryStore]:
    """A store over a folder of its own, because one test function sees many examples."""
    with tempfile.TemporaryDirectory() as folder:
        yield FileTreeMemoryStore(folder)


@given(st.lists(st.tuples(bodies, properties), min_size=1, max_size=3))
def test_what_was_put_is_read_back(puts: list[tuple[str, dict[str, object]]]) -> None:
    """Body and properties come back, whatever was there before; a second put of the same writes nothing."""
    target = Target("a", "note")
    known: dict[str, object] = {}
    with empty_store() as store:
        for body, metadata in puts:
            known.update(metadata)
            record = store.put(target, body, metadata).record
            assert (record.body, dict(record.metadata)) == (body, known)
            assert store.get(target) == record
            assert (store.root / record.path).read_bytes() == (record.header + body).encode()
            assert not store.put(target, body, metadata).changed


@given(st.lists(st.tuples(names, names), max_size=6))
def test_the_store_and_its_walk_agree(wanted: list[tuple[str, str]]) -> None:
    """Whatever was put is listed under one target and found there; what was refused left nothing."""
    with empty_store() as store:
        there: dict[Target, str] = {}
        for scope, name in wanted:
            try:
                record = store.put(Target(scope, name), f"{scope}/{name}").record
            except VaultMemoryError:
                continue
            there[record.target] = record.body
        assert {record.target: record.body for record in store.records()} == there
        assert {target: store.get(target).body for target in store.targets()} == there
        files = [path for path in Path(store.root).rglob("*") if path.is_file()]
        assert len(files) == len(there)
        for target in there:
            store.delete(target)
        assert store.targets() == ()


@given(names, names)
def test_reading_never_fails_for_a_name(scope: str, name: str) -> None:
    """In an empty vault every target is just not there."""
    with empty_store() as store:
        assert store.find(Target(scope, name)) is None
        try:
            store.delete(Target(scope, name))
        except (RecordNotFoundError, IdentityError) as error:
            message = str(error)
        assert message
