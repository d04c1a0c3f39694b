"""Terminal sessions against a copy of the example vault, compared exactly.

In a transcript `$` begins a command, `!` a line on standard error, `?` an exit code other than 0.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TRANSCRIPTS = sorted(HERE.glob("*.txt"))


def run(command: str, folder: Path) -> list[str]:
    """Run one command as a person would, and return it with what it printed, in the form of a transcript."""
    program, *arguments = shlex.split(command)
    assert program == "vault-memory"
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    done = subprocess.run(
        [sys.executable, "-m", "vault_memory", *arguments],
        cwd=folder,
        capture_output=True,
        env=environment,
        check=False,
    )
    out, error = (stream.decode().replace(f"{folder}/", "") for stream in (done.stdout, done.stderr))
    lines = [f"$ {command}", *out.splitlines(), *(f"! {line}" for line in error.splitlines())]
    return lines + ([f"? {done.returncode}"] if done.returncode else [])


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda path: path.stem)
def test_session(transcript: Path, sample_vault: Path) -> None:
    """Every command of the session prints exactly what the transcript shows."""
    expected = transcript.read_text(encoding="utf-8").splitlines()
    commands = [line.removeprefix("$ ") for line in expected if line.startswith("$ ")]
    assert [line for command in commands for line in run(command, sample_vault.parent)] == expected
