"""BM25 over fragments, inside somebody else's transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pytest

from vault_memory.errors import InvalidFragmentError, QueryError
from vault_memory.index.lexical import LexicalAnswer, LexicalFragment, LexicalIndex
from vault_memory.index.lexical import index as lexical
from vault_memory.model import FragmentLocator, Target


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    """Give a connection with an open transaction, which the index must leave open."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as opened:
        opened.execute("BEGIN")
        LexicalIndex(opened).create()
        yield opened
        assert opened.in_transaction


@pytest.fixture
def index(connection: sqlite3.Connection) -> LexicalIndex:
    """Give an empty index."""
    return LexicalIndex(connection)


def fragments(*texts: str, above: tuple[str, ...] = ()) -> list[LexicalFragment]:
    """Return fragments with these texts, one after the other."""
    return [
        LexicalFragment(FragmentLocator(number * 1000, number * 1000 + max(1, len(text))), text, above)
        for number, text in enumerate(texts)
    ]


def add(index: LexicalIndex, path: str, *texts: str, title: str = "", aliases: tuple[str, ...] = ()) -> Target:
    """Add a record and return its target."""
    scope, _, name = path.rpartition("/")
    target = Target(scope, name)
    index.add_fragments(target, title, aliases, fragments(*texts))
    return target


def places(answer: LexicalAnswer) -> list[tuple[str, int]]:
    """Return record and start of each hit."""
    return [(str(hit.target), hit.locator.start) for hit in answer.hits]


def found(index: LexicalIndex, text: str) -> list[str]:
    """Return the records that a query finds, best first."""
    return [name for name, _ in places(index.query(text, 10))]


def test_hit_has_target_locator_and_score(index: LexicalIndex) -> None:
    """A hit is the place that was added, with a positive score; better ones come first."""
    add(index, "garden/seeds", "nothing here", "seedlings need water, and seedlings need light", title="Seeds")
    add(index, "b", "a note about a seedling among many other words that make it long")
    answer = index.query("seedlings", 5)
    assert places(answer) == [("garden/seeds", 1000), ("b", 0)]
    assert answer.hits[0].locator == FragmentLocator(1000, 1046)
    assert answer.hits[0].score > answer.hits[1].score > 0
    assert (answer.coverage, answer.terms) == (1.0, ("seedl",))


def test_counts(index: LexicalIndex) -> None:
    """Counts are those of records with fragments, and of fragments."""
    add(index, "a", "one", "two")
    assert index.add_fragments(Target("", "empty"), "Title", (), []) == 0
    assert (index.record_count, index.fragment_count) == (1, 2)


def test_create_again_keeps_what_is_there(index: LexicalIndex) -> None:
    """Creating tables that exist changes nothing."""
    add(index, "a", "seed")
    index.create()
    assert found(index, "seed") == ["a"]


def test_replace_leaves_no_trace(index: LexicalIndex) -> None:
    """A record that is added again has only its new fragments, title and aliases."""
    target = add(index, "a", "old words", "older words", title="First", aliases=("Alias",))
    assert index.add_fragments(target, "Second", (), fragments("new words")) == 1
    assert [found(index, word) for word in ("old", "older", "first", "alias")] == [[], [], [], []]
    assert found(index, "new") == found(index, "second") == ["a"]
    assert index.fragment_count == 1


def test_remove_leaves_no_trace(index: LexicalIndex) -> None:
    """A removed record is not found, and removing it again is no fault."""
    target = add(index, "a", "seed", title="Title")
    add(index, "b", "weed")
    assert index.remove(target) == target == index.remove(target)
    assert found(index, "seed title weed") == ["b"]
    assert (index.record_count, index.fragment_count) == (1, 1)


def test_same_name_in_two_scopes_is_two_records(index: LexicalIndex) -> None:
    """Identity is scope and id together."""
    add(index, "x/note", "seed")
    add(index, "y/note", "seed")
    index.remove(Target("x", "note"))
    assert found(index, "seed") == ["y/note"]


def test_rollback_restores_the_old_state(connection: sqlite3.Connection, index: LexicalIndex) -> None:
    """A change is part of the owner's transaction, also for a query in between."""
    target = add(index, "a", "old seed")
    connection.execute("COMMIT")
    connection.execute("BEGIN")
    index.add_fragments(target, "", (), fragments("new plant"))
    add(index, "b", "old plant")
    assert found(index, "plant") == ["a", "b"]
    connection.execute("ROLLBACK")
    connection.execute("BEGIN")
    assert (found(index, "old"), found(index, "plant")) == (["a"], [])
    assert index.query("old seed", 1).coverage == 1.0


def test_savepoint_rollback_restores_the_old_state(connection: sqlite3.Connection, index: LexicalIndex) -> None:
    """An owner can take back one record's change and keep the others."""
    add(index, "a", "seed")
    connection.execute("SAVEPOINT record")
    add(index, "b", "seed")
    connection.execute("ROLLBACK TO record")
    add(index, "c", "seed")
    assert sorted(found(index, "seed")) == ["a", "c"]


@pytest.mark.parametrize(
    "locators",
    [[(0, 0)], [(-1, 5)], [(5, 2)], [(0, 4), (0, 9)], [(0.0, 4)], [("0", 4)], [(0, None)]],
)
def test_bad_locator_is_refused_before_any_change(index: LexicalIndex, locators: list[tuple[Any, Any]]) -> None:
    """A locator that is no span, or a start that comes twice, changes nothing."""
    target = add(index, "a", "seed")
    bad = [LexicalFragment(FragmentLocator(*locator), "weed") for locator in locators]
    with pytest.raises(InvalidFragmentError, match="of a: "):
        index.add_fragments(target, "", (), bad)
    assert (found(index, "seed"), found(index, "weed")) == (["a"], [])


def test_integers_of_other_types_are_taken(index: LexicalIndex) -> None:
    """A NumPy integer is a locator too, and comes back as a plain one."""
    locator = FragmentLocator(np.int64(2), np.int32(6))  # type: ignore[arg-type] # What a caller may well pass.
    index.add_fragments(Target("", "a"), "", (), [LexicalFragment(locator, "seed")])
    assert [type(hit.locator.start) for hit in index.query("seed", 1).hits] == [int]


@pytest.mark.parametrize("number", [0, -1, 1.0, True, None, "3"])
def test_numbers_are_whole_and_positive(index: LexicalIndex, number: Any) -> None:
    """`top_k` and `max_per_record` are whole numbers of at least 1."""
    with pytest.raises(QueryError, match="top_k"):
        index.query("seed", number)
    if number is not None:
        with pytest.raises(QueryError, match="max_per_record"):
            index.query("seed", 1, number)


def test_empty_index_answers(index: LexicalIndex) -> None:
    """No fragments, no hits, no coverage."""
    assert index.query("seed water", 3) == LexicalAnswer((), 0.0, ("seed", "water"))


def test_title_aliases_and_headings_count_more_than_text(index: LexicalIndex) -> None:
    """A word in the title weighs more than in a heading, and there more than in the text."""
    filler = " one two three four five"
    index.add_fragments(Target("", "text"), "x y", (), fragments("seed" + filler, above=("z",)))
    index.add_fragments(Target("", "heading"), "x y", (), fragments("word" + filler, above=("seed",)))
    index.add_fragments(Target("", "title"), "seed y", (), fragments("word" + filler, above=("z",)))
    add(index, "other", "nothing")
    add(index, "others", "nothing")
    add(index, "more", "nothing")
    assert found(index, "seed") == ["title", "heading", "text"]


def test_alias_is_found(index: LexicalIndex) -> None:
    """Each fragment of a record is found by the record's aliases."""
    add(index, "a", "one", "two", aliases=("Plot seven",))
    assert places(index.query("plot seven", 5)) == [("a", 0), ("a", 1000)]


def test_other_scripts_are_found(index: LexicalIndex) -> None:
    """Scripts without spaces are found by words inside a run, and by one character."""
    add(index, "zh", "我每天早上给花园里的番茄浇水")
    add(index, "ja", "トマトに水をやる")
    add(index, "th", "รดน้ำต้นไม้ทุกวัน")
    add(index, "ko", "토마토에 물을 준다")
    add(index, "ru", "Поливать томаты каждый день")
    queries = {"番茄浇水": "zh", "茄": "zh", "トマト": "ja", "ต้นไม้": "th", "토마토": "ko", "ТОМАТЫ": "ru"}
    assert {query: found(index, query) for query in queries} == {query: [name] for query, name in queries.items()}


def test_accents_and_forms_are_folded(index: LexicalIndex) -> None:
    """A query without accents, or with another form of a word, finds the text."""
    add(index, "a", "Le café brûlé, and watered seedlings")
    assert (
        found(index, "cafe") == found(index, "BRULE") == found(index, "watering") == found(index, "seedling") == ["a"]
    )


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("get_user_name", ["snake"]),
        ("getUserName", ["camel"]),
        ("getusername", ["camel"]),
        ("user name", ["camel", "snake"]),
        ("1.10", ["version"]),
        ("config.parser", ["dotted"]),
        ("notes/garden/tomato.md", ["path"]),
        ("tomato.md", ["path"]),
        ("#project/alpha", ["tag"]),
        ("C++", ["cpp"]),
        ("j.doe@example.com", ["mail"]),
        ("1,000,000", ["number"]),
        ("1000000", ["number"]),
    ],
)
def test_identifiers_are_found(index: LexicalIndex, query: str, expected: list[str]) -> None:
    """Code identifiers are found whole and by their parts; the exact one comes first."""
    texts = {
        "snake": "call get_user_name now",
        "camel": "call getUserName now",
        "version": "since 1.10 of it",
        "dotted": "import config.parser here",
        "path": "see notes/garden/tomato.md there",
        "tag": "under #project/alpha today",
        "cpp": "written in C++ mostly",
        "c": "written in C mostly",
        "mail": "ask j.doe@example.com soon",
        "number": "about 1,000,000 people",
    }
    for name, text in texts.items():
        add(index, name, text)
    names = found(index, query)
    assert sorted(names[: len(expected)]) == sorted(expected)


def test_phrase_is_required(index: LexicalIndex) -> None:
    """A quoted phrase must stand in a hit, word by word; the other words only rank."""
    add(index, "exact", "the raised bed is new")
    add(index, "apart", "the bed was raised today, a raised garden bed")
    add(index, "title", "nothing about it", title="Raised beds")
    assert sorted(found(index, '"raised bed"')) == ["exact", "title"]
    assert found(index, '"raised bed" today new') == ["exact", "title"]
    assert found(index, '"raised bed" "is new"') == ["exact"]
    assert found(index, '"bed raised"') == []


def test_phrase_of_stop_words(index: LexicalIndex) -> None:
    """A phrase keeps the words that a question drops."""
    add(index, "a", "to be or not to be")
    add(index, "b", "be to not or")
    assert found(index, '"to be or not to be"') == ["a"]


def test_phrase_is_not_found_in_further_forms(index: LexicalIndex) -> None:
    """Forms of two words are no neighbours in the text."""
    add(index, "a", "snake_case then kebab-case")
    assert found(index, '"snake_case kebab-case"') == []
    assert found(index, '"snake case then kebab"') == ["a"]


def test_phrase_inside_a_run(index: LexicalIndex) -> None:
    """In a script without spaces a phrase is any part of a run."""
    add(index, "a", "我每天给番茄浇水")
    add(index, "b", "浇番茄水给天")
    assert found(index, '"番茄浇水"') == ["a"]
    assert sorted(found(index, '"茄"')) == ["a", "b"]


def test_stop_words_are_asked_if_there_is_nothing_else(index: LexicalIndex) -> None:
    """A query of common words still finds them."""
    add(index, "a", "what is it")
    add(index, "b", "seed")
    assert found(index, "what is it") == ["a"]
    assert found(index, "what is a seed") == ["b"]


def test_equal_scores_are_ordered_by_target_then_start(index: LexicalIndex) -> None:
    """The order of equal hits does not depend on the order in which records came."""
    for path in ("b/x", "a", "b/a", "c"):
        add(index, path, "seed", "seed")
    assert places(index.query("seed", 20)) == [
        (path, start) for path in ("a", "c", "b/a", "b/x") for start in (0, 1000)
    ]


def test_cap_is_filled_from_other_records(index: LexicalIndex) -> None:
    """A record with all of the best fragments cannot hide others, and `top_k` hits come back if they exist."""
    add(index, "long", *["seed seed seed"] * 50)
    for number in range(5):
        add(index, f"short{number}", "one seed among some other words")
    answer = index.query("seed", 5, 2)
    assert places(answer)[:2] == [("long", 0), ("long", 1000)]
    assert [name for name, _ in places(answer)][2:] == ["short0", "short1", "short2"]


def test_scope_keeps_a_folder_and_all_below(index: LexicalIndex) -> None:
    """A scope is a whole folder name; the root keeps everything."""
    for path in ("a/x", "a/b/x", "ab/x", "x", "A/x"):
        add(index, path, "seed")
    assert [str(hit.target) for hit in index.query("seed", 9, scope="a").hits] == ["a/x", "a/b/x"]
    assert len(index.query("seed", 9, scope="").hits) == 5
    assert index.query("seed", 9, scope="none").hits == ()


def test_targets_keep_just_those_records(index: LexicalIndex) -> None:
    """Any collection of targets is a filter, also an empty one, and it goes together with a scope."""
    kept = [add(index, path, "seed") for path in ("a/x", "b/x", "c")]
    add(index, "d", "seed")
    assert [hit.target for hit in index.query("seed", 9, targets=[*kept, kept[0], Target("", "gone")]).hits] == [
        kept[2],
        kept[0],
        kept[1],
    ]
    assert [hit.target for hit in index.query("seed", 9, scope="a", targets=set(kept)).hits] == [kept[0]]
    assert index.query("seed", 9, targets=()).hits == ()


def test_filter_holds_before_the_cut(index: LexicalIndex) -> None:
    """Better fragments elsewhere do not take the place of those that a filter keeps."""
    for number in range(30):
        add(index, f"other/{number}", "seed seed seed")
    add(index, "mine/a", "a seed in a much longer text of many words")
    assert found(index, "seed")[0] != "mine/a"
    assert places(index.query("seed", 1, scope="mine")) == [("mine/a", 0)]


def test_common_terms_bring_in_fragments_where_rare_ones_are_too_few(
    index: LexicalIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Past the bound the rare term leads, all terms count, and the hits are filled up from the common one."""
    monkeypatch.setattr(lexical, "ROWS_AT_FIRST", 4)
    add(index, "both", "rare common filler")
    add(index, "rare", "rare other filler")
    for number in range(20):
        add(index, f"common{number:02}", "common other filler")
    assert found(index, "common rare")[:2] == ["both", "rare"]
    assert places(index.query("rare common", 2)) == [("both", 0), ("rare", 0)]
    assert len(index.query("rare common", 22).hits) == 22
    assert len(index.query("rare common", 22, scope="").hits) == 22


def test_coverage_is_that_of_the_best_of_the_first_hits(index: LexicalIndex) -> None:
    """Coverage does not depend on how many hits are asked for."""
    add(index, "a", "alpha alpha alpha alpha")
    add(index, "b", "alpha beta and many more words so that it comes second in this list of hits, as it is long")
    add(index, "c", "gamma")
    one = index.query("alpha delta", 1)
    assert 0.2 < one.coverage < 0.8
    assert index.query("alpha beta", 1).coverage == 1.0
    assert index.query("delta epsilon", 1).coverage == 0.0
    assert index.query("alpha delta", 9).coverage == one.coverage


def test_optimize_keeps_answers(index: LexicalIndex) -> None:
    """Merging the inverted index changes no answer."""
    for number in range(50):
        add(index, str(number), f"seed {number} word")
    before = index.query("seed 7", 10)
    index.optimize()
    assert index.query("seed 7", 10) == before
    index.remove(Target("", "7"))
    assert found(index, "7") == []
