"""What a terminal of 80 columns shows: whole words, whole numbers, no column lost."""

from __future__ import annotations

import io

from tacit.cli.lines import fitted
from tacit.cli.show import needs, parts


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_long_line_breaks_between_words_under_where_they_begin(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    line = "in words    " + "somebody who knows everything else " * 2
    shown = fitted(line.rstrip(), Terminal()).split("\n")
    assert all(len(each) <= 40 for each in shown)
    assert all(each.startswith(" " * 12) for each in shown[1:])
    assert " ".join(" ".join(shown).split()) == " ".join(line.split())


def test_a_pipe_gets_the_line_whole():
    assert fitted("x " * 200, io.StringIO()) == "x " * 200


def test_no_number_is_broken_and_no_column_lost():
    widths = [needs("rmse", ["+0.0775 ± 0.0089"], numeric=True)] * 8
    assert widths[0] == len("+0.0775 ± 0.0089")
    shown = parts([11, *widths], [False, *[True] * 8], 80)
    assert {i for part in shown for i in part} == set(range(9))
    assert all(part[0] == 0 for part in shown)
    assert all(11 + 18 * (len(part) - 1) <= 80 for part in shown)


def test_a_table_that_fits_is_one():
    assert parts([10, 5, 5], [False, True, True], 80) == [[0, 1, 2]]
