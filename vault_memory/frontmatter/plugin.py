"""Our rules for headers, for users of the library python-frontmatter."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from frontmatter.default_handlers import BaseHandler

from vault_memory.frontmatter.reading import read_frontmatter, read_properties
from vault_memory.frontmatter.splitting import FENCE, split_frontmatter
from vault_memory.frontmatter.writing import render_header, render_properties

if TYPE_CHECKING:
    from frontmatter import Post


class VaultFrontmatterHandler(BaseHandler):
    """Reads and writes headers as this package does: `frontmatter.load(path, handler=VaultFrontmatterHandler())`.

    The library itself strips the body, and fails on properties named `content` or `handler`; where that matters, use
    `read_frontmatter`.
    """

    FM_BOUNDARY = re.compile(r"\ufeff?---[ \t]*$", re.MULTILINE)
    START_DELIMITER = END_DELIMITER = FENCE

    def detect(self, text: str) -> bool:
        """Tell whether a text starts with a block between two fences."""
        return split_frontmatter(text).has_fences

    def split(self, text: str) -> tuple[str, str]:
        """Return the properties and the body.

        Raises:
            ValueError: There are no properties; the library then takes the whole text for content.
            FrontmatterError: The properties cannot be read.
        """
        body = read_frontmatter(text).body
        split = split_frontmatter(text)
        if not split.has_fences or body != split.body:
            raise ValueError("the text has no header")
        return split.properties, body

    def load(self, fm: str) -> dict[str, Any]:
        """Return the metadata that properties say.

        Raises:
            FrontmatterError: They cannot be read.
        """
        return read_properties(fm) or {}

    def export(self, metadata: dict[str, object], **_options: object) -> str:
        """Return metadata as properties, without a line end behind the last one.

        Raises:
            FrontmatterError: A value cannot be stored; the reason names its key.
        """
        return render_properties(metadata).removesuffix("\n")

    def format(self, post: Post, **_options: object) -> str:
        """Return a whole file; its body is the content as it is.

        Raises:
            FrontmatterError: A value cannot be stored; the reason names its key.
        """
        return render_header(post.metadata) + post.content
