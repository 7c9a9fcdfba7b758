"""Who is one person, and what is one item: the rule by which ids are compared.

An id is a text. It is brought into Unicode's composed form (NFC), and blanks and invisible marks
around it go; case and everything inside of it stay. Ids that differ after that are different,
with one exception: texts that denote one number (`7`, `07`, `7.0`, `+7`, `7e0`) are most likely
one person whom two programs wrote down in two ways, and whose budget would be spent twice. Which
of them is meant cannot be known, so a column that holds two such texts is refused.

The first rule is a function of one id alone. The second looks at two: it is one of the errors
of reading, which docs/sharp-edges.md grades.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable

BLANKS = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005"
    "\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff\u200b\u2060"
)
"""Around an id: blanks of all kinds, a mark of byte order, a blank and a joiner of no width."""
NUMBER = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,9}))?", re.ASCII)
LIKE_A_NUMBER = r"^[+-]?[0-9]*\.?[0-9]*([eE][+-]?[0-9]{1,9})?$"
SHORTEST = r"^(0|-?[1-9][0-9]*)$"
"""A whole number in the one form that is not odd."""
SMALL = 40
"""Digits of a number whose shortest form is looked for."""

Key = tuple[str, str, int]


def clean(text: str) -> str:
    """An id as it is compared."""
    if text.isascii():
        return text.strip(BLANKS)
    return unicodedata.normalize("NFC", text).strip(BLANKS)


def number_key(text: str) -> Key | None:
    """Sign, digits and power of ten of the number that a text denotes: equal for equal
    numbers; None for any other text."""
    found = NUMBER.fullmatch(text)
    if found is None:
        return None
    sign = found[1]
    whole, part = found[2], found[3] or ""
    if not whole and not part:
        return None
    digits = (whole + part).lstrip("0")
    if not digits:
        return "", "", 0
    short = digits.rstrip("0")
    power = int(found[4] or 0) - len(part) + len(digits) - len(short)
    return sign.replace("+", ""), short, power


def two_ways(ids: Collection[str]) -> tuple[str, str] | None:
    """Two of these ids that denote one number; None if there are none."""
    known: dict[Key, str] = {}
    for text in odd_numbers(ids):
        key = number_key(text)
        if key is None:
            continue
        if key in known:
            return known[key], text
        known[key] = text
        shortest = _shortest(key)
        if shortest is not None and shortest != text and shortest in ids:
            return shortest, text
    return None


def other_spelling(missing: Iterable[str], ids: Collection[str]) -> tuple[str, str] | None:
    """An id that is missing and the one among `ids` that denotes the same number: `7.0` and
    `7`; None if there are none."""
    asked = {key: text for text in missing if (key := number_key(text)) is not None}
    for key, text in asked.items():
        shortest = _shortest(key)
        if shortest is not None and shortest in ids:
            return text, shortest
    for text in odd_numbers(ids) if asked else ():
        found = number_key(text)
        if found in asked:
            return asked[found], text
    return None


def odd_numbers(ids: Iterable[str]) -> list[str]:
    """The few that are numbers, and not in their shortest form."""
    import polars as pl

    texts = pl.Series(list(ids), dtype=pl.String)
    like = texts.str.contains(LIKE_A_NUMBER)
    odd: list[str] = texts.filter(like & ~texts.str.contains(SHORTEST)).to_list()
    return odd


def _shortest(key: Key) -> str | None:
    """A whole number of few digits as it is usually written."""
    sign = key[0]
    digits, power = key[1], key[2]
    if not digits:
        return "0"
    if not 0 <= power <= SMALL:
        return None
    return sign + digits + "0" * power
