"""The table of docs/methods.md is true: what it lists exists, fits the embedded sample and
states what it should."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tacit
from tacit.fitting.run import trial
from tacit.methods import METHODS, find
from tacit.testing.small_sample import few_films, few_ratings

TABLE = Path(__file__).parents[2] / "docs" / "methods.md"
COLUMNS = 6
"""Of the table of methods."""


def rows():
    """Of the first table; those of settings follow under headings of their own."""
    table = TABLE.read_text("utf-8").split("\n## ")[0]
    for line in table.splitlines():
        if line.startswith("| `") and "--method" not in line:
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if len(cells) != COLUMNS:  # a table of settings
                continue
            name, cls, _, units, calibrations, engines = cells

            def split(text):
                return tuple(re.sub(r"~~.*?~~", "", text).replace(",", " ").split())

            yield (
                name.strip("`"),
                cls.strip("`"),
                split(units),
                split(calibrations),
                split(engines),
            )


ROWS = list(rows())


def test_the_table_lists_every_method_once():
    assert [row[0] for row in ROWS] == list(METHODS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_is_what_the_class_says(row):
    name, cls, units, calibrations, engines = row
    method = find(name)
    assert getattr(tacit, cls) is method
    assert method.name == name
    assert method.units == units
    assert tuple(c for c in method.calibrations if c != "none") == calibrations
    assert "none" in method.calibrations
    assert method.engines == engines


def cells():
    for name, _, units, calibrations, engines in ROWS:
        for engine in engines:
            if engine == "spark":  # tests/engine/spark
                continue
            for calibration in (*calibrations, "none"):
                for unit in units if calibration == "sound" else units[:1]:
                    yield name, unit, calibration, engine


@pytest.fixture(scope="module")
def data():
    """Few films: most of the time of a twin goes with their number."""
    return few_ratings(people=120, seed=7)


STANDING = "not private"
"""Of a trial, which no book has charged: whatever was drawn, it may not be published."""


@pytest.mark.parametrize(("name", "unit", "calibration", "engine"), list(cells()))
def test_a_cell_fits_the_sample(data, name, unit, calibration, engine):
    cls = find(name)
    options = {"calibration": calibration, "engine": engine}
    if calibration == "sound":
        options["unit"] = unit
    if calibration != "none":
        options["epsilon"] = 4.0
    if unit == "value" or (calibration == "paper" and cls.paper_unit == "value"):
        options["delta"] = 0.0
    if (name, calibration) == ("pnbm-langevin", "paper"):
        options["rounds"] = 30  # of 300
    items = few_films()
    model = trial(cls(**options), data, items=items, users=120)
    assert model.statement.certified == STANDING
    own = {items.ids[50]: 5, items.ids[90]: 4}
    assert len(model.recommend(own, 3)) == 3
