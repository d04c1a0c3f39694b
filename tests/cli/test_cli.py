"""Rules of the command line: streams, exit codes, documents, and places that can be pasted."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from vault_memory.cli import main
from vault_memory.embed import StaticEmbedder
from vault_memory.model import Vector

Write = Callable[[str, str], Path]


def run(*arguments: str) -> int:
    """Run the command line in this process; a refusal by the parser is an exit code like any other."""
    try:
        return main(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)


def test_data_on_stdout_and_everything_else_on_stderr(
    notes: Path, write: Write, capfd: pytest.CaptureFixture[str]
) -> None:
    """Hits are the only lines on standard output."""
    write("Good.md", "water the leeks")
    write("Bad.md", "---\na: b: c\n---\n")
    assert run("search", str(notes), "leeks") == 0
    out, err = capfd.readouterr()
    assert out == "Good.md:1: water the leeks\n"
    assert "1 files could not be loaded" in err


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (("search", "{missing}", "x"), 1, "missing"),
        (("search", "{file}", "x"), 1, "file.md"),
        (("search", "{notes}", ""), 2, "empty"),
        (("search", "{notes}", "x", "--top-k", "0"), 2, "top_k"),
        (("search", "{notes}", "x", "--max-per-record", "-1"), 2, "max_per_record"),
        (("search", "{notes}", "x", "--threshold", "nan"), 2, "threshold"),
        (("search", "{notes}", "x", "--where", "year"), 2, "NAME=VALUE"),
        (("search", "{notes}", "x", "--where", "yaer=1"), 2, "yaer"),
        (("search", "{notes}", "x", "--embedder", "nosuch"), 1, "nosuch"),
        (("search", "{notes}", "x", "--state-dir", "{file}"), 1, "state"),
        (("read", "{notes}", "nothing.md"), 1, "nothing"),
        (("read", "{notes}", "Leek.md#0,99999"), 1, "characters"),
        (("read", "{notes}", "Leek.md:7-9"), 2, "lines"),
        (("index", "{missing}"), 1, "missing"),
        (("status", "{missing}"), 1, "missing"),
    ],
)
def test_bad_input_gives_one_clear_line(
    arguments: tuple[str, ...],
    code: int,
    word: str,
    notes: Path,
    write: Write,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """A mistake is answered by one line that names it, by the right exit code, and by nothing on standard output."""
    write("Leek.md", "leeks")
    file = write("file.md", "x")
    places = {"missing": notes / "missing", "file": file, "notes": notes}
    assert run(*(argument.format(**places) for argument in arguments)) == code
    out, err = capfd.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert err.startswith("vault-memory: ")
    assert word in err


def test_a_vault_without_notes_has_no_hits(notes: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """No notes is no error: exit code 0, nothing on standard output, one line that says so."""
    assert run("search", str(notes), "x") == 0
    out, err = capfd.readouterr()
    assert out == ""
    assert "empty" in err


def test_wrong_use_is_exit_code_2(capfd: pytest.CaptureFixture[str]) -> None:
    """Unknown commands and missing arguments are wrong use."""
    assert run("serach") == 2
    assert run("search") == 2
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    "path", ["Pump.md", "100% sure? #1 [draft]^.md", "a:12: b.md", "x#1,2.md", "sub/Ä ö.md", "new\nline.md"]
)
def test_a_printed_hit_can_be_given_to_read(
    path: str, notes: Path, write: Write, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whatever the name, the whole printed line, `path:line`, the path and `path#start,end` lead to the text."""
    text = "# One\n\nalpha first\n\n# Two\n\nalpha second\n"
    write(path, text)
    assert run("search", str(notes), "alpha second", "--top-k", "1", "--quiet") == 0
    printed = capfd.readouterr().out.rstrip("\n")
    span = "# Two\n\nalpha second"
    start = text.index(span)
    for place in (printed, f"{path}:5", f"{path}:7", f"{path}#{start},{start + len(span)}", f"{path}:5-7"):
        assert run("read", str(notes), place) == 0
        assert capfd.readouterr().out == f"{span}\n"
    assert run("read", str(notes), path) == 0
    assert capfd.readouterr().out == text


@pytest.mark.parametrize(
    "text",
    [
        " ".join(f"Sentence {n} speaks of thing {n}." for n in range(2000)),
        "word " * 4000,
        "ไทย" * 2000,
        "| a | b |\n|---|---|\n" + "| " + "cell " * 900 + "| x |\n",
    ],
)
def test_every_printed_hit_names_its_own_place(
    text: str, notes: Path, write: Write, capfd: pytest.CaptureFixture[str]
) -> None:
    """Also where many fragments lie on one line, or look alike, the printed line and its place lead to the text."""
    write("Long.md", f"Before.\n\n{text}")
    question = ("search", str(notes), "thing word cell ไทย", "--top-k", "8", "--mode", "lexical")
    assert run(*question, "--json") == 0
    texts = [hit["text"] for hit in json.loads(capfd.readouterr().out)["hits"]]
    assert run(*question, "--quiet") == 0
    printed = capfd.readouterr().out.splitlines()
    assert len(printed) == len(texts) > 0
    for line, wanted in zip(printed, texts, strict=True):
        for place in (line, line.split(": ")[0]):
            assert run("read", str(notes), place, "--quiet") == 0
            assert capfd.readouterr().out.rstrip("\n") == wanted.rstrip("\n")


def test_a_printed_hit_of_a_changed_note_is_found_or_refused(
    notes: Path, write: Write, capfd: pytest.CaptureFixture[str]
) -> None:
    """Text that moved since it was printed is read at its new place; text that is gone is an error."""
    write("n.md", "one two okapi")
    write("n.md", "# New\n\nlines\n\n# Old\n\none two okapi")
    assert run("read", str(notes), "n.md:1: # Old one two okapi", "--quiet") == 0
    assert "okapi" in capfd.readouterr().out
    assert run("read", str(notes), "n.md:1: something else", "--quiet") == 1
    assert "search again" in capfd.readouterr().err


def test_no_name_or_text_acts_on_the_terminal(notes: Path, write: Write, capfd: pytest.CaptureFixture[str]) -> None:
    """Control characters of a name or a text are shown, never sent, so that a name cannot forge a line."""
    write("e\x1b[31mvil\nforged.md", "walrus \x1b]0;title\x07 here")
    for command in (("search", str(notes), "walrus"), ("index", str(notes), "--dry-run"), ("status", str(notes))):
        assert run(*command) == 0
        out, err = capfd.readouterr()
        assert "\x1b" not in out + err
        assert "\x07" not in out + err
        assert not any(line.startswith("forged") for line in out.splitlines())


def test_more_hits_than_can_be_counted_are_all_hits(
    notes: Path, write: Write, capfd: pytest.CaptureFixture[str]
) -> None:
    """A count beyond every bound of the machine means all."""
    write("n.md", "walrus")
    for mode in ("hybrid", "semantic", "lexical"):
        assert run("search", str(notes), "walrus", "-k", "9" * 30, "--max-per-record", "9" * 30, "--mode", mode) == 0
        assert capfd.readouterr().out == "n.md:1: walrus\n"


def test_documents_have_a_schema(notes: Path, write: Write, capfd: pytest.CaptureFixture[str]) -> None:
    """Every command with `--json` prints one document that names its schema, also when there is nothing."""
    write("Leek.md", "leeks\n")
    for arguments in (
        ("search", str(notes), "leeks"),
        ("search", str(notes), "zzz", "--mode", "lexical"),
        ("read", str(notes), "Leek.md"),
        ("index", str(notes)),
        ("index", str(notes), "--dry-run"),
        ("status", str(notes)),
    ):
        assert run(*arguments, "--json") == 0
        document = json.loads(capfd.readouterr().out)
        assert document["schema"].startswith("vault-memory/")
    assert run("search", str(notes), "leeks", "--json") == 0
    (hit,) = json.loads(capfd.readouterr().out)["hits"]
    assert hit["target"] == {"scope": "", "id": "Leek"}
    assert (hit["locator"], hit["lines"], hit["heading_path"]) == ({"start": 0, "end": 5}, [1, 1], [])


def test_a_dash_reads_the_question(
    notes: Path, write: Write, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`-` takes the question from standard input."""
    write("Leek.md", "leeks")
    monkeypatch.setattr("sys.stdin", io.StringIO("leeks\n"))
    assert run("search", str(notes), "-") == 0
    assert capfd.readouterr().out == "Leek.md:1: leeks\n"


def test_a_dry_run_lists_and_changes_nothing(notes: Path, write: Write, capfd: pytest.CaptureFixture[str]) -> None:
    """A dry run says what would be read and left out, each with its reason, and indexes nothing."""
    write("Leek.md", "leeks")
    write(".obsidian/app.md", "no note")
    assert run("index", str(notes), "--dry-run") == 0
    out = capfd.readouterr().out
    assert "read     Leek.md" in out
    assert "leave    .obsidian  (" in out
    assert run("index", str(notes), "--quiet") == 0
    assert capfd.readouterr().out.startswith("added 1, ")


def test_strict_fails_at_a_bad_note(notes: Path, write: Write, capfd: pytest.CaptureFixture[str]) -> None:
    """With `--strict` a note that cannot be loaded is a runtime error that names it."""
    write("Bad.md", "---\na: b: c\n---\n")
    assert run("search", str(notes), "x", "--strict") == 1
    assert capfd.readouterr().err.startswith("vault-memory: Bad.md:2: ")


def test_explain_and_full_show_more(notes: Path, write: Write, capfd: pytest.CaptureFixture[str]) -> None:
    """`--explain` adds each lane's score and how they were joined, `--full` the whole span."""
    write("Leek.md", "# Bed\n\nleeks\nand more")
    assert run("search", str(notes), "leeks", "--explain", "--full") == 0
    out, err = capfd.readouterr()
    assert "bm25 " in out
    assert "Bed" in out
    assert "leeks\nand more" in out
    assert "joined" in err


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for a child process.")
def test_watch_prints_what_changes_until_interrupted(notes: Path, write: Write) -> None:
    """Each pass prints a line per record; an interrupt ends it with exit code 130."""
    command = [sys.executable, "-m", "vault_memory", "watch", str(notes)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert "following" in process.stderr.readline()
        write("Leek.md", "leeks")
        assert process.stdout.readline() == "added    Leek.md\n"
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert "Traceback" not in process.stderr.read()


class Terminal(io.StringIO):
    """A standard error stream that is a terminal."""

    def isatty(self) -> bool:
        """Be one."""
        return True


def test_a_progress_bar_is_drawn_on_a_terminal_only(
    notes: Path, write: Write, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """On a terminal a bar shows how many notes were read, and is wiped at the end; elsewhere there is none."""
    write("Leek.md", "leeks")
    assert run("index", str(notes)) == 0
    assert capfd.readouterr().err == ""
    write("Mast.md", "mast")
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    assert run("index", str(notes)) == 0
    assert "2/2" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\033[K")


def test_what_is_pending_or_stale_is_told(
    notes: Path, write: Write, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A search says how many notes only keywords find, and an index run which ones and why."""

    def fail(self: StaticEmbedder, texts: Sequence[str]) -> Vector:
        raise MemoryError

    write("Leek.md", "leeks")
    monkeypatch.setattr(StaticEmbedder, "embed_documents", fail)
    assert run("index", str(notes)) == 0
    assert "not embedded: Leek.md" in capfd.readouterr().err
    assert run("search", str(notes), "leeks", "--mode", "lexical") == 0
    assert "1 notes are found by keywords only" in capfd.readouterr().err
    assert run("search", str(notes), "leeks") == 1
    assert capfd.readouterr().err.startswith("vault-memory: ")


def test_an_interrupt_is_exit_code_130(
    notes: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C ends with one line and the code that shells expect."""

    def interrupt(options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["vault_memory.cli.main"], "COMMANDS", {"status": interrupt})
    assert run("status", str(notes)) == 130
    assert capfd.readouterr().err == "vault-memory: interrupted; what was done so far is kept\n"


def test_a_reader_that_stops_early_is_no_error(sample_vault: Path) -> None:
    """A pipe that is closed by its reader ends the command quietly."""
    command = f"{sys.executable} -m vault_memory search {sample_vault} garden -k 200 --full --quiet | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)  # noqa: S602  # A pipe.
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""


def test_context_prints_blocks_within_the_bound(notes: Path, write: Write, capfd: pytest.CaptureFixture[str]) -> None:
    """Passages come in blocks that can be cited; what does not fit is left out, and that is said."""
    for n in range(5):
        write(f"{n}.md", f"leek bed number {n} " + "and more " * 20)
    assert run("context", str(notes), "leek bed", "--max-chars", "600") == 0
    out, err = capfd.readouterr()
    assert len(out.rstrip("\n")) <= 600
    assert out.startswith('<source id="')
    assert "hits were left out: over-char-budget" in err
    assert run("context", str(notes), "leek bed", "--json") == 0
    document = json.loads(capfd.readouterr().out)
    assert document["schema"].startswith("vault-memory/context/")
    assert len(document["passages"]) == 5
    assert run("context", str(notes), "leek bed", "--max-chars", "0") == 2
