"""From a question to hits: queries, filters, lanes, fusion, and back to the text."""

from vault_memory.retrieve.fragment import FragmentSemanticRetriever
from vault_memory.retrieve.protocol import Capabilities, Retriever

__all__ = ["Capabilities", "FragmentSemanticRetriever", "Retriever"]
