"""How well each mode finds the answers of the question sets in `data/`.

Run `python benchmarks/quality.py`, or name sets: `python benchmarks/quality.py sample xquad-zh`. Figures are percent:
`chars@5` is the share of the answer's characters that the first five hits hold, `hit@1` and `hit@5` how often they
hold all of it, `note@5` how often one of them lies in the right note.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from vault_memory import Hit, Vault

DATA = Path(__file__).parent / "data"
SAMPLE = Path(__file__).parent.parent / "sample_vault"
MODES = ("lexical", "semantic", "hybrid")
MEASURES = ("chars@5", "hit@1", "hit@5", "note@5")


def found_share(hits: list[Hit], path: str, spans: list[list[int]]) -> float:
    """Return the share of the answer's characters that some hits hold."""
    wanted = {position for start, end in spans for position in range(start, end)}
    held: set[int] = set()
    for hit in hits:
        if hit.path == path:
            held.update(range(hit.locator.start, hit.locator.end))
    return len(wanted & held) / len(wanted)


def measure(vault: Vault, questions: list[dict[str, Any]], mode: str) -> list[float]:
    """Return the measures of one mode over some questions, in percent."""
    sums = [0.0] * len(MEASURES)
    for question in questions:
        hits = list(vault.search(question["question"], top_k=5, mode=mode))
        path, spans = question["path"], question["spans"]
        shares = (found_share(hits, path, spans), found_share(hits[:1], path, spans))
        values = (shares[0], shares[1] == 1, shares[0] == 1, any(hit.path == path for hit in hits))
        sums = [total + value for total, value in zip(sums, values, strict=True)]
    return [100 * total / len(questions) for total in sums]


def main() -> None:
    """Print one table row per set, kind of question and mode."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("sets", nargs="*", help="folders of data/ (all by default)")
    names = arguments.parse_args().sets or sorted(folder.name for folder in DATA.iterdir() if folder.is_dir())
    print(f"{'set':20} {'questions':>9} {'mode':10} {' '.join(f'{name:>8}' for name in MEASURES)}")
    for name in names:
        lines = (DATA / name / "questions.jsonl").read_text(encoding="utf-8").splitlines()
        kinds: dict[str, list[dict[str, Any]]] = {}
        for question in map(json.loads, lines):
            kinds.setdefault(f"{name} {question.get('kind', '')}".strip(), []).append(question)
        notes = SAMPLE if name == "sample" else DATA / name / "vault"
        with tempfile.TemporaryDirectory() as state, Vault.open(notes, state_dir=state) as vault:
            for kind, questions in kinds.items():
                for mode in MODES:
                    values = " ".join(f"{value:8.1f}" for value in measure(vault, questions, mode))
                    print(f"{kind:20} {len(questions):9} {mode:10} {values}", flush=True)


if __name__ == "__main__":
    main()
