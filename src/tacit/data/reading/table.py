"""Rows as they come from any reader, block by block, checked against the scale."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.data.catalogue import Catalogue
from tacit.data.ratings import LATEST, Notes, Ratings, format_count
from tacit.data.reading.assemble import Duplicates, RowsRead, assemble
from tacit.data.reading.cells import Codes, Column, Fault, Growing, IdColumn, numbers_of, seconds
from tacit.data.schema import Schema
from tacit.errors import DataError
from tacit.repr import shapes

if TYPE_CHECKING:
    import polars as pl


@dataclass
class Table:
    """Collects blocks of rows; `absent` is a number that stands for no rating."""

    schema: Schema
    absent: float | None = None
    keep_lines: bool = False
    unit: str = "line"
    """What `lines` counts."""
    dates: str = "iso"
    decimal: str = "."
    """How texts of dates and numbers are written, as `DeclaredText` declares it."""
    users: IdColumn = field(default_factory=IdColumn)
    items: IdColumn = field(default_factory=IdColumn)
    values: Column = field(default_factory=lambda: Growing(np.float32))
    times: Column = field(default_factory=lambda: Growing(np.int64))
    lines: Column = field(default_factory=lambda: Growing(np.int64))
    rows: int = 0
    dropped_absent: int = 0

    __repr__ = shapes

    def add(
        self,
        user: pl.Series,
        item: pl.Series,
        rating: pl.Series | None,
        time: pl.Series | None,
        lines: NDArray[np.int64] | None = None,
    ) -> None:
        """A block of cells; raises the Fault of its first bad row and then holds nothing of
        the block."""
        faults: list[Fault] = []
        values, moments = np.ones(len(user), np.float64), None
        keep = None
        try:
            if rating is not None:
                values = numbers_of(rating, self.decimal)
            keep = self._retained_rows(values)
        except Fault as fault:
            faults.append(fault)
        try:
            moments = seconds(time, self.dates) if time is not None else None
        except Fault as fault:
            faults.append(fault)
        for cells, role in ((user, "user"), (item, "item")):
            try:
                IdColumn.check(cells, role)
            except Fault as fault:
                faults.append(fault)
        if faults:
            raise min(faults, key=lambda fault: fault.row)
        if keep is not None:
            import polars as pl

            mask = pl.Series(keep)
            user = user.filter(mask)
            item = item.filter(mask)
            values = values[keep]
            moments = moments[keep] if moments is not None else None
            lines = lines[keep] if lines is not None else None
        self.users.add(user)
        self.items.add(item)
        self._add(values, moments, lines)

    def add_numbers(
        self,
        user: Codes,
        item: Codes,
        values: NDArray[np.float64],
        time: NDArray[np.int64] | None,
        lines: NDArray[np.int64] | None = None,
    ) -> None:
        """A block whose ids are plain integers."""
        if time is not None and (time > LATEST).any():
            raise Fault(int((time > LATEST).argmax()), "time")
        keep = self._retained_rows(values)
        if keep is not None:
            user = user[keep]
            item = item[keep]
            values = values[keep]
            time = time[keep] if time is not None else None
            lines = lines[keep] if lines is not None else None
        self.users.add_numbers(user)
        self.items.add_numbers(item)
        self._add(values, time, lines)

    def _add(
        self,
        values: NDArray[np.float64],
        time: NDArray[np.int64] | None,
        lines: NDArray[np.int64] | None,
    ) -> None:
        self.values.add(values)
        if time is not None:
            self.times.add(time)
        if self.keep_lines and lines is not None:
            self.lines.add(lines)

    def _retained_rows(self, values: NDArray[np.float64]) -> NDArray[np.bool_] | None:
        """Which rows are ratings to keep (None: all); a Fault at the first off the scale."""
        self.rows += values.size
        present = values != self.absent if self.absent is not None else np.True_
        wrong = ~((values >= self.schema.low) & (values <= self.schema.high)) & present
        if wrong.any():
            raise Fault(int(wrong.argmax()), "rating")
        if self.absent is None or np.all(present):
            return None
        self.dropped_absent += int(values.size - np.count_nonzero(present))
        return np.asarray(present)

    def finish(
        self, label: str, layout: str, catalogue: Catalogue | None, duplicates: Duplicates
    ) -> Ratings:
        """The ratings in user order."""
        if not self.rows:
            raise DataError(
                "there is no rating in it",
                place=label,
                remedy="give a file with at least one row of data",
            )
        item, item_names = self.items.finish()
        user, user_names = self.users.finish()
        cells = RowsRead(
            user,
            item,
            self.values.finish(),
            self.times.finish() if self.times.size else None,
            self.lines.finish() if self.keep_lines else None,
        )
        del user, item  # assembling lets go of them as it goes
        notes = Notes(layout=layout, messages=self._messages())
        return assemble(
            cells,
            user_names,
            item_names,
            self.schema,
            notes,
            label,
            catalogue,
            duplicates,
            f"{self.unit} {{}}".format,
        )

    def _messages(self) -> tuple[str, ...]:
        if not self.dropped_absent:
            return ()
        return (f"dropped {format_count(self.dropped_absent, 'row')} without an explicit rating",)
