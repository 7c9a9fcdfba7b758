"""What is declared about how a table is written.

Reading takes no such fact from rows: one person's row must not decide how the others are read.
What is not declared is fixed by the layout, by the header line, or by the default here.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal, get_args

from tacit.errors import SettingError

if TYPE_CHECKING:
    from tacit.data.layouts.base import Layout

Dates = Literal["iso", "dmy", "mdy"]
ORDERS = get_args(Dates)
"""Year first, day first, month first."""
BY_NAME = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "blank": " ", "space": " "}
"""Delimiters that a command line cannot show well."""
ENCODINGS = (
    *("utf-8", "ascii", "latin-1", "koi8-r", "koi8-u", "mac-roman", "cp437", "cp850", "cp852"),
    *(f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 15, 16)),
    *(f"cp{page}" for page in range(1250, 1259)),
)
"""In all of them a byte below 128 is the character that it is in ASCII."""


@dataclass(frozen=True)
class DeclaredText:
    """How a table is written, as far as somebody has declared it; None where nobody has."""

    header: bool | None = None
    """Whether line 1 names the columns: it does unless this is False or the layout says so."""
    delimiter: str | None = None
    """What divides the fields of a line; else the header line shows it."""
    dates: str | None = None
    """How dates are ordered: year-month-day and seconds since 1970 unless declared."""
    decimal: str | None = None
    """The decimal mark: a point unless declared."""
    encoding: str | None = None
    """UTF-8 unless declared."""

    def __post_init__(self) -> None:
        if self.header not in (None, True, False):
            raise SettingError(
                f"header is a {type(self.header).__name__}",
                remedy="give True where line 1 names the columns, and False where it is a row",
            )
        if self.delimiter is not None:
            object.__setattr__(self, "delimiter", checked_delimiter(self.delimiter))
        if self.dates is not None and self.dates not in ORDERS:
            raise SettingError(
                f"dates is {self.dates!r}",
                remedy="choose iso (year first, or seconds since 1970), dmy (day first) or mdy "
                "(month first)",
            )
        if self.decimal is not None and self.decimal not in (".", ","):
            raise SettingError(f"decimal is {self.decimal!r}", remedy="choose . or ,")
        if self.encoding is not None:
            object.__setattr__(self, "encoding", checked_encoding(self.encoding))

    def of(self, layout: Layout | None) -> DeclaredText:
        """With what the layout fixes where nothing was declared."""
        if layout is None:
            return self
        return DeclaredText(
            self.header,
            self.delimiter or layout.delimiter,
            self.dates,
            self.decimal,
            self.encoding or layout.encoding,
        )

    def refuse(self, source_name: str, *names: str) -> None:
        """Refuse facts that have no meaning for `source_name`; all of them unless named."""
        for name in names or [field.name for field in fields(self)]:
            if getattr(self, name) is not None:
                raise SettingError(
                    f"--{name} is for tables of text, and this is {source_name}",
                    remedy=f"leave --{name} out",
                )


def checked_delimiter(text: object) -> str:
    """One mark, or two colons."""
    mark = BY_NAME.get(text, text) if isinstance(text, str) else None
    single = isinstance(mark, str) and len(mark) == 1 and mark.isascii()
    if mark in ("\t", " ", "::") or (single and _is_mark(str(mark))):
        return str(mark)
    raise SettingError(
        "the delimiter is not one mark",
        remedy="give one character that is in no field, such as --delimiter ';', tab, blank or ::",
    )


def _is_mark(mark: str) -> bool:
    return mark.isprintable() and not mark.isalnum() and mark not in "\"'.+-"


def checked_encoding(text: object) -> str:
    """The name of an encoding in which marks and digits are those of ASCII."""
    try:
        codec_name = codecs.lookup(str(text)).name
    except LookupError:
        codec_name = ""
    for name in ENCODINGS:
        if codecs.lookup(name).name == codec_name:
            return name
    raise SettingError(
        f"the encoding {text!r} is not read here",
        remedy="choose utf-8, latin-1 or cp1252, or save the file as UTF-8",
    )


PLAIN = DeclaredText()
"""Nothing declared."""
