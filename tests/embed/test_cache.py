"""The cache of vectors, and the embedder that uses it."""

import logging
import os
import sqlite3
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from vault_memory.embed import CachedEmbedder, CheckedEmbedder, EmbeddingCache, StaticEmbedder, cache
from vault_memory.errors import EmbeddingError
from vault_memory.model import Fingerprint, Vector

SPACE = Fingerprint("letters", "1", 4)


def vector(*values: float) -> Vector:
    """Return a float32 vector."""
    return np.array(values, np.float32)


class Letters:
    """Counts letters, and remembers what it was asked."""

    fingerprint = SPACE
    max_input_chars = None

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        """Count four letters."""
        self.asked += texts
        if any("fail" in text for text in texts):
            raise RuntimeError("told to")
        return np.array([[text.count(letter) for letter in "abcd"] for text in texts], np.float32).reshape(-1, 4)

    def embed_query(self, text: str) -> Vector:
        """Count four letters."""
        return self.embed_documents([text])[0]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a place in a folder that does not exist yet."""
    return tmp_path / "new" / "embeddings.sqlite"


def test_round_trip(path: Path) -> None:
    """What was put comes back bit for bit, from another object too; what was not put is left out."""
    vectors = {"a": vector(1, -0.0, 1e-45, 3.4e38), "b": vector(0, 0, 0, 0)}
    EmbeddingCache(path, SPACE).put_many(vectors)
    found = EmbeddingCache(path, SPACE).get_many(["a", "b", "c"])
    assert {digest: found[digest].tobytes() for digest in found} == {key: row.tobytes() for key, row in vectors.items()}
    assert EmbeddingCache(path, SPACE).get_many([]) == {}


def test_spaces_are_apart(path: Path) -> None:
    """A vector of another name, revision or normalisation is never returned, though they share the file."""
    EmbeddingCache(path, SPACE).put_many({"a": vector(1, 0, 0, 0)})
    for other in (Fingerprint("letters", "2", 4), Fingerprint("l", "1", 4), Fingerprint("letters", "1", 4, False)):
        assert EmbeddingCache(path, other).get_many(["a"]) == {}


def test_put_again_replaces(path: Path) -> None:
    """The last vector of a digest counts."""
    store = EmbeddingCache(path, SPACE)
    store.put_many({"a": vector(1, 0, 0, 0)})
    store.put_many({"a": vector(0, 1, 0, 0)})
    assert store.get_many(["a"])["a"].tolist() == [0, 1, 0, 0]


def test_many_digests_at_once(path: Path) -> None:
    """One call may ask for more digests than a statement has room for values."""
    store = EmbeddingCache(path, SPACE)
    store.put_many({str(number): vector(number, 0, 0, 0) for number in range(3000)})
    assert len(store.get_many([str(number) for number in range(100_000)])) == 3000


def test_least_recently_used_go_first(path: Path) -> None:
    """The file holds no more entries than its bound; those that were not read or written for longest go."""
    store = EmbeddingCache(path, SPACE, max_entries=3)
    for digest in "abc":
        store.put_many({digest: vector(1, 0, 0, 0)})
    store.get_many(["a"])
    store.put_many({"d": vector(1, 0, 0, 0)})
    assert set(store.get_many(list("abcd"))) == {"a", "c", "d"}
    store.put_many({letter: vector(1, 0, 0, 0) for letter in "efghij"})
    assert len(store.get_many(list("abcdefghij"))) == 3


@pytest.mark.parametrize("stored", [b"", b"123", vector(1, 0, 0).tobytes(), vector(np.nan, 0, 0, 0).tobytes()])
def test_damaged_entry_is_missing(path: Path, stored: bytes) -> None:
    """An entry of a wrong width, or with a value that is not finite, is as if it were not there."""
    store = EmbeddingCache(path, SPACE)
    store.put_many({"a": vector(1, 0, 0, 0), "b": vector(1, 0, 0, 0)})
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE vectors SET vector = ? WHERE digest = 'a'", (stored,))
    assert list(store.get_many(["a", "b"])) == ["b"]


def test_broken_file_is_set_aside(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A file that is no database is kept under another name, and the cache goes on with a new one."""
    path.parent.mkdir()
    path.write_bytes(b"this is no database at all" * 100)
    store = EmbeddingCache(path, SPACE)
    with caplog.at_level(logging.WARNING):
        store.put_many({"a": vector(1, 0, 0, 0)})
    assert list(store.get_many(["a"])) == ["a"]
    assert path.with_name("embeddings.sqlite.corrupt").read_bytes().startswith(b"this is no database")
    assert len(caplog.records) == 1


def test_file_that_breaks_in_use(path: Path) -> None:
    """Pages that were overwritten are noticed at the next call, which starts a new file."""
    store = EmbeddingCache(path, SPACE)
    store.put_many({str(number): vector(number, 0, 0, 0) for number in range(2000)})
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(path.stat().st_size - 4096))
    assert store.get_many(["1", "2"]) == {}
    store.put_many({"1": vector(1, 0, 0, 0)})
    assert list(store.get_many(["1", "2"])) == ["1"]


def test_broken_file_that_cannot_be_moved(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A broken file whose other name is taken by a folder turns the cache off."""
    (path.parent / "embeddings.sqlite.corrupt" / "inside").mkdir(parents=True)
    path.write_bytes(b"this is no database at all" * 100)
    store = EmbeddingCache(path, SPACE)
    with caplog.at_level(logging.WARNING):
        assert store.get_many(["a"]) == {}
        store.put_many({"a": vector(1, 0, 0, 0)})
    assert len(caplog.records) == 1


@pytest.mark.parametrize("place", ["file/embeddings.sqlite", "folder"])
def test_place_that_cannot_be_written(tmp_path: Path, place: str, caplog: pytest.LogCaptureFixture) -> None:
    """A place that cannot hold a file turns the cache off: one line in the log, vectors all the same."""
    (tmp_path / "file").write_text("x", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    cached = CachedEmbedder(Letters(), tmp_path / place)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert cached.embed_documents(["a"]).tolist() == [[1, 0, 0, 0]]
    assert len(caplog.records) == 1
    assert str(tmp_path / place) in caplog.records[0].getMessage()


def test_busy_file_is_passed_over(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While another process holds the file, entries are read, writing is given up, and the cache stays on."""
    monkeypatch.setattr(cache, "BUSY_SECONDS", 0.0)
    store = EmbeddingCache(path, SPACE)
    store.put_many({"a": vector(1, 0, 0, 0)})
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        store.put_many({"b": vector(1, 0, 0, 0)})
        assert list(store.get_many(["a", "b"])) == ["a"]
    store.put_many({"b": vector(1, 0, 0, 0)})
    assert sorted(store.get_many(["a", "b"])) == ["a", "b"]


def test_threads_share_the_file(path: Path) -> None:
    """Several threads and objects may read and write one file at once, and nothing is lost."""

    def fill(start: int) -> None:
        store = EmbeddingCache(path, SPACE)
        for number in range(start, start + 20):
            store.put_many({str(number): vector(number, 0, 0, 0)})
            assert str(number) in store.get_many([str(number)])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(fill, range(0, 80, 20)))
    assert len(EmbeddingCache(path, SPACE).get_many([str(number) for number in range(80)])) == 80


def test_only_new_texts_are_embedded(path: Path) -> None:
    """A text that was embedded before, by any object, is not embedded again; equal texts in a call once."""
    first = Letters()
    expected = CheckedEmbedder(Letters()).embed_documents(["ab", "c", "ab"])
    assert np.array_equal(CachedEmbedder(first, path).embed_documents(["ab", "c", "ab"]), expected)
    assert sorted(first.asked) == ["ab", "c"]
    second = Letters()
    assert CachedEmbedder(second, path).embed_documents(["d", "ab", "c", "dd", "d"]).shape == (5, 4)
    assert sorted(second.asked) == ["d", "dd"]


def test_failure_keeps_the_batches_before(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error names the targets of the batch that failed; earlier batches are kept and not embedded again."""
    monkeypatch.setattr(cache, "BATCH_TEXTS", 2)
    with pytest.raises(EmbeddingError, match=r"for t2$"):
        CachedEmbedder(Letters(), path).embed_documents(["a", "b", "fail"], ["t0", "t1", "t2"])
    again = Letters()
    CachedEmbedder(again, path).embed_documents(["a", "b", "c"])
    assert again.asked == ["c"]


def test_members_are_those_of_the_embedder(path: Path) -> None:
    """Fingerprint, bound, questions and known share are the wrapped embedder's; a checked one is not checked twice."""
    checked = CheckedEmbedder(StaticEmbedder())
    cached = CachedEmbedder(checked, path)
    assert cached.embedder is checked
    assert (cached.fingerprint, cached.max_input_chars) == (checked.fingerprint, None)
    assert np.array_equal(cached.embed_query("water"), checked.embed_query("water"))
    assert cached.known_share("water мир") == 0.5
    assert cached.embed_documents([]).shape == (0, 256)
