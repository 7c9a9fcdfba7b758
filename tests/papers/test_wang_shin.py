"""The experiments of Wang & Tang and of Shin et al.: every figure runs, draws and is judged,
on a few invented people, and verdicts follow from numbers."""

from __future__ import annotations

import json

import pytest

from tacit.data.sample import sample
from tacit.papers.machine.experiment import Results, Row, Wanted
from tacit.papers.machine.run import run_paper
from tacit.papers.machine.sources import Sources
from tacit.papers.registry import find
from tacit.papers.shin2018.figures import verdicts as shin
from tacit.papers.wang_tang.figures import verdicts as wang

OUTCOMES = {"holds", "holds in one reading", "does not hold", "not run"}
PAPERS = {
    "wang-tang": ("2", "3", "4", "5", "6", "grid"),
    "shin2018": (*map(str, range(2, 10)), "table 2", "table 3", "4.1", "rates"),
}


class Few(Sources):
    """Forty invented people under any name."""

    def __init__(self):
        super().__init__({})

    def ratings(self, name):
        return sample(people=40, ratings=1200, seed=2)


@pytest.mark.parametrize("name", PAPERS)
def test_the_closed_list_of_figures_is_there(name):
    assert {e.figure for e in find(name).experiments} == set(PAPERS[name])


@pytest.mark.parametrize("name", PAPERS)
@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("data", [("ml-100k",), ("ml-100k", "ml-1m")])
def test_keys_are_told_once_and_in_json(name, quick, data):
    for experiment in find(name).experiments:
        keys = [json.dumps(key, sort_keys=True) for key in experiment.keys(Wanted(data, 3, quick))]
        assert len(set(keys)) == len(keys), experiment.figure


@pytest.mark.parametrize(
    ("name", "figures"),
    [("wang-tang", ("2", "3")), ("shin2018", ("2", "3", "4", "5", "9", "table 2", "table 3"))],
)
def test_a_quick_run_ends_with_a_verdict_for_each_finding(name, figures, tmp_path):
    found = run_paper(find(name), Few(), figures=figures, quick=True, folder=tmp_path)
    for done in found:
        assert len(done.verdicts) == len(done.experiment.findings)
        for finding, verdict in done.verdicts:
            assert verdict.outcome in OUTCOMES
            assert verdict.reason, finding.name
        assert list(done.experiment.terminal_tables(done.results))
        for panel in done.experiment.draw(done.results):
            assert panel.curves


def results_of(rows):
    told = (Row({"data": "ml-100k", **key}, values) for key, values in rows)
    return Results(tuple(told), Wanted(("ml-100k",), 1, False))


@pytest.mark.parametrize(
    ("code", "printed", "harder", "outcome"),
    [
        (0.93, 0.93, 0.935, "holds"),
        (0.93, 0.93, 0.92, "holds in one reading"),
        (0.93, 0.96, 0.92, "holds in one reading"),
        (0.95, 0.96, 0.92, "does not hold"),
    ],
)
def test_a_claim_is_judged_by_reading(code, printed, harder, outcome):
    rows = [
        ({"model": "COS"}, {"rmse": 0.94, "largest": harder}),
        ({"model": "PCC"}, {"rmse": 0.96, "largest": 0.95}),
    ]
    for reading, error in (("code", code), ("printed", printed)):
        for epsilon in (1.0, 20.0):
            key = {"model": "DPSGD-PNBM", "reading": reading}
            rows.append(({**key, "epsilon": epsilon}, {"rmse": error}))
    told = wang.better_sgd(results_of(rows))
    assert told.outcome == outcome
    if printed > code and outcome == "holds in one reading":
        assert told.reason.startswith("the authors' published program")


def test_a_long_chain_is_no_part_of_a_short_ones_mean():
    chain = {"model": "DPPS-PNBM", "reading": "code"}
    rows = [
        ({"model": "COS"}, {"rmse": 0.94, "largest": 0.94}),
        ({"model": "PCC"}, {"rmse": 0.96, "largest": 0.95}),
        ({**chain, "epsilon": 20.0, "steps": 100}, {"rmse": 0.93}),
        ({**chain, "epsilon": 200.0, "steps": 100}, {"rmse": 0.93}),
        ({**chain, "epsilon": 200.0, "steps": 300}, {"rmse": 0.99}),
    ]
    told = wang.better_chain(results_of(rows))
    assert told.outcome == "holds"
    assert "0.930 at epsilon 200" in told.reason


@pytest.mark.parametrize(
    ("errors", "outcome"),
    [((2.3, 1.9, 1.6, 1.2, 1.1, 1.05), "holds"), ((2.3, 2.3, 2.4, 2.4, 2.4, 2.4), "does not hold")],
)
def test_falling_with_k_is_seen(errors, outcome):
    rows = [
        ({"model": "GD-DR", "epsilon": 0.1, "k": k}, {"rmse": error})
        for k, error in zip((1, 3, 5, 10, 20, 50), errors, strict=True)
    ]
    assert shin.falls_with_k(results_of(rows)).outcome == outcome
