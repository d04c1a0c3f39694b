"""Rules of cutting a body into fragments."""

import pytest

from vault_memory.chunking import chunk_markdown
from vault_memory.config import ChunkSettings

SMALL = ChunkSettings(target_chars=80, max_chars=120)


def _texts(body: str, settings: ChunkSettings = SMALL) -> list[str]:
    fragments = chunk_markdown(body, settings)
    for fragment in fragments:
        assert body[fragment.locator.start : fragment.locator.end] == fragment.text
    return [fragment.text for fragment in fragments]


def _rows(count: int) -> str:
    return "\n".join(f"| plot {number:02} | kale | {number} kg |" for number in range(count))


@pytest.mark.parametrize("body", ["", "\n", " \t\r\n \n", "\u00a0\n\u3000"])
def test_a_blank_body_has_no_fragment(body: str) -> None:
    """Nothing to read makes no fragment."""
    assert chunk_markdown(body) == []


def test_a_section_that_fits_is_one_fragment() -> None:
    """Blocks under one heading stay together with it."""
    body = "# Beds\n\nDig.\n\n- leeks\n- kale\n\n## South\n\nSow.\n"
    assert _texts(body) == ["# Beds\n\nDig.\n\n- leeks\n- kale", "## South\n\nSow."]


def test_a_fragment_knows_the_heading_that_it_begins_with_or_stands_under() -> None:
    """The heading path is that of the last heading at the fragment's beginning, for every piece of the section."""
    body = "Before.\n\n# Beds\n\n## South\n\n" + "\n\n".join(f"Row {n} of leeks was sown late." for n in range(9))
    paths = [fragment.heading_path for fragment in chunk_markdown(body, SMALL)]
    assert paths[0] == ()
    assert len(paths) > 3
    assert set(paths[1:]) == {("Beds", "South")}


def test_headings_without_content_go_with_the_text_that_follows() -> None:
    """A run of bare headings, with rules between them, begins the next fragment."""
    body = "# Year\n\n---\n\n## March\n\n### Week 9\n\nFrost.\n\n## April\n\nRain.\n"
    assert _texts(body) == ["# Year\n\n---\n\n## March\n\n### Week 9\n\nFrost.", "## April\n\nRain."]


def test_a_bare_heading_at_the_end_is_a_fragment_of_its_own() -> None:
    """No text follows it, and its words must be found."""
    fragments = chunk_markdown("Frost.\n\n## April\n\n## May\n", SMALL)
    assert [fragment.text for fragment in fragments] == ["Frost.", "## April\n\n## May"]
    assert fragments[1].heading_path == ("May",)


def test_a_long_run_of_headings_is_cut_between_headings() -> None:
    """Headings alone obey the maximum too, each piece under its own last heading."""
    body = "\n".join(f"# Bed number {number:03}" for number in range(40))
    fragments = chunk_markdown(body, SMALL)
    assert all(len(fragment.text) <= 120 for fragment in fragments)
    assert all(fragment.heading_path == (fragment.text.splitlines()[-1][2:],) for fragment in fragments)


def test_a_long_heading_is_cut_like_prose() -> None:
    """A heading longer than a fragment is divided between words and leads none of the text below."""
    body = "# " + "leek " * 60 + "\n\nSown.\n"
    texts = _texts(body)
    assert all(len(text) <= 120 for text in texts)
    assert " ".join(texts).split() == body.split()


def test_blank_lines_are_outside_and_indentation_is_inside() -> None:
    """A fragment starts with the indentation of its first line, and ends with its last letter."""
    body = "\n\n    make seedlist\n    make labels\n\nThen print.   \n\n\n"
    assert _texts(body) == ["    make seedlist\n    make labels\n\nThen print."]


def test_the_same_text_twice_has_two_places() -> None:
    """Twins are told apart by their offsets."""
    body = "## Log\n\nWatered.\n\nAll well.\n\n" * 3
    starts = [fragment.locator.start for fragment in chunk_markdown(body)]
    assert starts == [0, 29, 58]


def test_a_long_table_is_cut_between_rows() -> None:
    """Each row stands whole in one fragment."""
    table = "| plot | crop | yield |\n|------|------|-------|\n" + _rows(30)
    texts = _texts(f"# Yield\n\n{table}\n")
    assert texts[0].startswith("# Yield\n\n| plot")
    assert [line for text in texts for line in text.splitlines() if line.startswith("|")] == table.splitlines()


def test_a_long_table_keeps_its_block_id_with_the_last_row() -> None:
    """A block id on its own line belongs to the block above it."""
    texts = _texts(f"| plot | crop | yield |\n|---|---|---|\n{_rows(30)}\n\n^tab3\n\nMore text.\n")
    assert [text for text in texts if "^tab3" in text and "plot 29" in text]


def test_a_block_id_that_is_far_away_is_on_its_own() -> None:
    """A block id does not drag its block over the maximum."""
    texts = _texts("x " * 55 + "\n" * 40 + "^far\n" + "y " * 55)
    assert all(len(text) <= 120 for text in texts)


def test_a_fence_that_fits_is_never_cut() -> None:
    """Code up to the maximum stays whole, if need be apart from its heading."""
    fence = "```sh\n" + "open_valve 3\n" * 8 + "```"
    assert 100 < len(fence) <= 120
    texts = _texts(f"## A heading of its own\n\nShort.\n\n{fence}\n\nTail.\n")
    assert any(fence in text for text in texts)
    texts = _texts(f"## A heading of its own\n\n{fence}\n\n^code\n")
    assert any(fence in text for text in texts)


def test_a_long_fence_is_cut_at_blank_lines_first() -> None:
    """Code that is too long is divided between its paragraphs, then between its lines."""
    part = "valve = open_valve(3)\nvalve.wait_until_full()"
    texts = _texts("```py\n" + "\n\n".join([part] * 6) + "\n```\n")
    assert all(text.count("open_valve") == text.count("wait_until_full") for text in texts)
    long_lines = _texts("```py\n" + "valve.wait_until_full()\n" * 30 + "```\n")
    assert {line for text in long_lines for line in text.splitlines()} == {"```py", "valve.wait_until_full()", "```"}


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_long_list_is_cut_between_items(newline: str) -> None:
    """Items stay whole whatever ends their lines."""
    items = [f"- item {number:02}{newline}  and its second line" for number in range(20)]
    texts = _texts(newline.join(items))
    assert len(texts) > 4
    assert all(text.startswith("- item") for text in texts)


def test_a_long_quote_is_cut_between_its_blocks_or_lines() -> None:
    """Every piece of a quote begins with its mark."""
    texts = _texts("\n".join(f"> line {number:02} of a long quotation" for number in range(20)))
    assert len(texts) > 4
    assert all(text.startswith("> line") for text in texts)


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    """Full stops cut, but not those of abbreviations and numbers."""
    sentence = "The pump, e.g. the one by the shed, lost 1.5 bar of pressure. "
    texts = _texts(sentence * 8)
    assert all(text.startswith("The pump") and text.endswith("pressure.") for text in texts)


def test_scripts_without_spaces_are_cut_between_sentences() -> None:
    """An ideographic full stop ends a sentence, and a closing bracket goes with it."""
    texts = _texts("「雨の日は畑に出ない。」種の袋を数え、道具を磨く。" * 20)
    assert all(text[-1] in "。」" and text[0] in "「種" for text in texts)


def test_a_paragraph_without_sentences_is_cut_between_lines() -> None:
    """Verse has lines and no full stops."""
    texts = _texts("\n".join("the leeks stand green in rows" for _ in range(20)))
    assert {line for text in texts for line in text.splitlines()} == {"the leeks stand green in rows"}


def test_a_sentence_that_is_too_long_is_cut_between_words() -> None:
    """No word is cut as long as it fits."""
    body = " ".join(f"leek{number}" for number in range(100))
    assert [word for text in _texts(body) for word in text.split()] == body.split()


def test_a_run_without_places_is_cut_between_clusters() -> None:
    """An emoji family, a flag and an accent stay whole, and nothing is lost."""
    cluster = "👨\u200d👩\u200d👧\u200d👦🇸🇪e\u0301"
    texts = _texts(cluster * 60)
    assert all(len(text) <= 120 and text[0] in "👨🇸e" for text in texts)
    assert "".join(texts) == cluster * 60


def test_a_cluster_longer_than_a_fragment_is_cut_between_code_points() -> None:
    """Nothing else would keep the maximum."""
    body = "e" + "\u0301" * 500
    texts = _texts(body)
    assert "".join(texts) == body
    assert all(len(text) <= 120 for text in texts)


def test_no_cut_parts_a_mark_from_its_space() -> None:
    """A combining mark after a space belongs to the space, so no word begins there."""
    texts = _texts("leek \u0301kale " * 40)
    assert not [text for text in texts if text.startswith("\u0301")]


@pytest.mark.parametrize("sizes", [(1, 1), (1, 2), (3, 3), (7, 50), (50, 50)])
def test_any_sizes_are_kept_and_lose_nothing(sizes: tuple[int, int]) -> None:
    """The cutter always advances, down to fragments of one character."""
    settings = ChunkSettings(*sizes)
    body = "# Öl\n\nEin Satz. Noch ein Satz!\n\n- a\n- b\n\n```\ncode\n```\n\n^id\n"
    texts = _texts(body, settings)
    assert all(text.strip() and len(text) <= settings.max_chars for text in texts)
    assert "".join("".join(texts).split()) == "".join(body.split())


def test_large_blocks_beside_small_ones_keep_the_maximum() -> None:
    """Where no balanced cut exists, an unbalanced one is made."""
    words = "valve " * 18
    texts = _texts(f"One.\n\n{words}\n\nTwo.\n\n{words}\n\nThree.\n")
    assert all(len(text) <= 120 for text in texts)
    assert sum(text.count(words.strip()) for text in texts) == 2


def test_wide_blanks_are_no_text() -> None:
    """Blanks between words or before a line do not count towards a fragment."""
    assert _texts("leek" + " " * 500 + "kale") == ["leek", "kale"]
    assert _texts("leek" + "\n" * 500 + "kale") == ["leek", "kale"]


def test_packed_data_makes_no_fragment() -> None:
    """The words around a picture are kept, its bytes are not, and no fragment reaches over it."""
    data = "data:image/png;base64," + "Ab1" * 100
    assert _texts(f"Look at ![the pump]({data}) here.\n") == ["Look at ![the pump](", "here."]
    assert _texts(f"# Photo\n\n![]({data})\n\n## Next\n\nText.\n") == ["# Photo", "## Next\n\nText."]
    long_text = "The leeks stand green. " * 9
    assert all("base64" not in text for text in _texts(f"{long_text}![]({data}){long_text}"))


def test_a_drawing_makes_no_fragment() -> None:
    """The text elements of a drawing are searchable, the scene is not."""
    body = "# Text Elements\nRain gauge ^a1\n\n%%\n## Drawing\n```compressed-json\nN4Kg\n```\n%%\n"
    assert _texts(body) == ["# Text Elements\nRain gauge ^a1"]


def test_text_that_the_blocks_leave_out_is_cut_as_well() -> None:
    """Link definitions are no block of CommonMark, and are still words of the body."""
    body = "\n".join(f"[bed{number}]: https://example.org/beds/{number} 'Bed {number}'" for number in range(30))
    texts = _texts(body)
    assert all(len(text) <= 120 for text in texts)
    assert "".join(texts).replace("\n", "").replace(" ", "") == body.replace("\n", "").replace(" ", "")


def test_rows_behind_a_cut_know_their_head_row() -> None:
    """A fragment that begins inside a table says where the row with the names of its columns is."""
    rows = "\n".join(f"| plot {n} | leek | {n} kg |" for n in range(90))
    body = f"Before.\n\n| plot | crop | yield |\n|---|---|---|\n{rows}\n\nBehind.\n"
    first, *others = chunk_markdown(body)
    assert first.table_head is None
    inside = [fragment for fragment in others if fragment.text.startswith("|")]
    assert inside
    for fragment in inside:
        assert fragment.table_head is not None
        assert body[fragment.table_head.start : fragment.table_head.end] == "| plot | crop | yield |"
