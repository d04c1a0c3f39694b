"""The header of a note: a split that loses no character, and properties that lose no spelling.

`header + body` is always the whole text. Values are what a person wrote: a scalar becomes a number only if writing
the number back gives the same text.
"""

from vault_memory.frontmatter.plugin import VaultFrontmatterHandler
from vault_memory.frontmatter.reading import Frontmatter, read_frontmatter, read_properties
from vault_memory.frontmatter.splitting import Split, split_frontmatter
from vault_memory.frontmatter.writing import checked_metadata, render_header, render_properties

__all__ = [
    "Frontmatter",
    "Split",
    "VaultFrontmatterHandler",
    "checked_metadata",
    "read_frontmatter",
    "read_properties",
    "render_header",
    "render_properties",
    "split_frontmatter",
]
