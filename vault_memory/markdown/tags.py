"""What is a tag in running text, and what only looks like one.

The rules are those of Obsidian: letters and digits of any script, marks, symbols such as emoji, `_`, `-`, and `/` for
nesting; no blank and no punctuation; at least one character that is no digit. One rule is ours: a hexadecimal colour
of 3, 4, 6 or 8 digits (`#12ab34`) is no tag if it holds a decimal digit, for people write far more colours than tags of
that form; words such as `#fade` and `#cafe` are tags.
"""

from __future__ import annotations

import re

# ASCII punctuation but `-`, `/` and `_`; that of Latin-1; General and Supplemental Punctuation without the two joiners
# that scripts need; CJK and full-width punctuation.
TAG_CHARACTER = (
    r"[^\s\x00-,.:-@\[-^`{-\xa9\xab-\xb4\xb6-\xb9\xbb-\xbf\xd7\xf7"
    r"\u2000-\u200b\u200e-\u206f\u2e00-\u2e7f\u3000-\u3003\u3008-\u3011\u3014-\u301f\u3030"
    r"\ufe10-\ufe19\ufe30-\ufe6f\ufeff\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]"
)
_COLOUR = re.compile(r"(?=.*[0-9])(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})", re.IGNORECASE)

# A tag may follow white space, an opening bracket, marks of emphasis, or punctuation that ends a word (in a script
# without spaces a closing bracket too). After a letter, `/`, `&`, `=` or a quote the sign belongs to an address, an
# entity or an attribute.
_BEFORE = frozenset("([{*_~>|,;«“‘„（《「『【〔）》」』】〕、。，；：！？…—–")


def tag_name(written: str, before: str) -> str | None:
    """Return the name of a tag, or `None` if it is no tag.

    Args:
        written: The characters behind `#`.
        before: The character before `#`, empty at the start of the text.
    """
    if before and not before.isspace() and before not in _BEFORE:
        return None
    name = written.rstrip("/")
    if name.isdigit() or name.startswith("/") or not name.strip("-_/") or _COLOUR.fullmatch(name):
        return None
    return name
