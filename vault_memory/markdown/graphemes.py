"""Where a text may be cut without breaking what a reader sees as one character.

The rules are those of Unicode Standard Annex 29, "Unicode Text Segmentation", section 3.1.1 (GB3 to GB13), on the
tables of `unicodedata`. Where the annex needs a property that the standard library does not carry, the rule here is
the stricter one: it may refuse a cut that the annex allows, and never allows one that the annex forbids.
"""

from __future__ import annotations

import unicodedata

_ZERO_WIDTH_JOINER = "\u200d"
# Below this code point only a carriage return and its line feed stay together; nothing there extends a character.
_FIRST_EXTENDING = "\u0300"
_VIRAMA_CLASS = 9
_MARKS = frozenset({"Mn", "Me", "Mc"})
_CONTROLS = frozenset({"Cc", "Zl", "Zp"})
# Extending characters that are not of category M: ZERO WIDTH NON-JOINER, the Thai and Lao vowel AM, the halfwidth
# Katakana sound marks.
_OTHER_EXTENDING = frozenset("\u200c\u0e33\u0eb3\uff9e\uff9f")
# Grapheme_Cluster_Break=Prepend: signs that stand before the character they belong to.
_PREPENDED = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e"
    "\U000110bd\U000110cd\U000111c2\U000111c3\U0001193f\U00011941\U00011a3a\U00011a84\U00011a85\U00011a86\U00011a87\U00011a88\U00011a89\U00011d46\U00011f02"
)


def _extends(character: str) -> bool:
    """Tell whether a character always joins the one before it (GB9, GB9a)."""
    return (
        unicodedata.category(character) in _MARKS
        or character == _ZERO_WIDTH_JOINER
        or character in _OTHER_EXTENDING
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
    )


def _is_regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _is_leading_jamo(character: str) -> bool:
    return "\u1100" <= character <= "\u115f" or "\ua960" <= character <= "\ua97c"


def _is_following_jamo(character: str) -> bool:
    return "\u1160" <= character <= "\u11ff" or "\ud7b0" <= character <= "\ud7fb"


def _is_hangul(character: str) -> bool:
    return "\uac00" <= character <= "\ud7a3" or _is_leading_jamo(character) or _is_following_jamo(character)


def _joins_pairwise(before: str, after: str) -> bool:
    """Tell whether two neighbours stay together whatever stands around them."""
    if unicodedata.category(before) in _CONTROLS or unicodedata.category(after) in _CONTROLS:
        return False
    if _extends(after) or before in _PREPENDED or before == _ZERO_WIDTH_JOINER:
        return True
    if _is_hangul(before) and _is_hangul(after):
        return _is_leading_jamo(before) or _is_following_jamo(after)
    return unicodedata.combining(before) == _VIRAMA_CLASS and unicodedata.category(after) == "Lo"


def is_cluster_boundary(text: str, position: int, floor: int = 0) -> bool:
    """Tell whether a text may be cut before a position.

    Args:
        text: Any text.
        position: Offset in the text; its two ends are boundaries.
        floor: A boundary known before; flags, which are pairs, are counted from there.

    Returns:
        Whether no grapheme cluster stands on both sides of the position.
    """
    if position <= floor or position >= len(text):
        return True
    before, after = text[position - 1], text[position]
    if after < _FIRST_EXTENDING:
        return not (before == "\r" and after == "\n") and before not in _PREPENDED and before != _ZERO_WIDTH_JOINER
    if _is_regional(before) and _is_regional(after):
        run = position
        while run > floor and _is_regional(text[run - 1]):
            run -= 1
        return (position - run) % 2 == 0
    return not _joins_pairwise(before, after)


def cluster_cut(text: str, start: int, wanted: int, latest: int) -> int:
    """Return where to cut a text that holds no better place.

    Args:
        text: Any text.
        start: A boundary.
        wanted: Where the cut should be, behind `start`.
        latest: Where it must be at the latest, not before `wanted`.

    Returns:
        The last boundary in `(start, wanted]`; else the first in `(wanted, latest]`; else, inside a cluster that is
        longer than the whole span, `latest`, which is still between two code points.
    """
    for position in range(wanted, start, -1):
        if is_cluster_boundary(text, position, start):
            return position
    for position in range(wanted + 1, latest + 1):
        if is_cluster_boundary(text, position, start):
            return position
    return latest
