"""Laws of cutting a body into fragments."""

from collections import Counter
from pathlib import Path
from random import Random

import hypothesis
import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from vault_memory.chunking import chunk_markdown
from vault_memory.chunking.cuts import Place, choose_cuts, reach
from vault_memory.config import ChunkSettings
from vault_memory.markdown.blocks import parse_blocks
from vault_memory.markdown.graphemes import is_cluster_boundary
from vault_memory.markdown.packed import find_packed_spans

GOLDEN = sorted((Path(__file__).parents[1] / "golden" / "chunking").glob("*.md"))
# Beyond this many targets from an edit no fragment may change. Fragments settle at the next anchor; in 3,000 random
# edits of long sections the farthest change was less than two targets away.
SETTLED_TARGETS = 8

UNTIMED = hypothesis.settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

BLOCKS = st.sampled_from(
    [
        "# Beds",
        "## South\n",
        "Setext\n===",
        "The pump lost pressure. It was old! Was it?",
        "雨の日は畑に出ない。種の袋を数え、道具を磨く。",
        "- leeks\n- kale\n  - curly\n\n  second paragraph",
        "1. dig\n2. sow",
        "> quoted\n> lines\n>\n> more",
        "> [!note] Title\n> text",
        "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |",
        "```py\ncode()\n\n# no heading\n```",
        "~~~\nopen",
        "    indented code\n\n    more",
        "^tab3",
        "text ^id",
        "---",
        "<div>\nhtml\n</div>",
        "<!-- a\n\ncomment -->",
        "%%\nhidden\n%%",
        "$$\nx^2\n$$",
        "👨\u200d👩\u200d👧🇸🇪🇩🇪e\u0301\u0301 👍🏽",
        "각가\u11a8क्षि",
        "a \u0301b\u0301",
        "x" * 90,
        "\u3000",
        "[ref]: https://example.org 'Title'",
        "![](data:image/png;base64," + "Ab1+" * 40 + ")",
        "word ![pump](data:image/png;base64," + "Ab1+" * 40 + ") word",
        "%%\n## Drawing\n```compressed-json\nN4Kg\n```\n%%",
    ]
)
BODIES = st.builds(
    lambda parts, newline, gap: gap.join(parts).replace("\n", newline),
    st.lists(BLOCKS | st.text(max_size=40), max_size=25),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(["\n", "\n\n", "\n \n\n", " "]),
)
SETTINGS = st.tuples(st.integers(1, 60), st.integers(0, 60)).map(lambda sizes: ChunkSettings(sizes[0], sum(sizes)))


def check_laws(body: str, settings: ChunkSettings) -> None:
    """Check every law that holds for one body by itself."""
    covered = bytearray(len(body))
    for start, end in find_packed_spans(body):
        covered[start:end] = b"\1" * (end - start)
    headings = [block for block in parse_blocks(body) if block.kind == "heading"]
    position = 0
    for fragment in chunk_markdown(body, settings):
        start, end = fragment.locator.start, fragment.locator.end
        assert body[start:end] == fragment.text
        assert position <= start < end <= start + settings.max_chars
        assert not any(covered[start:end])
        covered[start:end] = b"\1" * (end - start)
        first_line = fragment.text.replace("\r", "\n").split("\n", 1)[0]
        assert first_line.strip()
        assert fragment.text == fragment.text.rstrip()
        above = [block.heading_path for block in headings if block.start < end]
        assert fragment.heading_path == (above[-1] if above else ())
        position = end
    assert not "".join(character for character, seen in zip(body, covered, strict=True) if not seen).strip()


@UNTIMED
@given(BODIES, SETTINGS)
@example("# a\n\n```\n" + "x\n" * 30 + "```\n\n^id", ChunkSettings(8, 8))
@example("\u0301" * 30 + "\r\n" + "🇸🇪" * 20, ChunkSettings(3, 5))
def test_spans_are_true_and_cover_the_body(body: str, settings: ChunkSettings) -> None:
    """Slices, order, sizes, edges, heading paths and coverage hold for any text and any sizes."""
    check_laws(body, settings)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_spans_of_the_golden_notes_are_true(path: Path) -> None:
    """The same laws hold for the notes whose fragments are written down."""
    body = path.read_bytes().decode()
    for settings in (ChunkSettings(), ChunkSettings(120, 200), ChunkSettings(5, 9)):
        check_laws(body, settings)


@UNTIMED
@given(BODIES.filter(lambda body: "\u0301" * 4 not in body))
def test_no_grapheme_cluster_is_cut(body: str) -> None:
    """Both edges of a fragment are cluster boundaries where clusters fit into fragments."""
    packed_edges = {edge for span in find_packed_spans(body) for edge in span}
    for fragment in chunk_markdown(body, ChunkSettings(20, 40)):
        for edge in (fragment.locator.start, fragment.locator.end):
            assert edge in packed_edges or is_cluster_boundary(body, edge)


@UNTIMED
@given(BODIES, SETTINGS)
def test_no_fragment_reaches_into_another_section(body: str, settings: ChunkSettings) -> None:
    """In a fragment, no heading stands behind content."""
    blocks = parse_blocks(body)
    for fragment in chunk_markdown(body, settings):
        kinds = [b.kind for b in blocks if fragment.locator.start < b.end and b.start < fragment.locator.end]
        content = [i for i, kind in enumerate(kinds) if kind not in {"heading", "thematic_break"}]
        assert "heading" not in kinds[content[0] :] if content else True


@UNTIMED
@given(BODIES, SETTINGS)
def test_cutting_is_repeatable(body: str, settings: ChunkSettings) -> None:
    """The same body and sizes give the same fragments."""
    assert chunk_markdown(body, settings) == chunk_markdown(body, settings)


def _paragraph(random: Random) -> str:
    return " ".join(f"w{random.randrange(500)}" for _ in range(random.choice([2, 10, 30, 60])))


@UNTIMED
@given(st.integers(0, 2**32), st.integers(0, 79), st.sampled_from(["replace", "insert", "delete"]))
def test_an_edit_changes_only_fragments_near_it(seed: int, index: int, edit: str) -> None:
    """In one long section, fragments that are far from the edited block keep their texts."""
    random = Random(seed)
    settings = ChunkSettings(120, 240)
    before = [_paragraph(random) for _ in range(80)]
    after = list(before)
    after[index : index + (edit != "insert")] = [] if edit == "delete" else [_paragraph(random)]
    body = "# Log\n\n" + "\n\n".join(before)
    edited = "# Log\n\n" + "\n\n".join(after)
    edit_start = len("# Log\n\n" + "\n\n".join(before[:index]))
    edit_end = edit_start + len(before[index]) + 2
    far = SETTLED_TARGETS * settings.target_chars
    kept = {fragment.text for fragment in chunk_markdown(edited, settings)}
    for fragment in chunk_markdown(body, settings):
        if fragment.locator.end < edit_start - far or fragment.locator.start > edit_end + far:
            assert fragment.text in kept


@UNTIMED
@given(st.lists(st.sampled_from(["Watered.", "All well.", "Rain."]), min_size=1, max_size=3), st.integers(0, 199))
def test_an_edit_among_repeated_blocks_changes_few_fragments(pattern: list[str], index: int) -> None:
    """Blocks that repeat give the same texts again behind an edit, though each moved."""
    settings = ChunkSettings(120, 240)
    before = (pattern * 200)[:200]
    after = [*before[:index], "Frost came early this year.", *before[index:]]
    old, new = (
        Counter(fragment.text for fragment in chunk_markdown("\n\n".join(blocks), settings))
        for blocks in (before, after)
    )
    assert (new - old).total() <= SETTLED_TARGETS
    assert (old - new).total() <= SETTLED_TARGETS


@UNTIMED
@given(st.lists(BLOCKS.filter(lambda block: "open" not in block), min_size=1, max_size=12), st.data())
def test_other_sections_keep_their_fragments(blocks: list[str], data: st.DataObject) -> None:
    """Replacing the content of one section leaves the fragments of all other sections as they were."""
    sections = [f"# Part {index}\n\nText {index}.\n\n{block}\n\nEnd.\n\n" for index, block in enumerate(blocks)]
    index = data.draw(st.integers(0, len(sections) - 1))
    edited = [*sections]
    edited[index] = f"# Part {index}\n\nOther words, and many more of them than before.\n\n"
    settings = ChunkSettings(30, 60)
    before, after = (
        [fragment.text for fragment in chunk_markdown("".join(parts), settings)] for parts in (sections, edited)
    )
    above = len(chunk_markdown("".join(sections[:index]), settings))
    below = [fragment.text for fragment in chunk_markdown("".join(sections[index + 1 :]), settings)]
    assert before[:above] == after[:above]
    assert before[len(before) - len(below) :] == below == after[len(after) - len(below) :]


PLACES = st.dictionaries(st.integers(1, 2999), st.integers(0, 400)).map(lambda found: sorted(found.items()))


@UNTIMED
@given(PLACES, PLACES, st.integers(0, 3000))
def test_cuts_behind_an_anchor_do_not_depend_on_what_is_before_its_reach(
    places: list[Place], others: list[Place], shift: int
) -> None:
    """The law of the module: an anchor is a cut, and parts what is before it from what is behind it."""
    settings = ChunkSettings(100, 180)
    radius = reach(settings)
    edited_places = [(position + shift, key) for position, key in places]
    cuts = choose_cuts(places, 0, 3000, settings)
    for anchor, key in places:
        near = [other for position, other in places if position != anchor and abs(position - anchor) <= radius]
        if not radius < anchor < 3000 - radius or min(near, default=401) <= key:
            continue
        assert anchor in cuts
        kept = [place for place in edited_places if place[0] >= anchor + shift - radius]
        changed = [place for place in others if place[0] < anchor + shift - radius]
        edited = choose_cuts([*changed, *kept], 0, 3000 + shift, settings)
        assert [cut + shift for cut in cuts if cut >= anchor] == [cut for cut in edited if cut >= anchor + shift]
