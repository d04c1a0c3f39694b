"""The hard notes, each read as a record: what must come of it is in `expect.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from vault_memory.errors import RecordEncodingError, RecordError
from vault_memory.markdown.inline import find_block_ids
from vault_memory.model import Record, Target
from vault_memory.records import parse_record

HERE = Path(__file__).parent
CASES: list[dict[str, Any]] = json.loads((HERE / "expect.json").read_text(encoding="utf-8"))
# Where two readings are fair, ours is that the note is good and nothing of it is lost.
GOOD = [case for case in CASES if case["status"] in ("ok", "ok|quarantine")]
BAD = [case for case in CASES if case["status"] == "quarantine"]
LINES = {"S01": 2, "S02": 3, "S03": 2, "S23": 3}
REASONS = {"S01": "Pruning: the winter round", "S02": "'@'", "S03": "unfilled template: `{{date}}`", "S23": "not UTF-8"}


def _read(name: str) -> Record:
    scope, _, file = name.rpartition("/")
    return parse_record(Target(scope, file.removesuffix(".md")), name, (HERE / "files" / name).read_bytes())


def _having(key: str) -> Any:
    return pytest.mark.parametrize("case", [pytest.param(c, id=c["id"]) for c in GOOD if key in c])


@pytest.mark.parametrize("case", [pytest.param(c, id=c["id"]) for c in GOOD])
def test_a_good_note_loses_no_character(case: dict[str, Any]) -> None:
    """Header and body together are the file, and the metadata can be sent as JSON."""
    record = _read(case["file"])
    assert record.header + record.body == (HERE / "files" / case["file"]).read_bytes().decode("utf-8")
    assert json.loads(json.dumps(dict(record.metadata))) == record.metadata


@pytest.mark.parametrize("case", [pytest.param(c, id=c["id"]) for c in BAD])
def test_a_bad_note_says_where_and_why(case: dict[str, Any]) -> None:
    """The error of a note that cannot be loaded holds its path once, the line of the file and a readable reason."""
    with pytest.raises(RecordError) as caught:
        _read(case["file"])
    error = caught.value
    assert str(error) == f"{case['file']}:{LINES[case['id']]}: {error.reason}"
    assert REASONS[case["id"]] in error.reason
    if "bad_byte_at" in case:
        assert isinstance(error, RecordEncodingError)
        assert error.byte_position == case["bad_byte_at"]
        assert "0xE4" in error.reason


@_having("body_chars")
def test_the_body_is_kept_as_it_stands(case: dict[str, Any]) -> None:
    """The body starts and ends where the case says, counted without a byte order mark."""
    record = _read(case["file"])
    if "body_start" in case:
        assert len(record.header.removeprefix("\ufeff")) == case["body_start"]
    assert len(record.body) == case["body_chars"]
    assert "\ufeff" not in record.body


@_having("metadata")
def test_properties_are_what_was_written(case: dict[str, Any]) -> None:
    """Each named property has the value of the case, under the key as it is written."""
    metadata = _read(case["file"]).metadata
    assert {key: metadata[key] for key in case["metadata"]} == case["metadata"]


@_having("tags")
def test_tags_are_found(case: dict[str, Any]) -> None:
    """The tags are those of the case, and no others."""
    assert list(_read(case["file"]).tags) == case["tags"]


@_having("links")
def test_links_are_found(case: dict[str, Any]) -> None:
    """The links are those of the case, and none of what only looks like one."""
    record = _read(case["file"])
    assert list(record.links) == case["links"]
    assert not set(case.get("not_links", ())) & set(record.links)


@_having("block_ids")
def test_block_ids_are_found(case: dict[str, Any]) -> None:
    """The block ids are those of the case; none comes from math or code."""
    assert [found.id for found in find_block_ids(_read(case["file"]).body)] == case["block_ids"]


@_having("name")
def test_a_dot_in_a_name_stays(case: dict[str, Any]) -> None:
    """A note without a title is called as its file, up to the ending alone."""
    assert _read(case["file"]).title == case["name"]


def test_a_null_is_neither_tag_nor_alias() -> None:
    """An empty item of a tag list, and a property without a value, give nothing."""
    assert "None" not in _read("tags-mixed.md").tags
    assert _read("tags-as-one-line.md").aliases == ("Green corner",)


def test_an_impossible_date_stays_text() -> None:
    """A date that no calendar has does not stop the reading; it stays as written."""
    assert _read("impossible-date.md").metadata["due"] == "2023-02-30"


def test_a_note_without_properties_keeps_its_first_rule() -> None:
    """A block that is no mapping, and one that is never closed, stay in the body."""
    assert "The gate sticks in wet weather" in _read("rule-first.md").body
    assert _read("never-closed.md").metadata == {}


def test_a_repaired_note_is_good() -> None:
    """The note with two colons is good once the value is in quotes."""
    broken = (HERE / "files" / "colon-in-title.md").read_text(encoding="utf-8")
    repaired = broken.replace("Pruning: the winter round", '"Pruning: the winter round"')
    record = parse_record(Target("", "colon-in-title"), "colon-in-title.md", repaired.encode())
    assert record.title == "Pruning: the winter round"
    assert record.kind == "howto"
