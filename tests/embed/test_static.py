"""The default embedder."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files

import numpy as np
import pytest

from vault_memory.embed import KnowsVocabulary, StaticEmbedder, static
from vault_memory.embed.wordpiece import WordPiece
from vault_memory.model import content_digest

FOLDER = files("vault_memory.embed").joinpath("static_table")

ENGLISH = "How do I water seedlings? Keep the soil moist but never soggy, and water from below twice a week."
GERMAN = "Die Setzlinge sollten regelmäßig gegossen werden, aber die Erde darf nie durchnässt sein."
OTHER_SCRIPTS = {
    "Russian": "Рассаду нужно регулярно поливать, но почва никогда не должна быть сырой.",
    "Chinese": "幼苗需要定期浇水，但土壤不能太湿。",
    "Japanese": "苗には定期的に水をやる必要があります。",
    "Korean": "모종은 정기적으로 물을 주어야 하지만 흙이 너무 젖어서는 안 됩니다.",
    "Thai": "ต้นกล้าต้องรดน้ำอย่างสม่ำเสมอ แต่ดินต้องไม่แฉะ",
    "Hindi": "पौधों को नियमित रूप से पानी देना चाहिए।",
    "Arabic": "يجب ري الشتلات بانتظام.",
}


@pytest.fixture(scope="module")
def embedder() -> StaticEmbedder:
    """Return one embedder for the module, so that the table is read once."""
    return StaticEmbedder()


def reference(text: str, pieces: WordPiece) -> np.ndarray:
    """Return the vector as the table's description defines it: the normalised sum of the scaled rows."""
    with FOLDER.joinpath(static.TABLE_FILE).open("rb") as file, np.load(file) as stored:
        table, scale = stored["table"], stored["scale"].astype(np.float64)
    ids = pieces.encode(text)
    vector = scale[ids] @ table[ids].astype(np.float64)
    return vector / (np.linalg.norm(vector) or 1.0)


@pytest.mark.parametrize(
    "text", [ENGLISH, GERMAN, "", "a", "unbelievably tokenization " * 1000, "🜚", *OTHER_SCRIPTS.values()]
)
def test_vector_is_the_normalised_sum(text: str, embedder: StaticEmbedder, packaged_pieces: WordPiece) -> None:
    """A text's vector is the normalised sum of its pieces' rows, however long the text is."""
    np.testing.assert_allclose(embedder.embed_query(text), reference(text, packaged_pieces), atol=1e-5)


def test_revision_names_the_table() -> None:
    """The fingerprint's revision is the digest of the packaged table, so that a new table has another one."""
    assert content_digest(FOLDER.joinpath(static.TABLE_FILE).read_bytes()).startswith(static.TABLE_REVISION)
    assert str(StaticEmbedder().fingerprint) == f"static-256@{static.TABLE_REVISION}/256"


def test_table_goes_with_its_licences() -> None:
    """The data folder holds the table's licences and attributions."""
    licences = FOLDER.joinpath("LICENSES.md").read_text(encoding="utf-8")
    for holder in ("BAAI", "OpenStax", "WordNet", "Apache License", "MIT"):
        assert holder in licences


def test_near_texts_are_nearer(embedder: StaticEmbedder) -> None:
    """A question is nearer to its answer than to another text, without a shared word."""
    question = embedder.embed_query("puppy is ill")
    answer, other = embedder.embed_documents(["the young dog feels sick", "interest rates rose in March"])
    assert question @ answer > question @ other + 0.2


def test_company_does_not_matter(embedder: StaticEmbedder) -> None:
    """A text has the same vector, bit for bit, alone, in any company, and from an embedder that has seen other texts."""
    texts = [ENGLISH, "", GERMAN, "x " * 3000, *OTHER_SCRIPTS.values(), "never seen zyxwvut", ENGLISH * 50]
    together = StaticEmbedder().embed_documents(texts)
    embedder.embed_documents([" ".join(f"{a}{b}x" for a, b in itertools.product("abcdefghij", repeat=2))])
    for row, text in zip(together, texts, strict=True):
        assert np.array_equal(row, embedder.embed_query(text))
    assert np.array_equal(together[::-1], embedder.embed_documents(texts[::-1]))


def test_words_beyond_the_room(monkeypatch: pytest.MonkeyPatch, embedder: StaticEmbedder) -> None:
    """Once the room for words is full it is used anew, and vectors stay the same."""
    texts = [" ".join(f"{word}q{number}" for number in range(700)) for word in ("ab", "cd", "ef", "gh")]
    expected = embedder.embed_documents(texts)
    monkeypatch.setattr(static, "BLOCK_WORDS", 1)
    monkeypatch.setattr(static, "KEPT_WORDS", 1500)
    small = StaticEmbedder()
    for _ in range(2):
        assert np.array_equal(small.embed_documents(texts), expected)


def test_nothing_is_read_before_the_first_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Making an embedder and asking its fingerprint reads no table; the first text reads it, once."""
    reads: list[str] = []
    monkeypatch.setattr(static, "files", lambda package: reads.append(package) or files(package))
    embedder = StaticEmbedder()
    assert embedder.fingerprint.dimensions == 256
    assert reads == []
    embedder.embed_query("one")
    embedder.known_share("two")
    assert len(reads) == 1


def test_threads_share_one_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """First texts from several threads at once read the table once and get right vectors."""
    reads: list[str] = []
    monkeypatch.setattr(static, "files", lambda package: reads.append(package) or files(package))
    embedder = StaticEmbedder()
    texts = [f"{ENGLISH} {number} {word}" for number, word in enumerate(ENGLISH.split() * 20)]
    with ThreadPoolExecutor(8) as pool:
        rows = list(pool.map(embedder.embed_query, texts))
    assert len(reads) == 1
    assert np.array_equal(np.stack(rows), embedder.embed_documents(texts))


@pytest.mark.parametrize("text", ["", "  ", "🜚 🜛", "\u200b", "q" * 101])
def test_text_without_a_known_word_has_no_direction(text: str, embedder: StaticEmbedder) -> None:
    """An empty text, or one of unknown words only, has the zero vector."""
    assert not embedder.embed_query(text).any()


@pytest.mark.parametrize("text", ["a" * 1_000_000, ". " * 100_000, "漢字" * 100_000, "\u0301" * 100_000])
def test_long_texts_in_one_piece(text: str, embedder: StaticEmbedder) -> None:
    """A long line without spaces, of punctuation, of ideographs or of marks is embedded in slices like any text."""
    assert np.isfinite(embedder.embed_query(text)).all()


KNOWN_SHARES = [
    pytest.param(ENGLISH, 0.9, 1.0, id="English"),
    pytest.param(GERMAN, 0.3, 0.7, id="German"),
    *(pytest.param(text, 0.0, 0.0, id=name) for name, text in OTHER_SCRIPTS.items()),
    pytest.param("Obsidian 插件", 0.3, 0.4, id="mixed"),
    pytest.param("", 0.0, 0.0, id="empty"),
    pytest.param("?! …", 0.0, 0.0, id="punctuation"),
    pytest.param("qzxjkvwq", 0.0, 0.0, id="no word"),
    pytest.param("a 1 backlinks", 1.0, 1.0, id="letter, digit, compound"),
    pytest.param("ß", 0.0, 0.0, id="letter beyond ASCII"),
]


@pytest.mark.parametrize(("text", "least", "most"), KNOWN_SHARES)
def test_known_share(text: str, least: float, most: float, embedder: StaticEmbedder) -> None:
    """English is known, other Latin languages in part, other scripts not at all."""
    assert isinstance(embedder, KnowsVocabulary)
    assert least <= embedder.known_share(text) <= most
