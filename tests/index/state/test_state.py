"""Rules of the state file: it may be lost at any time, and never answers with what is not true."""

from __future__ import annotations

import logging
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from vault_memory import EmbedderMismatchError, Fingerprint, FragmentIndexError, Target, Vault, VaultBusyError
from vault_memory.config import ChunkSettings, Settings, state_folder
from vault_memory.embed import StaticEmbedder
from vault_memory.errors import StateLostError
from vault_memory.files import Listed, list_folder
from vault_memory.index.state import State
from vault_memory.index.state.lock import sync_lock
from vault_memory.model import Vector

Write = Callable[[str, str], Path]
FACTS = {"embedder": "letters@1/26"}


def state_of(vault: Vault) -> Path:
    """Where a vault keeps its state."""
    return Path(vault.status().state_path)


def found(vault: Vault, mode: str = "hybrid") -> list[str]:
    """What an open vault finds."""
    return [hit.path for hit in vault.search("walrus", mode=mode)]


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "lexical"])
def test_a_state_that_is_deleted_under_an_open_vault_is_made_anew(notes: Path, write: Write, mode: str) -> None:
    """Deleting the file at any time costs a rebuild: the next search answers from the folder."""
    write("n.md", "walrus")
    with Vault.open(notes) as vault:
        assert found(vault, mode) == ["n.md"]
        for file in state_of(vault).parent.iterdir():
            file.unlink()
        assert found(vault, mode) == ["n.md"]
        for file in state_of(vault).parent.iterdir():
            file.unlink()
        assert vault.put(Target("", "m"), "walrus too").errors == ()
        assert len(found(vault, mode)) == 2


def test_a_page_that_is_damaged_is_noticed_set_aside_and_told(
    notes: Path, write: Write, caplog: pytest.LogCaptureFixture
) -> None:
    """Damage in the middle of the file is found when it is read: the file is kept aside and the index made anew."""
    for n in range(200):
        write(f"{n}.md", f"# Walrus {n}\n\nwalrus otter heron {n}")
    with Vault.open(notes) as vault:
        path = state_of(vault)
    size = path.stat().st_size
    with path.open("r+b") as file:
        for offset in range(4096, size, 4096):
            file.seek(offset)
            file.write(os.urandom(2048))
    with caplog.at_level(logging.WARNING), Vault.open(notes) as vault:
        assert vault.status().records == 200
        assert len(vault.search("walrus", top_k=200, mode="lexical")) == 200
    assert "anew" in caplog.text
    assert path.with_suffix(".damaged").exists()


def test_other_settings_make_the_state_anew_and_say_so(
    notes: Path, write: Write, caplog: pytest.LogCaptureFixture
) -> None:
    """A state under other facts is not used, and a line names what differed."""
    write("n.md", "walrus " * 300)
    Vault.open(notes).close()
    settings = Settings(chunking=ChunkSettings(target_chars=100, max_chars=200))
    with caplog.at_level(logging.WARNING), Vault.open(notes, settings=settings) as vault:
        assert vault.status().fragments > 5
    assert "other settings (chunking); the index is made anew" in caplog.text


def test_a_vault_whose_state_another_process_rebuilt_for_another_embedder_refuses(notes: Path, write: Write) -> None:
    """Vectors of two embedders never meet: the vault that was open first says what happened."""

    class Other(StaticEmbedder):
        fingerprint = Fingerprint("other", "1", 256)

    write("n.md", "walrus")
    with Vault.open(notes) as first:
        assert found(first) == ["n.md"]
        with Vault.open(notes, embedder=Other()) as second:
            assert found(second) == ["n.md"]
        with pytest.raises(EmbedderMismatchError, match="embedder"):
            first.search("walrus")


def test_an_exception_in_a_transaction_leaves_the_old_state(tmp_path: Path) -> None:
    """What a writer did before an exception is not there afterwards."""
    state = State(tmp_path / "s.sqlite", FACTS)

    def fail() -> None:
        with state.writing() as writer:
            writer.mark_synced()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert state.freshness().synced_at is None
    state.close()


def test_a_state_folder_that_is_a_file_is_a_clear_error(tmp_path: Path) -> None:
    """The error names the folder and what to do."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(FragmentIndexError, match="choose another"):
        State(tmp_path / "file" / "s.sqlite", FACTS)
    (tmp_path / "s.sqlite").mkdir()
    with pytest.raises(FragmentIndexError, match="choose another"):
        State(tmp_path / "s.sqlite", FACTS)


def test_a_state_held_by_another_program_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock that does not end is told as what it is; the file stays."""
    monkeypatch.setattr("vault_memory.index.state.file.BUSY_TIMEOUT_SECONDS", 0.01)
    state = State(tmp_path / "s.sqlite", FACTS)
    with closing(sqlite3.connect(state.path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(FragmentIndexError, match="cannot be used now") as caught, state.writing():
            pass
        assert not isinstance(caught.value, StateLostError)
    state.close()


def test_the_sync_lock_names_its_holder_and_ends_with_it(tmp_path: Path) -> None:
    """A second process waits and then names the first; when the first dies, the lock is free."""
    path = tmp_path / "s.lock"
    code = (
        "import sys\nfrom pathlib import Path\nfrom vault_memory.index.state.lock import sync_lock\n"
        "with sync_lock(Path(sys.argv[1]), 0):\n    print('held', flush=True)\n    sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", code, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(VaultBusyError, match=str(holder.pid)), sync_lock(path, 0.05):
            pass
        holder.kill()
        holder.wait()
        with sync_lock(path, 0):
            pass


def test_opening_while_another_process_indexes_gives_what_is_there(
    notes: Path, write: Write, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Searches do not wait for a long index run of another process; a line names that process."""
    write("n.md", "walrus")
    with Vault.open(notes) as vault:
        lock = state_of(vault).with_suffix(".lock")
    monkeypatch.setattr("vault_memory.index.state.file.State.syncing", lambda self: sync_lock(lock, 0))
    with sync_lock(lock, 0), Vault.open(notes) as reader:
        assert found(reader) == ["n.md"]
    assert f"process {os.getpid()} is indexing" in caplog.text


def test_vectors_are_shared_between_checkouts(notes: Path, write: Write, tmp_path: Path) -> None:
    """A second checkout of the same notes embeds none of them."""

    class Counting:
        fingerprint = Fingerprint("counting", "1", 256)
        max_input_chars = None
        count = 0

        def embed_documents(self, texts: Sequence[str]) -> Vector:
            self.count += len(texts)
            return StaticEmbedder().embed_documents(texts)

        def embed_query(self, text: str) -> Vector:
            return StaticEmbedder().embed_query(text)

    write("n.md", "walrus")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "n.md").write_text("walrus")
    embedder = Counting()
    Vault.open(notes, embedder=embedder).close()
    with Vault.open(tmp_path / "other", embedder=embedder) as vault:
        assert found(vault, "semantic") == ["n.md"]
    assert embedder.count == 1


def test_folders_that_cannot_be_listed_keep_their_records_marked_stale(
    notes: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unreadable folder loses no record: they are found, and counted as stale."""
    write("open/n.md", "walrus")
    write("closed/sub/n.md", "walrus")
    with Vault.open(notes) as vault:

        def refuse(folder: str) -> list[Listed]:
            if folder.rstrip("/").endswith("closed"):
                raise PermissionError(13, "Permission denied")
            return list_folder(folder)

        monkeypatch.setattr(sys.modules["vault_memory.store.walk"], "list_folder", refuse)
        report = vault.sync()
        assert report.removed == ()
        assert sorted(found(vault)) == ["closed/sub/n.md", "open/n.md"]
        assert vault.search("walrus").evidence.freshness.stale == 1
        assert [file.path for file in vault.quarantined] == ["closed"]


def test_an_interrupt_keeps_what_was_done(notes: Path, write: Write) -> None:
    """Ctrl-C between records ends the pass with every record so far in the index."""
    for n in range(10):
        write(f"{n}.md", f"walrus {n}")

    def interrupt(done: int, _total: int) -> None:
        if done == 5:
            raise KeyboardInterrupt

    with Vault.attach(notes) as vault:
        with pytest.raises(KeyboardInterrupt):
            vault.sync(progress=interrupt)
        assert 4 <= vault.status().records <= 5
        vault.sync()
        assert vault.status().records == 10


def test_where_the_state_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The argument wins over the environment, the environment over the cache folder, and that falls back."""
    assert state_folder(tmp_path) == tmp_path
    monkeypatch.setenv("VAULT_MEMORY_STATE_DIR", str(tmp_path / "env"))
    assert state_folder() == tmp_path / "env"
    monkeypatch.delenv("VAULT_MEMORY_STATE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert state_folder() == tmp_path / "cache" / "vault-memory"
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert state_folder().name.startswith("vault-memory-")


@pytest.mark.parametrize("table", ["packed", "lexical_fragments"])
def test_a_flipped_bit_in_a_vector_or_a_text_is_noticed(notes: Path, write: Write, table: str) -> None:
    """What a database does not notice, a checksum does: the index is made anew, and the answer is right."""
    for n in range(20):
        write(f"{n}.md", f"walrus {n}")
    with Vault.open(notes) as vault:
        path, wanted = state_of(vault), [(hit.path, hit.score, hit.text) for hit in vault.search("walrus 7")]
    with closing(sqlite3.connect(path)) as connection, connection:
        column = "matrix" if table == "packed" else "text"
        for rowid, data in connection.execute(f"SELECT rowid, {column} FROM {table}").fetchall():
            kind, raw = type(data), data if isinstance(data, bytes) else data.encode()
            flipped = raw[:-1] + bytes([raw[-1] ^ 1])
            value = flipped if kind is bytes else flipped.decode()
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (value, rowid))
    with Vault.open(notes) as vault:
        assert [(hit.path, hit.score, hit.text) for hit in vault.search("walrus 7")] == wanted


def test_a_look_with_other_settings_costs_nothing(notes: Path, write: Write) -> None:
    """Attaching with another embedder does not touch the index; only a pass that fills it again does."""
    write("n.md", "walrus")
    Vault.open(notes).close()

    class Other(StaticEmbedder):
        fingerprint = Fingerprint("other", "1", 256)

    Vault.attach(notes, embedder=Other()).close()
    with Vault.attach(notes) as vault:
        assert found(vault) == ["n.md"]


def test_a_full_disk_is_no_damage(notes: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the disk refuses is told; the index stays, and the next pass goes on from it."""
    for n in range(50):
        write(f"{n}.md", f"walrus {n}")
    with Vault.open(notes) as vault:
        before = state_of(vault).stat().st_ino
        for n in range(50):
            write(f"{n}.md", f"otter {n} " * 200)
        connect = State._connect

        def small(state: State) -> sqlite3.Connection:
            connection = connect(state)
            (pages,) = connection.execute("PRAGMA page_count").fetchone()
            connection.execute(f"PRAGMA max_page_count = {pages}")
            return connection

        monkeypatch.setattr(State, "_connect", small)
        with pytest.raises(FragmentIndexError, match="full") as caught:
            vault.sync()
        assert not isinstance(caught.value, StateLostError)
        monkeypatch.undo()
        assert state_of(vault).stat().st_ino == before
        assert len(vault.sync().changed) == 50


def test_verify_finds_damage_that_no_search_touches(notes: Path, write: Write) -> None:
    """A pass with `verify` looks at every packed row, and the index is made anew."""
    for n in range(20):
        write(f"{n}.md", f"walrus {n}")
    with Vault.open(notes) as vault:
        with closing(sqlite3.connect(state_of(vault))) as connection, connection:
            connection.execute("DELETE FROM packed WHERE rid % 2")
        vault.sync(verify=True)
        assert len(vault.search("walrus", mode="semantic", top_k=50)) == 20


def test_a_lock_that_is_no_file_is_a_clear_error(notes: Path, write: Write) -> None:
    """Something else in the place of the lock is named."""
    write("n.md", "walrus")
    with Vault.open(notes) as vault:
        lock = state_of(vault).with_suffix(".lock")
        lock.unlink()
        lock.mkdir()
        with pytest.raises(FragmentIndexError, match="lock"):
            vault.sync()
