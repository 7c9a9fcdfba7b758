"""What every bound takes for granted about a contribution: each condition by itself, because
in a whole run another guard may refuse first."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.bound.base import Rows, check_rows
from tacit.errors import Failure


def checked(ptr: list[int], index: list[int], people: int) -> None:
    rows = Rows(np.array(ptr, np.int64), np.array(index, np.uint32), np.ones((len(index), 1)))
    check_rows(rows, name="sum", people=people, size=4)


def test_lines_of_everybody_pass() -> None:
    checked([0, 2, 2, 3], [0, 3, 1], people=3)


@pytest.mark.parametrize(
    "ptr",
    [
        [0, 1, 2, 3],  # one person as three
        [1, 3, 3],  # a line before the first person
        [0, 1, 2],  # a line behind the last
        [0, 4, 3],  # back
    ],
)
def test_lines_that_are_not_shared_out_among_the_people_are_refused(ptr: list[int]) -> None:
    with pytest.raises(Failure, match="person by person"):
        checked(ptr, [0, 1, 2], people=2)


def test_a_line_outside_the_array_is_refused() -> None:
    with pytest.raises(Failure, match="outside"):
        checked([0, 1], [4], people=1)
