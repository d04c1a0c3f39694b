"""The nouns, frozen, in the order in which data takes them.

path -> `Record` -> `Block` -> `Fragment` -> `EmbeddedFragment` -> `FragmentHit` -> `Hit` -> `Retrieval` -> `Passage`
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Vector = npt.NDArray[np.float32]
else:
    # To import numpy's types costs as much as half of numpy; they mean nothing when the program runs.
    Vector = np.ndarray
Metadata = Mapping[str, Any]
EMPTY_METADATA: Metadata = MappingProxyType({})

DIGEST_BYTES = 16


def content_digest(content: str | bytes) -> str:
    """Return the digest that decides what "unchanged" means: BLAKE2b of 128 bits, as 32 hexadecimal digits.

    Text is hashed as UTF-8. 128 bits keep two different notes apart in any vault that a disk can hold.
    """
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return blake2b(data, digest_size=DIGEST_BYTES).hexdigest()


@dataclass(frozen=True, slots=True, order=True)
class Target:
    """The identity of a record everywhere: the folder path inside the vault, and the name inside that folder.

    Attributes:
        scope: `/`-separated folder path, `""` at the root, in NFC.
        id: File name without `.md`, unique only inside its scope, in NFC.
    """

    scope: str
    id: str

    def __str__(self) -> str:
        return f"{self.scope}/{self.id}" if self.scope else self.id


@dataclass(frozen=True, slots=True, order=True)
class FragmentLocator:
    """Half-open span `[start, end)` in characters (Unicode code points) of a record's body."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A file that is there but cannot be loaded.

    Attributes:
        path: Relative to the vault, `/`-separated.
        scope: The folder path of the file, `""` at the root.
        error: The error that names the reason; `str(error)` starts with the path.
        line: 1-based line of the file, if known.
    """

    path: str
    scope: str
    error: Exception
    line: int | None = None

    @property
    def reason(self) -> str:
        """What is wrong, without the path."""
        return getattr(self.error, "reason", None) or str(self.error)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file or folder that is not a note of this vault, and the rule that says so."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Record:
    """One Markdown file.

    Attributes:
        target: Its identity.
        path: Relative to the vault, `/`-separated, spelled as on the disk.
        metadata: The header's properties: JSON-safe values under text keys.
        header: The header's text with its fences and line ends; `header + body` is the file's text.
        body: Everything after the header's closing line, exactly as stored.
        digest: `content_digest` of the file's bytes.
        title: `title` of the metadata, else the file's name.
        aliases: Other names, from the metadata.
        tags: From metadata and text, without `#`, each spelling of a letter case once, in order of appearance.
        links: Targets of wikilinks and embeds as written (`Note#Heading`), without their shown text.
    """

    target: Target
    path: str
    metadata: Metadata
    header: str
    body: str
    digest: str
    title: str = ""
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    links: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """The class of the thing remembered: `kind` of the metadata, else `note`."""
        kind = self.metadata.get("kind")
        return kind if isinstance(kind, str) and kind else "note"


BlockKind = Literal[
    "heading",
    "paragraph",
    "fence",
    "indented_code",
    "table",
    "list",
    "quote",
    "callout",
    "html",
    "comment",
    "math",
    "thematic_break",
]


@dataclass(frozen=True, slots=True)
class Fragment:
    """A piece of a record's body.

    Attributes:
        locator: Where it is.
        text: Exactly `body[locator.start:locator.end]`.
        heading_path: Texts of the headings above it, outermost first.
        table_head: Where the head row is, if the fragment begins inside a table; it names the columns.
    """

    locator: FragmentLocator
    text: str
    heading_path: tuple[str, ...] = ()
    table_head: FragmentLocator | None = None

    @property
    def digest(self) -> str:
        """`content_digest` of the text."""
        return content_digest(self.text)


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What names an embedding space: vectors are compared only under equal fingerprints.

    Attributes:
        name: Which embedder.
        revision: Which state of it; a retrained table or model has another one.
        dimensions: Width of its vectors.
        normalized: Whether its vectors have length 1 (or 0, when it has nothing to say).
    """

    name: str
    revision: str
    dimensions: int
    normalized: bool = True

    def __str__(self) -> str:
        return f"{self.name}@{self.revision}/{self.dimensions}{'' if self.normalized else '/raw'}"


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddedFragment:
    """A fragment's place with its vector, as an index takes it; any sequence of numbers is a vector here."""

    locator: FragmentLocator
    vector: npt.ArrayLike


@dataclass(frozen=True, slots=True)
class FragmentHit:
    """What an index answers: a place and how well it fits; higher is better."""

    target: Target
    locator: FragmentLocator
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A place that answers a query, with all that is needed to show, open and check it.

    Attributes:
        target: The record.
        locator: The span of its body.
        score: What the list is ordered by; higher is better.
        scores: Each lane's own score by kind (`cosine`, `bm25`), and `hybrid` for a fused one.
        path: The record's file, relative to the vault.
        lines: First and last line of the span in the file, 1-based, both inclusive.
        heading_path: Texts of the headings above the span, outermost first.
        record_digest: Digest of the file that was indexed.
        fragment_digest: Digest of the span's text.
        text: The span's text as it was indexed.
        title: The record's title.
    """

    target: Target
    locator: FragmentLocator
    score: float
    scores: Mapping[str, float]
    path: str
    lines: tuple[int, int]
    heading_path: tuple[str, ...]
    record_digest: str
    fragment_digest: str
    text: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Freshness:
    """How far an index is from its folder.

    Attributes:
        records: Number of records that are indexed.
        fragments: Number of their fragments.
        pending: Number of records whose text could not be embedded yet; keywords find them.
        stale: Number of records in folders that could not be listed, so that they may be out of date.
        quarantined: Number of files that cannot be loaded.
        generation: Number of the last change of the index.
        synced_at: When the last whole pass over the folder ended, in seconds since the epoch; `None` before the first.
    """

    records: int = 0
    fragments: int = 0
    pending: int = 0
    stale: int = 0
    quarantined: int = 0
    generation: int = 0
    synced_at: float | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a retrieval considered and how it decided.

    Attributes:
        mode: `hybrid`, `semantic` or `lexical`: what was asked.
        lanes: The lists that were really used, in order.
        notes: Facts that a reader of the answer must know, such as why a lane stayed silent.
        fingerprint: The embedder's space, if the dense lane was used.
        coverage: Share of the question's words, weighted by rarity, that the best lexical hits hold; in [0, 1].
        dense_weight: Weight `a` of the dense lane in the fused score, if lists were fused.
        records: Number of records that could answer, after filters.
        freshness: How far the index that answered is from the folder.
    """

    mode: str
    lanes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    fingerprint: str | None = None
    coverage: float | None = None
    dense_weight: float | None = None
    records: int = 0
    freshness: Freshness = field(default_factory=Freshness)


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The answer: hits, best first, and the evidence for them. Iterating it gives the hits."""

    hits: tuple[Hit, ...]
    evidence: Evidence

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, position: int) -> Hit:
        return self.hits[position]


@dataclass(frozen=True, slots=True)
class Passage:
    """Text put before a reader, with its citation.

    Attributes:
        text: Exactly the span.
        target: The record.
        locator: The span in the body as it is now.
        path: The record's file, relative to the vault.
        lines: First and last line in the file, 1-based, both inclusive.
        heading_path: Texts of the headings above the span, where known.
        moved: Whether the span was found at another place than the hit said.
    """

    text: str
    target: Target
    locator: FragmentLocator
    path: str
    lines: tuple[int, int]
    heading_path: tuple[str, ...] = ()
    moved: bool = False


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What one pass over the folder found and did; paths are relative to the vault.

    Attributes:
        added: New records.
        changed: Records whose content changed.
        moved: Pairs of old and new path of records whose content stayed the same.
        removed: Records that are gone.
        unchanged: Number of records that stayed as they were.
        quarantined: Files that cannot be loaded.
        left_out: What is not a note of this vault, and why.
        embedded: Number of texts given to the embedder.
        failed: Records that are stored but not (wholly) indexed, with the reason.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: int = 0
    quarantined: tuple[Quarantined, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    embedded: int = 0
    failed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Status:
    """What a vault holds and how fresh it is.

    Attributes:
        path: The vault's folder.
        state_path: The state file.
        embedder: Fingerprint of the vectors.
        freshness: How far the index is from the folder.
    """

    path: str
    state_path: str
    embedder: str
    freshness: Freshness

    @property
    def records(self) -> int:
        """Number of records that are indexed."""
        return self.freshness.records

    @property
    def fragments(self) -> int:
        """Number of fragments that are indexed."""
        return self.freshness.fragments

    @property
    def quarantined(self) -> int:
        """Number of files that cannot be loaded."""
        return self.freshness.quarantined
