"""How a text file is written: its encoding, its delimiter, and the fields of one line.

Guarantee: what a line of ratings says depends on the line and on what was declared (or stands in
the header), never on another line. Catalogues, which are public, may still be told by their look
(`sniff`).
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tacit.errors import DataError, format_location

BLANKS = " "
"""The delimiter that stands for runs of blanks."""
AROUND = " \t"
"""Blanks that do not count around a field."""
QUOTES = '";"'
"""The delimiter of rows whose every field is quoted without escapes: only these three marks
together divide fields."""
MARK = "\ufeff"
"""Of byte order, where a file begins."""
UNIT = "\x1f"
"""Stands for a delimiter of several bytes, where one byte is needed: a text that holds this
character is refused there."""
USUAL = ("::", "\t", ";", "|", ",")
COMMA = re.compile(r"([+-]?\d*),(\d+)", re.ASCII)
"""A number with a decimal comma."""
EUROS = re.compile(r"([+-]?\d+),(\d{1,2})", re.ASCII)
"""One that cannot be thousands, which have three digits behind theirs."""
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


class Misquoted(Exception):
    """A line whose quotation marks cannot be followed, in words."""


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
            line = plain_ends(data[: data.index(b"\x00")]).count(b"\n") + 1
            raise DataError(
                "a null character: this is a binary file, not text",
                place=format_location(label, line),
                remedy="give a csv, parquet or known layout",
            )
        data = data.removeprefix(b"\xef\xbb\xbf")
    check_text(data, label, 1, encoding)
    return plain_ends(data).decode(encoding)


def check_text(data: bytes, label: str, first_line: int, encoding: str = "utf-8") -> None:
    """Refuse bytes that the encoding does not have, naming their line."""
    if data.isascii():
        return
    try:
        data.decode(encoding)
    except UnicodeDecodeError as error:
        line = first_line + plain_ends(data[: error.start]).count(b"\n")
        raise DataError(
            f"bytes that are not {encoding.upper()} text",
            place=format_location(label, line),
            remedy="say how the file is written (--encoding latin-1 or cp1252), or save it as "
            "UTF-8",
        ) from None


def plain_ends(data: bytes) -> bytes:
    """`\\r\\n` and `\\r` as `\\n`."""
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def is_blank(line: str) -> bool:
    """Whether a line holds nothing: it is nobody's row."""
    return not line.strip(AROUND)


def fields_of(line: str, delimiter: str) -> list[str]:
    """The fields of one line, blanks around them removed.

    A field that begins with a quotation mark ends with the next one that is not doubled, and
    only the delimiter or the end of the line may follow: all else is `Misquoted`. A mark inside
    of any other field is a character.
    """
    line = line.removeprefix(MARK)  # wherever the line stands: it may become the first
    if delimiter == BLANKS:
        return re.split("[ \t]+", line.strip(AROUND))
    if len(delimiter) > 1 or delimiter == UNIT or '"' not in line:
        return [field.strip(AROUND) for field in line.split(delimiter)]
    fields = []
    at, end = 0, len(line)
    blanks = AROUND.replace(delimiter, "")
    while True:
        start = at
        while at < end and line[at] in blanks:
            at += 1
        if at < end and line[at] == '"':
            text, at = _quoted(line, at + 1)
            while at < end and line[at] in blanks:
                at += 1
            if at < end and line[at] != delimiter:
                raise Misquoted("text follows a closing quotation mark")
        else:
            next_delimiter = line.find(delimiter, start)
            at = end if next_delimiter < 0 else next_delimiter
            text = line[start:at]
        fields.append(text.strip(AROUND))
        if at >= end:
            return fields
        at += 1


def _quoted(line: str, at: int) -> tuple[str, int]:
    """The text up to the closing quotation mark, and where the line goes on."""
    parts = []
    while True:
        close = line.find('"', at)
        if close < 0:
            raise Misquoted("a quotation mark is never closed in this line")
        parts.append(line[at:close])
        if line[close + 1 : close + 2] != '"':
            return "".join(parts), close + 1
        parts.append('"')
        at = close + 2


def misquoted(label: str, line: int, error: Misquoted) -> DataError:
    """The error for a line that cannot be divided into fields."""
    return DataError(
        str(error),
        place=format_location(label, line),
        remedy="a row is one line: close the quotation mark before its end, and write a mark "
        "that is meant as itself twice, inside of quotation marks",
    )


def delimiter_of(header: str) -> str:
    """What divides the names of a header line: of the usual marks the one that divides it most,
    else any mark that is in no name, else blanks."""
    rare = [c for c in dict.fromkeys(header) if not (c.isalnum() or c in " \"'.+-_\t")]
    best = max(USUAL, key=lambda mark: _width(header, mark))
    if best == "\t" and "" in fields_of(header, "\t"):
        return BLANKS  # runs of tabs and blanks
    if _width(header, best) > 1:
        return best
    best = max([BLANKS, *rare], key=lambda mark: _width(header, mark))
    return best if _width(header, best) > 1 else ","


def _width(line: str, delimiter: str) -> int:
    try:
        return len(fields_of(line, delimiter))
    except Misquoted:
        return 0


def records(text: str, dialect: Dialect, first_line: int = 1) -> Iterator[tuple[int, list[str]]]:
    """Each row's line and fields, blanks around a field removed; a blank line has no fields.
    For public tables alone: a quoted field may hold line ends."""
    if dialect.quoted:
        reader = csv.reader(io.StringIO(text, newline="\n"), delimiter=dialect.delimiter)
        lines_read = 0
        for fields in reader:
            yield first_line + lines_read, [field.strip() for field in fields]
            lines_read = reader.line_num
    else:
        for number, line in enumerate(text.split("\n")):
            yield first_line + number, split_plain(line, dialect.delimiter)


def split_plain(line: str, delimiter: str) -> list[str]:
    """The fields of a line without quotation marks."""
    if delimiter == BLANKS or not line.strip():
        return line.split()
    return [field.strip() for field in line.split(delimiter)]


def sniff(text: str, encoding: str = "utf-8") -> Dialect | None:
    """The dialect of a public table by its first lines; None if they hold no row."""
    lines = [line for line in text.split("\n") if line.strip()][:50]
    if not lines:
        return None
    best = max((score(lines, mark, encoding) for mark in USUAL), key=lambda candidate: candidate[0])
    if best[1].delimiter == "\t" and all("" in split_plain(line, "\t") for line in lines):
        return score(lines, BLANKS, encoding)[1]  # runs of tabs and blanks
    if best[0][1] < 2:
        return Dialect(",", 1, encoding)
    return best[1]


def score(lines: list[str], delimiter: str, encoding: str) -> tuple[tuple[float, int], Dialect]:
    """How well a delimiter explains the lines: the share of rows of one width, then that width."""
    trial = Dialect(delimiter, 0, encoding)
    try:
        widths = Counter(len(fields) for _, fields in records("\n".join(lines), trial) if fields)
    except csv.Error:
        widths = Counter([1])
    width, times = max(widths.items(), key=lambda entry: (entry[0] > 1, entry[1], entry[0]))
    share = times / len(lines) if width > 1 else 0.0
    return (round(share, 1), width), Dialect(delimiter, width, encoding)


def pointed(text: str, decimal: str = ".") -> str:
    """A number in this writing with a decimal point; any other text is no number after it."""
    if decimal == ".":
        return text
    return "" if "." in text else text.replace(",", ".")


def with_point(text: str) -> str:
    """`4,5` as `4.5`; any other text as it is. For what is not ratings of many people."""
    match = EUROS.fullmatch(text)
    return f"{match[1]}.{match[2]}" if match else text


def is_number(text: str) -> bool:
    """Whether a field is a decimal number."""
    return NUMBER.fullmatch(text) is not None
