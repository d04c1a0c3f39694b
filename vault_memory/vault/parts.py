"""The only place where concrete parts are joined: where embedder and index meet."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass

from vault_memory.chunking import CHUNKER_VERSION
from vault_memory.config import ChunkSettings, Settings, state_folder, state_path
from vault_memory.embed import Embedder, VaultEmbedder, keep_vectors
from vault_memory.index.lexical import RULES_REVISION
from vault_memory.index.state import DenseMirror, State
from vault_memory.indexer import Indexer
from vault_memory.retrieve.searcher import Searcher
from vault_memory.store import FileTreeMemoryStore, OnRecordError

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Parts:
    """What a vault is made of."""

    store: FileTreeMemoryStore
    state: State
    embedder: VaultEmbedder
    chunking: ChunkSettings
    searcher: Searcher
    indexer: Indexer


def join_parts(
    embedder: Embedder,
    path: str | os.PathLike[str],
    on_record_error: OnRecordError,
    state_dir: str | os.PathLike[str] | None,
    settings: Settings,
) -> Parts:
    """Return the parts of a vault, joined.

    The state is valid under the facts given here: under others it is made anew, so vectors of two embedders never meet.

    Raises:
        VaultNotFoundError: The path is missing or no folder.
        EmbeddingError: The embedder cannot say what it is.
        FragmentIndexError: The state folder cannot be used.
    """
    store = FileTreeMemoryStore(path, on_record_error=on_record_error, settings=settings.reading, load=False)
    checked = keep_vectors(embedder, state_folder(state_dir))
    chunking = settings.chunking.bounded(checked.max_input_chars)
    facts = {
        "embedder": str(checked.fingerprint),
        "chunking": f"{CHUNKER_VERSION}:{chunking.target_chars}:{chunking.max_chars}",
        "words": str(RULES_REVISION),
    }
    state = State(state_path(store.root, state_dir), facts)
    if state.rebuilt_because:
        logger.warning("the index of %s is made anew: %s", store.root, state.rebuilt_because)
    searcher = Searcher(state, DenseMirror(checked.fingerprint.dimensions), checked)
    return Parts(store, state, checked, chunking, searcher, Indexer(store, state, checked, chunking))
