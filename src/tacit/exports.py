"""The one door to tables that are written: csv that no spreadsheet runs and no terminal obeys,
and parquet.

Ids and titles come from strangers. A spreadsheet takes a cell that begins with `=`, `+`, `-` or
`@` for a formula, which may send the other cells away; a terminal obeys an escape sequence. So
such a cell gets an apostrophe before it, and a character that acts is shown as its escape
(`tacit.redaction`). Where a comma is the decimal mark, a spreadsheet cuts a line at its
semicolons: what follows one is taken for a cell too. Parquet and JSON hold texts as they are.

Guarantee: no cell of text begins with a character that begins a formula, nor has one after a
semicolon, spaces and quotes before it left aside, and none holds a control character or a line
end. All other texts, and all numbers, stay as they are. A disk that refuses a file is an
OSError, whoever writes it.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any

from tacit.redaction import one_line

if TYPE_CHECKING:
    import polars

FORMULA = "=+-@"
"""What a formula begins with; wide forms of them count too."""
CELL = re.compile(r'(^|;)(?=[\s"]*([^\s"]))')
"""Where a cell begins in a text, and its first letter."""


def harmless(value: Any) -> Any:
    """A cell as it may stand in a csv; what is no text stays as it is."""
    if not isinstance(value, str):
        return value
    return CELL.sub(_guarded, one_line(value))


def _guarded(cell: re.Match[str]) -> str:
    """The begin of a cell, with an apostrophe if a formula follows."""
    begins = unicodedata.normalize("NFKC", cell[2])
    return f"{cell[1]}'" if begins[:1] in FORMULA else cell[1]


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows by the names of their columns, with a header."""
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: harmless(value) for name, value in row.items()})
    return out.getvalue()


def write_csv(frame: polars.DataFrame, file: IO[bytes], *, digits: int | None = None) -> None:
    """A frame with a header; `digits` are those of fractions."""
    import polars as pl

    guarded = []
    for column in frame.get_columns():
        if column.dtype == pl.String:
            texts = column.unique().drop_nulls().to_list()
            changed = {text: escaped for text in texts if (escaped := harmless(text)) != text}
            if changed:
                column = column.replace(changed)
        guarded.append(column)
    buffer = io.BytesIO()
    pl.DataFrame(guarded).write_csv(buffer, float_precision=digits)
    file.write(buffer.getbuffer())


def write_parquet(
    frame: polars.DataFrame, file: IO[bytes], metadata: dict[str, str] | None = None
) -> None:
    """A frame as it is."""
    buffer = io.BytesIO()  # a full disk is an error of its own to polars
    frame.write_parquet(buffer, metadata=metadata)
    file.write(buffer.getbuffer())
