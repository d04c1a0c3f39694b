"""What is printed: lines for people and pipes, documents for programs."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from vault_memory.indexer import Progress, SyncPlan
from vault_memory.model import Hit, Passage, Retrieval, SyncReport

SCHEMA_VERSION = 1
SNIPPET_CHARS = 160
BAR_CHARS = 30
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SHOWN_CONTROL = re.compile(r"\\x([0189][0-9a-f]|7f)")


def snippet(text: str) -> str:
    """Return the beginning of a span on one line, without what a terminal would act on."""
    flat = _CONTROL.sub("\ufffd", " ".join(text.split()))
    return flat if len(flat) <= SNIPPET_CHARS else flat[: SNIPPET_CHARS - 1].rstrip() + "…"


def shown_path(path: str) -> str:
    r"""Return a path on one line: a control character is written `\xNN`."""
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", path)


def meant_path(shown: str) -> str:
    """Return the path that `shown_path` shows."""
    return _SHOWN_CONTROL.sub(lambda match: chr(int(match[1], 16)), shown)


def hit_line(hit: Hit, column: int = 1, *, full: bool = False, explain: bool = False) -> str:
    """Return a hit as `path:line: text`, which `read` takes back.

    A hit that does not begin its line is `path:line:column: text`, so that each place has a line of its own.
    """
    place = f"{shown_path(hit.path)}:{hit.lines[0]}" + (f":{column}" if column > 1 else "")
    lines = [f"{place}: {snippet(hit.text)}"]
    if explain:
        scores = ", ".join(f"{kind} {score:.3f}" for kind, score in sorted(hit.scores.items()))
        trail = " > ".join(hit.heading_path)
        lines.append(f"    score {hit.score:.3f} ({scores}) lines {hit.lines[0]}-{hit.lines[1]} {trail}".rstrip())
    if full:
        lines.extend(("", hit.text, ""))
    return "\n".join(lines)


def retrieval_notes(retrieval: Retrieval, *, explain: bool) -> list[str]:
    """Return what a reader of the hits should know beside them."""
    evidence = retrieval.evidence
    notes = list(evidence.notes)
    if not evidence.records:
        notes.append("no note could answer: the vault, or what the filters leave of it, is empty")
    elif not retrieval.hits:
        notes.append("no hits")
    freshness = evidence.freshness
    if freshness.quarantined:
        notes.append(f"{freshness.quarantined} files could not be loaded; `vault-memory status` lists them")
    if freshness.pending:
        notes.append(f"{freshness.pending} notes are found by keywords only, until they can be embedded")
    if freshness.stale:
        notes.append(f"{freshness.stale} notes lie in folders that cannot be listed and may be out of date")
    if explain and evidence.dense_weight is not None:
        notes.append(f"joined {evidence.dense_weight:.2f} meaning (the words cover {evidence.coverage or 0:.2f})")
    return notes


def hit_document(hit: Hit) -> dict[str, Any]:
    """Return a hit for JSON."""
    document = asdict(hit)
    return {**document, "lines": list(hit.lines), "heading_path": list(hit.heading_path)}


def passage_document(passage: Passage) -> dict[str, Any]:
    """Return a passage for JSON."""
    document = asdict(passage)
    return {**document, "lines": list(passage.lines), "heading_path": list(passage.heading_path)}


def report_document(report: SyncReport) -> dict[str, Any]:
    """Return a report for JSON."""
    return {
        "added": list(report.added),
        "changed": list(report.changed),
        "moved": [list(pair) for pair in report.moved],
        "removed": list(report.removed),
        "unchanged": report.unchanged,
        "embedded": report.embedded,
        "quarantined": [{"path": file.path, "line": file.line, "reason": file.reason} for file in report.quarantined],
        "left_out": [{"path": left.path, "reason": left.reason} for left in report.left_out],
        "failed": dict(report.failed),
    }


def report_lines(report: SyncReport) -> list[tuple[str, str]]:
    """Return what a pass did, one action and path for each record, as they are shown."""
    lines = [("added", path) for path in report.added] + [("changed", path) for path in report.changed]
    lines += [("moved", f"{old} -> {new}") for old, new in report.moved]
    lines += [("removed", path) for path in report.removed]
    return [(action, shown_path(path)) for action, path in lines]


def plan_lines(plan: SyncPlan) -> list[tuple[str, str, str]]:
    """Return what a pass would do as action, path and reason, ordered by path."""
    to_read = {entry.path for entry in plan.to_read}
    lines = [("read" if entry.path in to_read else "keep", entry.path, "") for entry in plan.scan.entries]
    lines += [("remove", plan.known[target].path, "the file is gone") for target in plan.gone]
    lines += [("leave", left.path, left.reason) for left in plan.scan.left_out]
    lines += [("bad", file.path, file.reason) for file in plan.scan.quarantined]
    return sorted(lines, key=lambda line: (line[1], line[0]))


def print_json(kind: str, document: dict[str, Any]) -> None:
    """Print one JSON document that names its kind and version."""
    print(json.dumps({"schema": f"vault-memory/{kind}/{SCHEMA_VERSION}", **document}, ensure_ascii=False, indent=2))


def notice(text: str, options: argparse.Namespace) -> None:
    """Tell the person something that is not data."""
    if not options.quiet:
        print(f"vault-memory: {shown_path(text)}", file=sys.stderr)


@contextmanager
def progress_bar(options: argparse.Namespace) -> Iterator[Progress | None]:
    """Give a callback that draws a bar on a terminal, or nothing where there is none."""
    if options.quiet or not sys.stderr.isatty():
        yield None
        return
    shown = -1

    def draw(done: int, total: int) -> None:
        nonlocal shown
        filled = BAR_CHARS * done // total
        if filled != shown:
            shown = filled
            bar = "#" * filled + "-" * (BAR_CHARS - filled)
            print(f"\r[{bar}] {done}/{total}", end="", file=sys.stderr, flush=True)

    try:
        yield draw
    finally:
        if shown >= 0:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
