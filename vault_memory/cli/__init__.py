"""The command line: parse arguments, call `Vault`, print."""

from vault_memory.cli.main import main

__all__ = ["main"]
