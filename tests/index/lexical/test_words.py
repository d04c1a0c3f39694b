"""Text to terms: what the index holds of a text, and what a query asks of it."""

from __future__ import annotations

import pytest

from vault_memory.index.lexical import words as rules
from vault_memory.index.lexical.words import CONNECTORS, Token, index_terms, query_terms, tokens_of


def asked(text: str) -> list[str]:
    """Return the words that a query asks."""
    return [word for token in query_terms(text).tokens for word in token.words]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The café in Łódź", "the cafe in lodz"),
        ("cafe\u0301 naïve q\u0301x", "cafe naiv qx"),
        ("Straße ŒUVRE smørrebrød", "strass oeuvr smorrebrod"),
        ("İstanbul ΣΊΣΥΦΟΣ Ёлка", "istanbul σισυφοσ елка"),
        ("co\u00adoperate zero\u200bwidth", "cooperat zerowidth"),
        ("كِتَاب שָׁלוֹם", "كتاب שלום"),
        ("हिन्दी தமிழ்", "हिन्दी தமிழ்"),
        ("Ｐｙｔｈｏｎ ﬁle ½", "python file 1 2"),
        ("1,000,000 1.000 3,5 12:30", "1000000 1 000 3 5 12 30"),
        ("John's l’eau don't", "john s l eau don t"),
        ("water 🌱 daily", "water 🌱 daily"),
        ("**bold** [[Note#Heading|shown]] `code`", "bold note head shown code"),
        ("\x00\ud800 \t!?", ""),
    ],
)
def test_words_of_spaced_scripts(text: str, words: str) -> None:
    """Words are folded for letter case, accents and width; other scripts keep the signs that make their words."""
    assert index_terms(text).words.split() == words.split()


@pytest.mark.parametrize(
    ("text", "words", "forms"),
    [
        ("snake_case", "snake case", "snake_case"),
        ("kebab-case", "kebab case", "kebab-case"),
        ("non\u2011breaking", "non break", "non-breaking"),
        ("foo.bar", "foo bar", "foo.bar"),
        ("v1.10", "v1 10", "v1.10"),
        ("getUserName", "getusernam", "get user name"),
        ("HTMLParser2", "htmlparser2", "html parser"),
        ("#tag/nested", "tag nest", "tag/nested"),
        ("a/Big_Plan/b.md", "a big plan b md", "a/big_plan/b.md big_plan b.md"),
        ("j.doe@example.com", "j doe exampl com", "j.doe@example.com j.doe example.com"),
        ("C++ and C#", "c and c", "c++ c#"),
        ("__init__", "init", ""),
        ("sha256 GitHub NASA Title", "sha256 github nasa titl", "sha 256 git hub"),
    ],
)
def test_identifiers_are_held_whole_and_by_parts(text: str, words: str, forms: str) -> None:
    """A compound is a form beside its words, and the pieces of a camel-case name are forms beside the name."""
    terms = index_terms(text)
    assert (terms.words.split(), terms.forms.split()) == (words.split(), forms.split())


@pytest.mark.parametrize(
    ("text", "words", "forms"),
    [
        ("我喜欢", "我喜 喜欢", "我 喜 欢"),
        ("好", "好", ""),
        ("Python语言", "python 语言", "语 言"),
        ("ﾃﾞｰﾀ", "デー ータ", "デ ー タ"),
        ("ไทย", "ไท ทย", "ไ ท ย"),
        ("한국어", "한국 국어", "한 국 어"),
        ("𠀋𠀀", "𠀋𠀀", "𠀋 𠀀"),
        ("你好，世界", "你好 世界", "你 好 世 界"),
    ],
)
def test_scripts_without_spaces_are_pairs_of_characters(text: str, words: str, forms: str) -> None:
    """A run is held as overlapping pairs, and its characters are forms, so that one character can be asked for."""
    terms = index_terms(text)
    assert (terms.words.split(), terms.forms.split()) == (words.split(), forms.split())


def test_long_words_are_cut_and_long_compounds_have_no_whole() -> None:
    """Packed data makes terms of bounded length."""
    assert index_terms("x" * 1000).words == "x" * rules.LONGEST_TERM
    terms = index_terms("part." * 100)
    assert (len(terms.words.split()), terms.forms) == (100, "")


def test_a_word_is_the_same_next_to_punctuation() -> None:
    """What stands at the edge of a word does not change its terms."""
    assert {index_terms(text).words for text in ("plan", "plan.", "(plan)", "“plan”", "-plan,", "plan:", "*plan*")} == {
        "plan"
    }


def test_remembered_chunks_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory of chunks is emptied when it is full, and terms stay the same."""
    monkeypatch.setattr(rules, "REMEMBERED", 3)
    monkeypatch.setattr(rules, "_CHUNKS", type(rules._CHUNKS)())
    text = "one two three four five one snake_case"
    assert index_terms(text).words == "one two three four five one snake case"
    assert len(rules._CHUNKS) <= 3


def test_terms_hold_no_other_ascii_than_letters_digits_and_connectors() -> None:
    """The tokenizer of the index, told the connectors, takes every term as it is."""
    every = "".join(map(chr, range(0x3000))) + " " + " x".join(map(chr, range(128))) + " a".join(map(chr, range(128)))
    terms = index_terms(every)
    strange = {char for char in terms.words + terms.forms if char.isascii() and not char.isalnum()} - set(CONNECTORS)
    assert strange == {" "}


def test_query_drops_stop_words() -> None:
    """Words that only build the sentence are not asked, in any of the languages and in compounds."""
    assert asked("How do I water the seedlings?") == ["water", "seedl"]
    assert asked("¿Cuándo es la cosecha?") == ["cosecha"]
    assert asked("state-of-the-art") == ["state", "art"]


def test_query_of_stop_words_alone_asks_them() -> None:
    """A question is never empty because its words are common."""
    assert asked("to be or not to be") == ["to", "be", "or", "not"]


@pytest.mark.parametrize("text", ["", "   ", "?!", '""', '" "', "\x00", "\ud800", "\u0640"])
def test_query_without_words_asks_nothing(text: str) -> None:
    """Blank and punctuation ask nothing."""
    query = query_terms(text)
    assert (query.phrases, query.tokens) == ((), ())


@pytest.mark.parametrize("text", ['"To be"', "“To be”", "„To be“", "«To be»"])
def test_quotes_make_a_phrase(text: str) -> None:
    """Each usual pair of double quotes makes a phrase, which keeps its stop words."""
    assert query_terms(f"hamlet {text} x").phrases == (("to", "be"),)


def test_lonely_quote_is_a_gap() -> None:
    """A quote without its partner is no operator."""
    assert query_terms('5" pipe').phrases == ()
    assert asked('5" pipe') == ["5", "pipe"]


def test_query_tokens_come_once_in_order() -> None:
    """A word asked twice is one token."""
    assert asked("plan garden plan") == ["plan", "garden"]


def test_tokens_say_whether_they_overlap() -> None:
    """Pairs of characters are told from words."""
    assert list(tokens_of("我喜欢 it")) == [Token(("我喜", "喜欢"), (), ("我", "喜", "欢"), True), Token(("it",))]
