"""The seam where a fragment index plugs in: vectors in, places out. An index never sees text."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from vault_memory.model import EmbeddedFragment, FragmentHit, Target

if TYPE_CHECKING:
    import numpy.typing as npt


@runtime_checkable
class FragmentIndex(Protocol):
    """Many vectors per record, each with a locator; answers are exact and deterministic."""

    @property
    def record_count(self) -> int:
        """Number of records that hold at least one fragment."""
        ...

    @property
    def fragment_count(self) -> int:
        """Number of fragments held."""
        ...

    def has(self, target: Target) -> bool:
        """Tell whether the record holds at least one fragment."""
        ...

    def add_fragments(self, target: Target, fragments: Sequence[EmbeddedFragment]) -> int:
        """Replace all fragments of a record, all or nothing; return how many it now holds."""
        ...

    def remove(self, target: Target) -> Target:
        """Drop a record's fragments, if it has any; return the target."""
        ...

    def query(
        self,
        vector: npt.ArrayLike,
        top_k: int,
        max_per_record: int | None = None,
        *,
        scope: str | None = None,
        targets: Collection[Target] | None = None,
    ) -> list[FragmentHit]:
        """Return the `top_k` best fragments by cosine, at most `max_per_record` of one record, best first.

        Equal scores are ordered by target, then start. `scope` keeps records of that folder and the folders below it;
        `targets` keeps just those records; both are applied before scoring, so that `top_k` stays exact.
        """
        ...
