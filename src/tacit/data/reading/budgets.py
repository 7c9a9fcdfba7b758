"""A file of budgets: a csv with the columns `user` and `epsilon`, one line a person."""

from __future__ import annotations

from pathlib import Path

from tacit.data.budgets import Budgets
from tacit.data.ids import clean
from tacit.data.reading.columns import NAMES, plain
from tacit.data.reading.dialect import is_number
from tacit.data.reading.guard import third_party
from tacit.data.reading.personal import only_part
from tacit.data.reading.sheet import Size, read_sheet, with_header
from tacit.errors import DataError

MANY = Size("a file of budgets", 1 << 28)
KNOWN = {*NAMES["user"], "epsilon"}


def read_budgets(path: str | Path) -> Budgets:
    """The budgets of a file. Without a header the order is user, epsilon. A person who is
    named twice gets the less of the two."""
    with third_party(str(path)):
        sheet = with_header(read_sheet(only_part(path), size=MANY, by_line=True), KNOWN)
    names = [plain(name) for name in sheet.header or ["user", "epsilon"]]
    users = [i for i, name in enumerate(names) if name in NAMES["user"]]
    if not users or "epsilon" not in names:
        raise DataError(
            "it lacks the columns user and epsilon",
            place=sheet.label,
            remedy="name them in the first line",
        )
    user, epsilon = users[0], names.index("epsilon")
    epsilons = dict[str, float]()
    for line, cells in sheet.rows:
        if len(cells) <= max(user, epsilon) or not is_number(cells[epsilon]):
            raise DataError(
                "this line has no person with a budget",
                place=sheet.locate(line),
                remedy="write user,epsilon on each line",
            )
        person_id, budget = clean(cells[user]), float(cells[epsilon])
        if budget < 0:
            raise DataError(
                "a budget below 0",
                place=sheet.locate(line),
                remedy="give each person an epsilon of 0 or more; 0 leaves her out",
            )
        epsilons[person_id] = min(budget, epsilons.get(person_id, budget))
    if not epsilons:
        raise DataError("it names nobody", place=sheet.label)
    return Budgets(epsilons)
