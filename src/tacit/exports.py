"""The one door to tables of text that people open: csv that no spreadsheet runs and no terminal
obeys.

Ids and titles come from strangers. A spreadsheet takes a cell that begins with `=`, `+`, `-` or
`@` for a formula, which may send the other cells away; a terminal obeys an escape sequence. So
such a cell gets an apostrophe before it, and a character that acts is shown as its escape
(`tacit.redaction`). Parquet and JSON hold texts as they are.

Guarantee: no cell of text begins with a character that begins a formula, spaces before it
left aside, and none holds a control character or a line end. All other texts, and all numbers,
stay as they are.
"""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any

from tacit.redaction import one_line

if TYPE_CHECKING:
    import polars

FORMULA = "=+-@"
"""What a formula begins with; wide forms of them count too."""


def harmless(value: Any) -> Any:
    """A cell as it may stand in a csv; what is no text stays as it is."""
    if not isinstance(value, str):
        return value
    text = one_line(value)
    first_character = unicodedata.normalize("NFKC", text.lstrip()[:1])
    return f"'{text}" if first_character and first_character[0] in FORMULA else text


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
    pl.DataFrame(guarded).write_csv(file, float_precision=digits)
