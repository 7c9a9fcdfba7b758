"""What a layout is: how a known data set is written, and by which marks it is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tacit.data.reading.dialect import plain_ends
from tacit.data.reading.files import Bundle, Stream

if TYPE_CHECKING:
    from tacit.data.catalogue import Catalogue
    from tacit.data.ratings import Ratings
    from tacit.data.reading.assemble import Duplicates
    from tacit.data.reading.table import Table
    from tacit.data.schema import Schema

TEXT = (".dat", ".csv", ".txt", ".tsv", ".xls")
"""Files that are looked into."""
LOOK = 4096
"""Bytes that the first line is looked for in."""


@dataclass(frozen=True)
class Glance:
    """What a layout is told by: names and the first line, never ratings."""

    name: str
    """The file's name, without `.gz`."""
    folder: str
    first: str
    """The first line; empty where the file is not text."""


def glance(part: Stream) -> Glance:
    """A look at a file from outside, and at its first line if it is text."""
    name = part.name.removesuffix(".gz")
    folder = part.path.rsplit("/", 2)[-2] if "/" in part.path else ""
    if not name.endswith(TEXT):
        return Glance(name, folder, "")
    head = plain_ends(part.head(LOOK).removeprefix(b"\xef\xbb\xbf"))
    return Glance(name, folder, head.split(b"\n", 1)[0].decode("latin-1").strip())


class LayoutRequest(Protocol):
    """What the caller of `read` wants, for a layout that reads its files itself."""

    items: Catalogue | None
    duplicates: Duplicates

    def schema(self, layout: Layout | None, rated: bool, label: str) -> Schema:
        """The scale and what was declared, or an error that says what is missing."""

    def table(self, layout: Layout | None, rated: bool, label: str) -> Table:
        """An empty table for rows of numbers."""


Reader = Callable[["Layout", Bundle, list[Stream], LayoutRequest], "Ratings"]


@dataclass(frozen=True)
class Layout:
    """How a known data set is written. It implies a scale, which the statement then names."""

    name: str
    title: str
    low: float
    high: float
    told_by: Callable[[Glance], bool]
    delimiter: str | None = None
    encoding: str = "utf-8"
    absent: float | None = None
    """The number that stands for no rating."""
    fence: str | None = None
    """What separates fields, if the text has it: where quotation marks follow no rule of csv."""
    columns: Mapping[str, int] | None = None
    """The number of each role's column, counted from 1, where the files have no header."""
    several: bool = False
    """Whether the ratings may lie in several files."""
    one_pass: bool = False
    """Whether one such file settles it, and all files are read in one pass over the bundle."""
    reader: Reader | None = None
    """How the files are read; delimited text unless said."""
    around: Callable[[Stream, set[str]], str] | None = None
    """The name of a layout that is written alike, if the files around tell it is that one."""


def has_neighbour(part: Stream, name: str) -> bool:
    """Whether a plain file has such a neighbour."""
    return Path(part.label).with_name(name).is_file()
