"""The README keeps its promises."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("example", re.findall(r"```python\n(.*?)```", README, re.DOTALL))
def test_python_examples_run(example: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Each Python block runs as it stands and prints something."""
    monkeypatch.chdir(ROOT)
    exec(compile(example, "README.md", "exec"), {})  # noqa: S102  # The examples are part of this repository.
    assert capsys.readouterr().out


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#:]+)\)", README))
def test_links_lead_somewhere(link: str) -> None:
    """Each relative link names a file of the repository."""
    assert (ROOT / link).exists()
