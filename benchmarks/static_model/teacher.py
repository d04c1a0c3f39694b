"""Step `teach`: the vectors that the teacher gives to each text and to each token alone."""

from __future__ import annotations

import hashlib
import json
import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime
from passages import load_texts
from tokenizers import Tokenizer

Vectors = npt.NDArray[np.float32]

CLS, SEP = 101, 102
WIDTH = 384
MAX_TOKENS = 512
BATCH_TEXTS, BATCH_TOKENS = 64, 3000
SAVED_TEXTS = 4096
VECTORS_FILE, KEYS_FILE, TOKENS_FILE = "teach.npy", "teach-keys.json", "tokens.npy"


def load_tokenizer(teacher: Path, limit: int | None = None) -> Tokenizer:
    """Return the teacher's tokenizer, which cuts texts at `limit` tokens if one is given."""
    tokenizer = Tokenizer.from_file(str(teacher / "tokenizer.json"))
    tokenizer.no_padding()
    if limit is None:
        tokenizer.no_truncation()
    else:
        tokenizer.enable_truncation(limit)
    return tokenizer


class Teacher:
    """A BERT encoder that uses its [CLS] vector."""

    def __init__(self, folder: Path, threads: int) -> None:
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads, settings.inter_op_num_threads, settings.log_severity_level = threads, 1, 3
        model = str(folder / "model.onnx")
        self._session = onnxruntime.InferenceSession(model, settings, providers=["CPUExecutionProvider"])
        self.tokenizer = load_tokenizer(folder, MAX_TOKENS)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors: shape `(len(texts), 384)`."""
        return self.embed_ids([encoding.ids for encoding in self.tokenizer.encode_batch_fast(list(texts))])

    def embed_ids(self, rows: Sequence[Sequence[int]]) -> Vectors:
        """Return unit vectors of lists of token ids, run in batches of like length."""
        vectors = np.zeros((len(rows), WIDTH), np.float32)
        order = np.argsort([len(row) for row in rows], kind="stable")
        start = 0
        while start < len(order):
            longest = len(rows[order[min(start + BATCH_TEXTS, len(order)) - 1]])
            batch = order[start : start + max(8, min(BATCH_TEXTS, BATCH_TOKENS // longest))]
            vectors[batch] = self._run([rows[place] for place in batch])
            start += len(batch)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def _run(self, rows: Sequence[Sequence[int]]) -> Vectors:
        ids = np.zeros((len(rows), max(map(len, rows))), np.int64)
        mask = np.zeros_like(ids)
        for place, row in enumerate(rows):
            ids[place, : len(row)] = row
            mask[place, : len(row)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        states: Vectors = self._session.run(None, inputs)[0]
        return states[:, 0]


def teach(options: Namespace) -> None:
    """Write the teacher's vectors of tokens and texts into the work folder; a step that was stopped goes on."""
    teacher = Teacher(options.teacher, options.threads)
    if not (options.work / TOKENS_FILE).exists():
        size = teacher.tokenizer.get_vocab_size()
        np.save(options.work / TOKENS_FILE, teacher.embed_ids([[CLS, token, SEP] for token in range(size)]))
    texts = [text["text"] for text in load_texts(options.work)]
    vectors = open_vectors(options.work, texts)
    todo = np.flatnonzero(~np.asarray(vectors[:, :8]).any(axis=1))
    # The long texts take longest, and come last.
    todo = todo[np.argsort([len(texts[place]) > 450 for place in todo], kind="stable")]
    began = time.monotonic()
    for start in range(0, len(todo), SAVED_TEXTS):
        batch = todo[start : start + SAVED_TEXTS]
        vectors[batch] = teacher.embed([texts[place] for place in batch]).astype(np.float16)
        vectors.flush()
        print(start + len(batch), "of", len(todo), "after", round(time.monotonic() - began), "s", flush=True)


def open_vectors(work: Path, texts: Sequence[str]) -> np.memmap:
    """Return the file of text vectors for writing, filled with what an earlier run, perhaps of fewer texts, left."""
    file, keys_file = work / VECTORS_FILE, work / KEYS_FILE
    keys = [hashlib.blake2b(text.encode(), digest_size=8).hexdigest() for text in texts]
    fresh = file.with_suffix(".new.npy")
    vectors = np.lib.format.open_memmap(fresh, mode="w+", dtype=np.float16, shape=(len(texts), WIDTH))
    if keys_file.exists():
        earlier = np.load(file)
        place_of = {key: place for place, key in enumerate(json.loads(keys_file.read_text(encoding="utf-8")))}
        for place, key in enumerate(keys):
            if key in place_of:
                vectors[place] = earlier[place_of[key]]
    fresh.replace(file)
    keys_file.write_text(json.dumps(keys), encoding="utf-8")
    return vectors
