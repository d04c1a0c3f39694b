"""Notes beside the contexts that they make.

For each `context/NAME.md` the file `context/NAME.context.txt` is the text of a context of all its fragments, best first
in the order of their lengths. Running this file as a script writes them anew, for a person to read the difference.
"""

from pathlib import Path

import pytest

from vault_memory import Hit, Record, Target
from vault_memory.chunking import chunk_markdown
from vault_memory.config import ChunkSettings
from vault_memory.context import build_context
from vault_memory.records import parse_record
from vault_memory.retrieve.spans import read_hit

NOTES = sorted((Path(__file__).parent / "context").glob("*.md"))
# Small sizes, so that a page shows several passages.
SETTINGS = ChunkSettings(target_chars=60, max_chars=200)


def hits_of(record: Record) -> list[Hit]:
    """Return a hit for each fragment, the longest first."""
    fragments = sorted(
        chunk_markdown(record.body, SETTINGS), key=lambda fragment: (-len(fragment.text), fragment.locator)
    )
    return [
        Hit(
            target=record.target,
            locator=fragment.locator,
            score=1 / rank,
            scores={},
            path=record.path,
            lines=(0, 0),
            heading_path=fragment.heading_path,
            record_digest=record.digest,
            fragment_digest=fragment.digest,
            text=fragment.text,
            title=record.title,
        )
        for rank, fragment in enumerate(fragments, 1)
    ]


def render(note: Path) -> str:
    """Write the context of a note for a person to read."""
    record = parse_record(Target("", note.stem), note.name, note.read_bytes())
    return build_context(hits_of(record), lambda hit: read_hit(record, hit)).text + "\n"


def test_there_are_notes() -> None:
    """The folder of golden notes is found."""
    assert NOTES


@pytest.mark.parametrize("note", NOTES, ids=lambda note: note.stem)
def test_a_note_makes_the_context_beside_it(note: Path) -> None:
    """The text is exactly the one that is written down."""
    assert render(note) == note.with_suffix(".context.txt").read_text(encoding="utf-8")


if __name__ == "__main__":
    for path in NOTES:
        path.with_suffix(".context.txt").write_text(render(path), encoding="utf-8")
