"""Which record has which number, in which scope, and in which block."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np

from vault_memory.model import Target

if TYPE_CHECKING:
    import numpy.typing as npt

    Mask = npt.NDArray[np.bool_]
else:
    Mask = np.ndarray


NOWHERE = -1
# Numbers of records that are gone wait until there are this many of them, or as many as records.
WAITING_NUMBERS = 1024


class Roster:
    """Numbers for targets.

    A number never gets another target while anybody may still read blocks that hold the old one. So numbers that became
    free wait: they are given out again only after `targets` was replaced by a copy, and whoever reads older blocks
    holds the older list.

    Attributes:
        targets: The target of each number.
    """

    def __init__(self) -> None:
        self.targets: list[Target] = []
        self._numbers: dict[Target, int] = {}
        self._homes: list[int] = []
        self._scopes: dict[str, int] = {}
        self._scope_of = array("i")
        self._free: list[int] = []
        self._waiting: list[int] = []

    def find(self, target: Target) -> tuple[int, int] | None:
        """Return a record's number and that of its block, or `None` if it holds nothing."""
        number = self._numbers.get(target, NOWHERE)
        if number == NOWHERE or self._homes[number] == NOWHERE:
            return None
        return number, self._homes[number]

    def enter(self, target: Target) -> int:
        """Return the number of a record, a new one if it has none; it holds nothing until `settle`."""
        known = self._numbers.get(target)
        if known is not None:
            return known
        scope = self._scopes.setdefault(target.scope, len(self._scopes))
        if self._free:
            number = self._free.pop()
            self.targets[number], self._scope_of[number] = target, scope
        else:
            number = len(self.targets)
            self.targets.append(target)
            self._scope_of.append(scope)
            self._homes.append(NOWHERE)
        self._numbers[target] = number
        return number

    def settle(self, homes: Mapping[int, int]) -> None:
        """Note the block of each record number."""
        for number, home in homes.items():
            self._homes[number] = home

    def leave(self, target: Target) -> None:
        """Forget a record."""
        number = self._numbers.pop(target)
        self._homes[number] = NOWHERE
        self._waiting.append(number)
        if not self._free and len(self._waiting) > max(WAITING_NUMBERS, len(self._numbers)):
            self.targets = self.targets.copy()
            self._free, self._waiting = self._waiting, []

    def keep(self, scope: str | None, targets: Collection[Target] | None) -> Mask | None:
        """Return which numbers pass the filters, or `None` if all do.

        The mask has one more item, always false, which is what `NO_OWNER` (-1) finds.
        """
        mask = None
        if scope:
            mask = self._in_scope(scope)
        if targets is not None:
            chosen = self._among(targets)
            mask = chosen if mask is None else mask & chosen
        return mask

    def _in_scope(self, scope: str) -> Mask:
        below = f"{scope}/"
        wanted = np.fromiter((name == scope or name.startswith(below) for name in self._scopes), dtype=np.bool_)
        scope_of = np.array(self._scope_of, dtype=np.int32)
        return np.append(wanted[scope_of], False) if len(wanted) else np.zeros(1, dtype=np.bool_)

    def _among(self, targets: Collection[Target]) -> Mask:
        mask = np.zeros(len(self.targets) + 1, dtype=np.bool_)
        mask[[self._numbers.get(target, NOWHERE) for target in targets]] = True
        mask[NOWHERE] = False
        return mask
