"""Speed of the whole way, from a folder to hits, beside peers that are measured in the same run.

Run `python benchmarks/vault.py` (10,000 notes, about 50 MB), or give other numbers: `--notes 20000 --chars 2500`.
Peers: markdown-it-py's block parser for cutting; walking, stat-ing and reading the vectors' bytes for opening.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from vault_memory import Vault, chunk_markdown

SAMPLE = Path(__file__).parent.parent / "sample_vault"
QUESTIONS = (
    "how do I water seedlings",
    "why did the engine overheat",
    "who repairs the pump",
    "restore a backup of the database",
    "frost date and hardening off",
    "what was decided in the meeting",
)


def paragraphs() -> list[str]:
    """The paragraphs, lists, tables and code of the example vault."""
    texts = [file.read_text(encoding="utf-8", errors="replace") for file in sorted(SAMPLE.rglob("*.md"))]
    return [block for text in texts for block in text.split("\n\n") if len(block) > 40 and not block.startswith("---")]


def compose(folder: Path, notes: int, chars: int) -> int:
    """Write notes that share words but no paragraph, and return their size in bytes."""
    pick, blocks, size = random.Random(1), paragraphs(), 0
    words = sorted({word for block in blocks for word in block.split() if word.isalpha()})
    for number in range(notes):
        parts = [f"---\ntitle: Note {number}\ntags: [t{number % 50}]\n---\n# Note {number}\n"]
        while sum(map(len, parts)) < chars:
            # Two words of its own keep a paragraph from being embedded once for many notes.
            parts.append(f"## {pick.choice(words)} {len(parts)}\n\n{pick.choice(words)} {pick.randrange(10**6)}. ")
            parts.append(f"{pick.choice(blocks)}\n")
        path = folder / f"folder {number % 100}" / f"note {number}.md"
        path.parent.mkdir(exist_ok=True)
        size += path.write_text("\n".join(parts), encoding="utf-8")
    return size


def timed(act: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds that a call took, and what it returned."""
    start = time.perf_counter()
    result = act()
    return time.perf_counter() - start, result


def row(name: str, value: str, peer: str = "") -> None:
    """Print one line of the table."""
    print(f"{name:46} {value:>22}   {peer}", flush=True)


def bench_cutting(files: list[Path]) -> None:
    """Parse and cut bodies, beside a block parser that gives no spans."""
    bodies = [file.read_text(encoding="utf-8") for file in files]
    size = sum(len(body.encode()) for body in bodies) / 1e6
    parser = MarkdownIt("commonmark").enable("table").disable("inline")
    ours, _ = timed(lambda: [chunk_markdown(body) for body in bodies])
    peer, _ = timed(lambda: [parser.parse(body) for body in bodies])
    row("cut notes into fragments", f"{size / ours:.1f} MB/s", f"markdown-it-py, blocks only: {size / peer:.1f} MB/s")


def bench_opening(notes: Path, state: Path) -> None:
    """Open an unchanged vault, beside what the disk needs for the same files and bytes."""
    seconds, vault = timed(lambda: Vault.open(notes, state_dir=state))
    with vault:
        load, _ = timed(lambda: vault.search(QUESTIONS[0]))
        fragments = vault.status().fragments
        walk, _ = timed(lambda: [file.stat() for file in notes.rglob("*")])
        blob = state / "bytes"
        blob.write_bytes(bytes(fragments * 1024))
        read, _ = timed(blob.read_bytes)
        row("open unchanged", f"{seconds:.2f} s", f"walk and stat {walk:.2f} s, read the vectors' bytes {read:.2f} s")
        row("first search, model and vectors loaded", f"{load:.2f} s")
        row("sync of an unchanged vault", f"{timed(vault.sync)[0]:.2f} s")
        times = [timed(lambda q=question: vault.search(q))[0] for _ in range(5) for question in QUESTIONS]
        row(f"hybrid search, {fragments} fragments, median", f"{statistics.median(times) * 1e3:.1f} ms")
        times = [timed(lambda n=n: edit(vault, notes, n))[0] for n in range(15)]
        row("one saved note synced by its path, median", f"{statistics.median(times) * 1e3:.1f} ms")
        with vault.watch() as live:
            live.wait_settled()
            times = [timed(lambda n=n: until_found(vault, notes, n))[0] for n in range(5)]
        row("saved to searchable while followed, median", f"{statistics.median(times) * 1e3:.0f} ms")


def edit(vault: Vault, notes: Path, number: int) -> None:
    """Change one note and bring the index up to date."""
    path = notes / f"folder {number}" / f"note {number}.md"
    path.write_text(path.read_text(encoding="utf-8") + f"\nedit {number} {time.time()}\n", encoding="utf-8")
    report = vault.sync(paths=[path.relative_to(notes).as_posix()])
    assert len(report.changed) == 1


def until_found(vault: Vault, notes: Path, number: int) -> None:
    """Save a note and ask until it is found."""
    (notes / f"new {number}.md").write_text(f"zyzzyva number{number}", encoding="utf-8")
    while not vault.search(f'"number{number}"', mode="lexical").hits:
        time.sleep(0.002)


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--notes", type=int, default=10_000)
    arguments.add_argument("--chars", type=int, default=5_000)
    options = arguments.parse_args()
    print(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    with tempfile.TemporaryDirectory() as home:
        notes, state = Path(home, "notes"), Path(home, "state")
        notes.mkdir()
        size = compose(notes, options.notes, options.chars) / 1e6
        row("notes", f"{options.notes}, {size:.0f} MB")
        bench_cutting(sorted(notes.rglob("*.md"))[:1000])
        seconds, vault = timed(lambda: Vault.open(notes, state_dir=state))
        vault.close()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        row("index from nothing", f"{seconds:.1f} s, peak {peak:.0f} MB", f"{size / seconds:.1f} MB/s")
        bench_opening(notes, state)
        command = [sys.executable, "-m", "vault_memory", "search", str(SAMPLE), QUESTIONS[0], "--state-dir", str(state)]
        times = [timed(lambda: subprocess.run(command, capture_output=True, check=True))[0] for _ in range(6)]
        row(
            "command line, example vault, cold process",
            f"{statistics.median(times[1:]):.2f} s",
            f"first {times[0]:.2f} s",
        )


if __name__ == "__main__":
    main()
