"""Readers of the training sources: each yields pairs of a heading and a paragraph under it, markup removed."""

from __future__ import annotations

import gzip
import html
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Source = dict[str, Any]
Pairs = Iterator[tuple[str, str]]

LIST_OR_QUOTE = re.compile(r"[-*+]\s|\d+[.)]\s|>")
NOT_PROSE = re.compile(r"\||\[.*\]:|---+$|:::|#|\$")


def squash(text: str) -> str:
    """Return the text with each run of white space as one space."""
    return " ".join(text.split())


def git_texts(source: Source, endings: tuple[str, ...]) -> Iterator[str]:
    """Yield the files of one commit of a git directory, which needs no work tree.

    The source may bound them with the expressions `include` and `exclude`, both searched in the path.
    """
    git = ["git", "--git-dir", source["path"]]
    revision = source.get("commit", "HEAD")
    listing = subprocess.run([*git, "ls-tree", "-r", "-z", "--name-only", revision], capture_output=True, check=True)
    keep, drop = re.compile(source.get("include", "")), re.compile(source.get("exclude", r"(?!)"))
    for name in listing.stdout.decode("utf-8", "replace").split("\0"):
        if name.endswith(endings) and keep.search(name) and not drop.search(name):
            blob = subprocess.run([*git, "cat-file", "blob", f"{revision}:{name}"], capture_output=True, check=False)
            if blob.returncode == 0:
                yield blob.stdout.decode("utf-8", "replace")


def plain_inline(text: str) -> str:
    """Return a line of Markdown as its reader sees it."""
    text = re.sub(r"!\[\[.*?\]\]|!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[\[(?:[^\]|]*\|)?([^\]]*)\]\]", r"\1", text)
    text = re.sub(r"\[([^\]]+)\](?:\([^)]*\)|\[[^\]]*\])", r"\1", text)
    text = re.sub(r"<[^>]+>|https?://\S+|[*_`~]{1,3}(?=\S)|(?<=\S)[*_`~]{1,3}|\^\S+$", "", text)
    return squash(html.unescape(text)).replace("\\", "")


def markdown_pairs(text: str) -> Pairs:
    """Yield the paragraphs and list items of a Markdown text; header, code and comments are left out."""
    text = re.sub(r"\A\ufeff?---\n.*?\n---\n", "", text, flags=re.DOTALL)
    text = re.sub(r"^(```|~~~).*?^\1.*?$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<!--.*?-->|%%.*?%%|\{\{.*?\}\}", "", text, flags=re.DOTALL)
    heading, paragraph = "", []
    for line in [*text.split("\n"), ""]:
        title, stripped = re.match(r"(#{1,6})\s+(.*)", line), line.strip()
        if paragraph and (title or not stripped or LIST_OR_QUOTE.match(stripped)):
            yield heading, plain_inline(" ".join(paragraph))
            paragraph = []
        if title:
            heading = plain_inline(title[2]).strip("# ")
        elif stripped and not NOT_PROSE.match(stripped):
            paragraph.append(re.sub(r"^([-*+]|\d+[.)]|>+)\s+(\[.\]\s)?", "", stripped))


def without_tags(text: str) -> str:
    """Return the words of HTML or CNXML; math, code, tables and figures are left out."""
    dropped = r"<(m:math|pre|table|figure|note class=\"link).*?</(m:math|pre|table|figure|note)>"
    text = re.sub(dropped, " ", text, flags=re.DOTALL)
    return squash(html.unescape(re.sub(r"<[^>]+>", "", text))).replace("¶", "")


def read_wordnet(source: Source) -> Pairs:
    """Yield the words of each sense with their gloss."""
    for file in sorted(Path(source["path"]).rglob("data.*")):
        for line in file.read_text(encoding="latin-1").split("\n"):
            entry, bar, gloss = line.partition("|")
            if line.startswith("  ") or not bar:
                continue
            fields = entry.split()
            lemmas = (fields[4 + 2 * place].replace("_", " ") for place in range(int(fields[3], 16)))
            words = ", ".join(re.sub(r"\(.*?\)", "", lemma) for lemma in lemmas)
            yield words, f"{words}: {gloss.strip()}"


def read_html(source: Source) -> Pairs:
    """Yield the paragraphs and definitions of HTML pages."""
    element = re.compile(r"<(h[1-5]|p|dd)\b[^>]*>(.*?)</\1>", flags=re.DOTALL)
    for file in sorted(Path(source["path"]).rglob("*.html")):
        heading = ""
        for tag, inside in element.findall(file.read_text(encoding="utf-8", errors="replace")):
            text = without_tags(inside)
            if tag[0] == "h":
                heading = re.sub(r"^[\d.A-Z]*\d\.\s*", "", text)
            else:
                yield heading, text


def read_cnxml(source: Source) -> Pairs:
    """Yield the paragraphs of OpenStax books."""
    for text in git_texts(source, (".cnxml",)):
        heading = ""
        for tag, inside in re.findall(r"<(title|para)\b[^>]*>(.*?)</\1>", text, flags=re.DOTALL):
            if tag == "title":
                heading = without_tags(inside)
            else:
                yield heading, without_tags(re.sub(r"<title>.*?</title>", "", inside, flags=re.DOTALL))


def read_markdown(source: Source) -> Pairs:
    """Yield the paragraphs of Markdown files."""
    for text in git_texts(source, tuple(source.get("ext", [".md"]))):
        yield from markdown_pairs(text)


def read_rst(source: Source) -> Pairs:
    """Yield the paragraphs of reStructuredText files."""
    role = re.compile(r":[\w:]+:`~?([^`<]*)(?:<[^`]*>)?`|``?([^`<]*)(?:<[^`]*>)?``?_{0,2}")
    for text in git_texts(source, (".rst",)):
        heading = ""
        for block in re.split(r"\n\s*\n", text):
            lines = block.split("\n")
            if len(lines) >= 2 and re.match(r"([=\-~^\"'`#*+])\1{3,}\s*$", lines[-1]):
                heading = lines[-2].strip()
            elif not block.startswith((" ", "..", ":", "|", "+")) and ".. " not in block[:5]:
                yield heading, squash(role.sub(lambda match: match[1] or match[2] or "", block))


def read_dictd(source: Source) -> Pairs:
    """Yield the entries of a dictionary in dictd's format."""
    text = gzip.decompress(Path(source["path"]).read_bytes()).decode("utf-8", "replace")
    for entry in re.split(r"\n(?=\S)", text):
        word, _, rest = entry.partition("\n")
        word, definition = word.strip(), squash(re.sub(r"[{}]|^\s*/.*?/,", "", rest))
        yield word, f"{word}: {definition}" if len(definition) < 300 else definition


def read_factbook(source: Source) -> Pairs:
    """Yield the facts of each country with its name."""
    for text in git_texts(source, (".json",)):
        try:
            facts = json.loads(text)
        except ValueError:
            continue
        if isinstance(facts, dict):
            yield from country_facts(facts, country_name(facts), [])


def country_name(facts: dict[str, Any]) -> str:
    """Return a country's short name, `""` if it has none."""
    try:
        name = facts["Government"]["Country name"]["conventional short form"]["text"]
    except (KeyError, TypeError):
        return ""
    return str(name)


def country_facts(node: object, country: str, path: list[str]) -> Pairs:
    """Yield each text of a tree of facts under the country and the two keys above it."""
    if not isinstance(node, dict):
        return
    for key, value in node.items():
        if key == "text" and isinstance(value, str):
            fact = html.unescape(re.sub(r"<[^>]+>", " ", value))
            yield squash(f"{country} {path[-1] if path else ''}"), squash(f"{country}, {', '.join(path)}: {fact}")
        else:
            yield from country_facts(value, country, [*path, key][-2:])


def read_bible(source: Source) -> Pairs:
    """Yield three verses at a time of what the source's command prints."""
    printed = subprocess.run(
        source["command"], capture_output=True, text=True, cwd=source["path"], check=True, input=""
    )
    verses = [re.sub(r"^\s*\S*\d+:\d+\s*", "", line) for line in printed.stdout.split("\n")]
    for start in range(0, len(verses) - 2, 3):
        yield "", squash(" ".join(verses[start : start + 3]))


def read_tsv(source: Source) -> Pairs:
    """Yield one column of a table."""
    for line in Path(source["path"]).read_text(encoding="utf-8").split("\n"):
        cells = line.split("\t")
        if len(cells) > source["column"]:
            yield "", cells[source["column"]]


READERS: dict[str, Callable[[Source], Pairs]] = {
    "wordnet": read_wordnet,
    "html": read_html,
    "cnxml": read_cnxml,
    "markdown": read_markdown,
    "rst": read_rst,
    "dictd": read_dictd,
    "factbook": read_factbook,
    "bible": read_bible,
    "tsv": read_tsv,
}
