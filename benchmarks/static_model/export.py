"""Steps `export` and `oracle`: the files that go into the package and its tests."""

from __future__ import annotations

import json
import shutil
from argparse import Namespace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from teacher import Vectors, load_tokenizer
from training import rarity

# [PAD] [UNK] [CLS] [SEP] [MASK] and the unused tokens come first in the vocabulary, and add nothing to a text.
WORDLESS_TOKENS = 999
SMALLEST_FLOAT16 = np.float32(6e-8)


def mean_table(work: Path, names: list[str], power: float) -> Vectors:
    """Return the mean of trained tables, each brought to one length, with the rarity weights folded in."""
    total: Vectors = np.zeros((), np.float32)
    weights: Vectors = np.ones((), np.float32)
    for name in names:
        with np.load(work / f"{name}.npz") as trained:
            table, frequencies = trained["table"], trained["frequencies"]
            weights = rarity(int(trained["texts"]), frequencies) ** power
        frequent = frequencies > min(10, frequencies.max() - 1)
        total = total + table / np.median(np.linalg.norm(table[frequent], axis=1))
    return total * weights[:, np.newaxis]


def quantise(table: Vectors) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float16]]:
    """Return the rows as int8 with one float16 scale each."""
    scale = (np.abs(table).max(axis=1) / 127).astype(np.float16).astype(np.float32)
    scale = np.maximum(scale, SMALLEST_FLOAT16)
    rows = np.clip(np.round(table / scale[:, np.newaxis]), -127, 127)
    return rows.astype(np.int8), scale.astype(np.float16)


def export(options: Namespace) -> None:
    """Write the table and its vocabulary into the output folder."""
    table = mean_table(options.work, options.names.split(","), options.power)
    table[:WORDLESS_TOKENS] = 0
    # A common factor cancels in a normalised sum; this one keeps the scales well inside float16.
    table *= 4 / np.median(np.linalg.norm(table[WORDLESS_TOKENS:], axis=1))
    rows, scale = quantise(table)
    options.out.mkdir(parents=True, exist_ok=True)
    file = options.out / f"static-{table.shape[1]}.npz"
    np.savez(file, table=rows, scale=scale)
    shutil.copyfile(options.teacher / "vocab.txt", options.out / "vocab.txt")
    back = rows * scale.astype(np.float32)[:, np.newaxis]
    error = np.linalg.norm(back - table) / np.linalg.norm(table)
    print(file, file.stat().st_size, "bytes; relative error of rounding", round(float(error), 4))


def write_oracle(options: Namespace) -> None:
    """Write the ids anew that the reference tokenizer gives to the texts of a `tokenize_reference.json`."""
    reference = json.loads(options.reference.read_text(encoding="utf-8"))
    tokenizer = load_tokenizer(options.teacher)
    # A special token that is written in a text is plain text.
    tokenizer.encode_special_tokens = True
    texts = [case["text"] for case in reference["cases"]]
    cases = [{"text": text, "ids": tokenizer.encode(text, add_special_tokens=False).ids} for text in texts]
    lines = ",\n".join(f"  {json.dumps(case)}" for case in cases)
    content = f'{{"about": {json.dumps(reference["about"])},\n "cases": [\n{lines}\n]}}\n'
    options.reference.write_text(content, encoding="utf-8")
    print(len(cases), "texts written to", options.reference)
