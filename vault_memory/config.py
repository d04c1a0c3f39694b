"""Settings, and the only place where the environment is read."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

import platformdirs

from vault_memory.errors import ConfigError
from vault_memory.model import content_digest

STATE_DIR_VARIABLE = "VAULT_MEMORY_STATE_DIR"

# An embedder with a short bound still gets fragments of at least this size: below it a fragment says nothing alone.
SMALLEST_MAX_CHARS = 64


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """Sizes of fragments, in characters.

    Attributes:
        target_chars: Blocks under one heading are packed into fragments of about this size.
        max_chars: No fragment is longer than this.

    Raises:
        ConfigError: A size is below 1, or the target is above the maximum.
    """

    target_chars: int = 900
    max_chars: int = 1600

    def __post_init__(self) -> None:
        if not 1 <= self.target_chars <= self.max_chars:
            raise ConfigError(
                f"chunk sizes must satisfy 1 <= target_chars <= max_chars, not {self.target_chars} and {self.max_chars}"
            )

    def bounded(self, max_input_chars: int | None) -> ChunkSettings:
        """Return the settings under which every fragment fits an embedder.

        Raises:
            ConfigError: The embedder takes too little text to be of use.
        """
        if max_input_chars is None or max_input_chars >= self.max_chars:
            return self
        if max_input_chars < SMALLEST_MAX_CHARS:
            raise ConfigError(f"an embedder must take at least {SMALLEST_MAX_CHARS} characters, not {max_input_chars}")
        return replace(self, target_chars=min(self.target_chars, max_input_chars), max_chars=max_input_chars)


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """What is a note, and what bounds a header.

    Attributes:
        use_gitignore: Whether `.gitignore` files leave notes out as `.vaultignore` files do.
        max_note_bytes: A larger file is quarantined rather than read.
        max_header_chars: A longer header is quarantined.
        max_header_depth: Deeper nesting in a header is quarantined.
        max_header_nodes: A header with more values, aliases expanded, is quarantined.
    """

    use_gitignore: bool = False
    max_note_bytes: int = 64 * 1024 * 1024
    max_header_chars: int = 256 * 1024
    max_header_depth: int = 32
    max_header_nodes: int = 20_000


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of a vault."""

    chunking: ChunkSettings = field(default_factory=ChunkSettings)
    reading: ReadSettings = field(default_factory=ReadSettings)


def state_folder(state_dir: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder for state files: the argument, the environment's, or the user's cache folder.

    Where the user has no cache folder that can be written, a folder of the system's temporary one serves.
    """
    given = state_dir or os.environ.get(STATE_DIR_VARIABLE)
    if given:
        return Path(given).expanduser()
    cache = Path(platformdirs.user_cache_dir("vault-memory", appauthor=False))
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError:
        return _temporary_folder()
    return cache if os.access(cache, os.W_OK | os.X_OK) else _temporary_folder()


def state_path(root: Path, state_dir: str | os.PathLike[str] | None = None) -> Path:
    """Return the state file of a vault: its folder's name for a person, and a digest of its path for uniqueness.

    Raises:
        ConfigError: It would lie in the vault.
    """
    real, folder = root.resolve(), state_folder(state_dir)
    if folder.resolve().is_relative_to(real):
        raise ConfigError(f"the state folder {folder} lies in the vault, whose files are the person's; choose another")
    return folder / f"{real.name or 'vault'}-{content_digest(str(real))[:16]}.sqlite"


def _temporary_folder() -> Path:
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    return Path(tempfile.gettempdir()) / f"vault-memory-{user}"
