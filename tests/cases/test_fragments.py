"""The hard notes, cut into blocks and fragments: what must come of it is in `expect.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from vault_memory.chunking import chunk_markdown
from vault_memory.config import ChunkSettings
from vault_memory.markdown.blocks import parse_blocks
from vault_memory.markdown.graphemes import is_cluster_boundary
from vault_memory.markdown.inline import find_block_ids
from vault_memory.model import Fragment, Target
from vault_memory.records import parse_record

HERE = Path(__file__).parent
CASES: list[dict[str, Any]] = json.loads((HERE / "expect.json").read_text(encoding="utf-8"))
GOOD = [case for case in CASES if case["status"] in ("ok", "ok|quarantine")]


def _body_of(name: str) -> str:
    return parse_record(Target("", "note"), name, (HERE / "files" / name).read_bytes()).body


def _fragments_of(name: str) -> list[Fragment]:
    return chunk_markdown(_body_of(name))


def _having(key: str) -> Any:
    return pytest.mark.parametrize("case", [pytest.param(c, id=c["id"]) for c in GOOD if key in c])


@pytest.mark.parametrize("case", [pytest.param(c, id=c["id"]) for c in GOOD])
def test_fragments_are_true_and_cover_the_body(case: dict[str, Any]) -> None:
    """Each fragment is its span, the starts rise, no fragment is blank, and every word is in one."""
    body, fragments = _body_of(case["file"]), _fragments_of(case["file"])
    assert all(body[f.locator.start : f.locator.end] == f.text for f in fragments)
    assert all(f.text.strip() for f in fragments)
    starts = [f.locator.start for f in fragments]
    assert starts == sorted(set(starts))
    covered = {position for f in fragments for position in range(f.locator.start, f.locator.end)}
    assert all(position in covered for position, character in enumerate(body) if not character.isspace())


@_having("headings")
def test_headings_are_found(case: dict[str, Any]) -> None:
    """Level, text and offset of each heading are those of the case; nothing else is a heading."""
    found = [[b.level, b.text, b.text_start] for b in parse_blocks(_body_of(case["file"])) if b.kind == "heading"]
    assert found == case["headings"]


@_having("whole")
def test_some_texts_stay_in_one_piece(case: dict[str, Any]) -> None:
    """Each of the texts stands whole in one fragment."""
    fragments = _fragments_of(case["file"])
    for text in case["whole"]:
        assert any(text in f.text for f in fragments), text


@_having("count_in_fragments")
def test_twins_are_told_apart(case: dict[str, Any]) -> None:
    """The same paragraph is found as often as it stands there, each time at its own place."""
    fragments = _fragments_of(case["file"])
    for text, count in case["count_in_fragments"].items():
        assert sum(f.text.count(text) for f in fragments) == count
    assert len({f.locator for f in fragments}) == len(fragments)


@_having("fragments")
def test_an_empty_note_has_no_fragment(case: dict[str, Any]) -> None:
    """The number of fragments is that of the case."""
    assert len(_fragments_of(case["file"])) == case["fragments"]


def test_no_row_of_a_table_is_cut() -> None:
    """Every row of the wide table stands whole in a fragment."""
    fragments = _fragments_of("wide-table.md")
    for row in _body_of("wide-table.md").splitlines():
        assert any(row in f.text for f in fragments), row


def test_no_cut_falls_into_a_cluster() -> None:
    """Fragments of joined emoji, flags and combining marks start and end at cluster boundaries."""
    body = _body_of("clusters.md")
    for fragment in _fragments_of("clusters.md"):
        assert is_cluster_boundary(body, fragment.locator.start)
        assert is_cluster_boundary(body, fragment.locator.end)


def test_a_text_without_spaces_is_cut_to_size() -> None:
    """No fragment of an unbroken line exceeds the limit."""
    limit = ChunkSettings().max_chars
    fragments = _fragments_of("no-spaces.md")
    assert len(fragments) > 1
    assert all(len(f.text) <= limit for f in fragments)


def test_a_block_id_is_with_its_block() -> None:
    """The id below a table is in the fragment of the table."""
    body = _body_of("block-ids.md")
    ids = {found.id: found for found in find_block_ids(body)}
    fragments = _fragments_of("block-ids.md")
    assert any("| 1 | 2 |" in f.text and f.locator.start <= ids["tab3"].start < f.locator.end for f in fragments)
