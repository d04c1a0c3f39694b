"""What a scalar of the properties means, and which texts need quotes so that they stay texts.

Source of the word lists: the type repository of YAML 1.1 (https://yaml.org/type/) and the core schema of YAML 1.2.2,
section 10.3.2.
"""

from __future__ import annotations

import re
from datetime import date, datetime

from vault_memory.errors import FrontmatterError

Scalar = str | int | float | bool | None

_WORDS: dict[str, bool | None] = {"": None, "~": None, "null": None, "true": True, "false": False}
_INTEGER = re.compile(r"0|-?[1-9][0-9]*+")
_DECIMAL = re.compile(r"-?[0-9]++(?:\.[0-9]++)?+(?:e[+-][0-9]++)?+")
# Longer digits than this are text: Python refuses to convert them by default, and a double ends far below.
_MAX_DIGITS = 4300

# Every word that a reader of YAML 1.1 or 1.2 takes for nothing or for a truth value, in any case.
_TAKEN_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{3}(?:\d{3})?)?)?(?:Z|[+-]\d\d:\d\d)?)?", re.ASCII)
_SURROGATE = re.compile("[\ud800-\udfff]")
# JSON leaves these as they are; YAML forbids them, or a YAML 1.1 reader takes them for a line end.
_NEVER_BARE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_JSON_ESCAPES = re.compile(r'["\\\x00-\x1f]')
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def typed_scalar(text: str) -> Scalar:
    """Return the value of a scalar that was written without quotes.

    Only `null`, `~` and nothing are `None`; only `true` and `false` are truth values; a number is one only if writing
    it back gives the same text. So `1.10`, `010`, `12:30`, `1e3`, `.5` and every date stay text.
    """
    if text in _WORDS:
        return _WORDS[text]
    if not text.isascii() or not text[-1].isdigit() or len(text) > _MAX_DIGITS:
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    if _DECIMAL.fullmatch(text) and repr(float(text)) == text:
        return float(text)
    return text


def render_scalar(value: Scalar) -> str:
    """Return a scalar as YAML on one line; `typed_scalar` and every other reader find the same value in it.

    Dates and times are written without quotes if they exist: applications that know dates expect them so.

    Raises:
        FrontmatterError: The text holds half a surrogate pair, or the number has more than 4300 digits.
    """
    if isinstance(value, str):
        return value if _stays_text(value) else quoted(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) >= 10 ** (_MAX_DIGITS - 1):
        raise FrontmatterError(f"an integer of more than {_MAX_DIGITS - 1} digits cannot be stored; write it as text")
    return repr(value)


def _stays_text(text: str) -> bool:
    if _DATE.fullmatch(text):
        return _exists(text)
    return (
        text[:1].isalpha()
        and text.isprintable()
        and text[-1] not in " :"
        and ": " not in text
        and " #" not in text
        and text.lower() not in _TAKEN_WORDS
    )


def _exists(text: str) -> bool:
    """Tell a date from what only looks like one: other readers fail on the 30th of February."""
    try:
        datetime.fromisoformat(text) if len(text) > len("2024-03-05") else date.fromisoformat(text)
    except ValueError:
        return False
    return True


def quoted(text: str) -> str:
    """Return a text in double quotes, on one line, with every character escaped that a reader might change.

    Raises:
        FrontmatterError: The text holds half a surrogate pair, which no file can store.
    """
    if _SURROGATE.search(text):
        raise FrontmatterError("a text with half a surrogate pair cannot be stored as UTF-8")
    escaped = _JSON_ESCAPES.sub(lambda match: _SHORT_ESCAPES.get(match[0]) or f"\\u{ord(match[0]):04x}", text)
    return '"' + _NEVER_BARE.sub(lambda match: f"\\u{ord(match[0]):04x}", escaped) + '"'
