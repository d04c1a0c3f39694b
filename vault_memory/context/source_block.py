"""Citable blocks that no note can forge.

A block is `<source ...>`, the passage, `</source>`. What a reader could take for such a tag is escaped in the passage,
and nothing else is: Markdown, code and other markup stay as they were written. For the escaping to have an inverse,
text that looks like its result is escaped too.
"""

from __future__ import annotations

import html
import math
import re
import unicodedata
from collections.abc import Iterator

from vault_memory.context.passages import ContextPassage

TAG = "source"
HEADING_JOINT = " › "

# What opens a tag, or looks as if it did to a reader that does not parse.
OPENERS = "<＜﹤‹〈〈⟨˂"
_ENTITIES = {opener: "&lt;" if opener == "<" else f"&#{ord(opener)};" for opener in OPENERS}
_OPENER_OF = {entity: opener for opener, entity in _ENTITIES.items()}
# The rest of an entity that stands for an opener, in any spelling, also when its `&` was escaped any number of times.
_NAMES = "|".join(["lt", *(f"#0*{ord(opener)}|#x0*{ord(opener):x}" for opener in OPENERS)])
_REST = rf"(?i:(?:amp;?)*+(?:{_NAMES});?)"
_OPENING = re.compile(rf"&{_REST}|[{OPENERS}]")
_ESCAPED_OPENING = re.compile(rf"&amp;{_REST}|{'|'.join(_OPENER_OF)}")
_SYMBOL = re.compile(r"&#?\w{1,32};?|.", re.DOTALL)

# Letters of other scripts, and small capitals, that look like those of the tag's name and that folding keeps apart.
_LOOKALIKES = str.maketrans("ѕꜱоοօᴏսυᴜгʀсσᴄеεᴇ", "ssoooouuurrccceee")
# What is drawn as nothing, although its category is that of a letter or a symbol; and slashes.
_UNSEEN = "/\\\u115f\u1160\u2800"


def escape_text(text: str) -> str:
    """Return a text in which nothing opens or closes a `source` block, however it is spelled.

    Escaped is a `<`, a character that looks like it or an entity of one, before the tag's name: in any letter case,
    width, look-alike letters or entities, and with slashes, blanks and characters that cannot be seen in between.
    """

    def escaped(match: re.Match[str]) -> str:
        opening = match[0]
        if not _names_the_tag(text, match.end()):
            return opening
        return _ENTITIES.get(opening) or f"&amp;{opening[1:]}"

    return _OPENING.sub(escaped, text)


def unescape_text(text: str) -> str:
    """Return the text that `escape_text` was given.

    What follows an opening decides in both directions, and escaping does not change whether that is the tag's name.
    """

    def unescaped(match: re.Match[str]) -> str:
        opening = match[0]
        if not _names_the_tag(text, match.end()):
            return opening
        return _OPENER_OF.get(opening) or f"&{opening[len('&amp;') :]}"

    return _ESCAPED_OPENING.sub(unescaped, text)


def _names_the_tag(text: str, start: int) -> bool:
    letters = _letters(text, start)
    return all(next(letters, "") == wanted for wanted in TAG)


def _letters(text: str, start: int) -> Iterator[str]:
    """Yield what a reader sees from a place on, without slashes, blanks and what has no shape of its own."""
    for symbol in _SYMBOL.finditer(text, start):
        for letter in unicodedata.normalize("NFKC", html.unescape(symbol[0])).casefold():
            if letter not in _UNSEEN and unicodedata.category(letter)[0] not in "CMZ":
                yield letter.translate(_LOOKALIKES)


def escape_attribute(value: str) -> str:
    """Return a value for between double quotes: on one line, and with nothing in it that cannot be seen."""
    return "".join(_escaped_letter(letter) for letter in value)


def _escaped_letter(letter: str) -> str:
    named = {"&": "&amp;", '"': "&quot;", "<": "&lt;", ">": "&gt;"}.get(letter)
    if named:
        return named
    hidden = letter != " " and unicodedata.category(letter)[0] in "CZ"
    return f"&#{ord(letter)};" if hidden else letter


def render_source(passage: ContextPassage) -> str:
    """Return the block of a passage; attributes that are not known are left out."""
    attributes = {
        "id": passage.id,
        "doc": passage.title,
        "lines": f"{passage.lines[0]}-{passage.lines[1]}",
        "heading": HEADING_JOINT.join(passage.heading_path),
        "score": _rounded_down(passage.score),
    }
    written = "".join(f' {name}="{escape_attribute(value)}"' for name, value in attributes.items() if value)
    return f"<{TAG}{written}>\n{escape_text(passage.text)}\n</{TAG}>"


def _rounded_down(score: float) -> str:
    """Return a score with two decimals; none is shown as better than it is, so that 0.995 does not become 1.00."""
    if not math.isfinite(score):
        return ""
    # Six more decimals take away the error of the binary fraction: 0.29 times 100 is a little less than 29.
    return f"{math.floor(round(score * 100, 6)) / 100:.2f}"
