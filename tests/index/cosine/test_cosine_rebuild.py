"""Filling an index anew."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from vault_memory.errors import ConfigError, EmbeddingError, FragmentIndexError
from vault_memory.index.cosine import InMemoryFragmentCosineIndex
from vault_memory.index.cosine.rebuild import RebuildError, RebuildReport
from vault_memory.model import EmbeddedFragment, FragmentLocator, Target


def embed(name: str) -> tuple[Target, Sequence[EmbeddedFragment]]:
    """Return one fragment per letter but for `-`, in three dimensions; fail at a `!`."""
    if "!" in name:
        raise EmbeddingError(f"cannot embed {name}")
    letters = name.replace("-", "")
    return Target("", name), [EmbeddedFragment(FragmentLocator(n, n + 1), [1, n, 0]) for n in range(len(letters))]


@pytest.fixture
def index() -> InMemoryFragmentCosineIndex:
    """Return an index of two dimensions with one record."""
    index = InMemoryFragmentCosineIndex()
    index.add_fragments(Target("", "old"), [EmbeddedFragment(FragmentLocator(0, 1), [1.0, 2.0])])
    return index


def test_rebuild_replaces_content_and_width(index: InMemoryFragmentCosineIndex) -> None:
    """A rebuild forgets records and width, indexes what is listed and counts it."""
    report = index.rebuild(lambda: ["rye", "oat", "-"], embed)
    assert report == RebuildReport(listed=3, indexed=2, fragments=6, declined=1)
    assert (index.record_count, index.fragment_count, index.dimensions) == (2, 6, 3)
    assert not index.has(Target("", "old"))


def test_rebuild_from_nothing_forgets_the_width(index: InMemoryFragmentCosineIndex) -> None:
    """After a rebuild from an empty listing any width is welcome."""
    assert index.rebuild(list, embed) == RebuildReport()
    assert (index.dimensions, index.fragment_count) == (None, 0)


def test_failed_listing_leaves_the_index_as_it_was(index: InMemoryFragmentCosineIndex) -> None:
    """A listing that fails at any point, even its last record, changes nothing."""

    def broken() -> Iterator[str]:
        yield "rye"
        raise OSError("the folder is gone")

    with pytest.raises(RebuildError, match="the folder is gone; the index is as it was") as raised:
        index.rebuild(broken, embed, on_record_error="skip")
    assert isinstance(raised.value, FragmentIndexError)
    assert raised.value.report == RebuildReport()
    assert index.has(Target("", "old"))
    assert index.dimensions == 2


def test_failed_record_leaves_the_index_empty(index: InMemoryFragmentCosineIndex) -> None:
    """Under `fail` a record that fails leaves an empty index, and the error carries the report."""
    with pytest.raises(RebuildError, match=r"record 2 of 4 could not be indexed: cannot embed o!t") as raised:
        index.rebuild(lambda: ["rye", "-", "o!t", "bran"], embed)
    report = raised.value.report
    assert (report.listed, report.indexed, report.fragments, report.declined) == (4, 0, 0, 1)
    assert [casualty.record for casualty in report.skipped] == ["o!t"]
    assert raised.value.__cause__ is report.skipped[0].error
    assert (index.record_count, index.fragment_count, index.dimensions) == (0, 0, None)
    assert index.query([1.0, 2.0], 5) == []


def test_skip_carries_on_and_lists_the_casualties(index: InMemoryFragmentCosineIndex) -> None:
    """Under `skip` the good records are indexed and each bad one is listed with its error, whatever its class."""

    def sometimes(name: str) -> tuple[Target, Sequence[EmbeddedFragment]]:
        if name == "bad":
            return Target("", name), [EmbeddedFragment(FragmentLocator(5, 5), [1.0, 2.0, 3.0])]
        if name == "odd":
            raise KeyError(name)
        return embed(name)

    report = index.rebuild(lambda: ["rye", "bad", "o!t", "odd", "oat"], sometimes, on_record_error="skip")
    assert (report.listed, report.indexed, report.fragments) == (5, 2, 6)
    assert [(casualty.record, type(casualty.error).__name__) for casualty in report.skipped] == [
        ("bad", "InvalidFragmentError"),
        ("o!t", "EmbeddingError"),
        ("odd", "KeyError"),
    ]
    assert index.record_count == 2


def test_old_content_answers_until_the_new_is_complete(index: InMemoryFragmentCosineIndex) -> None:
    """A query during a rebuild sees the old content, never a part of the new."""
    seen = []

    def watched(name: str) -> tuple[Target, Sequence[EmbeddedFragment]]:
        seen.append([hit.target.id for hit in index.query([1.0, 2.0], 9)])
        return embed(name)

    index.rebuild(lambda: ["rye", "oat"], watched)
    assert seen == [["old"], ["old"]]


def test_unknown_error_rule_is_refused(index: InMemoryFragmentCosineIndex) -> None:
    """A misspelt rule is an error before anything is listed."""
    with pytest.raises(ConfigError, match="use 'fail' or 'skip'"):
        index.rebuild(list, embed, on_record_error="ignore")  # type: ignore[arg-type] # The wrong value is tested.
    assert index.has(Target("", "old"))
