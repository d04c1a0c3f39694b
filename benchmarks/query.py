"""Speed and memory of the in-memory fragment index, beside numpy's bare matrix-vector product in the same run.

Run `python benchmarks/query.py` (100,000 fragments of 256 dimensions), or give other numbers: `--fragments 1000000`.
"""

from __future__ import annotations

import argparse
import gc
import platform
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from vault_memory.index.cosine import InMemoryFragmentCosineIndex
from vault_memory.model import EmbeddedFragment, FragmentLocator, Target

Matrix = npt.NDArray[np.float32]

PER_RECORD = 8
SCOPES = 100
RECORDS_A_LOAD = 2_048
# A threaded product keeps its worker spinning for some 25 ms, which would slow down whatever is measured next.
PAUSE_SECONDS = 0.05
ROUNDS = 3


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fragments", type=int, default=100_000)
    parser.add_argument("--dimensions", type=int, default=256)
    parser.add_argument("--runs", type=int, default=30)
    options = parser.parse_args()
    records = options.fragments // PER_RECORD
    per_fragment = allocated_bytes(records, options.dimensions) / (PER_RECORD * records)
    index, load_seconds = load(records, options.dimensions)
    print(f"{platform.platform()}, {platform.processor() or platform.machine()}, numpy {np.__version__}")
    print(f"{index.fragment_count} fragments x {options.dimensions}, {records} records in {SCOPES} scopes")
    floats = 4 * options.dimensions
    print(f"loaded in {load_seconds:.3f} s; {per_fragment:.0f} bytes a fragment, {floats} of them its vector\n")
    matrix = np.concatenate([rows for _, rows in batches(records, options.dimensions)])
    print(f"{'milliseconds':40}{'median':>8}{'worst':>8}{'product':>8}{'ratio':>8}{'cpu':>8}")
    measure_queries(index, matrix, options.runs)
    measure_writes(index, matrix, 20 * options.runs)


def measure_queries(index: InMemoryFragmentCosineIndex, matrix: Matrix, runs: int) -> None:
    """Print what queries cost, each as a multiple of the product, with which it takes turns."""
    query = matrix[len(matrix) // 2] + np.float32(0.5) * matrix[1]
    big = Target("big", "owner of the best")
    near = unit(query + np.float32(0.05) * matrix[: len(matrix) // 10])
    everyone = [named(number) for number in range(len(matrix) // PER_RECORD)]
    few, half = everyone[::100], everyone[::2]
    cases: dict[str, Callable[[], object]] = {
        "query, top 10": lambda: index.query(query, 10),
        "query, top 10, 2 of a record": lambda: index.query(query, 10, 2),
        "query, top 100, 3 of a record": lambda: index.query(query, 100, 3),
        "query in a scope of 1 %": lambda: index.query(query, 10, 2, scope="scope7"),
        "query among 1 % of the records": lambda: index.query(query, 10, 2, targets=few),
        "query among half of the records": lambda: index.query(query, 10, 2, targets=half),
    }
    for name, case in cases.items():
        compare(name, case, lambda: matrix @ query, runs)
    index.add_fragments(big, fragments(near))
    compare("query, one record owns the best 10 %", lambda: index.query(query, 10, 3), lambda: matrix @ query, runs)
    index.remove(big)


def measure_writes(index: InMemoryFragmentCosineIndex, matrix: Matrix, runs: int) -> None:
    """Print what one write costs."""
    numbers = iter(np.random.default_rng(1).integers(0, len(matrix) // PER_RECORD, 2 * runs).tolist())
    ten = fragments(matrix[:10])
    writes: dict[str, Callable[[], object]] = {
        "replace a record by 10 fragments": lambda: index.add_fragments(named(next(numbers)), ten),
        "remove a record": lambda: index.remove(named(next(numbers))),
    }
    for name, write in writes.items():
        milliseconds = [seconds_of(write)[0] * 1000 for _ in range(runs)]
        print(f"{name:40}{statistics.median(milliseconds):8.3f}{max(milliseconds):8.3f}")


def compare(name: str, case: Callable[[], object], peer: Callable[[], object], runs: int) -> None:
    """Run both in turns and print the case's times, and the medians of both as a ratio: elapsed and processor time."""
    ours: list[tuple[float, float]] = []
    theirs: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        for call, seconds in ((peer, theirs), (case, ours)):
            time.sleep(PAUSE_SECONDS)
            call()
            seconds += [seconds_of(call) for _ in range(runs // ROUNDS)]
    elapsed, processor = (statistics.median(column) for column in zip(*ours, strict=True))
    peer_elapsed, peer_processor = (statistics.median(column) for column in zip(*theirs, strict=True))
    worst = max(seconds for seconds, _ in ours)
    print(
        f"{name:40}{1000 * elapsed:8.3f}{1000 * worst:8.3f}{1000 * peer_elapsed:8.3f}"
        f"{elapsed / peer_elapsed:8.2f}{processor / peer_processor:8.2f}"
    )


def seconds_of(call: Callable[[], object]) -> tuple[float, float]:
    """Return elapsed and processor time of one call."""
    begin, processor = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - begin, time.process_time() - processor


def load(records: int, dimensions: int) -> tuple[InMemoryFragmentCosineIndex, float]:
    """Return an index loaded batch by batch, and the seconds that loading took."""
    index = InMemoryFragmentCosineIndex()
    seconds = 0.0
    for first, rows in batches(records, dimensions):
        targets = [named(first + number) for number in range(len(rows) // PER_RECORD)]
        starts = np.tile(900 * np.arange(PER_RECORD), len(targets))
        begin = time.perf_counter()
        index.load(targets, np.full(len(targets), PER_RECORD), starts, starts + 900, rows)
        seconds += time.perf_counter() - begin
    return index, seconds


def batches(records: int, dimensions: int) -> Iterator[tuple[int, Matrix]]:
    """Give the first record number and the unit rows of each load; the same ones each time."""
    random = np.random.default_rng(0)
    for first in range(0, records, RECORDS_A_LOAD):
        rows = PER_RECORD * min(RECORDS_A_LOAD, records - first)
        yield first, unit(random.standard_normal((rows, dimensions), dtype=np.float32))


def unit(rows: Matrix) -> Matrix:
    """Return the rows scaled to length 1."""
    scaled: Matrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return scaled


def named(number: int) -> Target:
    """Return the target of a numbered record."""
    return Target(f"scope{number % SCOPES}", f"note {number}")


def fragments(rows: Matrix) -> list[EmbeddedFragment]:
    """Return one fragment per row."""
    return [EmbeddedFragment(FragmentLocator(900 * n, 900 * n + 900), row) for n, row in enumerate(rows)]


def allocated_bytes(records: int, dimensions: int) -> int:
    """Return the memory that a loaded index holds, the unused ends of its blocks included."""
    tracemalloc.start()
    try:
        index, _ = load(records, dimensions)
        gc.collect()
        held, _ = tracemalloc.get_traced_memory()
        del index
        return held
    finally:
        tracemalloc.stop()


if __name__ == "__main__":
    main()
