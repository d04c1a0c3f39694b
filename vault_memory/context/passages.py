"""The nouns of a context, and their JSON."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, Self, get_args

from vault_memory.errors import QueryError
from vault_memory.model import Evidence, FragmentLocator, Passage, Target

SCHEMA = "vault-memory/context/1"
BLOCK_JOINT = "\n\n"

DropReason = Literal["over-char-budget", "over-token-budget", "stale", "duplicate", "empty", "withdrawn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPassage(Passage):
    """A passage of a context.

    Attributes:
        id: What a reader cites: path, `#`, rank of the best hit. It stays when others are added, taken out or ordered.
        ranks: 1-based ranks of the hits whose text it holds, rising; several after a merge.
        score: That of the best hit.
        title: The record's title, `""` if not known.
        block: How it stands in the text of the context.
    """

    id: str
    ranks: tuple[int, ...]
    score: float
    title: str = ""
    block: str = ""

    @property
    def rank(self) -> int:
        """1-based rank of its best hit."""
        return self.ranks[0]

    @property
    def citation(self) -> str:
        """Where the passage is, as `path:line-line`, which `vault-memory read` takes."""
        return f"{self.path}:{self.lines[0]}-{self.lines[1]}"


@dataclass(frozen=True, slots=True)
class Dropped:
    """A hit, or a passage that was taken out, which is not in the text.

    Attributes:
        id: What it would be cited as.
        ranks: 1-based ranks of the hits, rising.
        score: That of the best hit.
        target: The record.
        locator: The span, as the hit gave it.
        reason: `over-char-budget` and `over-token-budget`: it, or a better one, did not fit. `stale`: the record no
            longer holds it. `duplicate`: its text is there already. `empty`: there is nothing to read. `withdrawn`:
            `Context.without` took it out.
        detail: The same in a sentence, with the facts.
    """

    id: str
    ranks: tuple[int, ...]
    score: float
    target: Target
    locator: FragmentLocator
    reason: DropReason
    detail: str


@dataclass(frozen=True, slots=True)
class Context:
    """Text for a reader, with what it is made of.

    Law: `BLOCK_JOINT.join(context.blocks) == context.text`, and without header and footer the blocks are those of the
    passages. Each hit that was given is in one of the passages or in `dropped`.

    Attributes:
        passages: What the text holds, in its order.
        dropped: What it does not hold, by rank.
        header: Stands before the first passage, if there is one.
        footer: Stands after the last passage, if there is one.
        max_chars: The bound of the text's length, if there was one.
        max_tokens: The bound of its tokens, if there was one.
        evidence: How the hits were found, where known. It is no part of the JSON, and equality does not see it.
    """

    passages: tuple[ContextPassage, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    header: str = ""
    footer: str = ""
    max_chars: int | None = None
    max_tokens: int | None = None
    evidence: Evidence | None = field(default=None, compare=False)

    @property
    def blocks(self) -> tuple[str, ...]:
        """The passages' blocks as they stand in the text: the first with the header, the last with the footer."""
        blocks = [passage.block for passage in self.passages]
        if blocks and self.header:
            blocks[0] = f"{self.header}{BLOCK_JOINT}{blocks[0]}"
        if blocks and self.footer:
            blocks[-1] = f"{blocks[-1]}{BLOCK_JOINT}{self.footer}"
        return tuple(blocks)

    @property
    def text(self) -> str:
        """What is put before the reader; `""` if there is no passage."""
        return BLOCK_JOINT.join(self.blocks)

    def without(self, ids: Iterable[str]) -> Self:
        """Return the context with some passages taken out; the others keep their ids and blocks.

        Args:
            ids: As in `ContextPassage.id`, or as they are spelled in the text.

        Raises:
            QueryError: No passage has such an id.
        """
        known = {passage.id for passage in self.passages}
        gone = {wanted if wanted in known else html.unescape(wanted) for wanted in _several(ids)}
        if unknown := sorted(gone - known):
            raise QueryError(f"the context has no passage {', '.join(unknown)}; it has {', '.join(sorted(known))}")
        withdrawn = [_withdrawn(passage) for passage in self.passages if passage.id in gone]
        return replace(
            self,
            passages=tuple(passage for passage in self.passages if passage.id not in gone),
            dropped=tuple(sorted([*self.dropped, *withdrawn], key=lambda dropped: dropped.ranks)),
        )

    def document(self) -> dict[str, Any]:
        """Return the context as values for JSON, without the name of the schema."""
        return {
            "text": self.text,
            "passages": [asdict(passage) | {"citation": passage.citation} for passage in self.passages],
            "dropped": [asdict(dropped) for dropped in self.dropped],
            "header": self.header,
            "footer": self.footer,
            "max_chars": self.max_chars,
            "max_tokens": self.max_tokens,
        }

    def to_json(self) -> str:
        """Return the context as one JSON document; `from_json` reads it back."""
        return json.dumps({"schema": SCHEMA, **self.document()}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the context that `to_json` wrote.

        Raises:
            QueryError: It is no such document, or its text is not that of its passages.
        """
        try:
            document = json.loads(text)
            context = cls._read(document)
            told = document["text"]
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise QueryError(f"this is no document of schema {SCHEMA}: {error!r}; write it with to_json") from error
        if told != context.text:
            raise QueryError("the text of the document is not that of its passages; write it again with to_json")
        return context

    @classmethod
    def _read(cls, document: Mapping[str, Any]) -> Self:
        if document["schema"] != SCHEMA:
            raise ValueError(f"its schema is {document['schema']!r}")
        return cls(
            passages=tuple(_read_passage(fields) for fields in document["passages"]),
            dropped=tuple(_read_dropped(fields) for fields in document["dropped"]),
            **{name: document[name] for name in ("header", "footer", "max_chars", "max_tokens")},
        )


def passage_id(path: str, rank: int) -> str:
    """Return what a passage is cited as; the rank, digits after the last `#`, keeps it unique in its context."""
    return f"{path}#{rank}"


def _several(ids: Iterable[str]) -> Iterable[str]:
    return (ids,) if isinstance(ids, str) else ids


def _withdrawn(passage: ContextPassage) -> Dropped:
    detail = "it was taken out of the context"
    return Dropped(passage.id, passage.ranks, passage.score, passage.target, passage.locator, "withdrawn", detail)


def _read_place(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **fields,
        "target": Target(**fields["target"]),
        "locator": FragmentLocator(**fields["locator"]),
        "ranks": tuple(fields["ranks"]),
    }


def _read_passage(fields: Mapping[str, Any]) -> ContextPassage:
    known = {name: value for name, value in fields.items() if name != "citation"}
    first, last = fields["lines"]
    return ContextPassage(
        **_read_place(known) | {"lines": (first, last), "heading_path": tuple(fields["heading_path"])}
    )


def _read_dropped(fields: Mapping[str, Any]) -> Dropped:
    if fields["reason"] not in get_args(DropReason):
        raise ValueError(f"no passage is dropped because it is {fields['reason']!r}")
    return Dropped(**_read_place(fields))
