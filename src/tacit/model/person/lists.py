"""Everyone's list, each from their own ratings: for an owner who must deliver lists, never
for publication."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.atomic_write import open_atomic
from tacit.data.schema import LIKES
from tacit.errors import SettingError
from tacit.exports import write_csv, write_parquet
from tacit.model.person.base import Own
from tacit.model.person.rank import check_order, order_scores, top
from tacit.model.person.ratings import likes_of_table, on_scale, passed_over
from tacit.notices import notice
from tacit.repr import shapes

if TYPE_CHECKING:
    import polars

    from tacit.data.catalogue import Catalogue
    from tacit.data.reading.columns import Columns
    from tacit.model.model import Model

DIGITS = 3
"""Of expected ratings in a csv."""


class ListLine(NamedTuple):
    """One line of a list: `expected` is on the scale of ratings; None of likes."""

    rank: int
    item: str
    expected: float | None


@dataclass(frozen=True, eq=False)
class ListMaker:
    """Makes one person's list, on whatever machine her ratings are."""

    model: Model
    n: int
    by: str | None
    allowed: NDArray[np.bool_]
    """Items that may be recommended to anybody."""

    __repr__ = shapes

    def lines(self, items: NDArray[np.int64], values: NDArray[np.float64]) -> list[ListLine]:
        """From the rows of her items and her ratings of them, best first."""
        schema = self.model.shared.schema
        check_order(self.model.personal, schema, self.by)
        user_ratings = Own(items, (values - schema.middle) / schema.unit_width)
        ordered = order_scores(self.model.personal, self.model.likes(user_ratings), self.by)
        free = self.allowed.copy()
        free[items] = False
        ids = self.model.shared.catalogue.ids
        best = top(ordered.scores, self.n, free).tolist()
        return [
            ListLine(
                rank, ids[row], on_scale(schema, ordered.mean[row]) if self.model.rates else None
            )
            for rank, row in enumerate(best, 1)
        ]


def titled(frame: polars.DataFrame, catalogue: Catalogue) -> polars.DataFrame:
    """With the title of each item beside its id, where there are titles: a csv is for people."""
    import polars as pl

    if catalogue.titles is None:
        return frame
    names = dict(zip(catalogue.ids, catalogue.titles, strict=True))
    titles = [names[item] for item in frame["item"].to_list()]
    return frame.insert_column(3, pl.Series("title", titles, pl.String))


def without_ratings(columns: Columns | None) -> Columns:
    """Columns of a table whose ratings, if it has any, are not read."""
    return {**(columns or {}), "rating": None}


def write_lists(
    model: Model,
    source: str,
    out: str,
    n: int,
    *,
    by: str | None = None,
    only: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    scale: tuple[float, float] | None = None,
    columns: Columns | None = None,
    tell: Callable[[str], None] = notice,
    **written: Any,
) -> int:
    """Write the columns person, rank, item, expected, personal (always true); a csv also has
    titles.

    Returns the number of people; `tell` is called with notices about how ratings were read.
    `written` holds the arguments of `tacit.read` for the source."""
    import polars as pl

    from tacit.data.packed.store import is_pack
    from tacit.data.read import read

    target = Path(out)
    if target.suffix not in (".parquet", ".csv"):
        raise SettingError(
            f"--out {out} is neither .parquet nor .csv", remedy="choose one of the two"
        )
    schema, catalogue = model.shared.schema, model.shared.catalogue
    # Where ratings were made likes, all are read: what was rated is not new.
    bare = schema.source == LIKES and not (Path(source).is_file() and is_pack(Path(source)))
    wanted_columns = without_ratings(columns) if bare else columns
    people = read(
        source,
        scale or (schema.low, schema.high),
        items=catalogue,
        positive=True if schema.source == LIKES else None,
        columns=wanted_columns,
        **written,
    )
    for line in (*people.notes.columns, *likes_of_table(schema, people.value)):
        tell(line)
    if bare and any("not read" in line for line in people.notes.columns[1:]):
        tell(passed_over("all rows count"))
    maker = ListMaker(model, n, by, model.allowed(only, exclude))
    rows: list[tuple[str, int, str, float | None, bool]] = []
    for person in range(people.n_users):
        cells = people.row(person)
        items = people.item[cells].astype(np.int64)
        values = people.value[cells].astype(np.float64)
        name = people.users[person]
        rows += [(name, *line, True) for line in maker.lines(items, values)]
    frame = pl.DataFrame(
        rows,
        schema=["person", "rank", "item", "expected", "personal"],
        orient="row",
        schema_overrides={"expected": pl.Float64},
    )
    # Lists are personal: only their owner may read the file.
    with open_atomic(target, private=True, remedy="choose another --out") as file:
        if target.suffix == ".parquet":
            write_parquet(frame, file)
        else:
            write_csv(titled(frame, catalogue), file, digits=DIGITS)
    return people.n_users
