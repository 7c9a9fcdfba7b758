"""How a text file is written: its encoding, delimiter and quotes, told from its first lines."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tacit.errors import DataError, place

BLANKS = " "
"""The delimiter that stands for runs of blanks."""
QUOTES = '";"'
"""The delimiter of rows whose every field is quoted without escapes: only these three marks
together divide fields."""
UNIT = "\x1f"
"""Stands for a delimiter of several bytes, where one byte is needed: no text file uses this
character."""
USUAL = ("::", "\t", ";", "|", ",")
COMMA = re.compile(r"([+-]?\d+),(\d{1,2})", re.ASCII)
"""A decimal comma: thousands have three digits behind theirs, and no rating has more than two."""
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class Dialect:
    """How a text table is written."""

    delimiter: str
    width: int
    """Fields in a row."""
    encoding: str = "utf-8"

    @property
    def quoted(self) -> bool:
        """Whether fields may stand in quotation marks."""
        return len(self.delimiter) == 1 and self.delimiter not in (BLANKS, UNIT)


def decode(data: bytes, label: str, encoding: str = "utf-8") -> str:
    """The text of a file from its start, with plain line ends and without a byte-order mark."""
    if encoding == "utf-8":
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise DataError("the file is UTF-16, not UTF-8", place=label, remedy="save it as UTF-8")
        if b"\x00" in data[:4096]:
            raise DataError(
                "this is a binary file, not text",
                place=label,
                remedy="give a csv, parquet or known layout",
            )
        data = data.removeprefix(b"\xef\xbb\xbf")
        check_text(data, label, 1)
    return plain_ends(data).decode(encoding)


def check_text(data: bytes, label: str, first_line: int) -> None:
    """Refuse bytes that are not UTF-8, naming their line."""
    if data.isascii():
        return
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = first_line + plain_ends(data[: error.start]).count(b"\n")
        message = "bytes that are not UTF-8 text"
        raise DataError(
            message, place=place(label, line), remedy="save the file as UTF-8"
        ) from None


def plain_ends(data: bytes) -> bytes:
    """`\\r\\n` and `\\r` as `\\n`."""
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def records(text: str, dialect: Dialect, first_line: int = 1) -> Iterator[tuple[int, list[str]]]:
    """Each row's line and fields, blanks around a field removed; a blank line has no fields."""
    if dialect.quoted:
        reader = csv.reader(io.StringIO(text, newline="\n"), delimiter=dialect.delimiter)
        before = 0
        for fields in reader:
            yield first_line + before, [field.strip() for field in fields]
            before = reader.line_num
    else:
        for number, line in enumerate(text.split("\n")):
            yield first_line + number, split_plain(line, dialect.delimiter)


def split_plain(line: str, delimiter: str) -> list[str]:
    """The fields of a line without quotation marks."""
    if delimiter == BLANKS or not line.strip():
        return line.split()
    return [field.strip() for field in line.split(delimiter)]


def sniff(text: str, encoding: str = "utf-8", *, words: bool = False) -> Dialect | None:
    """The dialect of these whole lines; None if they hold no row. `words`: fields may hold
    blanks and rare marks."""
    lines = [line for line in text.split("\n") if line.strip()][:50]
    if not lines:
        return None
    best = max((score(lines, mark, encoding) for mark in USUAL), key=lambda found: found[0])
    if best[1].delimiter == "\t" and all("" in split_plain(line, "\t") for line in lines):
        return score(lines, BLANKS, encoding)[1]  # runs of tabs and blanks
    if best[0][1] < 2 and words:
        return Dialect(",", 1, encoding)
    if best[0][1] < 2:  # none of the usual: blanks, then any mark that no word or number holds
        rare = [
            c for c, _ in Counter(lines[0]).most_common() if not (c.isalnum() or c in " \"'.+-_/\r")
        ]
        best = max(
            (score(lines, mark, encoding) for mark in [BLANKS, *rare]), key=lambda found: found[0]
        )
    return best[1]


def score(lines: list[str], delimiter: str, encoding: str) -> tuple[tuple[float, int], Dialect]:
    """How well a delimiter explains the lines: the share of rows of one width, then that width."""
    trial = Dialect(delimiter, 0, encoding)
    try:
        widths = Counter(len(fields) for _, fields in records("\n".join(lines), trial) if fields)
    except csv.Error:
        widths = Counter([1])
    width, times = max(widths.items(), key=lambda found: (found[0] > 1, found[1], found[0]))
    share = times / len(lines) if width > 1 else 0.0
    return (round(share, 1), width), Dialect(delimiter, width, encoding)


def with_point(text: str) -> str:
    """`4,5` as `4.5`; any other text as it is."""
    found = COMMA.fullmatch(text)
    return f"{found[1]}.{found[2]}" if found else text


def is_number(text: str) -> bool:
    """Whether a field is a decimal number."""
    return NUMBER.fullmatch(text) is not None
