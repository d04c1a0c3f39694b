"""A killed process costs time and nothing else: real processes, real SIGKILL."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from vault_memory import Target, Vault

# Each kill starts a process that takes half a second until it does anything; more of them are for the soak test.
KILLS = 12

EDITOR = """
import random, sys
from vault_memory import Target, Vault
root, state, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
pick = random.Random(seed)
with Vault.open(root, state_dir=state) as vault:
    print("open", flush=True)
    while True:
        n = pick.randrange(30)
        vault.put(Target("", f"note {n}"), f"# One\\n\\nwalrus {pick.random()}\\n\\n# Two\\n\\notter {n}\\n")
        if pick.random() < 0.2:
            vault.sync()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL.")
def test_after_any_kill_the_index_equals_a_fresh_build(notes: Path, tmp_path: Path) -> None:
    """Killed at random moments, a writer leaves whole notes and a state that opens and equals a fresh build."""
    state = tmp_path / "state"
    pick = random.Random(7)
    for seed in range(KILLS):
        command = [sys.executable, "-c", EDITOR, str(notes), str(state), str(seed)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            if seed % 3:
                assert process.stdout.readline() == b"open\n"
            deadline = time.monotonic() + pick.random() * 0.3
            while time.monotonic() < deadline:
                assert process.poll() is None
            process.send_signal(signal.SIGKILL)
        assert not any(
            "walrus" not in file.read_text() or "otter" not in file.read_text()
            for file in notes.iterdir()
            if file.suffix == ".md"
        )
    with Vault.open(notes, state_dir=state) as vault, Vault.open(notes, state_dir=tmp_path / "fresh") as fresh:
        assert vault.quarantined == ()
        assert vault.status().records == fresh.status().records > 0
        for question in ("walrus", "otter 7"):
            kept, built = vault.search(question, top_k=100), fresh.search(question, top_k=100)
            assert [(h.target, h.locator, h.score, h.text) for h in kept] == [
                (h.target, h.locator, h.score, h.text) for h in built
            ]
        assert vault.get(Target("", kept[0].target.id)).digest == kept[0].record_digest


OPENER = """
import sys
from vault_memory import Vault
with Vault.open(sys.argv[1], state_dir=sys.argv[2]) as vault:
    print(len(vault.search("walrus", top_k=1000)), vault.status().records)
"""


def test_two_processes_open_a_new_vault_at_once(notes: Path, tmp_path: Path) -> None:
    """Both succeed, and both find everything."""
    for n in range(300):
        (notes / f"{n}.md").write_text(f"walrus {n}")
    command = [sys.executable, "-c", OPENER, str(notes), str(tmp_path / "state")]
    openers = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(3)]
    results = [opener.communicate() for opener in openers]
    assert results == [(b"300 300\n", b"")] * 3


def test_another_process_s_sync_is_seen_without_reopening(notes: Path, tmp_path: Path) -> None:
    """A reader follows the generation of the state, whoever wrote it."""
    (notes / "a.md").write_text("otter")
    with Vault.open(notes, state_dir=tmp_path / "state") as vault:
        assert [hit.path for hit in vault.search("walrus", mode="lexical")] == []
        (notes / "b.md").write_text("walrus")
        command = [sys.executable, "-c", OPENER, str(notes), str(tmp_path / "state")]
        subprocess.run(command, check=True, capture_output=True)
        for mode in ("lexical", "semantic"):
            assert vault.search("walrus", mode=mode)[0].path == "b.md"
