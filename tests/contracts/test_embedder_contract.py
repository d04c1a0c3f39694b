"""What every embedder does: one suite over every implementation."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pytest

from vault_memory.embed import CachedEmbedder, CheckedEmbedder, Embedder, StaticEmbedder, load_embedder
from vault_memory.model import Fingerprint, Vector

TEXTS = [
    "Water the seedlings from below.",
    "",
    " \n\t",
    "Рассаду нужно поливать",
    "浇水",
    "🌱",
    "\x00\ufffd\u200b\ud800\U0010ffff",
    "long " * 5000,
    "a" * 200_000,
    "Water the seedlings from below.",
]


class DigestEmbedder:
    """A stranger's embedder without the package's classes: eight numbers from the text's digest."""

    fingerprint = Fingerprint("digest", "1", 8, normalized=False)
    max_input_chars = 1000

    def embed_documents(self, texts: list[str]) -> Vector:
        """Return the digests' bytes, as wide as the fingerprint says."""
        return np.array([self.embed_query(text) for text in texts], np.float32).reshape(-1, 8)

    def embed_query(self, text: str) -> Vector:
        """Return the digest's bytes."""
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return np.frombuffer(digest, np.uint8).astype(np.float32)


IMPLEMENTATIONS: dict[str, Callable[[Path], Embedder]] = {
    "default": lambda folder: load_embedder("default"),
    "static": lambda folder: StaticEmbedder(),
    "checked static": lambda folder: CheckedEmbedder(StaticEmbedder(), batch_size=3),
    "checked stranger": lambda folder: CheckedEmbedder(DigestEmbedder()),
    "cached static": lambda folder: CachedEmbedder(StaticEmbedder(), folder / "cache.sqlite"),
    "cached stranger": lambda folder: CachedEmbedder(DigestEmbedder(), folder / "cache.sqlite"),
    "stranger": lambda folder: DigestEmbedder(),
}


@pytest.fixture(params=IMPLEMENTATIONS.values(), ids=IMPLEMENTATIONS.keys())
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Embedder]:
    """Return a maker of one implementation."""
    return lambda: request.param(tmp_path)


@pytest.fixture
def embedder(make: Callable[[], Embedder]) -> Embedder:
    """Return one implementation."""
    return make()


def test_has_the_members(embedder: Embedder) -> None:
    """It satisfies the protocol, and is taken by `load_embedder`."""
    assert isinstance(embedder, Embedder)
    assert load_embedder(embedder) is embedder


def test_fingerprint_is_stable(make: Callable[[], Embedder]) -> None:
    """Two objects of one kind name one space."""
    first, second = make(), make()
    assert first.fingerprint == second.fingerprint
    assert first.fingerprint.dimensions >= 1
    assert first.max_input_chars is None or first.max_input_chars > 0


def test_shapes(embedder: Embedder) -> None:
    """Documents give one float32 row each, a question one float32 vector, no documents no rows."""
    width = embedder.fingerprint.dimensions
    documents = embedder.embed_documents(TEXTS)
    assert (documents.shape, documents.dtype) == ((len(TEXTS), width), np.float32)
    question = embedder.embed_query("how to water")
    assert (question.shape, question.dtype) == ((width,), np.float32)
    assert embedder.embed_documents([]).shape == (0, width)


def test_values(embedder: Embedder) -> None:
    """Values are finite for any text; where the fingerprint says so, rows have length 1 or 0."""
    documents = embedder.embed_documents(TEXTS)
    assert np.isfinite(documents).all()
    if embedder.fingerprint.normalized:
        lengths = np.linalg.norm(documents, axis=1)
        assert ((np.abs(lengths - 1) < 1e-3) | (lengths == 0)).all()


def test_same_text_same_vector(make: Callable[[], Embedder]) -> None:
    """A text has the same vector in each call, object and company, within rounding."""
    together = make().embed_documents(TEXTS)
    alone = np.concatenate([make().embed_documents([text]) for text in TEXTS])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    assert np.array_equal(together[0], together[-1])


def test_results_are_the_callers(embedder: Embedder) -> None:
    """What a caller does to a result changes no later one."""
    expected = embedder.embed_documents(TEXTS[:1]).copy()
    embedder.embed_documents(TEXTS[:1])[:] = 7
    embedder.embed_query(TEXTS[0])[:] = 7
    assert np.array_equal(embedder.embed_documents(TEXTS[:1]), expected)


def test_threads(embedder: Embedder) -> None:
    """Several threads may use one object."""
    texts = [f"note number {number} about water" for number in range(64)]
    expected = embedder.embed_documents(texts)
    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(lambda text: embedder.embed_documents([text])[0], texts))
    np.testing.assert_allclose(np.stack(rows), expected, atol=1e-5)
