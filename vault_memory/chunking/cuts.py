"""Which of the possible places a section is cut at, chosen by content and not by counting from the top.

Every place carries a key: how natural a cut is there, then a hash of the text that follows it. The least key cuts
first, and each later one cuts only if the piece that it would divide is still too long and both halves would keep a
decent size. Sizes thus come from the distances to the neighbouring cuts alone, never from a running count.

The law that follows: call a place an *anchor* if its key is less than every other key within `reach` characters, and
both ends of the section are farther away than that. An anchor is always a cut, and what is cut on one side of it does
not depend on what stands on the other side beyond `reach`. (When an anchor's turn comes, no cut is within `reach`,
since all places there have greater keys. A place with a lesser key lies farther away than `reach`, so whatever stands
behind the anchor, its own piece is long enough.) An edit therefore moves cuts only up to the nearest anchor on each
side whose surroundings it does not touch; with ordinary text that is hardly ever as much as two targets away.
Texts that repeat have equal keys and so few anchors, but the same text behind a cut is then cut in the same way, so the
fragments are equal though their places moved.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from operator import itemgetter

from vault_memory.config import ChunkSettings

# A place where a section may be cut: its offset, then its key. Lesser keys cut first.
Place = tuple[int, int]


def reach(settings: ChunkSettings) -> int:
    """Return the length up to which a piece stays whole: half as much again as the target, within the maximum.

    What is cut off a longer piece is at least half the target, so fragments scatter around the target.
    """
    return min(settings.target_chars * 3 // 2, settings.max_chars)


def choose_cuts(places: Sequence[Place], start: int, end: int, settings: ChunkSettings) -> list[int]:
    """Choose where a section is cut.

    Args:
        places: Where it may be cut, inside `(start, end)`, rising, each offset once.
        start: Where the section begins.
        end: Where it ends.
        settings: The sizes.

    Returns:
        Rising offsets from `start` to `end`, both included. Pieces are no longer than the maximum wherever the places
        allow it; no piece is shorter than half the target, unless that is the only way to keep the maximum.
    """
    target, longest = settings.target_chars, settings.max_chars
    cuts = [start, end]
    # A smaller margin is for pieces that would break the maximum otherwise: two large blocks beside a small one.
    for margin, limit in ((target // 2, reach(settings)), (target // 4, longest), (1, longest)):
        pieces = [
            _cut(places, left, right, (max(margin, 1), limit)) if right - left > limit else [left, right]
            for left, right in pairwise(cuts)
        ]
        cuts = [start, *(cut for piece in pieces for cut in piece[1:])]
    return cuts


def _cut(places: Sequence[Place], start: int, end: int, sizes: tuple[int, int]) -> list[int]:
    """Cut one piece in the order of the keys, wherever what is left is too long and both halves keep the margin."""
    margin, limit = sizes
    inside = places[bisect_left(places, (start + 1,)) : bisect_left(places, (end,))]
    cuts = [start, end]
    for position, _ in sorted(inside, key=itemgetter(1)):
        index = bisect_left(cuts, position)
        left, right = cuts[index - 1], cuts[index]
        if right - left > limit and position - left >= margin and right - position >= margin:
            cuts.insert(index, position)
    return cuts
