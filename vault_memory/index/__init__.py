"""Fragment and lexical indexes, and the state file that keeps them."""

from vault_memory.index.protocol import FragmentIndex

__all__ = ["FragmentIndex"]
