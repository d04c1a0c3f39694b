"""The command line's arguments."""

from __future__ import annotations

import argparse
from importlib.metadata import version

DESCRIPTION = "Search a folder of Markdown notes, and read the exact place."
EPILOG = (
    "Data goes to standard output, everything else to standard error."
    " Exit codes: 0 done (also with no hits), 1 error, 2 wrong use, 130 interrupted."
)


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of `vault-memory`."""
    parser = argparse.ArgumentParser(prog="vault-memory", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"vault-memory {version('vault-memory')}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    shared = _shared_options()
    asked = _query_options()
    _add_search(commands, shared, asked)
    _add_context(commands, shared, asked)
    _add_read(commands, shared)
    _add_index(commands, shared)
    watch = commands.add_parser("watch", parents=[shared], help="follow the folder and keep the index up to date")
    watch.add_argument("vault", help="folder of notes")
    status = commands.add_parser("status", parents=[shared], help="say what the vault holds and how fresh it is")
    status.add_argument("vault", help="folder of notes")
    return parser


def _shared_options() -> argparse.ArgumentParser:
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--json", action="store_true", help="print one JSON document")
    shared.add_argument("--state-dir", metavar="FOLDER", help="folder for the index (default: the user's cache folder)")
    shared.add_argument("--embedder", default="default", metavar="SPEC", help="embedder (default: the built-in one)")
    shared.add_argument("--strict", action="store_true", help="fail at the first note that cannot be loaded")
    shared.add_argument("--quiet", action="store_true", help="print no progress and no notices")
    return shared


def _query_options() -> argparse.ArgumentParser:
    asked = argparse.ArgumentParser(add_help=False)
    asked.add_argument("vault", help="folder of notes")
    asked.add_argument("query", help="question or words; - reads it from standard input")
    asked.add_argument("-k", "-n", "--top-k", "--limit", type=int, default=10, metavar="N", help="hits (default: 10)")
    asked.add_argument("--max-per-record", type=int, metavar="N", help="at most N hits of one note")
    asked.add_argument("--mode", choices=["hybrid", "semantic", "lexical"], default="hybrid")
    asked.add_argument("--scope", metavar="FOLDER", help="only notes below this folder of the vault")
    asked.add_argument("--tag", action="append", default=[], metavar="TAG", help="only notes with this tag")
    asked.add_argument("--kind", help="only notes of this kind")
    asked.add_argument(
        "--where", action="append", default=[], metavar="NAME=VALUE", help="only notes with this property"
    )
    asked.add_argument("--threshold", type=float, metavar="SCORE", help="only hits with at least this score")
    return asked


def _add_search(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], *parents: argparse.ArgumentParser
) -> None:
    search = commands.add_parser("search", parents=parents, help="find the places that answer a question")
    search.add_argument("--full", action="store_true", help="print each span whole")
    search.add_argument("--explain", action="store_true", help="show each lane's score, and how they were joined")


def _add_context(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], *parents: argparse.ArgumentParser
) -> None:
    context = commands.add_parser("context", parents=parents, help="print passages for a language model to cite")
    context.add_argument("--max-chars", type=int, metavar="N", help="bound for the whole text, in characters")
    context.add_argument("--max-tokens", type=int, metavar="N", help="bound for the whole text, in estimated tokens")
    context.add_argument("--order", choices=["rank", "place"], default="rank", help="best first, or as in the notes")
    context.add_argument("--format", choices=["source", "plain"], default="source", help="tagged blocks, or just text")
    context.add_argument("--merge", action="store_true", help="join neighbouring fragments of one note")


def _add_read(commands: argparse._SubParsersAction[argparse.ArgumentParser], shared: argparse.ArgumentParser) -> None:
    read = commands.add_parser("read", parents=[shared], help="print a note, or exactly a span of it")
    read.add_argument("vault", help="folder of notes")
    read.add_argument(
        "place",
        help="a printed hit, or PATH, PATH:LINE[:COLUMN], PATH:LINE-LINE, PATH#START,END (characters)",
    )


def _add_index(commands: argparse._SubParsersAction[argparse.ArgumentParser], shared: argparse.ArgumentParser) -> None:
    index = commands.add_parser("index", parents=[shared], help="bring the index up to date and report")
    index.add_argument("vault", help="folder of notes")
    index.add_argument("--dry-run", action="store_true", help="change nothing; list what would be indexed and why not")
    index.add_argument("--verify", action="store_true", help="read every note, whatever its size and times say")
    index.add_argument("--allow-empty", action="store_true", help="accept that a vault which had notes has none")
