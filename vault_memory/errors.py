"""The error tree: every failure that a caller may want to tell from another.

```
VaultMemoryError
├── RecordError                      a file is there but cannot be a record
│   ├── FrontmatterError             its header cannot be read
│   ├── RecordEncodingError          it is not UTF-8
│   └── IdentityError (ValueError)   its name and its address do not agree
├── RecordNotFoundError (LookupError)
├── WriteRejectedError               a policy or another writer forbids the write
├── UnsafePathError                  a name or a link would leave the vault
├── StaleSpanError                   the record changed and the span is gone
├── EmbeddingError                   an embedder failed, or gave what it may not
├── FragmentIndexError
│   ├── EmbedderMismatchError        vectors of two embedders would meet
│   ├── DimensionMismatchError (ValueError)
│   ├── InvalidFragmentError (ValueError)
│   ├── IndexUnavailableError        nothing is wired that could answer
│   └── StateLostError               the state file is gone or damaged; a vault makes it anew
├── QueryError (ValueError)
│   └── UnsupportedQueryError
├── VaultNotFoundError               no folder is at the vault's path
├── VaultEmptiedError                a vault that had notes suddenly has none
├── VaultBusyError                   another process is indexing the vault
└── ConfigError
    ├── MissingExtraError (ImportError)
    └── UnknownNameError (LookupError)
```

An error is raised low with its facts as attributes; the path is added once on the way up, see `RecordError.at`.
"""

from __future__ import annotations

from typing import Self


class VaultMemoryError(Exception):
    """Root of every error that this package raises on purpose."""


class RecordError(VaultMemoryError):
    """A file that is there but cannot be loaded as a record.

    Attributes:
        reason: What is wrong, for a person to act on.
        path: The file, relative to the vault with `/`; `None` until the address is known.
        line: 1-based line of the file where the fault is, if known.
    """

    def __init__(self, reason: str, *, path: str | None = None, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path
        self.line = line

    def at(self, path: str) -> Self:
        """Add the address, unless a caller nearer to the fault already did, and return the error itself."""
        if self.path is None:
            self.path = path
        return self

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.path, self.line) if part is not None)
        if self.path is None:
            place = f"line {self.line}" if self.line is not None else ""
        return f"{place}: {self.reason}" if place else self.reason


class FrontmatterError(RecordError):
    """The header of a record cannot be read."""


class RecordEncodingError(RecordError):
    """The bytes of a record are not UTF-8.

    Attributes:
        byte_position: 0-based offset of the first byte that is not UTF-8.
    """

    def __init__(self, reason: str, *, byte_position: int, path: str | None = None, line: int | None = None) -> None:
        super().__init__(reason, path=path, line=line)
        self.byte_position = byte_position


class IdentityError(RecordError, ValueError):
    """A name, scope or entity id that cannot be an address, or that another record already has."""


class RecordNotFoundError(VaultMemoryError, LookupError):
    """No record has this target or path; the message names the nearest ones."""


class WriteRejectedError(VaultMemoryError):
    """A write that must not happen: the digest is not the expected one, or the file is quarantined."""


class UnsafePathError(VaultMemoryError):
    """A path that would leave the vault, or pass through a link."""


class StaleSpanError(VaultMemoryError):
    """The record changed since the hit was made, and its fragment is no longer in it.

    Attributes:
        target: The record's `Target`.
    """

    def __init__(self, reason: str, *, target: object) -> None:
        super().__init__(reason)
        self.target = target


class EmbeddingError(VaultMemoryError):
    """An embedder failed, or returned the wrong count, width or values."""


class FragmentIndexError(VaultMemoryError):
    """A fragment index cannot do what was asked."""


class EmbedderMismatchError(FragmentIndexError):
    """The vectors of an index and those of an embedder come from different spaces."""


class DimensionMismatchError(FragmentIndexError, ValueError):
    """A vector has not the width of the index."""


class InvalidFragmentError(FragmentIndexError, ValueError):
    """A fragment whose locator is no span, or whose vector is not finite."""


class IndexUnavailableError(FragmentIndexError):
    """A retriever was asked for an axis that nothing behind it serves."""


class StateLostError(FragmentIndexError):
    """The state file was deleted or is damaged. A vault answers by making it anew.

    Attributes:
        damaged: Whether there is a file that has to be set aside.
    """

    def __init__(self, reason: str, *, damaged: bool) -> None:
        super().__init__(reason)
        self.damaged = damaged


class QueryError(VaultMemoryError, ValueError):
    """A query that cannot be meant: an empty text, `top_k` below 1, a threshold that is no number."""


class UnsupportedQueryError(QueryError):
    """A query that is well formed, but not for this retriever."""


class VaultNotFoundError(VaultMemoryError):
    """The vault's path is missing, or is not a folder that can be listed."""


class VaultEmptiedError(VaultMemoryError):
    """The folder of a vault that had notes is suddenly empty: a disk that is not mounted looks the same."""


class VaultBusyError(VaultMemoryError):
    """Another process is indexing the vault; searches go on meanwhile."""


class ConfigError(VaultMemoryError):
    """A setting that is unknown or has a value that it cannot have."""


class MissingExtraError(ConfigError, ImportError):
    """An optional package is needed; the message gives the command that installs it."""


class UnknownNameError(ConfigError, LookupError):
    """A registry has no such name; the message gives the nearest ones."""
