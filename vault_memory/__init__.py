"""A file-tree knowledge vault with a fragment-level semantic index.

Point it at a folder of Markdown notes, search, then read exactly that span:

    >>> from vault_memory import Vault
    >>> with Vault.open("sample_vault") as vault:
    ...     hit = vault.search("how do I water seedlings", top_k=5, max_per_record=2)[0]
    ...     text = vault.read(hit).text
    >>> hit.path
    'Garden/Seedlings.md'
"""

from vault_memory.chunking import chunk_markdown
from vault_memory.context import Budget, Context, ContextPassage, Layout, build_context, query_from_messages
from vault_memory.embed import Embedder
from vault_memory.errors import (
    ConfigError,
    DimensionMismatchError,
    EmbedderMismatchError,
    EmbeddingError,
    FragmentIndexError,
    FrontmatterError,
    IdentityError,
    IndexUnavailableError,
    InvalidFragmentError,
    MissingExtraError,
    QueryError,
    RecordEncodingError,
    RecordError,
    RecordNotFoundError,
    StaleSpanError,
    StateLostError,
    UnknownNameError,
    UnsafePathError,
    UnsupportedQueryError,
    VaultBusyError,
    VaultEmptiedError,
    VaultMemoryError,
    VaultNotFoundError,
    WriteRejectedError,
)
from vault_memory.index.cosine import InMemoryFragmentCosineIndex
from vault_memory.model import (
    EmbeddedFragment,
    Evidence,
    Fingerprint,
    Fragment,
    FragmentHit,
    FragmentLocator,
    Hit,
    LeftOut,
    Passage,
    Quarantined,
    Record,
    Retrieval,
    Status,
    SyncReport,
    Target,
)
from vault_memory.retrieve import FragmentSemanticRetriever
from vault_memory.store import REMOVED, FileTreeMemoryStore
from vault_memory.vault import Vault

__all__ = [
    "REMOVED",
    "Budget",
    "ConfigError",
    "Context",
    "ContextPassage",
    "DimensionMismatchError",
    "EmbeddedFragment",
    "Embedder",
    "EmbedderMismatchError",
    "EmbeddingError",
    "Evidence",
    "FileTreeMemoryStore",
    "Fingerprint",
    "Fragment",
    "FragmentHit",
    "FragmentIndexError",
    "FragmentLocator",
    "FragmentSemanticRetriever",
    "FrontmatterError",
    "Hit",
    "IdentityError",
    "InMemoryFragmentCosineIndex",
    "IndexUnavailableError",
    "InvalidFragmentError",
    "Layout",
    "LeftOut",
    "MissingExtraError",
    "Passage",
    "Quarantined",
    "QueryError",
    "Record",
    "RecordEncodingError",
    "RecordError",
    "RecordNotFoundError",
    "Retrieval",
    "StaleSpanError",
    "StateLostError",
    "Status",
    "SyncReport",
    "Target",
    "UnknownNameError",
    "UnsafePathError",
    "UnsupportedQueryError",
    "Vault",
    "VaultBusyError",
    "VaultEmptiedError",
    "VaultMemoryError",
    "VaultNotFoundError",
    "WriteRejectedError",
    "build_context",
    "chunk_markdown",
    "query_from_messages",
]
