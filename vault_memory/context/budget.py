"""How much text a reader takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vault_memory.errors import QueryError
from vault_memory.index.counts import whole_number

CountTokens = Callable[[str], int]

# English prose has about four letters, so four bytes, for each token of today's byte-pair vocabularies. In UTF-8 a
# letter of Cyrillic has two bytes and one of Chinese three, which follows what they cost: half a token and most of one.
BYTES_PER_TOKEN = 4


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a language model makes of a text: a quarter of its bytes in UTF-8, rounded up."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class Budget:
    """Bounds of a context's whole text, with wrappers and joints; equality fits.

    Attributes:
        max_chars: At most this many characters (Unicode code points); `None` for no bound.
        max_tokens: At most this many tokens; `None` for no bound.
        count_tokens: The counter of the model that reads the text, or the estimate.

    Raises:
        QueryError: A bound is no whole number of at least 1, or the counter cannot be called.
    """

    max_chars: int | None = None
    max_tokens: int | None = None
    count_tokens: CountTokens = estimate_tokens

    def __post_init__(self) -> None:
        for name, bound in (("max_chars", self.max_chars), ("max_tokens", self.max_tokens)):
            if bound is not None:
                object.__setattr__(self, name, whole_number(bound, name))
        if not callable(self.count_tokens):
            raise QueryError(f"count_tokens must be a function from a text to a number, not {self.count_tokens!r}")


UNBOUNDED = Budget()
