"""`tacit plan` prices what `tacit fit` draws, figure by figure (break 5 of issue 13): it left
out `--max-ratings` and noise in shares, and so showed half of the noise."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from itertools import product
from random import Random

import pytest

from tacit.methods import find, names

USERS, ITEMS = 30, 12
SAMPLE = 20
"""Cells of the matrix that run every time; all of them with --full."""
EXTRAS: dict[str, tuple[str, ...]] = {
    "plain": (),
    "cap": ("--max-ratings", "5"),
    "pure": ("--delta", "0"),
    "pure cap": ("--delta", "0", "--max-ratings", "3"),
    "likes": ("--positive", "3"),
    "likes cap": ("--positive", "3", "--max-ratings", "4"),
}


@dataclass(frozen=True)
class Cell:
    """One fit, all but the number of people and the catalogue."""

    method: str
    unit: str
    calibration: str
    engine: str
    extra: str
    users: bool = True
    file: bool = False
    """Whether `--items` is a file, and not a count."""

    def __str__(self) -> str:
        users = "users" if self.users else "counted"
        items = "catalogue" if self.file else "ids"
        return (
            f"{self.method}-{self.unit}-{self.calibration}-{self.engine}-"
            f"{self.extra}-{users}-{items}"
        )

    @property
    def options(self) -> list[str]:
        """Those that both commands take."""
        return [
            *("--method", self.method, "--epsilon", "2", "--unit", self.unit),
            *("--calibration", self.calibration, "--engine", self.engine),
            *(("--users", str(USERS)) if self.users else ()),
            *("--scale", "1,5"),
            *EXTRAS[self.extra],
        ]


def units_of(method, calibration: str) -> tuple[str, ...]:
    if calibration == "paper" and method.paper_unit is not None:
        return (method.paper_unit,)
    return method.units


def matrix() -> list[Cell]:
    cells = []
    for name in names():
        method = find(name)
        for calibration in ("sound", "paper"):
            if calibration not in method.calibrations:
                continue
            # Papers and the local model see how many people there are; a plan does not.
            counted = calibration == "sound" and not method.local
            for unit, engine, extra, users, file in product(
                units_of(method, calibration),
                # On a cluster the same plan is fitted: tests/engine/spark.
                [each for each in method.engines if each != "spark"],
                EXTRAS,
                (True, False) if counted else (True,),
                (True, False),
            ):
                cells.append(Cell(name, unit, calibration, engine, extra, users, file))
    return cells


ALWAYS = [
    Cell("bayes", "rating", "sound", "threads", "cap"),
    Cell("bias", "rating", "sound", "federated", "cap", True, True),
    Cell("bayes", "user", "sound", "federated", "plain", True, True),
    Cell("bias", "rating", "sound", "threads", "pure cap", False),
    Cell("ease", "user", "sound", "threads", "likes cap", True, True),
    Cell("covariance-svd", "rating", "sound", "threads", "pure"),
    Cell("svd-objective", "value", "sound", "threads", "plain"),
    Cell("one-bit", "user", "sound", "simulate", "plain"),
    Cell("covariance-knn", "rating", "paper", "threads", "plain"),
]
CELLS = (
    matrix() if os.environ.get("TACIT_FULL") else [*ALWAYS, *Random(13).sample(matrix(), SAMPLE)]
)


@pytest.fixture
def catalogue(tmp_path):
    path = tmp_path / "items.csv"
    rows = [f"i{i},{1980 + i},{'ab'[i % 2]}" for i in range(ITEMS)]
    path.write_text("item,year,genres\n" + "\n".join(rows) + "\n")
    return path


def noise(events) -> dict[str, dict]:
    """All that an event says, by its name."""
    return {event["name"]: event for event in events}


def planned(tacit, cell: Cell, table, items, *more):
    given = ("--items", items if cell.file else ITEMS)
    if cell.unit == "value":
        given = ("--ratings", table, *(given if cell.file else ()))
    return tacit("plan", *cell.options, *given, "--no-forecast", "--json", *more)


def fitted(tacit, cell: Cell, table, items, out, *more):
    given = ("--items", items) if cell.file else ()
    return tacit("fit", table, *cell.options, *given, "--out", out, "--json", *more)


def same(found: dict[str, dict], drawn: dict[str, dict]) -> None:
    """Every figure of every event is the same. Where people are counted first, and the count
    then chooses the plan, what is known is the count and what covers the rest."""
    if any(event["kind"] == "reserve" for event in found.values()):
        found = {n: e for n, e in found.items() if e["kind"] != "reserve"}
        drawn = {n: e for n, e in drawn.items() if n in found}
    assert list(found) == list(drawn)
    for name, event in found.items():
        assert event == drawn[name], name


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_plan_prices_what_fit_draws(tacit, table, catalogue, tmp_path, cell):
    """Break 5."""
    plan = planned(tacit, cell, table, catalogue)
    fit = fitted(tacit, cell, table, catalogue, tmp_path / "model")
    if fit.status:  # then both refuse, before anything is charged
        assert fit.status == plan.status == 2, fit.err
        return
    assert plan.status == 0, plan.err
    found = noise(json.loads(plan.out)["events"])
    drawn = noise(json.loads(fit.out)["statement"]["events"])
    assert drawn
    same(found, drawn)


def test_a_plan_with_a_start_prices_what_such_a_fit_draws(tacit, table, catalogue, tmp_path):
    """Break 5, with `--start`: the catalogue is that of both, and the rounds are its own."""
    cell = Cell("bayes", "user", "sound", "threads", "cap", file=True)
    assert not fitted(tacit, cell, table, catalogue, tmp_path / "old").status
    start = ("--start", tmp_path / "old")
    plan = planned(tacit, cell, table, catalogue, *start)
    fit = fitted(tacit, cell, table, catalogue, tmp_path / "new", *start)
    assert plan.status == 0, plan.err
    found = noise(json.loads(plan.out)["events"])
    same(found, noise(json.loads(fit.out)["statement"]["events"]))


def test_a_cap_and_shared_noise_are_in_the_plan(tacit):
    """Break 5: both make noise that a plan without them does not show."""

    def sd(*more):
        shown = tacit(
            *("plan", "--method", "bayes", "--epsilon", 1, "--users", 5000),
            *("--items", 300, "--no-forecast", "--json", *more),
        )
        releases = json.loads(shown.out)["releases"]
        return {each["release"]: each["noise_sd"] for each in releases}

    alone = sd("--unit", "rating")
    capped = sd("--unit", "rating", "--max-ratings", 20)
    assert capped["effects 1/sums"] > 1.3 * alone["effects 1/sums"]
    curator = sd()["effects 1/sums"]
    servers = sd("--engine", "federated")["effects 1/sums"]
    assert servers == pytest.approx(2**0.5 * curator, rel=1e-6)
    both = sd("--engine", "federated", "--noise", "both")["effects 1/sums"]
    assert both > 1.2 * servers


def test_a_plan_reads_no_pattern_that_is_private(tacit, table):
    seen = tacit(
        *("plan", "--method", "bias", "--epsilon", 1, "--users", 30), *("--ratings", table)
    )
    assert seen.status == 2
    assert "private" in seen.err


def test_without_users_a_plan_says_what_it_does_not_know(tacit):
    seen = tacit(*("plan", "--method", "bias", "--epsilon", 1, "--items", 50), "--no-forecast")
    assert seen.status == 0, seen.err
    assert "people/count" in seen.out
    assert "NOT KNOWN HERE: the number of people" in seen.out


def test_how_many_items_there_are_must_be_said(tacit):
    seen = tacit("plan", "--epsilon", 1, "--users", 50)
    assert seen.status == 2
    assert "--items" in seen.err
