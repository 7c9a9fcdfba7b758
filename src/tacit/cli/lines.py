"""Lines that end between words: a terminal breaks them where its width ends. A pipe gets them
whole."""

from __future__ import annotations

import re
import shutil
import textwrap
from typing import TextIO

LEAST = 40
"""Columns below which nothing is set."""
BULLET = re.compile(r"\s*(?:- |\d+\. +|(?:note|error|remedy): )?")
COLUMN = re.compile(r"\S {2,}(?=\S)")


WIDE = 96
"""Columns of a text to be read, where there are more."""


def columns(stream: TextIO) -> int:
    """How wide a text to be read may be."""
    if not stream.isatty():
        return WIDE
    return max(LEAST, min(WIDE, shutil.get_terminal_size().columns))


def fitted(text: str, stream: TextIO) -> str:
    """The text as this stream shows it best."""
    if not stream.isatty():
        return text
    width = shutil.get_terminal_size().columns
    if width < LEAST:
        return text
    return "\n".join(_broken(line, width) for line in text.split("\n"))


def _broken(line: str, width: int) -> str:
    """A long line in several, the later ones under where its words begin."""
    if len(line) <= width:
        return line
    starts = [match.end() for match in COLUMN.finditer(line)]
    bullet = BULLET.match(line)
    under = starts[-1] if starts else bullet.end() if bullet else 0
    return textwrap.fill(
        line,
        width,
        subsequent_indent=" " * (under if under <= width // 2 else 0),
        break_on_hyphens=False,
        break_long_words=False,
    )
