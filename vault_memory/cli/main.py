"""`vault-memory`: exit codes, streams and errors of every command."""

from __future__ import annotations

import argparse
import io
import logging
import os
import sys
from collections.abc import Callable, Sequence

from vault_memory.cli.commands import run_context, run_index, run_read, run_search, run_status, run_watch
from vault_memory.cli.output import shown_path
from vault_memory.cli.parser import make_parser
from vault_memory.errors import QueryError, VaultMemoryError

DONE, FAILED, WRONG_USE, INTERRUPTED = 0, 1, 2, 130

COMMANDS: dict[str, Callable[[argparse.Namespace], None]] = {
    "search": run_search,
    "context": run_context,
    "read": run_read,
    "index": run_index,
    "status": run_status,
    "watch": run_watch,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Our own errors become one line on standard error; anything else is a fault of the program and shows its traceback.
    """
    _use_utf8()
    options = make_parser().parse_args(arguments)
    _log_to_stderr(quiet=options.quiet)
    try:
        COMMANDS[options.command](options)
        if sys.stdout is not None:
            sys.stdout.flush()
    except QueryError as error:
        return _fail(error, WRONG_USE)
    except VaultMemoryError as error:
        return _fail(error, FAILED)
    except KeyboardInterrupt:
        print("vault-memory: interrupted; what was done so far is kept", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of the pipe has seen enough; without this the interpreter would complain while it shuts down.
        _discard_output()
    except OSError as error:
        _discard_output()
        return _fail(error, FAILED)
    return DONE


def _discard_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(error: Exception, code: int) -> int:
    print(f"vault-memory: {shown_path(' '.join(str(error).split()))}", file=sys.stderr)
    return code


def _use_utf8() -> None:
    """Write UTF-8 whatever the console's default is, and never fail on a character."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _log_to_stderr(*, quiet: bool) -> None:
    logging.basicConfig(
        level=logging.ERROR if quiet else logging.WARNING, format="vault-memory: %(message)s", stream=sys.stderr
    )
