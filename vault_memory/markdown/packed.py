"""Packed data in a body: drawings, pictures and keys written as text, in which there is nothing to read.

What counts as packed, and why:

- The scene of an Excalidraw drawing: a fence `compressed-json`, or a fence `json` whose scene names `excalidraw` as
  its type, with the plug-in's own heading `Drawing` and `%%` lines around it.
- A `data:` address of at least `MIN_ADDRESS_CHARS`, with the brackets of its image or link if they hold no words.
  It says itself that it is data, so the bound is low: it only spares the short ones that people quote as samples.
- A run of at least `MIN_RUN_CHARS` base64 or hexadecimal digits without a space, also when broken into lines of at
  least `MIN_LINE_CHARS`. The bound is four times the longest digest in use (SHA-512, 128 hexadecimal digits), so
  digests and short keys stay searchable; a longer run would be more than half of a fragment. The run must look like
  chance: it mixes letters and digits in the proportions of the encoding and uses most of its alphabet. A word of any
  script, `aaaa…`, a number or a DNA sequence does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

MIN_ADDRESS_CHARS = 128
MIN_RUN_CHARS = 512
MIN_LINE_CHARS = 60

# A run of `MIN_RUN_CHARS` covers a whole one of these steps, so looking at the steps alone finds every run.
_STEP = MIN_RUN_CHARS // 2
_DENSE_STEP = re.compile(rf"[A-Za-z0-9+/=_\r\n-]{{{_STEP}}}")

_DRAWING = re.compile(
    r"""
    ^ (?: %%[ \t]*+\r?+\n )?+
    (?: \#{1,6}[ \t]++Drawing[ \t]*+\r?+\n (?: [ \t]*+\r?+\n )*+ )?+
    ```(?: compressed-json | json (?= \s*+ \{ [^`]{0,200}? "type" \s*+ : \s*+ "excalidraw" ) ) [ \t]*+\r?+\n
    [^`]*+
    (?: ``` [ \t]*+ (?: \r?+\n%%[ \t]*+ (?=[\r\n]|\Z) )?+ | \Z )
    """,
    re.VERBOSE | re.MULTILINE,
)
_ADDRESS = re.compile(
    rf"""data:(?<!\wdata:)[\w.+-]{{0,60}}+(?:/[\w.+-]{{1,60}}+)?+(?:;[\w=.+-]{{1,60}}+){{0,4}}+,"""
    rf"""[!#-&*-;=?-\\^-~]{{{MIN_ADDRESS_CHARS},}}+[)>"'\]]*+""",
    re.ASCII,
)
# What may stand before an address without saying a word: the brackets of an image or a link, the label of a reference.
_ADDRESS_OPENING = re.compile(r"(?:!?\[\]\(|\[[^\[\]\r\n]{1,99}\]:[ \t]?)<?\Z")
_LONGEST_OPENING = 110
_RUN = re.compile(
    rf"""
    [A-Za-z0-9+/_-]{{{MIN_LINE_CHARS},}}+
    (?:
        (?: \r?+\n[A-Za-z0-9+/_-]{{{MIN_LINE_CHARS},}}+ )++
        (?: \r?+\n[A-Za-z0-9+/_-]++ (?= =*[ \t]*(?:[\r\n]|\Z)) )?+
    )?+
    =*+
    """,
    re.VERBOSE,
)


def find_packed_spans(body: str) -> list[tuple[int, int]]:
    """Return the spans of packed data in a body.

    Args:
        body: A record's body.

    Returns:
        Half-open `(start, end)` in characters, rising, not touching each other.
    """
    found: list[tuple[int, int]] = []
    if "compressed-json" in body or '"excalidraw"' in body:
        found.extend(match.span() for match in _DRAWING.finditer(body))
    if "data:" in body:
        found.extend(_addresses(body))
    if _has_dense_step(body):
        found.extend(_chance_runs(body))
    return _merged(sorted(found)) if found else found


def _has_dense_step(body: str) -> bool:
    """Tell whether a long run is possible, at the cost of a glance at every `_STEP` characters."""
    match = _DENSE_STEP.match
    return any(match(body, position) for position in range(0, len(body) - _STEP + 1, _STEP))


def _addresses(body: str) -> Iterator[tuple[int, int]]:
    for match in _ADDRESS.finditer(body):
        opening = _ADDRESS_OPENING.search(body, max(0, match.start() - _LONGEST_OPENING), match.start())
        yield (opening or match).start(), match.end()


def _chance_runs(body: str) -> Iterator[tuple[int, int]]:
    for match in _RUN.finditer(body):
        if match.end() - match.start() >= MIN_RUN_CHARS and _looks_like_chance(match.group()):
            yield match.span()


def _looks_like_chance(run: str) -> bool:
    """Tell an encoding of data from text by its digits and by how much of its alphabet it uses.

    Chance gives 10/16 digits and 16 characters in hexadecimal, 10/64 digits and 64 characters in base64; the bounds
    lie far outside of what a run of `MIN_RUN_CHARS` would miss by accident.
    """
    alphabet = frozenset(run) - frozenset("\r\n=")
    digits = sum(map(run.count, "0123456789")) / len(run)
    if alphabet <= frozenset("0123456789abcdefABCDEF"):
        return len(alphabet) >= 14 and 0.4 <= digits <= 0.85
    return len(alphabet) >= 40 and 0.05 <= digits <= 0.35


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
