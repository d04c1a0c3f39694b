"""Step `texts`: from the sources to the passages and headings that the teacher reads."""

from __future__ import annotations

import hashlib
import json
import random
import re
from argparse import Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from readers import READERS, Pairs, Source, squash

Text = dict[str, Any]

SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[A-Z\"'(\[0-9])")
TEXTS_FILE = "texts.jsonl"
SHORT_CHARS, LONG_CHARS = 40, 400


def short_passages(text: str, rng: random.Random) -> Iterator[str]:
    """Yield groups of 1 to 4 sentences, mostly of at most 400 characters."""
    sentences = SENTENCE_END.split(text)
    while sentences:
        limit, number = rng.choice([90, 160, 240, 320, 400, 400, 400, 800]), rng.randint(1, 4)
        group = [sentences.pop(0)]
        while sentences and len(group) < number and sum(map(len, group)) + len(sentences[0]) < limit:
            group.append(sentences.pop(0))
        yield " ".join(group)[:900]


def long_passages(pairs: Iterable[tuple[str, str]], rng: random.Random) -> Pairs:
    """Yield stretches of 400 to 1,500 characters under one heading, as a long fragment of a note would be."""
    heading, stretch, wanted = "", "", 0
    for next_heading, paragraph in pairs:
        if stretch and (next_heading != heading or len(stretch) > wanted):
            yield heading, stretch[:1500]
            stretch = ""
        if not stretch:
            wanted = rng.randint(400, 1300)
        heading, stretch = next_heading, squash(f"{stretch} {paragraph}")
    if stretch:
        yield heading, stretch[:1500]


def is_english_prose(text: str) -> bool:
    """Tell whether a passage is mostly ASCII letters and has some words."""
    letters = sum(char.isalpha() and char.isascii() for char in text)
    return letters > 0.65 * len(text) and len(text.split()) >= 6


def passage_key(text: str) -> bytes:
    """Return what is equal for passages that differ in case and punctuation only."""
    return hashlib.blake2b(re.sub(r"\W+", " ", text.lower()).encode(), digest_size=8).digest()


class Collection:
    """The passages and headings of all sources, each once."""

    def __init__(self) -> None:
        self.rng = random.Random(0)
        self.texts: list[Text] = []
        self._passages: set[bytes] = set()
        self._headings: set[str] = set()

    def add(self, source: Source) -> dict[str, Any]:
        """Read one source; return how much it gave."""
        passages: list[Text] = []
        headings: dict[str, str] = {}
        for number, (heading, body) in enumerate(self._pairs(source)):
            title = squash(heading)[:120]
            texts = [body] if source.get("long") else short_passages(body, self.rng)
            least = LONG_CHARS if source.get("long") else SHORT_CHARS
            group = f"{source['name']}:{number}"
            new = (text for text in texts if len(text) >= least and is_english_prose(text) and self._is_new(text))
            passages += [{"text": text, "heading": title, "group": group} for text in new]
            if 3 < len(title) < 90 and re.search("[a-zA-Z]{3}", title):
                headings.setdefault(title.lower(), title)
        self.rng.shuffle(passages)
        passages = passages[: source.get("limit")]
        queries = self._queries(passages, headings, source)
        self.texts += passages + queries
        characters = sum(len(passage["text"]) for passage in passages)
        return {"passages": len(passages), "headings": len(queries), "characters": characters}

    def _pairs(self, source: Source) -> Pairs:
        pairs = READERS[source["kind"]](source)
        return long_passages(pairs, self.rng) if source.get("long") else pairs

    def _is_new(self, text: str) -> bool:
        key = passage_key(text)
        known = key in self._passages
        self._passages.add(key)
        return not known

    def _queries(self, passages: list[Text], headings: dict[str, str], source: Source) -> list[Text]:
        """Return headings of passages that were kept, as texts of their own that are like a query."""
        used = {passage["heading"].lower() for passage in passages}
        kept = [heading for key, heading in headings.items() if key in used and key not in self._headings]
        self.rng.shuffle(kept)
        kept = kept[: source.get("heads", len(passages) // 6)]
        self._headings.update(heading.lower() for heading in kept)
        return [{"text": heading, "heading": "", "group": "", "query": True} for heading in kept]


def make_texts(options: Namespace) -> None:
    """Write `texts.jsonl`, and `counts.json` with what each source gave, into the work folder."""
    collection, counts = Collection(), {}
    for source in json.loads(options.sources.read_text(encoding="utf-8")):
        counts[source["name"]] = collection.add(source) | {"licence": source["licence"]}
        print(source["name"], counts[source["name"]], flush=True)
    collection.rng.shuffle(collection.texts)
    lines = (json.dumps(text, ensure_ascii=False) + "\n" for text in collection.texts)
    (options.work / TEXTS_FILE).write_text("".join(lines), encoding="utf-8")
    (options.work / "counts.json").write_text(json.dumps(counts, indent=1), encoding="utf-8")
    lengths = np.array([len(text["text"]) for text in collection.texts])
    print(len(lengths), "texts, mean", lengths.mean().round(1), "characters")


def load_texts(work: Path) -> list[Text]:
    """Return what the step `texts` wrote."""
    return [json.loads(line) for line in (work / TEXTS_FILE).read_text(encoding="utf-8").splitlines()]
