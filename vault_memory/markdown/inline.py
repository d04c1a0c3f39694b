"""Tags, links, block ids and tasks of a body, found in one pass.

Nothing is taken from code, comments, math, addresses, HTML tags, or behind a backslash. One pattern finds the next
character that can matter; what it opens is passed over in one step, so the time is linear in the length of the body.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import unquote

from vault_memory.markdown.blocks import Block, parse_blocks
from vault_memory.markdown.tags import TAG_CHARACTER, tag_name


class Link(NamedTuple):
    """A wikilink, an embed, or a Markdown link to a note.

    Attributes:
        target: As written, heading or block id included: `Note#Heading`; without a backslash before `|`, and with the
            escapes of a Markdown link's address decoded.
        shown: The text to show, where one is written.
        embed: Whether it is an embed.
        start: Offset of its first character (of `!` for an embed; of `](` for a Markdown link).
        end: Offset behind its last character.
    """

    target: str
    shown: str
    embed: bool
    start: int
    end: int


class BlockId(NamedTuple):
    """A name for a block; `^` is not part of it, but of the span `[start, end)`."""

    id: str
    start: int
    end: int


class Task(NamedTuple):
    """A list item with a box; the span `[start, end)` runs from the box to the end of the line.

    Attributes:
        state: The character in the box: a blank where it is open, by custom `x` where it is done.
    """

    state: str
    text: str
    start: int
    end: int


class Inline(NamedTuple):
    """All that a scan found, each in order of appearance and as often as it appears; tags without `#`."""

    tags: list[str]
    links: list[Link]
    block_ids: list[BlockId]
    tasks: list[Task]


# Every alternative starts with a literal character, so that the search skips to the next of them at full speed.
_MARK = re.compile(
    rf"""
      \\[!-/:-@\[-`{{-~]
    | ``*+
    | ~~~++
    | \#{TAG_CHARACTER}++
    | \[\[(?P<target>[^\[\]|\r\n]++)(?:\|(?P<shown>(?:[^\[\]\r\n]|\[(?!\[)|\](?!\]))*+))?+\]\]
    | \[(?P<state>[^\[\]\r\n])\](?=[ \t])
    | \]\(
      (?: <(?P<bracketed>[^<>\r\n]++)> | (?P<plain>(?:[^\s()<>]|\([^\s()]*+\))++) )
      (?: [ \t]++ (?:"[^"\r\n]*+"|'[^'\r\n]*+'|\([^()\r\n]*+\)) )?+ [ \t]*+ \)
    | \^(?P<block_id>[A-Za-z0-9-]++)(?=[ \t]*+(?:[\r\n]|\Z))
    | <(?:!--|[A-Za-z/][^<>\r\n]*+>)
    | %%
    | \$\$
    | \$(?=[^\s$])(?:[^$\\\r\n`]|\\[^\r\n])++(?<!\s)\$(?![0-9])
    | ://[^\s<>"`()\[\]]*+
    """,
    re.VERBOSE,
)
_CLOSERS = {"%%": "%%", "$$": "$$", "<!--": "-->"}

# How far back the beginning of a line is looked for; deeper indentation of a fence or a task is not expected.
_LONGEST_PREFIX = 64
# It starts with a set of characters, so that a search skips to the next of them at full speed.
_LINE_END = r"[\r\n](?:(?<=\r)\n)?+"
_CONTAINER = r"(?:[ \t>]|[-*+][ \t]|[0-9]{1,9}[.)][ \t])*+"
_LINE_PREFIX = re.compile(rf"(?:\A|[\r\n]){_CONTAINER}\Z")
_TASK_PREFIX = re.compile(r"(?:\A|[\r\n])[ \t>]*+(?:[-*+]|[0-9]{1,9}[.)])[ \t]++\Z")
_REST_OF_LINE = re.compile(r"[^\r\n]*+")
_FENCE_LINE = re.compile(r"[\r\n][ \t>]*+(?P<run>```++|~~~++)[ \t]*+(?=[\r\n]|\Z)")
_END_OF_QUOTE = re.compile(rf"{_LINE_END}(?![ \t]*+>)")
_RUN = re.compile(r"``*+")
# A code span ends with its block: at a blank line, or where a line starts another block.
_BLOCK_END = re.compile(
    rf"{_LINE_END}(?=[ \t>]*+(?:[\r\n]|\Z|[-*+][ \t]|[0-9]{{1,9}}[.)][ \t]|\#{{1,6}}[ \t]|```|~~~|\|))"
)
_AFTER_BLANK = re.compile(rf"[\r\n][ \t]*+{_LINE_END}(?:[ ]{{4}}|\t)")
_INDENTS = ("\n    ", "\n\t", "\r    ", "\r\t")
_VERBATIM = frozenset({"fence", "indented_code", "comment", "math"})
_NOTE_NAME = re.compile(r"(?![a-z][a-z0-9+.-]+:|//)[^#?]+\.(?:md|markdown)(?:\#.*)?", re.IGNORECASE)


def scan_inline(body: str, blocks: Iterable[Block] | None = None) -> Inline:
    """Find tags, links, block ids and tasks.

    Args:
        body: A record's body.
        blocks: Its blocks, where the caller has them. Otherwise they are parsed only if the body may hold indented
            code, which cannot be told from a list without them.
    """
    scan = _Scan(body)
    if "#" not in body and "[" not in body and "^" not in body:
        return scan.found
    if blocks is None:
        blocks = parse_blocks(body) if _may_hold_indented_code(body) else ()
    position = 0
    for start, end in _verbatim_spans(blocks, len(body)):
        while position < start and (match := _MARK.search(body, position)) and match.start() < start:
            position = scan.take(match)
        position = max(position, end)
    return scan.found


def _may_hold_indented_code(body: str) -> bool:
    """Tell whether an indented line starts the body or follows a blank line."""
    if body.startswith(("    ", "\t")):
        return True
    return any(indent in body for indent in _INDENTS) and _AFTER_BLANK.search(body) is not None


def _verbatim_spans(blocks: Iterable[Block], size: int) -> Iterator[tuple[int, int]]:
    """Yield the spans in which nothing is to be found, and the end of the body as the last one."""
    for block in blocks:
        if block.kind in _VERBATIM:
            yield block.start, block.end
    yield size, size


class _Scan:
    """The state of one pass over a body."""

    def __init__(self, body: str) -> None:
        self.found = Inline([], [], [], [])
        self._body = body
        self._runs: dict[int, list[int]] | None = None
        self._last_closers: dict[str, int] = {}
        self._block_end = -1

    def take(self, match: re.Match[str]) -> int:
        """Take what was found at a mark; return the offset where the search goes on."""
        mark = match.group()
        if mark[0] == "#":
            return self._take_tag(match)
        if mark[0] in "[]^":
            return self._take_named(match)
        if mark[0] in "`~":
            return self._after_run(match)
        if mark in _CLOSERS:
            return self._after_closer(match, _CLOSERS[mark])
        return match.end()

    def _take_tag(self, match: re.Match[str]) -> int:
        start = match.start()
        name = tag_name(match.group()[1:], self._body[start - 1] if start else "")
        if name is not None:
            self.found.tags.append(name)
        return match.end()

    def _take_named(self, match: re.Match[str]) -> int:
        start, end = match.span()
        if match["target"] is not None:
            self._take_link(match)
        elif match["state"] is not None:
            if self._follows(_TASK_PREFIX, start):
                rest = _REST_OF_LINE.match(self._body, end)
                text, end_of_line = (rest.group(), rest.end()) if rest else ("", end)
                self.found.tasks.append(Task(match["state"], text.strip(), start, end_of_line))
        elif match["block_id"] is not None:
            if start == 0 or self._body[start - 1].isspace():
                self.found.block_ids.append(BlockId(match["block_id"], start, end))
        else:
            target = unquote(match["bracketed"] or match["plain"])
            if _NOTE_NAME.fullmatch(target):
                self.found.links.append(Link(target, "", False, start, end))
        return end

    def _take_link(self, match: re.Match[str]) -> None:
        start, end = match.span()
        shown = match["shown"]
        target = (match["target"] if shown is None else match["target"].removesuffix("\\")).strip()
        embed = start > 0 and self._body[start - 1] == "!" and self._body[start - 2 : start - 1] != "\\"
        if target:
            self.found.links.append(Link(target, (shown or "").strip(), embed, start - embed, end))

    def _follows(self, prefix: re.Pattern[str], start: int) -> bool:
        return prefix.search(self._body, max(0, start - _LONGEST_PREFIX), start) is not None

    def _after_run(self, match: re.Match[str]) -> int:
        run, end = match.group(), match.end()
        if len(run) >= 3 and self._follows(_LINE_PREFIX, match.start()):
            info = _REST_OF_LINE.match(self._body, end)
            if run[0] == "~" or info is None or "`" not in info.group():
                return self._after_fence(match)
        return self._after_code_span(match) if run[0] == "`" else end

    def _after_fence(self, match: re.Match[str]) -> int:
        """Return the end of a fence: its closing line, the end of the quote that it stands in, or that of the body."""
        body, stop = self._body, len(self._body)
        prefix = _LINE_PREFIX.search(body, max(0, match.start() - _LONGEST_PREFIX), match.start())
        if prefix is not None and ">" in prefix.group():
            end_of_quote = _END_OF_QUOTE.search(body, match.end())
            stop = end_of_quote.start() if end_of_quote else stop
        for line in _FENCE_LINE.finditer(body, match.end(), stop):
            if line["run"].startswith(match.group()):
                return line.end()
        return stop

    def _after_code_span(self, match: re.Match[str]) -> int:
        """Return the end of a code span, or of the run alone if no equal run closes it in the same block."""
        start, end = match.span()
        if self._runs is None:
            self._runs = {}
            for run in _RUN.finditer(self._body, start):
                self._runs.setdefault(run.end() - run.start(), []).append(run.start())
        starts = self._runs.get(end - start, [])
        following = bisect_right(starts, start)
        if following == len(starts):
            return end
        if self._block_end < end:
            block_end = _BLOCK_END.search(self._body, end)
            self._block_end = block_end.start() if block_end else len(self._body)
        return starts[following] + end - start if starts[following] < self._block_end else end

    def _after_closer(self, match: re.Match[str], closer: str) -> int:
        """Return the end of a comment or of display math.

        Without a closer the mark means nothing, but for a comment that starts a line: that one hides all the rest.
        """
        if closer not in self._last_closers:
            self._last_closers[closer] = self._body.rfind(closer)
        if self._last_closers[closer] >= match.end():
            return self._body.index(closer, match.end()) + len(closer)
        is_block = closer != "$$" and self._follows(_LINE_PREFIX, match.start())
        return len(self._body) if is_block else match.end()


def find_tags(body: str, blocks: Iterable[Block] | None = None) -> list[str]:
    """Return the tags of a body without `#`, each as often as it appears; see `scan_inline`."""
    return scan_inline(body, blocks).tags


def find_links(body: str, blocks: Iterable[Block] | None = None) -> list[Link]:
    """Return the links and embeds of a body; see `scan_inline`."""
    return scan_inline(body, blocks).links


def find_block_ids(body: str, blocks: Iterable[Block] | None = None) -> list[BlockId]:
    """Return the block ids of a body; see `scan_inline`."""
    return scan_inline(body, blocks).block_ids
