"""Text to terms: what the lexical index holds of a text, and what a query asks of it.

Both ways go through the same tokens, so that what was written can be found as it was written. A token has three faces:

- its words, in the order of the text: folded for accents and letter case, stemmed, or the overlapping pairs of
  characters of a script that is written without spaces;
- its wholes: `snake_case`, `1.10`, `notes/garden.md`, `c++` beside their words `snake`, `case`, ...;
- its pieces: `get`, `user`, `name` of `getUserName`, or the single characters of a run without spaces.

Words alone make up the text that exact phrases are looked up in. Wholes and pieces are further forms beside it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from operator import add
from typing import NamedTuple

from vault_memory.index.lexical.stems import stem
from vault_memory.index.lexical.stop_words import STOP_WORDS

RULES_REVISION = 1
"""Counts changes of these rules. Terms held under another revision cannot be removed or found: rebuild the index."""

LONGEST_TERM = 64
"""Longer words are cut, in characters: packed data is no word, and FTS5 bounds a token."""

LONGEST_WHOLE = 128
"""A longer compound is indexed by its words alone."""

LONGEST_REMEMBERED = 100
LONGEST_REMEMBERED_RUN = 24
"""Longer chunks, of ASCII and of other characters, seldom come again: remembering them only costs memory."""

REMEMBERED = 1 << 16
"""How many chunks, and how many words, are remembered: some 15 MB each, and nearly all of a vault's come again."""

# Han, kana, Thai, Lao, Myanmar and Khmer run words together. Hangul has spaces, but its particles cling to the words.
_RUN = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0ecf\u1000-\u103f\u1050-\u109f\u1100-\u11ff\u1780-\u17d3\u3005-\u3007"
    "\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
    "\uf900-\ufaff"
)
_RARE_HAN = "\U00020000-\U0003ffff"  # Apart, because a class with characters this far up is matched far more slowly.
# Points that say how a letter sounds; people leave them out when they search. Invisible joiners and soft hyphens too.
_DROPPED = (
    "\u00ad\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f"
    "\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200f\u2060\u20d0-\u20ff\ufe0e\ufe0f"
    "\ufe20-\ufe2f\ufeff"
)
# Vowel signs that belong to the word, as in Devanagari or Tamil, but are no letters to a regular expression.
_SIGNS = "\u0711\u0730-\u074a\u07a6-\u07b0\u08d3-\u0963\u0971-\u0dff\u0f71-\u0fbc\u135d-\u135f"
_SYMBOL = "\u231a-\u23ff\u2600-\u27bf\u2b50\u2b55\U0001f000-\U0001faff"
# Possessive, since no word is found by giving a character back.
_WORD = f"(?:(?:[A-Za-z0-9]++|[^\\W_A-Za-z0-9{_RUN}{_RARE_HAN}])[{_DROPPED}{_SIGNS}]*+)++"

_TOKEN = re.compile(
    f"(?P<run>(?:[{_RUN}]|[{_RARE_HAN}])(?:[{_RUN}{_DROPPED}]++|[{_RARE_HAN}]++)*+)"
    f"|(?P<number>[0-9]{{1,3}}(?:,[0-9]{{3}})+(?![0-9]))"
    f"|(?P<word>{_WORD}(?:(?:_+|[-./@:+\u2010]){_WORD})*(?:\\+\\+|\\#(?![^\\W_]))?)"
    f"|(?P<symbol>[{_SYMBOL}])"
)
_PART = re.compile(_WORD)
_PATH_SEPARATOR = re.compile("[/@:]")
_PIECE = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_MARKS = re.compile(f"[{_DROPPED}]")
_QUOTED = re.compile(
    '"([^"]*)"|\u201c([^\u201c\u201d]*)\u201d|\u201e([^\u201c\u201d\u201e]*)[\u201c\u201d]|\u00ab([^\u00ab\u00bb]*)\u00bb'
)
_BARRED_LETTERS = str.maketrans({"ø": "o", "đ": "d", "ð": "d", "ł": "l", "æ": "ae", "œ": "oe", "þ": "th", "ı": "i"})
_ASCII_GAPS = {code: " " for code in range(128) if not chr(code).isalnum() and chr(code) not in "_-./@:+#,"}

_FACE = "\f"
_EDGES = "_-./@:,"  # A connector at the edge of a chunk joins nothing; `+` and `#` may end `c++` and `c#`.

CONNECTORS = "_-./@:+#"
"""ASCII characters beside letters and digits that a term may hold; characters outside ASCII are all part of terms."""


class Token(NamedTuple):
    """One token of a text.

    Attributes:
        words: Its terms in the order of the text.
        wholes: The compound as one term, and its segments if it is a path or an address.
        pieces: Parts of an identifier, or single characters, that a reader may ask for.
        overlapping: Whether the words are pairs of characters, of which many are only the seam between two words.
    """

    words: tuple[str, ...]
    wholes: tuple[str, ...] = ()
    pieces: tuple[str, ...] = ()
    overlapping: bool = False


class IndexTerms(NamedTuple):
    """A text as the index takes it: terms separated by spaces.

    Attributes:
        words: The text's words in order.
        forms: Wholes and pieces of its tokens.
    """

    words: str
    forms: str


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """What a query asks.

    Attributes:
        phrases: Words that must stand next to each other in this order, one tuple for each quoted text.
        tokens: All tokens, of phrases too, without stop words unless there is nothing else; each once, in order.
    """

    phrases: tuple[tuple[str, ...], ...]
    tokens: tuple[Token, ...]


def index_terms(text: str) -> IndexTerms:
    """Return the terms under which a text is indexed; any text is fine."""
    chunks = text.translate(_ASCII_GAPS).split() if text.isascii() else text.split()
    faces = " ".join(map(_CHUNKS.__getitem__, chunks)).split(_FACE)
    return IndexTerms("".join(faces[::2]), " ".join(faces[1::2]))


def query_terms(text: str) -> QueryTerms:
    """Return what a question asks: any text is fine, and nothing in it is an operator but a pair of double quotes.

    A text in double quotes (straight, curly, low or angle ones) is a phrase. A quote without its partner is a gap.
    """
    quoted = (next(filter(None, groups), "") for groups in _QUOTED.findall(text))
    phrases = (tuple(word for token in tokens_of(part) for word in token.words) for part in quoted)
    tokens = tuple(dict.fromkeys(tokens_of(text)))
    telling = tuple(
        token._replace(words=tuple(word for word in token.words if word not in STOP_TERMS))
        for token in tokens
        if not STOP_TERMS.issuperset(token.words)
    )
    return QueryTerms(tuple(dict.fromkeys(filter(None, phrases))), telling or tokens)


def tokens_of(text: str) -> Iterator[Token]:
    """Yield the tokens of a text in order."""
    for chunk in text.split():
        for match in _TOKEN.finditer(unicodedata.normalize("NFKC", chunk)):
            token = _TOKEN_OF[str(match.lastgroup)](match[0])
            if (
                token.words
            ):  # A stroke that only lengthens Arabic letters is a word to the pattern, but holds no letter.
                yield token


def _number(text: str) -> Token:
    return Token((text.replace(",", "")[:LONGEST_TERM],))


def _symbol(text: str) -> Token:
    return Token((text,))


def _run(text: str) -> Token:
    run = _MARKS.sub("", text)
    if len(run) == 1:
        return Token((run,))
    return Token(tuple(map(add, run, run[1:])), pieces=tuple(dict.fromkeys(run)), overlapping=True)


def _word(text: str) -> Token:
    parts = _PART.findall(text)
    faces = [_part(part) for part in parts]
    words = tuple([term for term, _ in faces if term])
    pieces = tuple([piece for _, pieces in faces for piece in pieces])
    if parts[0] == text or len(text) > LONGEST_WHOLE:
        return Token(words, pieces=pieces)
    return Token(words, tuple(_wholes(text)), pieces)


def _wholes(text: str) -> list[str]:
    """Return a compound as one term, and the segments of a path or an address that are compounds too."""
    whole = _folded(text).replace("\u2010", "-")
    segments = _PATH_SEPARATOR.split(whole)
    return [whole, *(segment for segment in segments if not _PART.fullmatch(segment))] if len(segments) > 1 else [whole]


@lru_cache(REMEMBERED)
def _part(part: str) -> tuple[str, tuple[str, ...]]:
    """Return the term of a word without connectors, and the pieces of an identifier."""
    if not part.isascii() or (part.isalpha() and (part.islower() or part.istitle())):
        return _term(part), ()
    pieces = _PIECE.findall(part)
    return _term(part), tuple([_term(piece) for piece in pieces if len(piece) > 1]) if len(pieces) > 1 else ()


def _term(part: str) -> str:
    folded = _folded(part)[:LONGEST_TERM]
    return stem(folded) if folded.isascii() and folded.isalpha() else folded


def _folded(word: str) -> str:
    if word.isascii():
        return word.lower()
    plain = _MARKS.sub("", unicodedata.normalize("NFKD", word.casefold()))
    return "".join(unicodedata.normalize("NFC", plain).translate(_BARRED_LETTERS).split())


def _chunk_terms(chunk: str) -> str:
    if chunk.isascii() and chunk.isalpha() and chunk[1:].islower():  # Most are plain words, which saves the pattern.
        return _part(chunk)[0]
    tokens = list(tokens_of(chunk))
    words = " ".join([word for token in tokens for word in token.words])
    forms = " ".join([form for token in tokens for form in (*token.wholes, *token.pieces)])
    return f"{words}{_FACE}{forms}{_FACE}" if forms else words


class _Chunks(dict[str, str]):
    """Terms of the chunks met so far: text between two gaps comes again and again, and is taken apart once.

    A chunk's words are followed by its forms between two marks, so that the terms of a text are one join and one split.
    """

    def __missing__(self, chunk: str) -> str:
        bare = chunk.strip(_EDGES)
        terms = self[bare] if bare != chunk else _chunk_terms(chunk)
        if len(chunk) <= (LONGEST_REMEMBERED if chunk.isascii() else LONGEST_REMEMBERED_RUN):
            if len(self) >= REMEMBERED:
                self.clear()
            self[chunk] = terms
        return terms


_CHUNKS = _Chunks()
_TOKEN_OF = {"number": _number, "word": _word, "run": _run, "symbol": _symbol}

# As terms, so that a query's words are compared after folding and stemming.
STOP_TERMS = frozenset(map(_term, STOP_WORDS.split()))
