"""The law of the index: after any changes, in any batches, it equals one built fresh from the folder."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from vault_memory import Vault

WORDS = ["walrus", "otter", "heron", "lynx"]
PATHS = ["a.md", "b.md", "sub/a.md", "sub/deep/c.md", "Ä.md", "sub/x.markdown"]
paths = st.sampled_from(PATHS)
sections = st.lists(st.tuples(st.sampled_from(WORDS), st.integers(0, 3)), max_size=4)


def dump(state_path: str) -> dict[str, Any]:
    """All that a state holds, without row numbers, stamps and times."""
    queries = {
        "records": "SELECT scope, name, path, digest, title, kind, tags, metadata, fragments, failure FROM records",
        "fragments": 'SELECT scope, name, start, "end", ordinal, first_line, last_line, heading_path, f.digest, vector_key'
        " FROM fragments f JOIN records USING (rid)",
        "vectors": "SELECT scope, name, places, matrix FROM packed JOIN records USING (rid)",
        "quarantine": "SELECT path, scope, error, reason, line FROM quarantine",
        "counts": "SELECT key, value FROM meta WHERE key IN ('records', 'fragments', 'pending')",
    }
    with closing(sqlite3.connect(state_path)) as connection:
        return {name: sorted(map(repr, connection.execute(query))) for name, query in queries.items()}


def answers(vault: Vault) -> list[Any]:
    """What the vault answers to some questions, in each mode."""
    return [
        [(hit.path, hit.locator, hit.score, hit.text) for hit in vault.search(word, top_k=50, mode=mode)]
        for word in (*WORDS, "Section 1")
        for mode in ("semantic", "lexical", "hybrid")
    ]


class FolderAndIndex(RuleBasedStateMachine):
    """A person edits, the index follows in passes over all or some of the paths."""

    @initialize()
    def open_vault(self) -> None:
        """Begin with an empty folder."""
        self.home = Path(tempfile.mkdtemp())
        self.root = self.home / "notes"
        self.root.mkdir()
        (self.root / "keeps.md").write_text("This one stays, so that the folder is never empty.")
        self.touched: set[str] = set()
        self.vault = Vault.open(self.root, state_dir=self.home / "state")

    @rule(path=paths, parts=sections)
    def save(self, path: str, parts: list[tuple[str, int]]) -> None:
        """Create or edit a note."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"# Section {n}\n\nAbout the {word} and more.\n\n" for word, n in parts))
        self.touched.add(path)

    @rule(path=paths)
    def save_bad(self, path: str) -> None:
        """Save a note that cannot be loaded."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"---\na: b: c\n---\nwalrus\n" if len(path) % 2 else b"otter \xff")
        self.touched.add(path)

    @rule(path=paths, other=paths)
    def move(self, path: str, other: str) -> None:
        """Rename or move a note, over another one if it is there."""
        if (self.root / path).exists():
            (self.root / other).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).replace(self.root / other)
            self.touched |= {path, other}

    @rule(path=paths, other=paths)
    def copy(self, path: str, other: str) -> None:
        """Copy a note."""
        if path != other and (self.root / path).exists():
            (self.root / other).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.root / path, self.root / other)
            self.touched.add(other)

    @rule(name=st.sampled_from(["sub", "sub/deep", "moved"]), other=st.sampled_from(["moved", "sub/other", "sub"]))
    def move_folder(self, name: str, other: str) -> None:
        """Rename a folder, or move it."""
        source, goal = self.root / name, self.root / other
        if source.is_dir() and not goal.exists() and not other.startswith(f"{name}/"):
            goal.parent.mkdir(parents=True, exist_ok=True)
            source.rename(goal)
            self.touched |= {name, other}

    @rule(path=st.sampled_from([*PATHS, "sub", "moved"]))
    def delete(self, path: str) -> None:
        """Delete a note or a folder."""
        if (self.root / path).is_dir():
            shutil.rmtree(self.root / path)
        else:
            (self.root / path).unlink(missing_ok=True)
        self.touched.add(path)

    @rule()
    def sync_what_was_touched(self) -> None:
        """Pass over the touched paths only, as the watcher does."""
        self.vault.sync(paths=self.touched or {"keeps.md"})
        self.touched.clear()

    @rule(verify=st.booleans())
    def sync_everything(self, verify: bool) -> None:
        """Pass over the whole folder."""
        self.vault.sync(verify=verify)
        self.touched.clear()

    @rule()
    def reopen(self) -> None:
        """End the process and open the vault again."""
        self.vault.close()
        self.vault = Vault.open(self.root, state_dir=self.home / "state")
        self.touched.clear()

    @invariant()
    def equals_a_fresh_build(self) -> None:
        """At rest, state and answers are those of a fresh build."""
        if self.touched:
            return
        with Vault.open(self.root, state_dir=tempfile.mkdtemp(dir=self.home)) as fresh:
            assert dump(self.vault.status().state_path) == dump(fresh.status().state_path)
            assert answers(self.vault) == answers(fresh)
            assert [str(file.error) for file in self.vault.quarantined] == [str(f.error) for f in fresh.quarantined]

    def teardown(self) -> None:
        """Leave nothing behind."""
        with contextlib.suppress(AttributeError):
            self.vault.close()
            shutil.rmtree(self.home)


FolderAndIndex.TestCase.settings = settings(max_examples=15, stateful_step_count=15, deadline=None)
TestFolderAndIndex = FolderAndIndex.TestCase
