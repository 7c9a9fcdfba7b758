"""Who is one person, and what is one item: the rule by which ids are compared.

An id is its text. It is brought into Unicode's composed form (NFC), and blanks and invisible marks
around it go; case and everything inside of it stay. Ids that differ after that are different:
`7`, `007` and `7.0` are three people, as `0e268977` and `0e1` are two. A whole number of a typed
column is its decimal form.

The rule is a function of one id alone, and so is the order of ids (`in_order`): nobody's id
changes what another one means or where it stands.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence

BLANKS = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005"
    "\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff\u200b\u2060"
)
"""Around an id: blanks of all kinds, a mark of byte order, a blank and a joiner of no width."""
CONTROL = r"[\x00-\x1f\x7f-\x9f\u2028\u2029]"
"""What no id holds: control characters and line ends."""
NUMBER = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?", re.ASCII)
LIKE_A_NUMBER = r"^[+-]?[0-9]*\.?[0-9]*$"
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


def controlled(text: str) -> bool:
    """Whether a text holds what no id does; a tab around it is a blank."""
    return re.search(CONTROL, text.strip(" \t")) is not None


def in_order(names: Sequence[str]) -> list[int]:
    """The places of some ids in the order of ids: rows of digits by number (then the shorter
    first: `1` before `01`), and behind them all others by text. Where one stands among two
    others depends on these alone."""
    digits = [k for k, name in enumerate(names) if name.isascii() and name.isdigit()]
    others = [k for k, name in enumerate(names) if not (name.isascii() and name.isdigit())]
    digits.sort(key=lambda k: _as_number(names[k]))
    others.sort(key=names.__getitem__)
    return digits + others


def _as_number(digits: str) -> tuple[int, str, int]:
    """What orders rows of digits by number, however long they are."""
    short = digits.lstrip("0")
    return len(short), short, len(digits)


def number_key(text: str) -> Key | None:
    """Sign, digits and power of ten of the number that a text denotes: equal for equal
    numbers; None for any other text."""
    match = NUMBER.fullmatch(text)
    if match is None:
        return None
    sign = match[1]
    integer_part, part = match[2], match[3] or ""
    if not integer_part and not part:
        return None
    digits = (integer_part + part).lstrip("0")
    if not digits:
        return "", "", 0
    short = digits.rstrip("0")
    power = len(digits) - len(short) - len(part)
    return sign.replace("+", ""), short, power


def other_spelling(missing: Iterable[str], ids: Collection[str]) -> tuple[str, str] | None:
    """An id that is missing and the one among `ids` that denotes the same number: `7.0` and
    `7`; None if there are none. For a hint to the owner: they are two ids."""
    missing_numbers = {key: text for text in missing if (key := number_key(text)) is not None}
    for key, text in missing_numbers.items():
        shortest = _shortest(key)
        if shortest is not None and shortest in ids:
            return text, shortest
    for text in odd_numbers(ids) if missing_numbers else ():
        number = number_key(text)
        if number in missing_numbers:
            return missing_numbers[number], text
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
