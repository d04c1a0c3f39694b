"""The record store: a tree of Markdown files, what of it is a record, and safe writes to it.

A store does not know that vectors exist; it tells its write hooks what changed.
"""

from vault_memory.store.file_tree import FileTreeMemoryStore, OnRecordError
from vault_memory.store.ignore import IGNORE_NAMES, Rules
from vault_memory.store.loading import load_record
from vault_memory.store.protocol import IdentityCodec, WriteHook
from vault_memory.store.walk import WHOLE, FileEntry, Scan, checked_paths, walk
from vault_memory.store.writing import REMOVED, UNSET, Removed, Unset, WriteReport

__all__ = [
    "IGNORE_NAMES",
    "REMOVED",
    "UNSET",
    "WHOLE",
    "FileEntry",
    "FileTreeMemoryStore",
    "IdentityCodec",
    "OnRecordError",
    "Removed",
    "Rules",
    "Scan",
    "Unset",
    "WriteHook",
    "WriteReport",
    "checked_paths",
    "load_record",
    "walk",
]
