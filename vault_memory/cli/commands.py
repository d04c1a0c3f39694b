"""What each command does with a vault."""

from __future__ import annotations

import argparse
import json
import sys
import threading
from collections import Counter
from dataclasses import asdict
from typing import Any

from vault_memory.cli.output import (
    hit_document,
    hit_line,
    notice,
    passage_document,
    plan_lines,
    print_json,
    progress_bar,
    report_document,
    report_lines,
    retrieval_notes,
    shown_path,
)
from vault_memory.cli.places import column_of, find_place
from vault_memory.context import Layout
from vault_memory.errors import QueryError
from vault_memory.model import SyncReport
from vault_memory.store import OnRecordError
from vault_memory.vault import Vault


def run_search(options: argparse.Namespace) -> None:
    """Print the hits of a question."""
    with _open(options) as vault:
        retrieval = vault.search(_query(options), **_filters(options))
        columns = [] if options.json else [column_of(vault, hit) for hit in retrieval]
    if options.json:
        hits = [hit_document(hit) for hit in retrieval]
        print_json("search", {"query": options.query, "hits": hits, "evidence": asdict(retrieval.evidence)})
        return
    for hit, column in zip(retrieval, columns, strict=True):
        print(hit_line(hit, column, full=options.full, explain=options.explain))
    for note in retrieval_notes(retrieval, explain=options.explain):
        notice(note, options)


def run_context(options: argparse.Namespace) -> None:
    """Print passages that a language model can cite."""
    layout = Layout(order=options.order, format=options.format, merge=options.merge)
    bounds = {"max_chars": options.max_chars, "max_tokens": options.max_tokens, "layout": layout}
    with _open(options) as vault:
        context = vault.context(_query(options), **bounds, **_filters(options))
    if options.json:
        print_json("context", context.document())
        return
    if context.text:
        print(context.text)
    for reason, count in Counter(dropped.reason for dropped in context.dropped).items():
        notice(f"{count} hits were left out: {reason}", options)


def _query(options: argparse.Namespace) -> str:
    if options.query == "-":
        options.query = sys.stdin.read()
    query: str = options.query
    return query


def _filters(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "top_k": options.top_k,
        "max_per_record": options.max_per_record,
        "mode": options.mode,
        "scope": options.scope,
        "tags": options.tag,
        "kind": options.kind,
        "where": _properties(options.where),
        "threshold": options.threshold,
    }


def run_read(options: argparse.Namespace) -> None:
    """Print a span, and nothing else."""
    with _open(options) as vault:
        passage = vault.read(*find_place(vault, options.place))
    if options.json:
        print_json("read", passage_document(passage))
        return
    sys.stdout.write(passage.text)
    if not passage.text.endswith(("\n", "\r")):
        sys.stdout.write("\n")


def run_index(options: argparse.Namespace) -> None:
    """Bring the index up to date, or say what would be done."""
    vault = _attach(options)
    with vault:
        if options.dry_run:
            lines = plan_lines(vault.plan(verify=options.verify))
            if options.json:
                print_json("index-plan", {"files": [{"action": a, "path": p, "reason": r} for a, p, r in lines]})
            else:
                print(
                    "\n".join(
                        f"{action:8} {shown_path(path)}{f'  ({reason})' if reason else ''}"
                        for action, path, reason in lines
                    )
                )
            return
        with progress_bar(options) as progress:
            report = vault.sync(verify=options.verify, allow_empty=options.allow_empty, progress=progress)
    if options.json:
        print_json("index", report_document(report))
        return
    print(
        f"added {len(report.added)}, changed {len(report.changed)}, moved {len(report.moved)},"
        f" removed {len(report.removed)}, unchanged {report.unchanged}, quarantined {len(report.quarantined)}"
    )
    for file in report.quarantined:
        notice(f"quarantined: {file.error}", options)
    for path, reason in report.failed.items():
        notice(f"not embedded: {path}: {reason}", options)


def run_watch(options: argparse.Namespace) -> None:
    """Follow the folder until interrupted, and print what each pass did."""

    def show(report: SyncReport) -> None:
        if options.json:
            if report_lines(report):
                print(json.dumps(report_document(report), ensure_ascii=False), flush=True)
            return
        for action, path in report_lines(report):
            print(f"{action:8} {path}", flush=True)

    with _open(options) as vault, vault.watch(show):
        notice(f"following {options.vault}; interrupt to end", options)
        threading.Event().wait()


def run_status(options: argparse.Namespace) -> None:
    """Print what the vault holds."""
    with _open(options) as vault:
        status, quarantined = vault.status(), vault.quarantined
    if options.json:
        files = [{"path": file.path, "line": file.line, "reason": file.reason} for file in quarantined]
        print_json("status", {**asdict(status), "quarantined_files": files})
        return
    described = asdict(status)
    for name, value in {**described, **described.pop("freshness")}.items():
        if name != "freshness":
            print(f"{name}: {value}")
    for file in quarantined:
        print(f"quarantined: {shown_path(str(file.error))}")


def _attach(options: argparse.Namespace) -> Vault:
    policy: OnRecordError = "fail" if options.strict else "skip"
    return Vault.attach(options.vault, on_record_error=policy, embedder=options.embedder, state_dir=options.state_dir)


def _open(options: argparse.Namespace) -> Vault:
    vault = _attach(options)
    try:
        with progress_bar(options) as progress:
            vault.sync(progress=progress)
    except BaseException:
        vault.close()
        raise
    return vault


def _properties(pairs: list[str]) -> dict[str, str]:
    """Return NAME=VALUE arguments as a mapping.

    Raises:
        QueryError: One has no `=`.
    """
    for pair in pairs:
        if "=" not in pair:
            raise QueryError(f"--where takes NAME=VALUE, not {pair!r}")
    return dict(pair.split("=", 1) for pair in pairs)
