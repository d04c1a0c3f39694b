"""Rules of following a folder live: real files, a real observer, and no trust in events."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from vault_memory import SyncReport, Vault
from vault_memory.watch import Batch, FolderWatcher, Follower

Write = Callable[[str, str], Path]
PATIENCE = 20.0


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for a condition, and fail if it does not come true within reason."""
    deadline = time.monotonic() + PATIENCE
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true"
        pause.wait(0.005)


def found(vault: Vault, words: str) -> list[str]:
    """The paths of all notes that hold the words."""
    return sorted({hit.path for hit in vault.search(f'"{words}"', top_k=1000, max_per_record=1, mode="lexical")})


@contextmanager
def followed(notes: Path) -> Iterator[tuple[Vault, Follower, list[SyncReport]]]:
    """A vault that follows its folder, with the reports of its passes; the first pass is over."""
    reports: list[SyncReport] = []
    with Vault.open(notes) as vault, vault.watch(reports.append) as live:
        assert live.wait_settled(PATIENCE)
        reports.clear()
        yield vault, live, reports


def test_a_save_by_replacing_is_seen(notes: Path, write: Write) -> None:
    """Q1: a temporary beside the note, renamed onto it, is a save; the temporary is never a note."""
    write("n.md", "old words")
    with followed(notes) as (vault, _, reports):
        write(".n.md.tmp", "new words")
        (notes / ".n.md.tmp").rename(notes / "n.md")
        wait_until(lambda: found(vault, "new words") == ["n.md"])
        assert all(".n.md.tmp" not in (*report.added, *report.changed) for report in reports)


def test_a_renamed_folder_is_one_move(notes: Path, write: Write) -> None:
    """Q2: its notes are found at the new path only, each read no more often than needed, and none is embedded."""
    for n in range(20):
        write(f"old/sub/{n}.md", f"walrus {n}")
    with followed(notes) as (vault, live, reports):
        (notes / "old").rename(notes / "new")
        wait_until(lambda: found(vault, "walrus") == sorted(f"new/sub/{n}.md" for n in range(20)))
        assert live.wait_settled(PATIENCE)
        assert sum(report.embedded for report in reports) == 0


# The observer keeps the watch of a folder that left, and warns when the folder comes back under it.
@pytest.mark.filterwarnings("ignore:Callback with id:RuntimeWarning")
def test_a_folder_moved_out_takes_its_notes_along(notes: Path, write: Write, tmp_path: Path) -> None:
    """Q3: all notes of the folder are gone, although only the folder was reported; moved in again they are back."""
    for n in range(5):
        write(f"away/{n}.md", f"walrus {n}")
    write("stays.md", "otter")
    with followed(notes) as (vault, _, _):
        (notes / "away").rename(tmp_path / "away")
        wait_until(lambda: found(vault, "walrus") == [])
        (tmp_path / "away").rename(notes / "back")
        wait_until(lambda: len(found(vault, "walrus")) == 5)


def test_a_save_in_two_steps_is_never_seen_half(notes: Path, write: Write) -> None:
    """Q4: a note that is empty for a moment while it is saved is found with its new text at rest."""
    write("n.md", "old words")
    with followed(notes) as (vault, live, _), (notes / "n.md").open("w") as file:
        file.flush()
        file.write("new words")
        file.close()
        wait_until(lambda: found(vault, "new words") == ["n.md"])
        assert live.wait_settled(PATIENCE)
        assert found(vault, "new words") == ["n.md"]


def test_a_bad_save_does_not_end_the_watch(notes: Path, write: Write) -> None:
    """Q5: the bad note is quarantined, and the next good save is found."""
    with followed(notes) as (vault, _, _):
        write("bad.md", "---\na: b: c\n---\n")
        wait_until(lambda: [file.path for file in vault.quarantined] == ["bad.md"])
        write("good.md", "good words")
        wait_until(lambda: found(vault, "good words") == ["good.md"])
        (notes / "bad.md").unlink()
        wait_until(lambda: vault.quarantined == ())


def test_a_checkout_is_found_whole(notes: Path, write: Write) -> None:
    """Q6: 2,000 notes at once are all found, and no note is embedded twice."""
    with followed(notes) as (vault, live, reports):
        for n in range(2000):
            write(f"f{n % 20}/{n}.md", f"walrus {n}")
        assert live.wait_settled(PATIENCE * 3)
        wait_until(lambda: vault.status().records == 2000)
        assert live.wait_settled(PATIENCE)
        assert len(found(vault, "walrus")) == 1000
        assert sum(report.embedded for report in reports) == 2000


def test_six_files_saved_at_once_are_six_found(notes: Path, write: Write) -> None:
    """No file of a small batch is passed over."""
    with followed(notes) as (vault, _, _):
        for n in range(6):
            write(f"{n}.md", f"walrus {n}")
        wait_until(lambda: len(found(vault, "walrus")) == 6)


def test_reading_starts_nothing(notes: Path, write: Write) -> None:
    """Q7: opening and reading notes, and saving what is no note, asks for no pass."""
    file = write("n.md", "words")
    watcher = FolderWatcher(notes)
    watcher.start()
    try:
        for _ in range(20):
            file.read_bytes()
        write("picture.png", "no note")
        write(".obsidian/workspace.json", "{}")
        assert watcher.take(0.3) is None
        write("m.md", "more")
        assert watcher.take(PATIENCE) == Batch(frozenset({"m.md"}))
    finally:
        watcher.stop()


def test_an_unmounted_root_empties_nothing_and_comes_back(notes: Path, write: Write, tmp_path: Path) -> None:
    """Q8: while the root is empty or gone the index stays, the error says so, and it is followed again afterwards."""
    write("n.md", "walrus")
    with followed(notes) as (vault, live, _):
        notes.rename(tmp_path / "elsewhere")
        wait_until(lambda: live.error is not None)
        assert found(vault, "walrus") == ["n.md"]
        (tmp_path / "elsewhere").rename(notes)
        wait_until(lambda: live.error is None)
        write("m.md", "otter")
        wait_until(lambda: found(vault, "otter") == ["m.md"])


def test_links_and_loops_do_no_harm(notes: Path, write: Write) -> None:
    """Q10: a link to a parent and a dangling link neither list a note twice nor stop the watch."""
    write("sub/n.md", "walrus")
    (notes / "sub/loop").symlink_to(notes)
    (notes / ".#n.md").symlink_to(notes / "nowhere")
    with followed(notes) as (vault, _, _):
        assert found(vault, "walrus") == ["sub/n.md"]
        write("sub/m.md", "otter")
        wait_until(lambda: found(vault, "otter") == ["sub/m.md"])


def test_a_change_of_the_ignore_file_is_followed(notes: Path, write: Write) -> None:
    """What an ignore file names goes, and comes back with the file's deletion."""
    write("drafts/n.md", "walrus")
    with followed(notes) as (vault, _, _):
        rules = write(".vaultignore", "drafts/\n")
        write("m.md", "otter")
        wait_until(lambda: found(vault, "walrus") == [])
        rules.unlink()
        wait_until(lambda: found(vault, "walrus") == ["drafts/n.md"])


def test_a_note_renamed_in_case_only_has_one_place(notes: Path, write: Write) -> None:
    """After a rename that changes only letter case the note is found once, at its new name."""
    write("note.md", "walrus")
    with followed(notes) as (vault, _, _):
        (notes / "note.md").rename(notes / "Note.md")
        wait_until(lambda: found(vault, "walrus") == ["Note.md"])


@pytest.mark.parametrize("fault", [RuntimeError, SystemExit, KeyboardInterrupt])
def test_an_observer_that_raises_does_not_end_the_watch(
    notes: Path, write: Write, caplog: pytest.LogCaptureFixture, fault: type[BaseException]
) -> None:
    """What `on_sync` raises is logged; the pass counts as made, and the next one is made at once."""

    def raising(report: SyncReport) -> None:
        raise fault

    with Vault.open(notes) as vault, vault.watch(raising) as live:
        write("n.md", "walrus")
        wait_until(lambda: found(vault, "walrus") == ["n.md"])
        write("m.md", "otter")
        wait_until(lambda: found(vault, "otter") == ["m.md"])
        assert live.error is None
    assert "observer of the watch failed" in caplog.text


def test_a_root_that_was_replaced_is_followed_at_its_new_folder(notes: Path, write: Write, tmp_path: Path) -> None:
    """Another folder at the root's path, as after a mount, is noticed: edits in it are found, and nothing leaks."""
    write("n.md", "walrus")
    before = set(threading.enumerate())
    with followed(notes) as (vault, _, _):
        for turn in range(3):
            notes.rename(tmp_path / f"old {turn}")
            shutil.copytree(tmp_path / f"old {turn}", notes)
            write("m.md", f"otter number{turn}")
            wait_until(lambda turn=turn: found(vault, f"number{turn}") == ["m.md"])
            write("k.md", f"heron number{turn}")
            wait_until(lambda turn=turn: len(found(vault, f"number{turn}")) == 2)
    assert set(threading.enumerate()) - before == set()


def test_a_follower_can_be_stopped_at_any_moment(notes: Path, write: Write) -> None:
    """Before it was started, from within its own pass, and twice."""
    with Vault.open(notes) as vault:
        vault.watch().stop()
        settled: list[bool] = []

        def stop(report: SyncReport) -> None:
            settled.append(live.wait_settled())
            live.stop()

        live = vault.watch(stop)
        with live:
            wait_until(lambda: settled == [False])
        live.stop()


class DeafWatcher(FolderWatcher):
    """A watcher whose observer died."""

    started = 0

    def start(self) -> None:
        """Count the starts; only the second one really listens."""
        self.started += 1
        if self.started > 1:
            super().start()


def test_a_dead_observer_is_noticed_and_answered_by_a_look_at_everything(notes: Path) -> None:
    """A follower whose watcher is dead starts it anew and looks at everything."""
    watcher = DeafWatcher(notes)
    batches: list[Batch] = []
    with Follower(watcher, batches.append):
        wait_until(lambda: watcher.started == 2 and watcher.is_alive and Batch(everything=True) in batches)


def test_everything_is_looked_at_now_and_then(notes: Path) -> None:
    """Without any event the follower still reconciles at its interval."""
    batches: list[Batch] = []
    with Follower(FolderWatcher(notes), batches.append, reconcile_seconds=0.01):
        wait_until(lambda: batches.count(Batch(everything=True)) >= 3)


def test_where_the_platform_cannot_notify_the_folder_is_polled(
    notes: Path, write: Write, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """When the system has no watch left, changes are found by polling, and a line says so."""

    def no_watch_left() -> None:
        raise OSError(28, "inotify watch limit reached")

    monkeypatch.setattr("vault_memory.watch.Observer", no_watch_left)
    monkeypatch.setattr("vault_memory.watch.POLL_SECONDS", 0.05)
    with followed(notes) as (vault, _, _):
        write("n.md", "walrus")
        wait_until(lambda: found(vault, "walrus") == ["n.md"])
    assert "polled" in caplog.text


def test_many_paths_are_one_look_at_everything(notes: Path, monkeypatch: pytest.MonkeyPatch, write: Write) -> None:
    """A storm of events is answered by a whole pass, which also finds what the storm lost."""
    monkeypatch.setattr("vault_memory.watch.MANY_PATHS", 5)
    watcher = FolderWatcher(notes)
    watcher.start()
    try:
        for n in range(50):
            write(f"{n}.md", "x")
        batch = watcher.take(PATIENCE)
        assert batch is not None
        assert batch.everything
    finally:
        watcher.stop()


def test_a_clean_stop_leaves_no_thread(notes: Path) -> None:
    """After the follower is left none of its threads runs."""
    before = set(threading.enumerate())
    with followed(notes):
        pass
    assert set(threading.enumerate()) - before == set()


def test_a_deleted_root_does_not_crash_the_stop(notes: Path) -> None:
    """The follower can be left although its folder is gone for good."""
    with followed(notes):
        shutil.rmtree(notes)
    assert not notes.exists()
