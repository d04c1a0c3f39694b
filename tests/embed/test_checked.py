"""The check round an embedder."""

import logging
import traceback
from collections.abc import Callable, Sequence
from types import SimpleNamespace

import numpy as np
import pytest

from vault_memory.embed import CheckedEmbedder, StaticEmbedder
from vault_memory.errors import ConfigError, EmbeddingError
from vault_memory.model import Fingerprint, Target

PRIVATE = "my secret diary"


class Scripted:
    """An embedder of three dimensions that answers as a test says."""

    max_input_chars = 20

    def __init__(self, answer: Callable[[Sequence[str]], object], *, normalized: bool = True) -> None:
        self.fingerprint = Fingerprint("scripted", "1", 3, normalized)
        self.answer = answer
        self.sizes: list[int] = []

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        """Answer for all the texts."""
        self.sizes.append(len(texts))
        return self.answer(texts)  # type: ignore[return-value]  # A wrong type is what some tests are about.

    def embed_query(self, text: str) -> np.ndarray:
        """Answer for one text."""
        return self.answer([text])[0]  # type: ignore[index]  # Likewise.


def fail(texts: Sequence[str]) -> object:
    """Fail as foreign code does, with the text in its message."""
    raise RuntimeError(f"cannot embed {texts[0]}")


WRONG = {
    "raises": (fail, "failed with RuntimeError"),
    "too few": (lambda texts: np.zeros((len(texts) - 1, 3)), "shape"),
    "too many": (lambda texts: np.zeros((len(texts) + 1, 3)), "shape"),
    "too narrow": (lambda texts: np.zeros((len(texts), 2)), "shape"),
    "one number each": (lambda texts: np.zeros(len(texts)), "shape"),
    "nothing": (lambda texts: None, "of type object"),
    "words": (lambda texts: [["a", "b", "c"]] * len(texts), "of type"),
    "complex": (lambda texts: np.zeros((len(texts), 3), complex), "of type complex"),
    "ragged": (lambda texts: [[1.0], [1.0, 2.0, 3.0]], "failed with ValueError"),
    "not a number": (lambda texts: [[np.nan, 0, 0]] * len(texts), "not finite"),
    "infinite": (lambda texts: [[np.inf, 0, 0]] * len(texts), "not finite"),
    "beyond float32": (lambda texts: [[1e300, 0, 0]] * len(texts), "not finite"),
}


@pytest.mark.parametrize(("answer", "fault"), WRONG.values(), ids=WRONG.keys())
def test_wrong_documents(answer: Callable[[Sequence[str]], object], fault: str) -> None:
    """A wrong answer is an error that names embedder and targets, and keeps the texts to itself."""
    checked = CheckedEmbedder(Scripted(answer))
    with pytest.raises(EmbeddingError, match=fault) as caught:
        checked.embed_documents([PRIVATE, PRIVATE], [Target("diary", "monday"), Target("", "note")])
    message = str(caught.value)
    assert "scripted@1/3" in message
    assert "diary/monday, note" in message
    assert PRIVATE not in message


@pytest.mark.parametrize("name", ["raises", "too narrow", "nothing", "not a number"])
def test_wrong_query(name: str) -> None:
    """A wrong answer to a question is the same error, without the question in its message."""
    answer, _ = WRONG[name]
    with pytest.raises(EmbeddingError, match=r"scripted@1/3.*the query") as caught:
        CheckedEmbedder(Scripted(answer)).embed_query(PRIVATE)
    assert PRIVATE not in str(caught.value)


def test_cause_is_kept() -> None:
    """The foreign error is the cause, for whoever looks for it."""
    with pytest.raises(EmbeddingError) as caught:
        CheckedEmbedder(Scripted(fail)).embed_documents([PRIVATE])
    assert isinstance(caught.value.__cause__, RuntimeError)
    assert "RuntimeError" in "".join(traceback.format_exception(caught.value))


def test_only_the_affected_targets_are_named() -> None:
    """Of a batch with one bad value only that text's target is named; without targets, its position in the call."""
    answer = lambda texts: [[float("nan") if "bad" in text else 1.0, 0, 0] for text in texts]  # noqa: E731  # One use.
    checked = CheckedEmbedder(Scripted(answer), batch_size=2)
    texts = ["a", "b", "c", "bad", "e"]
    with pytest.raises(EmbeddingError, match=r"for d$"):
        checked.embed_documents(texts, list("abcde"))
    with pytest.raises(EmbeddingError, match=r"for text 3$"):
        checked.embed_documents(texts)


def test_many_targets_are_counted() -> None:
    """Targets are named once each, at most five, then counted."""
    with pytest.raises(EmbeddingError, match=r"for t0, t1, t2, t3, t4 and 3 more$"):
        CheckedEmbedder(Scripted(fail)).embed_documents(["x"] * 16, [f"t{number // 2}" for number in range(16)])


def test_batches() -> None:
    """The embedder never gets more texts at once than the batch size; rows stay in order."""
    scripted = Scripted(lambda texts: np.eye(3)[[int(text) for text in texts]])
    vectors = CheckedEmbedder(scripted, batch_size=2).embed_documents(["2", "0", "1", "1", "0"])
    assert scripted.sizes == [2, 2, 1]
    assert vectors.dtype == np.float32
    assert vectors.argmax(axis=1).tolist() == [2, 0, 1, 1, 0]


def test_no_texts() -> None:
    """No text gives no row, and the embedder is not asked."""
    scripted = Scripted(fail)
    assert CheckedEmbedder(scripted).embed_documents([], []).shape == (0, 3)
    assert scripted.sizes == []


@pytest.mark.parametrize("kind", [np.float64, np.float16, np.int64, list])
def test_any_numbers_become_float32(kind: Callable[[object], object]) -> None:
    """Lists, integers and floats of any width are taken."""
    rows = np.array([[1, 0, 0]]).tolist() if kind is list else np.array([[1, 0, 0]], kind)
    checked = CheckedEmbedder(Scripted(lambda texts: rows))
    assert checked.embed_documents(["x"]).dtype == checked.embed_query("x").dtype == np.float32


@pytest.mark.parametrize("scale", [1e-40, 0.5, 3.0, 1e38])
@pytest.mark.parametrize("normalized", [True, False])
def test_rows_get_length_one(scale: float, normalized: bool) -> None:
    """Rows that are not of length 1 are brought to it, whatever the embedder promised; zero rows stay zero."""
    checked = CheckedEmbedder(Scripted(lambda texts: [[0, scale, scale], [0, 0, 0]], normalized=normalized))
    first, second = checked.embed_documents(["x", "y"])
    np.testing.assert_allclose(first, [0, 0.5**0.5, 0.5**0.5], rtol=1e-3)
    assert not second.any()


def test_near_unit_rows_are_left_alone() -> None:
    """Rows of a normalising embedder that are of length 1 within 0.001 keep their bits; else they are normalised."""
    row = np.array([[1.0005, 0, 0]], np.float32)
    assert CheckedEmbedder(Scripted(lambda texts: row)).embed_query("x")[0] == row[0, 0]
    assert CheckedEmbedder(Scripted(lambda texts: row, normalized=False)).embed_query("x")[0] == 1.0


def test_answer_is_not_written_to() -> None:
    """An embedder's own array is never changed."""
    own = np.full((1, 3), 2.0, np.float32)
    own.flags.writeable = False
    CheckedEmbedder(Scripted(lambda texts: own)).embed_documents(["x"])
    assert (own == 2.0).all()


def test_clipped_texts_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    """Texts beyond the embedder's bound are passed on and counted, and logged once, without their content."""
    checked = CheckedEmbedder(Scripted(lambda texts: np.eye(3)[: len(texts)]))
    with caplog.at_level(logging.WARNING):
        checked.embed_documents([PRIVATE * 2, "short", "x" * 20])
        checked.embed_query("x" * 21)
    assert checked.clipped == 2
    assert [record.getMessage() for record in caplog.records] == [
        "scripted@1/3 reads only 20 characters of a text; longer ones are cut short"
    ]


@pytest.mark.parametrize("dimensions", [0, -1, 2.5, "3"])
def test_impossible_dimensions(dimensions: object) -> None:
    """An embedder whose dimensions are not a whole number of at least 1 is refused at once."""
    scripted = Scripted(fail)
    scripted.fingerprint = Fingerprint("scripted", "1", dimensions)  # type: ignore[arg-type]  # The mistake under test.
    with pytest.raises(EmbeddingError, match="whole number of at least 1"):
        CheckedEmbedder(scripted)


def test_fingerprint_is_taken_from_any_object() -> None:
    """A fingerprint may be any object with the four attributes; one that lacks them is refused."""
    scripted = Scripted(fail)
    scripted.fingerprint = SimpleNamespace(name="n", revision="r", dimensions=2, normalized=True)  # type: ignore[assignment]  # A stranger's.
    assert CheckedEmbedder(scripted).fingerprint == Fingerprint("n", "r", 2)
    scripted.fingerprint = "n@r"  # type: ignore[assignment]  # The mistake under test.
    with pytest.raises(EmbeddingError, match="Scripted has no readable fingerprint"):
        CheckedEmbedder(scripted)


def test_batch_size_must_be_positive() -> None:
    """A batch of no texts would never end, and is refused."""
    with pytest.raises(ConfigError, match="batch_size is 0"):
        CheckedEmbedder(Scripted(fail), batch_size=0)


def test_known_share_is_passed_on() -> None:
    """An embedder that can tell what it knows is asked; any other is taken to know everything."""
    assert CheckedEmbedder(StaticEmbedder()).known_share("мир") == 0.0
    assert CheckedEmbedder(Scripted(fail)).known_share("мир") == 1.0
