"""The example vault shows what it is there to show: a real person's folder, with four notes that are bad on purpose."""

from __future__ import annotations

import json
import re
from pathlib import Path, PurePosixPath

import pytest
import yaml

from vault_memory.errors import FrontmatterError, RecordEncodingError
from vault_memory.model import Record
from vault_memory.store import FileTreeMemoryStore

VAULT = Path(__file__).parent.parent / "sample_vault"
BAD = {
    "Boat/Seekarte Notizen.md": RecordEncodingError,
    "Garden/Broken header.md": FrontmatterError,
    "Lab/Impossible header.md": FrontmatterError,
    "Templates/Daily note.md": FrontmatterError,
}
HEADER = re.compile(r"\A---\r?\n(.*?)^---\r?$\n?", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def store() -> FileTreeMemoryStore:
    """The example vault as a store that goes on after a bad note."""
    return FileTreeMemoryStore(VAULT, on_record_error="skip")


@pytest.fixture(scope="module")
def records(store: FileTreeMemoryStore) -> dict[str, Record]:
    """Its good notes by path."""
    return {record.path: record for record in store.records()}


def all_bodies(records: dict[str, Record]) -> str:
    """Return the bodies of all good notes, one after the other."""
    return "\n".join(record.body for record in records.values())


def test_about_sixty_notes_load(records: dict[str, Record]) -> None:
    """The vault is small enough to look through, and large enough to search."""
    assert 55 <= len(records) <= 75


def test_exactly_four_notes_are_bad(store: FileTreeMemoryStore, records: dict[str, Record]) -> None:
    """Broken YAML, wrong encoding, an unfilled template and an impossible header are quarantined, nothing else is."""
    found = {file.path: type(file.error) for file in store.quarantined}
    assert found == BAD
    assert not BAD.keys() & records.keys()


def test_reasons_can_be_acted_on(store: FileTreeMemoryStore) -> None:
    """Each bad note comes with a reason, and with the line where the fault is."""
    lines = {file.path: file.line for file in store.quarantined}
    assert lines["Garden/Broken header.md"] == 2
    assert lines["Templates/Daily note.md"] == 2
    assert lines["Lab/Impossible header.md"] == 3
    assert all(file.reason for file in store.quarantined)


def test_unfilled_template_is_named_as_one(store: FileTreeMemoryStore) -> None:
    """A placeholder that nobody filled in is called that, rather than bad YAML."""
    reasons = {file.path: file.reason for file in store.quarantined}
    assert "{{date}}" in reasons["Templates/Daily note.md"]


def test_headers_of_good_notes_are_plain_yaml(records: dict[str, Record]) -> None:
    """Any YAML parser, not just ours, reads the header of every good note as a mapping."""
    for path in records:
        header = HEADER.match((VAULT / path).read_bytes().decode())
        if header:
            assert isinstance(yaml.safe_load(header[1]), dict), path


def test_scopes_are_nested_three_deep(records: dict[str, Record]) -> None:
    """Folders lie in folders that lie in folders."""
    depths = [len(PurePosixPath(path).parent.parts) for path in records]
    assert min(depths) == 0
    assert max(depths) == 3


def test_diary_is_dated(records: dict[str, Record]) -> None:
    """About ten daily notes have their date as name, title and property, and all three agree."""
    days = [record for path, record in records.items() if path.startswith("Journal/2024/")]
    assert len(days) >= 10
    for day in days:
        assert re.fullmatch(r"2024-\d\d-\d\d", day.target.id)
        assert day.title == day.metadata["date"] == day.target.id


def test_long_note_has_more_than_a_hundred_sections(records: dict[str, Record]) -> None:
    """One note is a handbook with over 100 sections, every one under a title of its own and with a text of its own."""
    sections = re.split(r"^## ", records["Boat/Handbook.md"].body, flags=re.MULTILINE)[1:]
    titles, texts = zip(*(section.split("\n", 1) for section in sections), strict=True)
    assert len(set(titles)) == len(titles) > 100
    assert len(set(texts)) == len(texts)
    assert min(len(text) for text in texts) > 100


def test_readme_question_has_its_own_section(records: dict[str, Record]) -> None:
    """The README asks how seedlings are watered, and one section answers just that."""
    body = records["Garden/Seedlings.md"].body
    section = body.split("## Watering\n")[1].split("\n## ")[0]
    assert "Water seedlings from below" in section
    assert "when the surface of the compost dries" in section


@pytest.mark.parametrize(
    ("script", "at_least"),
    [(r"[\u3040-\u30ff\u4e00-\u9fff]", 3), (r"[\u0400-\u04ff]", 2)],
    ids=["japanese", "cyrillic"],
)
def test_other_scripts_are_there(script: str, at_least: int, records: dict[str, Record]) -> None:
    """Several notes are written in Japanese, which has no spaces between words, and in Ukrainian."""
    letters = re.compile(script)
    written_in_it = [path for path, record in records.items() if len(letters.findall(record.body)) > 300]
    assert len(written_in_it) >= at_least


@pytest.mark.parametrize(
    ("pattern", "at_least"),
    [
        (r"(?m)^> \[!\w+\]", 10),
        (r"(?m)^\|[-|]+\|$", 10),
        (r"(?m)^\$\$$", 8),
        (r"(?m)^- \[[ x]\] ", 20),
        (r"(?m) \^[a-z]+$", 4),
        (r"%%.+%%", 3),
        (r"\[\^\w+\]:", 2),
        (r"!\[\[", 3),
        (r"\[\[[^\]|]+\|[^\]]+\]\]", 4),
        (r"\[\[[^\]|#]+#[^\]^]+\]\]", 4),
        (r"\[\[[^\]|#]+#\^[^\]]+\]\]", 1),
        (r"(?m)(?:^|\s)#[a-z]+/[a-z]+", 1),
    ],
    ids=[
        "callouts",
        "tables",
        "math",
        "tasks",
        "block ids",
        "comments",
        "footnotes",
        "embeds",
        "shown texts",
        "heading links",
        "block links",
        "inline tags",
    ],
)
def test_every_kind_of_markup_is_used(pattern: str, at_least: int, records: dict[str, Record]) -> None:
    """What Obsidian understands in a body occurs in the example vault."""
    assert len(re.findall(pattern, all_bodies(records))) >= at_least


def test_code_is_in_several_languages(records: dict[str, Record]) -> None:
    """Fenced code comes in more than one language."""
    languages = set(re.findall(r"(?m)^```(\w+)$", all_bodies(records)))
    assert {"python", "bash", "sql", "rust", "yaml"} <= languages


def test_properties_are_of_every_type(records: dict[str, Record]) -> None:
    """Headers hold texts, whole and broken numbers, truth values, nulls, lists and maps."""
    types = {type(value) for record in records.values() for value in record.metadata.values()}
    assert types == {str, int, float, bool, type(None), list, dict}
    assert sum(bool(record.aliases) for record in records.values()) >= 15
    assert sum(bool(record.tags) for record in records.values()) >= 50


def test_properties_hold_links(records: dict[str, Record]) -> None:
    """Wikilinks stand in headers too, with quotes and without."""
    assert records["Garden/Seedlings.md"].metadata["related"] == ["[[Tomatoes]]", "[[Soil and compost]]"]
    assert records["Travel/Kyoto 2023.md"].metadata["companion"] == "[[Pia]]"
    assert "Tomatoes" in records["Garden/Seedlings.md"].links


def test_special_notes_are_there(records: dict[str, Record]) -> None:
    """One note is empty, one has no header, one has nothing but a header, one has CRLF line ends."""
    assert (VAULT / "Untitled.md").read_bytes() == b""
    assert records["Untitled.md"].body == ""
    assert records["Inbox.md"].header == ""
    assert records["People/Teodora.md"].metadata
    assert records["People/Teodora.md"].body == ""
    windows = (VAULT / "Travel/Night train packing.md").read_bytes()
    assert windows.count(b"\r\n") == windows.count(b"\n") > 20


def test_settings_and_ignored_notes_are_left_out(store: FileTreeMemoryStore, records: dict[str, Record]) -> None:
    """The settings folder of Obsidian and what the ignore file names are no notes, each with its reason."""
    left_out = {entry.path.rstrip("/"): entry.reason for entry in store.scan().left_out}
    assert json.loads((VAULT / ".obsidian" / "app.json").read_text(encoding="utf-8"))
    assert list((VAULT / "Archive").glob("*.md"))
    assert ".obsidian" in left_out
    assert ".vaultignore" in left_out["Archive"]
    assert not any(path.startswith((".obsidian", "Archive")) for path in records)


def test_links_lead_somewhere(records: dict[str, Record]) -> None:
    """Every link names a note of the vault by name, title or alias, or a file beside the notes."""
    names = {name for record in records.values() for name in (record.target.id, record.title, *record.aliases)}
    files = {file.name for file in VAULT.rglob("*") if file.is_file()}
    targets = {link.split("#")[0] for record in records.values() for link in record.links}
    assert len(targets) > 40
    assert targets - {""} <= names | files


def test_linked_headings_and_blocks_exist(records: dict[str, Record]) -> None:
    """A link to a heading or a block finds it in the note that it names."""
    by_name = {record.target.id: record for record in records.values()}
    places = [link.split("#", 1) for record in records.values() for link in record.links if "#" in link]
    assert len(places) >= 8
    for name, place in places:
        sought = rf"(?m) {re.escape(place)}$" if place.startswith("^") else rf"(?m)^#+ {re.escape(place)}$"
        assert re.search(sought, by_name[name].body), f"{name}#{place}"
