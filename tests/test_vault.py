"""Rules of the facade, on real folders with the real default embedder."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from vault_memory import (
    ConfigError,
    EmbeddingError,
    Fingerprint,
    QueryError,
    RecordError,
    RecordNotFoundError,
    StaleSpanError,
    Target,
    UnsafePathError,
    Vault,
    VaultEmptiedError,
    VaultNotFoundError,
    WriteRejectedError,
)
from vault_memory.model import Vector

Write = Callable[[str, str], Path]


class CountingEmbedder:
    """A small real embedder (letter counts) that remembers what it was given, and can be told to fail."""

    fingerprint = Fingerprint("letters", "1", 26)
    max_input_chars = None

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.fails = False

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        if self.fails:
            raise ConnectionError("the model is away")
        self.texts.extend(texts)
        return np.array([self.embed_query(text) for text in texts], np.float32).reshape(len(texts), 26)

    def embed_query(self, text: str) -> Vector:
        counts = np.array([text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"], np.float32)
        length = np.linalg.norm(counts)
        return counts / length if length else counts


def test_every_span_is_true_in_the_body_and_in_the_file(sample_vault: Path) -> None:
    """The slice of the body, and of the file's text behind its header, is the fragment."""
    with Vault.open(sample_vault) as vault:
        for record in vault.records():
            text = (sample_vault / record.path).read_bytes().decode("utf-8-sig")
            assert record.header + record.body == text
            for fragment in vault.fragments(record.target):
                start, end = fragment.locator.start, fragment.locator.end
                assert record.body[start:end] == fragment.text
                assert text[len(record.header) + start : len(record.header) + end] == fragment.text


def test_a_hit_says_where_it_is(notes: Path, write: Write) -> None:
    """Path, lines, headings, digests and text of a hit are those of the file."""
    write(
        "Boat/Log.md",
        "---\r\ntitle: Log\r\n---\r\n# Engine\r\n\r\nThe pump failed in June.\r\n\r\n# Sails\r\n\r\nPatched.\r\n",
    )
    with Vault.open(notes) as vault:
        hit = vault.search("pump failed", top_k=1)[0]
        assert (hit.path, hit.target, hit.title) == ("Boat/Log.md", Target("Boat", "Log"), "Log")
        assert hit.lines == (4, 6)
        assert hit.heading_path == ("Engine",)
        assert hit.text == "# Engine\r\n\r\nThe pump failed in June."
        assert hit.record_digest == vault.get(hit.target).digest
        assert set(hit.scores) == {"cosine", "bm25", "hybrid"}
        assert hit.score == hit.scores["hybrid"]


def test_a_long_note_cannot_hide_the_others(notes: Path, write: Write) -> None:
    """With a cap of two, the long note gives two hits and every other match is there."""
    write("Long.md", "\n".join(f"## Day {n}\n\nWatered the tomato bed, entry {n}.\n" for n in range(400)))
    for n in range(8):
        write(f"Short {n}.md", f"Note {n}: the tomato bed was watered.\n")
    with Vault.open(notes) as vault:
        for mode in ("hybrid", "semantic", "lexical"):
            hits = vault.search("watered the tomato bed", top_k=10, max_per_record=2, mode=mode).hits
            assert len(hits) == 10
            assert len({hit.target for hit in hits}) == 9


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "lexical"])
def test_scope_and_tags_narrow_before_the_cut(notes: Path, write: Write, mode: str) -> None:
    """Filters are applied before scoring, so that the answer is full although better hits lie outside."""
    for n in range(30):
        write(f"A/{n}.md", f"varnish the mast {n}")
    for n in range(3):
        write(f"B/sub/{n}.md", f"---\ntags: [boat/mast]\n---\nmast, some words about other things {n}")
    with Vault.open(notes) as vault:
        assert {hit.target.scope for hit in vault.search("varnish the mast", top_k=3, mode=mode, scope="B")} == {
            "B/sub"
        }
        assert len(vault.search("varnish the mast", top_k=3, mode=mode, tags=["boat"])) == 3
        assert len(vault.search("varnish the mast", mode=mode, scope="nowhere")) == 0


def test_a_question_without_a_vector_is_answered_by_keywords_and_says_so(notes: Path, write: Write) -> None:
    """Where the embedder knows no word, keywords alone answer, and the evidence tells."""
    write("Tea.md", "お茶は熱いうちに飲む。")
    with Vault.open(notes) as vault:
        retrieval = vault.search("ฟหกด お茶")
        assert [hit.path for hit in retrieval] == ["Tea.md"]
        unknown = vault.search("ꙮꙮꙮ")
        assert unknown.evidence.lanes == ("bm25",)
        assert "keywords alone" in unknown.evidence.notes[0]


def test_empty_vault_and_empty_question_are_different_facts(vault: Vault) -> None:
    """An empty vault gives no hits and says that no record could answer; an empty question is refused."""
    retrieval = vault.search("anything")
    assert (len(retrieval), retrieval.evidence.records) == (0, 0)
    with pytest.raises(QueryError):
        vault.search("  ")


def test_bad_notes_are_quarantined_and_come_back(notes: Path, write: Write) -> None:
    """A bad note is listed with path, line and reason, never touched, and is found once it is good."""
    write("Good.md", "leeks")
    bad = write("Bad.md", "---\ntitle: a: b\n---\nparsnips")
    before = bad.read_bytes()
    with Vault.open(notes) as vault:
        assert [(file.path, file.scope, file.line) for file in vault.quarantined] == [("Bad.md", "", 2)]
        assert bad.read_bytes() == before
        assert vault.search("parsnips", mode="lexical").hits == ()
        write("Bad.md", "---\ntitle: 'a: b'\n---\nparsnips")
        vault.sync()
        assert vault.quarantined == ()
        assert vault.search("parsnips", mode="lexical")[0].path == "Bad.md"
        write("Bad.md", "---\ntitle: a: b\n---\nparsnips")
        vault.sync()
        assert vault.search("parsnips", mode="lexical").hits == ()


def test_policy_fail_raises_for_the_first_bad_note(notes: Path, write: Write) -> None:
    """With `on_record_error="fail"` the open fails with the path in the message."""
    write("Bad.md", "---\ntitle: a: b\n---\n")
    with pytest.raises(RecordError, match=r"^Bad.md:2: "):
        Vault.open(notes, on_record_error="fail")


def test_a_missing_folder_and_a_file_are_no_vault(tmp_path: Path) -> None:
    """The error names the path."""
    file = tmp_path / "file.md"
    file.write_text("x")
    for path in (tmp_path / "missing", file):
        with pytest.raises(VaultNotFoundError, match=path.name):
            Vault.open(path)


def test_put_is_searchable_at_once_and_delete_gone_at_once(vault: Vault) -> None:
    """The write hook replaces a record's fragments; after a delete there are none."""
    target = Target("boat", "Mast")
    first = vault.put(target, "Varnish the mast.", {"tags": ["boat"]}).record
    assert vault.search("varnish", mode="lexical")[0].target == target
    vault.put(target, "Grease the winch.")
    assert vault.search("varnish", mode="lexical").hits == ()
    assert vault.search("winch", tags=["boat"])[0].target == target
    with pytest.raises(WriteRejectedError):
        vault.put(target, "too late", expected_digest=first.digest if first else "")
    vault.delete(target)
    assert vault.search("winch", mode="lexical").hits == ()
    with pytest.raises(RecordNotFoundError):
        vault.get(target)


def test_a_failing_embedder_costs_no_write(notes: Path) -> None:
    """The write stands, keywords find it, the report tells, and the next sync repairs the vectors."""
    embedder = CountingEmbedder()
    with Vault.open(notes, embedder=embedder) as vault:
        embedder.fails = True
        report = vault.put(Target("", "Pump"), "The pump is old.")
        assert [type(error) for error in report.errors] == [EmbeddingError]
        assert vault.search("pump", mode="lexical")[0].path == "Pump.md"
        assert vault.search("pump", mode="semantic").hits == ()
        assert vault.status().freshness.pending == 1
        assert list(vault.sync().failed) == ["Pump.md"]
        embedder.fails = False
        assert vault.sync().failed == {}
        assert vault.search("pump", mode="semantic")[0].path == "Pump.md"
        assert vault.status().freshness.pending == 0


def test_one_edit_costs_one_fragment_and_a_move_none(notes: Path, write: Write) -> None:
    """Only texts that are new are embedded: one for an edit in one section, none for a rename or a copy."""
    sections = [f"## Section {n}\n\nText of section {n}.\n" for n in range(60)]
    write("Note.md", "\n".join(sections))
    embedder = CountingEmbedder()
    with Vault.open(notes, embedder=embedder) as vault:
        assert len(embedder.texts) == 60
        write("Note.md", "\n".join(["## New first\n\nA new line.\n", *sections]))
        assert vault.sync().embedded == 1
        (notes / "Note.md").rename(notes / "Moved.md")
        report = vault.sync()
        assert (report.moved, report.embedded) == ((("Note.md", "Moved.md"),), 0)
        write("Folder/Copy.md", (notes / "Moved.md").read_text())
        assert vault.sync().embedded == 0
        assert len(embedder.texts) == 61
        assert {hit.path for hit in vault.search("new line", top_k=2)} == {"Moved.md", "Folder/Copy.md"}


def test_reading_a_hit_of_a_changed_note(notes: Path, write: Write) -> None:
    """A fragment that moved is found again at its new place; one that is gone raises."""
    write("Log.md", "# Pump\n\nIt failed.\n\n# Sail\n\nTorn at the leech.\n")
    with Vault.open(notes) as vault:
        hit = vault.search("torn sail", top_k=1)[0]
        assert vault.read(hit).moved is False
        write("Log.md", "# Added\n\nA paragraph.\n\n# Pump\n\nIt failed.\n\n# Sail\n\nTorn at the leech.\n")
        passage = vault.read(hit)
        assert (passage.text, passage.moved) == (hit.text, True)
        body = vault.get(hit.target).body
        assert body[passage.locator.start : passage.locator.end] == hit.text
        write("Log.md", "# Sail\n\nMended.\n")
        with pytest.raises(StaleSpanError, match=r"Log\.md"):
            vault.read(hit)


def test_an_emptied_folder_does_not_empty_the_index(notes: Path, write: Write) -> None:
    """A root that is suddenly empty, or gone, is an error and leaves the index; the caller may accept it."""
    file = write("Note.md", "leeks")
    with Vault.open(notes) as vault:
        file.unlink()
        with pytest.raises(VaultEmptiedError, match="allow_empty"):
            vault.sync()
        assert vault.status().records == 1
        vault.sync(allow_empty=True)
        assert vault.status().records == 0
        notes.rmdir()
        with pytest.raises(VaultNotFoundError):
            vault.sync()


def test_state_is_kept_between_openings_and_follows_the_embedder(notes: Path, write: Write) -> None:
    """A second opening embeds nothing; another embedder makes the state anew; the first one too, again."""
    write("Note.md", "leeks and mulch")
    embedder = CountingEmbedder()
    Vault.open(notes, embedder=embedder).close()
    Vault.open(notes, embedder=embedder).close()
    assert len(embedder.texts) == 1
    with Vault.open(notes) as vault:
        assert vault.search("mulch", mode="semantic")[0].path == "Note.md"


def test_a_damaged_state_is_set_aside_and_made_anew(notes: Path, write: Write, tmp_path: Path) -> None:
    """A state file that is no database costs a rebuild and nothing else."""
    write("Note.md", "leeks")
    with Vault.open(notes, state_dir=tmp_path / "state") as vault:
        state = Path(vault.status().state_path)
    state.write_bytes(b"not a database at all" * 1000)
    with Vault.open(notes, state_dir=tmp_path / "state") as vault:
        assert vault.search("leeks")[0].path == "Note.md"
    assert list(state.parent.glob("*.damaged*"))


def test_same_size_and_time_still_is_a_change(notes: Path, write: Write) -> None:
    """An edit of equal length whose time is set back is found."""
    file = write("Note.md", "leeks")
    with Vault.open(notes) as vault:
        before = file.stat()
        file.write_text("beets")
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert vault.sync().changed == ("Note.md",)
        assert vault.search("beets", mode="lexical")[0].path == "Note.md"


def test_searches_during_syncs_see_whole_records(notes: Path, write: Write) -> None:
    """A reader sees a record before or after its change: never two versions, never a span of one in the other."""
    texts = [f"alpha {'x' * n}\n\n## One\n\nalpha one {n}\n\n## Two\n\nalpha two {n}\n" for n in range(12)]
    write("Note.md", texts[0])
    failures: list[BaseException] = []
    with Vault.open(notes) as vault:
        done = threading.Event()

        def search() -> None:
            try:
                while not done.is_set():
                    hits = vault.search("alpha", top_k=5).hits
                    assert len({hit.record_digest for hit in hits}) == 1
                    assert len(hits) == 3
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=search) for _ in range(3)]
        for thread in threads:
            thread.start()
        for text in texts[1:]:
            write("Note.md", text)
            vault.sync()
        done.set()
        for thread in threads:
            thread.join()
    assert failures == []


@pytest.mark.parametrize("question", ["Spare sail", "jib", "Okapi house"])
def test_notes_without_text_are_found_by_their_names(notes: Path, write: Write, question: str) -> None:
    """A note with properties only, or with nothing, is found by title, alias and file name, and can be read."""
    write("a.md", "---\ntitle: Spare sail\naliases: [jib]\n---")
    write("Okapi house.md", "")
    write("other.md", "Some other text about the house and the sail loft.")
    wanted = "Okapi house.md" if question.startswith("Okapi") else "a.md"
    with Vault.open(notes) as vault:
        for mode in ("lexical", "hybrid"):
            hit = vault.search(question, mode=mode)[0]
            assert (hit.path, hit.text) == (wanted, "")
            assert vault.read(hit).text == ""
        write("a.md", "---\ntitle: Spare sail\n---\nNow with a body about canvas.")
        vault.sync()
        assert vault.search("canvas", mode="lexical")[0].path == "a.md"


def test_properties_are_compared_as_they_are_written(notes: Path, write: Write) -> None:
    """Truth values, nothing, numbers and lists are found by what a person writes for them."""
    write("n.md", "---\ndone: true\nnone:\nyear: 2021\nbeds: [a, b]\n---\nwalrus")
    with Vault.open(notes) as vault:
        for where in ({"done": "true"}, {"done": True}, {"none": "null"}, {"year": "2021"}, {"beds": ["a", "b"]}):
            assert len(vault.search("walrus", where=where)) == 1
        assert len(vault.search("walrus", where={"done": "false"})) == 0


def test_one_text_is_one_tag_and_one_path(notes: Path, write: Write) -> None:
    """A text given where a list is meant is never walked by its characters."""
    write("sub/n.md", "---\ntags: [garden]\n---\nwalrus")
    with Vault.open(notes) as vault:
        assert len(vault.search("walrus", tags="garden")) == 1
        write("m.md", "otter")
        assert vault.sync(paths="sub").added == ()
        assert vault.sync(paths="./m.md/").added == ("m.md",)
        for outside in ("/etc", "../x", "sub/../../x"):
            with pytest.raises(UnsafePathError):
                vault.sync(paths=[outside])


def test_filters_that_leave_nothing_say_so(notes: Path, write: Write) -> None:
    """The evidence counts the records that could answer, and gives no other reason for an empty answer."""
    write("sub/n.md", "walrus")
    with Vault.open(notes) as vault:
        for narrowed in ({"scope": "sbu"}, {"tags": ["x"]}, {"kind": "fact"}):
            evidence = vault.search("walrus", **narrowed).evidence
            assert (evidence.records, evidence.notes) == (0, ())
        assert vault.search("walrus", scope="sub").evidence.records == 1


def test_state_stays_out_of_the_vault_and_an_empty_path_is_no_vault(notes: Path) -> None:
    """A state folder inside the vault, and a path that is empty, are refused in one sentence."""
    with pytest.raises(ConfigError, match="lies in the vault"):
        Vault.open(notes, state_dir=notes / "state")
    assert list(notes.iterdir()) == []
    with pytest.raises(VaultNotFoundError, match="empty"):
        Vault.open("")


def test_a_quoted_phrase_is_in_every_hit(notes: Path, write: Write) -> None:
    """In hybrid search too, no place without the phrase answers; a phrase that is nowhere has no hits."""
    for n in range(10):
        write(f"{n}.md", f"The anchor holds in mud, note {n}." + (" We crossed Eel Sound." if n < 3 else ""))
    with Vault.open(notes) as vault:
        hits = vault.search('"Eel Sound" anchor').hits
        assert sorted(hit.path for hit in hits) == ["0.md", "1.md", "2.md"]
        assert vault.search('"anchor Sound"').hits == ()


def test_the_last_notes_are_not_removed_by_their_paths_either(notes: Path, write: Write) -> None:
    """The guard against an emptied folder holds for a pass over some paths as for one over all."""
    file = write("n.md", "walrus")
    with Vault.open(notes) as vault:
        file.unlink()
        with pytest.raises(VaultEmptiedError):
            vault.sync(paths=["n.md"])
        assert vault.status().records == 1
        assert vault.sync(paths=["n.md"], allow_empty=True).removed == ("n.md",)


def test_moves_are_told_one_to_one(notes: Path, write: Write) -> None:
    """Of notes with equal content each old path moves once, first to the file of its own name."""
    write("A/x.md", "walrus")
    write("A/copy.md", "walrus")
    write("stays.md", "otter")
    with Vault.open(notes) as vault:
        (notes / "A").rename(notes / "B")
        report = vault.sync()
        assert sorted(report.moved) == [("A/copy.md", "B/copy.md"), ("A/x.md", "B/x.md")]
        assert (report.added, report.removed) == ((), ())


def test_odd_paths_are_the_paths_that_they_mean(notes: Path, write: Write) -> None:
    """Doubled slashes and paths of `pathlib` name the same note, and never another record."""
    write("B/x.md", "walrus")
    with Vault.open(notes) as vault:
        write("B/x.md", "walrus and otter")
        assert vault.sync(paths=["B//x.md", Path("B")]).changed == ("B/x.md",)
        assert vault.status().records == 1


def test_a_stale_span_names_its_record(notes: Path, write: Write) -> None:
    """The error has the target as a fact, for a program to act on."""
    write("n.md", "walrus")
    with Vault.open(notes) as vault:
        hit = vault.search("walrus")[0]
        write("n.md", "otter")
        with pytest.raises(StaleSpanError) as caught:
            vault.read(hit)
        assert caught.value.target == Target("", "n")
