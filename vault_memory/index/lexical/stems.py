"""English word forms brought together: `watering`, `watered` and `waters` ask for `water`."""

from __future__ import annotations

import re

SHORTEST_STEMMED = 4
"""A shorter word keeps its form: three letters hold too little to tell an ending from the word."""

SHORTEST_REST = 3
"""What must stay before `-ing` or `-ed`, so that `king`, `bring` and `shed` are left alone."""

# Words whose ending only looks like one, where cutting it would meet another word or part from its own forms.
KEPT_WHOLE = frozenset(["embed", "evening", "hundred", "lens", "morning", "news", "sacred"])

_VOWEL = re.compile("[aeiouy]")
_SYLLABLE = re.compile("[aeiouy]+[^aeiouy]+")
_SHORT_SYLLABLE_END = re.compile("[^aeiou][aeiouy][^aeiouywx]$")
_DOUBLED_CONSONANT_END = re.compile(r"([^aeiouylsz])\1$")


def stem(word: str) -> str:
    """Return the form under which a word of lower-case ASCII letters is indexed.

    The rules, in order, each at most once; `m` is the number of vowel-consonant groups:

    1. Plural: `-ies` becomes `-y`, `-es` goes after `ss x ch sh zz`, other `-s` goes, but not from `-ss -us -is`.
    2. `-ied` becomes `-y`; `-ing` and `-ed` (not `-eed`) go from a rest of three letters or more with a vowel. The rest
       is mended: `-at -bl -iz` and a short syllable with `m = 1` get their `e` back (`mov` is `move`), a doubled
       consonant becomes one (`runn` is `run`), but not `ll ss zz`.
    3. A final `e` goes if `m > 1`, or if `m = 1` and what stays is no short syllable (`change`, not `note`).

    A stem need not be a word: what counts is that the forms of one word meet and that other words do not. Other
    languages of the Latin script lose little more than a plural `-s` this way; derivation (`-ness`, `-tion`, `-ly`) is
    left alone. The plural rule widens D. Harman, "How effective is suffixing?", JASIS 42 (1991); rules 2 and 3 follow
    steps 1b and 5a of M. F. Porter, "An algorithm for suffix stripping", Program 14 (1980).

    Returns:
        The stem, which is never empty; a word shorter than four letters is returned as it is.
    """
    if len(word) < SHORTEST_STEMMED or word in KEPT_WHOLE:
        return word
    singular = _singular(word)
    if singular in KEPT_WHOLE:
        return singular
    return _without_final_e(_without_verb_ending(singular))


def _singular(word: str) -> str:
    if not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y" if len(word) > len("ties") else word[:-1]
    if word.endswith(("sses", "xes", "ches", "shes", "zzes")):
        return word[:-2]
    return word[:-1]


def _without_verb_ending(word: str) -> str:
    if word.endswith("ied") and len(word) > len("tied"):
        return f"{word[:-3]}y"
    if word.endswith("ing"):
        rest = word[:-3]
    elif word.endswith("ed") and not word.endswith("eed"):
        rest = word[:-2]
    else:
        return word
    if len(rest) < SHORTEST_REST or not _VOWEL.search(rest):
        return word
    return _mended(rest)


def _mended(rest: str) -> str:
    if rest.endswith(("at", "bl", "iz")):
        return f"{rest}e"
    if _DOUBLED_CONSONANT_END.search(rest):
        return rest[:-1]
    if _syllables(rest) == 1 and _SHORT_SYLLABLE_END.search(rest):
        return f"{rest}e"
    return rest


def _without_final_e(word: str) -> str:
    rest = word[:-1]
    if not word.endswith("e") or len(rest) < SHORTEST_REST:
        return word
    syllables = _syllables(rest)
    if syllables > 1 or (syllables == 1 and not _SHORT_SYLLABLE_END.search(rest)):
        return rest
    return word


def _syllables(word: str) -> int:
    """Count vowel-consonant groups: Porter's `m`."""
    return len(_SYLLABLE.findall(word))
