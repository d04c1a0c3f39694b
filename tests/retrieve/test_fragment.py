"""Rules of the fragment retriever."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from vault_memory.embed import load_embedder
from vault_memory.errors import EmbeddingError, FragmentIndexError, IndexUnavailableError, QueryError
from vault_memory.index.cosine import InMemoryFragmentCosineIndex
from vault_memory.model import EmbeddedFragment, Fingerprint, FragmentLocator, Target, Vector
from vault_memory.retrieve import Capabilities, FragmentSemanticRetriever, Retriever


class BrokenEmbedder:
    """An embedder that is away."""

    fingerprint = Fingerprint("broken", "1", 256)
    max_input_chars = None

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        raise ConnectionError("away")

    def embed_query(self, text: str) -> Vector:
        raise ConnectionError("away")


class BrokenIndex(InMemoryFragmentCosineIndex):
    """An index whose disk is away."""

    def query(self, *_arguments: Any, **_options: Any) -> Any:
        raise OSError("away")


def filled_index() -> InMemoryFragmentCosineIndex:
    embedder, index = load_embedder("default"), InMemoryFragmentCosineIndex()
    for name in ("leek", "mast"):
        vectors = embedder.embed_documents([f"the {name} number {n}" for n in range(5)])
        places = [EmbeddedFragment(FragmentLocator(n * 10, n * 10 + 9), v) for n, v in enumerate(vectors)]
        index.add_fragments(Target("a" if name == "leek" else "b", name), places)
    return index


@pytest.mark.parametrize("wired", [{}, {"index": filled_index()}, {"embedder": load_embedder("default")}])
def test_half_wired_refuses(wired: dict[str, Any]) -> None:
    """Without both halves the retriever says what is missing; it never answers with an empty list."""
    retriever = FragmentSemanticRetriever(**wired)
    assert retriever.capabilities == Capabilities(fragment_semantic=False)
    with pytest.raises(IndexUnavailableError, match="is wired"):
        retriever.retrieve("leek")


def test_top_k_and_cap_are_handed_on() -> None:
    """The answer has `top_k` places, at most the cap of one record, and filters narrow it."""
    retriever = FragmentSemanticRetriever(filled_index(), load_embedder("default"))
    assert isinstance(retriever, Retriever)
    assert retriever.capabilities.fragment_semantic
    assert len(retriever.retrieve("leek", top_k=3)) == 3
    assert [hit.target.id for hit in retriever.retrieve("leek", top_k=9, max_per_record=1)] == ["leek", "mast"]
    assert {hit.target.id for hit in retriever.retrieve("leek", scope="b")} == {"mast"}


def test_failures_are_labelled_with_their_step() -> None:
    """A foreign failure becomes one of ours that says whether embedding or searching failed."""
    with pytest.raises(EmbeddingError, match="embedder broken"):
        FragmentSemanticRetriever(filled_index(), BrokenEmbedder()).retrieve("x")
    with pytest.raises(FragmentIndexError, match="index failed"):
        FragmentSemanticRetriever(BrokenIndex(), load_embedder("default")).retrieve("x")
    with pytest.raises(QueryError):
        FragmentSemanticRetriever(filled_index(), load_embedder("default")).retrieve(" ")
    with pytest.raises(QueryError):
        FragmentSemanticRetriever(filled_index(), load_embedder("default")).retrieve("x", top_k=0)
    assert np.isfinite(FragmentSemanticRetriever(filled_index(), load_embedder("default")).retrieve("x")[0].score)
