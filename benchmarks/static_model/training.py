"""Step `train`: a table of token vectors whose normalised sums point where the teacher's vectors point."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from lessons import Integers, Lessons, load_lessons, measure
from teacher import TOKENS_FILE, Vectors
from torch.nn import functional

SIMILARITY_WEIGHT = 10.0
TEMPERATURE = 0.05
WARM_UP_STEPS = 50
RARITY_POWERS = (0.0, 0.25, 0.5, 0.75, 1.0)
HIDDEN = -1e4


@dataclass(frozen=True)
class Space:
    """The teacher's space, centred, turned to its principal components and cut.

    Attributes:
        mean: The teacher's mean vector, shape `(384,)`.
        axes: Shape `(384, dimensions)`, the strongest component first.
    """

    mean: Vectors
    axes: Vectors

    @classmethod
    def of(cls, vectors: Vectors, dimensions: int) -> Space:
        """Return the space of the strongest components of the teacher's vectors."""
        mean = vectors.mean(axis=0)
        centred = unit(vectors - mean)
        strengths, axes = np.linalg.eigh((centred[::2].T @ centred[::2]).astype(np.float64))
        kept = strengths[::-1][:dimensions].sum() / strengths.sum()
        print("the principal components keep", round(float(kept), 4), flush=True)
        return cls(mean, axes[:, ::-1][:, :dimensions].astype(np.float32))

    def project(self, vectors: Vectors) -> Vectors:
        """Return vectors in this space, not normalised."""
        return (vectors - self.mean) @ self.axes


def unit(vectors: Vectors) -> Vectors:
    """Return the rows at length 1."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def rarity(texts: int, frequencies: Integers) -> Vectors:
    """Return each token's inverse document frequency, `log((n + 1) / (df + 1))`."""
    return np.log((texts + 1) / (frequencies + 1)).astype(np.float32)


class Training:
    """One run of Adam over the lessons."""

    def __init__(self, options: Namespace, lessons: Lessons, start: Vectors, wanted: Vectors) -> None:
        self.options, self.lessons, self.wanted = options, lessons, torch.from_numpy(wanted)
        self.table = torch.nn.Parameter(torch.from_numpy(start.copy()))
        self._optimizer = torch.optim.Adam([self.table], lr=options.rate)
        self._rng = np.random.default_rng(0)
        pairs = np.concatenate([lessons.neighbours, lessons.headed])
        self._pairs = pairs[~np.isin(pairs, lessons.held_out).any(axis=1)]
        self._steps_done = 0
        self._steps = options.epochs * (len(lessons.training) // options.batch)

    def run_epoch(self) -> float:
        """Go through the training texts once; return the mean loss."""
        losses = [self._step(batch) for batch in self._batches()]
        return sum(losses) / max(1, len(losses))

    def _batches(self) -> Iterator[Integers]:
        order = self._rng.permutation(self.lessons.training)
        size = self.options.batch
        return (order[start : start + size] for start in range(0, len(order) - size + 1, size))

    def _step(self, texts: Integers) -> float:
        """Take one step; the rate rises over the first steps and then falls to 0."""
        rate = min(1.0, (self._steps_done + 1) / WARM_UP_STEPS) * (1 - self._steps_done / self._steps)
        for group in self._optimizer.param_groups:
            group["lr"] = self.options.rate * rate
        loss = self._imitation_loss(texts)
        if self.options.pairs and len(self._pairs):
            loss = loss + self.options.pairs * self._contrastive_loss()
        self._optimizer.zero_grad()
        loss.backward()
        self._optimizer.step()
        self._steps_done += 1
        return float(loss.item())

    def _embed(self, texts: Integers) -> torch.Tensor:
        """Return the normalised sums; some tokens are hidden, so that none learns to answer for a text alone."""
        ids, starts = (torch.from_numpy(part) for part in self.lessons.bags.take(texts))
        shown = (torch.rand(len(ids)) >= self.options.drop).float()
        sums = functional.embedding_bag(ids, self.table, starts, mode="sum", per_sample_weights=shown)
        return functional.normalize(sums, dim=1)

    def _imitation_loss(self, texts: Integers) -> torch.Tensor:
        """Distance from the teacher's vectors, and from the teacher's similarities within the batch."""
        own, wanted = self._embed(texts), self.wanted[texts]
        away = (1 - (own * wanted).sum(dim=1)).mean()
        return away + SIMILARITY_WEIGHT * ((own @ own.T - wanted @ wanted.T) ** 2).mean()

    def _contrastive_loss(self) -> torch.Tensor:
        """Tell the partner of a text from the other pairs' texts, in both directions."""
        pairs = self._pairs[self._rng.integers(0, len(self._pairs), self.options.batch // 2)]
        left, right = torch.from_numpy(pairs[:, 0]), torch.from_numpy(pairs[:, 1])
        scores = self._embed(pairs[:, 0]) @ self._embed(pairs[:, 1]).T / TEMPERATURE
        same = (left[None] == left[:, None]) | (right[None] == right[:, None])
        scores = scores.masked_fill(same & ~torch.eye(len(pairs), dtype=torch.bool), HIDDEN)
        answers = torch.arange(len(pairs))
        return (functional.cross_entropy(scores, answers) + functional.cross_entropy(scores.T, answers)) / 2


def with_unseen(table: Vectors, start: Vectors, frequencies: Integers) -> Vectors:
    """Bring the tokens that no text shows, which kept their start, to the length that rare tokens have come to."""
    growth = np.linalg.norm(table, axis=1) / np.maximum(np.linalg.norm(start, axis=1), 1e-9)
    rare = (frequencies > 0) & (frequencies < 5)
    if rare.any():
        table[frequencies == 0] *= np.median(growth[rare])
    return table


def train(options: Namespace) -> None:
    """Write the trained table as `NAME.npz` into the work folder, with what the export needs to weigh rarity."""
    torch.manual_seed(0)
    torch.set_num_threads(options.threads)
    lessons = load_lessons(options)
    space = Space.of(lessons.vectors, options.dimensions)
    wanted = unit(unit(lessons.vectors - lessons.vectors.mean(axis=0)) @ space.axes)
    weights = rarity(len(lessons.bags), lessons.frequencies)
    # The start is the teacher's vector of each token alone; rarer tokens weigh more.
    start = space.project(np.load(options.work / TOKENS_FILE)) * (weights / weights.mean())[:, np.newaxis]
    start = (start * options.init).astype(np.float32)
    print("start", measure(start, lessons, wanted), flush=True)
    run, began = Training(options, lessons, start, wanted), time.monotonic()
    for epoch in range(options.epochs):
        loss = run.run_epoch()
        table = run.table.detach().numpy().copy()
        seconds = round(time.monotonic() - began)
        print(epoch, "loss", round(loss, 4), measure(table, lessons, wanted), seconds, "s", flush=True)
    table = with_unseen(run.table.detach().numpy().copy(), start, lessons.frequencies)
    texts = len(lessons.bags)
    np.savez(options.work / f"{options.name}.npz", table=table, frequencies=lessons.frequencies, texts=texts)
    for power in RARITY_POWERS:
        print("rarity power", power, measure(table * (weights**power)[:, np.newaxis], lessons, wanted), flush=True)
