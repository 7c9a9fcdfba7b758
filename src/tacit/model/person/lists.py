"""Everyone's list, each from their own ratings: for an owner who must deliver lists, never
for publication."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tacit.errors import SettingError
from tacit.model.person.base import Own
from tacit.model.person.own import on_scale
from tacit.model.person.rank import order_scores, top
from tacit.whole import whole

if TYPE_CHECKING:
    from tacit.model.model import Model


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
) -> int:
    """Columns person, rank, item, expected, personal (always true). Returns the number of
    people."""
    import polars as pl

    from tacit.data.read import read

    target = Path(out)
    if target.suffix not in (".parquet", ".csv"):
        raise SettingError(
            f"--out {out} is neither .parquet nor .csv",
            remedy="choose one of the two",
        )
    schema, catalogue = model.shared.schema, model.shared.catalogue
    # Where ratings were made likes, all are read: what was rated is not new.
    likes = schema.positive if schema.source == "likes" else None
    people = read(
        source,
        scale or (schema.low, schema.high),
        items=catalogue,
        positive=likes,
    )
    allowed = model.allowed(only, exclude)
    rows: list[tuple[str, int, str, float, bool]] = []
    for person in range(people.n_users):
        cells = people.row(person)
        items = people.item[cells].astype(np.int64)
        values = people.value[cells].astype(np.float64)
        own = Own(items, (values - schema.middle) / schema.unit_width)
        found = order_scores(model.personal, model.likes(own), by)
        free = allowed.copy()
        free[items] = False
        for rank, row in enumerate(top(found.scores, n, free).tolist(), 1):
            rating = on_scale(schema, found.mean[row])
            rows.append(
                (people.users[person], rank, catalogue.ids[row], rating, True)
            )
    frame = pl.DataFrame(
        rows,
        schema=["person", "rank", "item", "expected", "personal"],
        orient="row",
    )
    # Lists are personal: only their owner may read the file.
    with whole(target, private=True, remedy="choose another --out") as file:
        if target.suffix == ".parquet":
            frame.write_parquet(file)
        else:
            frame.write_csv(file)
    return people.n_users
