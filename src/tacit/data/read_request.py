"""What is asked of a reader of ratings, and the schema and table that follow from it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from tacit.data.catalogue import Catalogue
from tacit.data.layouts.base import Layout
from tacit.data.ratings import Ratings
from tacit.data.reading.assemble import Duplicates
from tacit.data.reading.columns import Columns
from tacit.data.reading.table import Table
from tacit.data.reading.written import PLAIN, DeclaredText
from tacit.data.schema import LIKES, Schema
from tacit.errors import SettingError


class ReadRequest:
    """What the caller asked for, and the schema that follows from it."""

    in_slices = False
    """Whether a table is read some rows at a time, because it may not fit memory."""

    def __init__(
        self,
        scale: tuple[float, float] | None,
        items: Catalogue | None,
        duplicates: Duplicates,
        positive: float | bool | None,
        users: int | None,
        columns: Columns | None,
        declared_text: DeclaredText = PLAIN,
    ) -> None:
        self.scale = scale
        self.items = items
        self.duplicates = duplicates
        self.columns = columns
        self.written = declared_text
        self.positive, self.users = positive, users

    @property
    def likes(self) -> bool:
        """Whether a table of likes was asked for."""
        return self.positive is not None

    def schema(self, layout: Layout | None, rated: bool, label: str) -> Schema:
        """The scale that was given, else the layout's; a table of likes needs none."""
        if not rated:
            return Schema(0.0, 1.0, users=self.users, positive=1.0, source=LIKES)
        if self.positive is True:
            raise SettingError(
                "the data have ratings; say from which rating on one is a like",
                place=label,
                remedy="give the least rating that counts, such as --positive 4",
            )
        if self.scale is not None:
            low, high = _pair(self.scale)
            source = "given"
        elif layout is not None:
            low = layout.low
            high = layout.high
            source = layout.name
        else:
            raise SettingError(
                "the scale of the ratings is not known",
                place=label,
                remedy="give the lowest and the highest possible rating, such as --scale 1,5",
            )
        threshold = float(self.positive) if self.positive is not None else None
        if threshold is not None and not (math.isfinite(threshold) and threshold <= high):
            raise SettingError(
                f"positive is {threshold:g}, above the scale", remedy=f"choose at most {high:g}"
            )
        if threshold is not None and threshold < low:
            raise SettingError(
                f"positive is {threshold:g}, below the scale",
                remedy=f"--positive {low:g} takes every rating as a like",
            )
        return Schema(
            low,
            high,
            users=self.users,
            positive=threshold,
            absent=layout is not None and layout.absent is not None,
            source=source,
        )

    def table(self, layout: Layout | None, rated: bool, label: str) -> Table:
        """An empty table of the schema that this layout and these options give."""
        schema = self.schema(layout, rated, label)
        table = Table(schema, keep_lines=self.duplicates == "error")
        return self.as_written(table, layout)

    def as_written(self, table: Table, layout: Layout | None) -> Table:
        """The table, told of what a layout and the caller say of its texts."""
        declared_text = self.written.of(layout)
        table.absent = layout.absent if layout is not None else None
        table.dates = declared_text.dates or table.dates
        table.decimal = declared_text.decimal or table.decimal
        return table

    def fill(
        self,
        layout: Layout | None,
        rated: bool,
        label: str,
        into: Callable[[Table], None],
        unit: str = "line",
    ) -> Ratings:
        """The ratings that `into` puts into a table."""
        table = self.table(layout, rated, label)
        table.unit = unit
        into(table)
        return table.finish(label, layout.name if layout else "", self.items, self.duplicates)


def _pair(scale: Sequence[float] | str) -> tuple[float, float]:
    try:
        if isinstance(scale, str):  # "15" would pass for (1, 5)
            raise TypeError
        if any(isinstance(endpoint, str) for endpoint in scale):
            raise TypeError
        low, high = (float(endpoint) for endpoint in scale)
    except (TypeError, ValueError, OverflowError):
        raise SettingError(
            "the scale is not two numbers",
            remedy="give the lowest and the highest possible rating, such as --scale 1,5",
        ) from None
    return low, high
