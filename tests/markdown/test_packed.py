"""Rules of what counts as packed data."""

import base64
import hashlib

import pytest

from vault_memory.markdown.packed import MIN_ADDRESS_CHARS, MIN_RUN_CHARS, find_packed_spans


def _chance(count: int) -> bytes:
    """Return bytes that look like chance, always the same ones."""
    return b"".join(hashlib.sha256(b"%d" % i).digest() for i in range(count // 32 + 1))[:count]


BASE64 = base64.b64encode(_chance(900)).decode()
HEX = _chance(400).hex()
SCENE = '{\n  "type": "excalidraw",\n  "version": 2\n}'


def _packed(body: str) -> list[str]:
    return [body[start:end] for start, end in find_packed_spans(body)]


@pytest.mark.parametrize("run", [BASE64, HEX, HEX.upper(), "\n".join(BASE64[i : i + 76] for i in range(0, 1200, 76))])
def test_a_long_run_of_encoded_bytes_is_packed(run: str) -> None:
    """Base64 and hexadecimal of some length hold nothing to read, in one line or wrapped."""
    assert _packed(f"before\n\n{run}\n\nafter words") == [run]


def test_a_wrapped_run_keeps_its_last_short_line() -> None:
    """The rest of a wrapped encoding belongs to it, with its padding; the words below do not."""
    run = "\n".join(BASE64[i : i + 76] for i in range(0, 1100, 76))
    run += "\nQUJD=="
    assert _packed(f"{run}\n-----END KEY-----") == [run]
    assert _packed(f"{BASE64}\nDone") == [BASE64]


@pytest.mark.parametrize(
    "text",
    [
        "x" * 4000,
        "a1" * 2000,
        "雨の日は畑に出ない。" * 400,
        "ACGT" * 1000,
        "3.14159265358979" * 100,
        "31415926535897932384626433" * 100,
        "deadbeef" * 200,
        "kale\n" * 500,
        "the-quick-brown-fox/jumps-over_the_lazy_dog/" * 50,
        hashlib.sha512(b"x").hexdigest(),
        BASE64[: MIN_RUN_CHARS - 1],
    ],
)
def test_text_is_not_packed(text: str) -> None:
    """Runs of any script, numbers, sequences, digests and short keys stay searchable."""
    assert _packed(f"A line.\n\n{text}\n") == []


@pytest.mark.parametrize(
    ("before", "opening", "closing"),
    [
        ("see ![the pump](", "", ")"),
        ("see ", "![](", ")"),
        ("see ", "![](<", ">)"),
        ("a\n\n", "[image1]: <", ">"),
        ('<img alt="x" src=', "", ""),
    ],
)
def test_a_data_address_is_packed_with_its_empty_brackets(before: str, opening: str, closing: str) -> None:
    """The address goes with marks that say no word; the words of a picture's description stay."""
    packed = f"{opening}data:image/png;base64,{BASE64[:200]}{closing}"
    assert _packed(f"{before}{packed} and more") == [packed]


@pytest.mark.parametrize(
    "text",
    [
        "data:text/plain;base64,QUJD",
        f"metadata:x,{'a' * MIN_ADDRESS_CHARS}",
        f"data: {'a' * 300}",
        f"data:,{'雨' * 300}",
    ],
)
def test_what_only_looks_like_a_data_address_is_text(text: str) -> None:
    """Short addresses, other words that end in `data:` and prose are kept."""
    assert _packed(text) == []


@pytest.mark.parametrize(
    "drawing",
    [
        "%%\n## Drawing\n```compressed-json\nN4Kg AbC\n\nxyz\n```\n%%",
        "# Drawing\n\n```compressed-json\r\nN4Kg\r\n```",
        f"%%\n# Drawing\n```json\n{SCENE}\n```\n%%",
        f"```json\n{SCENE}\n```",
        "```compressed-json\nnever closed",
    ],
)
def test_the_scene_of_a_drawing_is_packed(drawing: str) -> None:
    """A drawing goes with the heading and comment marks that its plug-in writes around it."""
    before = "## Text Elements\nRain gauge ^a1\n\n"
    after = "\n\nA word." if drawing.endswith(("```", "%%")) else ""
    assert _packed(before + drawing + after) == [drawing]


@pytest.mark.parametrize(
    "fence", ['```json\n{"type": "excalidraws"}\n```', "## Drawing\n\nWith chalk.", '"excalidraw"']
)
def test_other_fences_and_headings_are_text(fence: str) -> None:
    """Only a scene is a drawing, not a heading of that name or other JSON."""
    assert _packed(f"{fence}\n") == []


def test_spans_rise_and_do_not_touch() -> None:
    """An address inside a drawing is part of it."""
    drawing = f'```json\n{SCENE[:-2]}, "file": "data:image/png;base64,{BASE64}"\n```'
    assert _packed(f"{drawing}\n\n{BASE64}\n") == [drawing, BASE64]
