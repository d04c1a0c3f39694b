"""`Vault`, and the only place where concrete parts are joined."""

from vault_memory.vault.facade import Vault

__all__ = ["Vault"]
