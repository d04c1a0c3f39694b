"""What every test shares: state outside the user's own folders, and a vault made from texts."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from vault_memory import Vault

ROOT = Path(__file__).parent.parent

settings.register_profile("vault-memory", deadline=None, max_examples=60)
settings.load_profile("vault-memory")


@pytest.fixture(autouse=True)
def _own_state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_MEMORY_STATE_DIR", str(tmp_path_factory.mktemp("state")))


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """An empty folder for notes."""
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


@pytest.fixture
def write(notes: Path) -> Callable[[str, str], Path]:
    """A function that saves a note, given its path and text, and returns where."""

    def save(path: str, text: str) -> Path:
        file = notes / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        return file

    return save


@pytest.fixture
def sample_vault(tmp_path: Path) -> Path:
    """A copy of the example vault."""
    copy = tmp_path / "sample_vault"
    shutil.copytree(ROOT / "sample_vault", copy)
    return copy


@pytest.fixture
def vault(notes: Path) -> Iterator[Vault]:
    """A vault over the empty folder."""
    with Vault.open(notes) as opened:
        yield opened
