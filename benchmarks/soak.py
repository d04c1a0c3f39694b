"""Edit a copy of a vault at random for a while, kill its follower now and then, and compare with a fresh build.

Run `python benchmarks/soak.py` (two minutes over the example vault), or give others: `--vault ~/Notes --minutes 10`.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from vault_memory import Vault

SAMPLE = Path(__file__).parent.parent / "sample_vault"
QUESTIONS = ("water the seedlings", "engine", "edit", "section", "meeting notes")


def edit(root: Path, pick: random.Random, number: int) -> None:
    """Do one of the things that people and tools do to a folder of notes."""
    notes = [path for path in root.rglob("*.md") if path.is_file()]
    note, other = pick.choice(notes), pick.choice(notes)
    act = pick.randrange(8)
    if act == 0:
        note.write_bytes(note.read_bytes() + f"\n\n## Edit {number}\n\nedit {number}\n".encode())
    elif act == 1:
        temporary = note.with_name(f".{note.name}.tmp")
        temporary.write_bytes(f"# New {number}\n\n".encode() + note.read_bytes())
        temporary.replace(note)
    elif act == 2:
        note.replace(other.parent / f"moved {number}.md")
    elif act == 3:
        shutil.copyfile(note, other.parent / f"copy {number}.md")
    elif act == 4 and len(notes) > 20:
        note.unlink()
    elif act == 5:
        note.write_text("---\nbroken: a: b\n---\n")
    elif act == 6 and note.parent != root:
        note.parent.rename(note.parent.with_name(f"folder {number}"))
    else:
        (other.parent / f"new {number}.md").write_text(f"# Section {number}\n\nA section about edit {number}.\n")


def difference(kept: Vault, fresh: Vault) -> str | None:
    """Say in what two vaults over one folder differ, if they do."""
    for mode in ("semantic", "lexical", "hybrid"):
        for question in QUESTIONS:
            one, other = kept.search(question, top_k=200, mode=mode), fresh.search(question, top_k=200, mode=mode)
            if [(h.path, h.locator, h.score, h.text) for h in one] != [
                (h.path, h.locator, h.score, h.text) for h in other
            ]:
                return f"{mode} hits of {question!r}"
    if [str(file.error) for file in kept.quarantined] != [str(file.error) for file in fresh.quarantined]:
        return "the quarantined files"
    return None if kept.status().fragments == fresh.status().fragments else "the number of fragments"


def main() -> int:
    """Run the soak and say how it ended."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--vault", type=Path, default=SAMPLE)
    arguments.add_argument("--minutes", type=float, default=2.0)
    arguments.add_argument("--seed", type=int, default=0)
    options = arguments.parse_args()
    pick = random.Random(options.seed)
    edits = kills = 0
    with tempfile.TemporaryDirectory() as home:
        root, state = Path(home, "notes"), Path(home, "state")
        shutil.copytree(options.vault, root)
        command = [sys.executable, "-m", "vault_memory", "watch", str(root), "--state-dir", str(state), "--quiet"]
        deadline = time.monotonic() + options.minutes * 60
        while time.monotonic() < deadline:
            with subprocess.Popen(command, stdout=subprocess.DEVNULL) as follower:
                until = time.monotonic() + pick.uniform(0.2, 3.0)
                while time.monotonic() < until:
                    edit(root, pick, edits)
                    edits += 1
                    time.sleep(pick.choice([0, 0, 0.01, 0.1]))
                follower.send_signal(signal.SIGKILL)
                kills += 1
        with Vault.open(root, state_dir=state) as kept, Vault.open(root, state_dir=Path(home, "fresh")) as fresh:
            found = difference(kept, fresh)
            print(f"{edits} edits, {kills} kills, {kept.status().records} records at the end")
    print(f"different: {found}" if found else "equal to a fresh build")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
