"""Notes beside the fragments that they make.

For each `chunking/NAME.md` the file `chunking/NAME.fragments.txt` shows the fragments: a line `== start..end  heading
path`, then the text, each of its lines behind `| `. Running this file as a script writes them anew, for a person to
read the difference.
"""

from pathlib import Path

import pytest

from vault_memory.chunking import chunk_markdown
from vault_memory.config import ChunkSettings

NOTES = sorted((Path(__file__).parent / "chunking").glob("*.md"))
# Small sizes, so that a page shows what becomes of blocks that are too long.
SETTINGS = ChunkSettings(target_chars=120, max_chars=200)


def render(body: str) -> str:
    """Write the fragments of a body for a person to read."""
    shown = []
    for fragment in chunk_markdown(body, SETTINGS):
        locator = f"== {fragment.locator.start}..{fragment.locator.end}"
        shown.append("  ".join([locator, " > ".join(fragment.heading_path)]).rstrip())
        shown.extend(f"| {line}".rstrip() for line in fragment.text.replace("\r\n", "␍\n").split("\n"))
    return "\n".join(shown) + "\n"


def test_there_are_notes() -> None:
    """The folder of golden notes is found."""
    assert NOTES


@pytest.mark.parametrize("note", NOTES, ids=lambda note: note.stem)
def test_a_note_makes_the_fragments_beside_it(note: Path) -> None:
    """Cutting gives exactly the fragments that are written down."""
    expected = note.with_suffix(".fragments.txt").read_text(encoding="utf-8")
    assert render(note.read_bytes().decode("utf-8")) == expected


if __name__ == "__main__":
    for path in NOTES:
        path.with_suffix(".fragments.txt").write_text(render(path.read_bytes().decode("utf-8")), encoding="utf-8")
