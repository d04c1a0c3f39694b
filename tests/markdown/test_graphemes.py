"""Rules of grapheme boundaries."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_memory.markdown.graphemes import cluster_cut, is_cluster_boundary

CLUSTERS = [
    "a",
    "\r\n",
    "\n",
    "e\u0301\u0323",
    "👍🏽",
    "👨\u200d👩\u200d👧\u200d👦",
    "🏴\U000e0067\U000e0062\U000e007f",
    "❤\ufe0f",
    "🇸🇪",
    "각",
    "\u1100\u1161\u11a8",
    "가\u11a8",
    "क्षि",
    "ที่",
    "กำ",
    "ｶﾞ",
    "\u0600\u0661",
    "雨",
]


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_a_cluster_has_no_boundary_inside(cluster: str) -> None:
    """What a reader sees as one character is never cut."""
    inside = [i for i in range(1, len(cluster)) if is_cluster_boundary(f"x{cluster}x", i + 1)]
    assert inside == []


@settings(deadline=None)
@given(st.lists(st.sampled_from(CLUSTERS)))
def test_whole_clusters_have_boundaries_between_them(clusters: list[str]) -> None:
    """Between two whole clusters a text may be cut, and nowhere else."""
    text = "".join(clusters)
    ends = {0}
    for cluster in clusters:
        ends.add(max(ends) + len(cluster))
    found = {i for i in range(len(text) + 1) if is_cluster_boundary(text, i)}
    assert found == ends


@pytest.mark.parametrize(("before", "after"), [("\n", "\u0301"), ("\u0000", "\u0301"), ("\u2028", "\u0301")])
def test_a_control_joins_nothing(before: str, after: str) -> None:
    """Line ends and controls stand alone even before a combining mark."""
    assert is_cluster_boundary(before + after, 1)


def test_flags_are_counted_from_the_floor() -> None:
    """Regional indicators pair up from the last boundary that is known."""
    flags = "🇸🇪🇩🇪"
    assert [i for i in range(5) if is_cluster_boundary(flags, i)] == [0, 2, 4]
    assert [i for i in range(1, 5) if is_cluster_boundary(flags, i, floor=1)] == [1, 3, 4]


@pytest.mark.parametrize(
    ("text", "wanted", "latest", "cut"),
    [
        ("abcdef", 3, 6, 3),
        ("ae\u0301\u0301x", 3, 5, 1),
        ("e\u0301\u0301\u0301xy", 2, 6, 4),
        ("e\u0301\u0301\u0301\u0301", 2, 3, 3),
    ],
)
def test_the_cut_is_before_the_wish_else_behind_it_else_at_the_limit(
    text: str, wanted: int, latest: int, cut: int
) -> None:
    """A cluster longer than the limit is cut between two code points; any other stays whole."""
    assert cluster_cut(text, 0, wanted, latest) == cut
