"""The experiments of Xian et al. and of Hua et al.: every figure runs, draws and is judged, on
a few invented people."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tacit.data.sample import sample
from tacit.papers.hua2015.figures import attack, runs
from tacit.papers.hua2015.figures.curves import verdict_of
from tacit.papers.hua2015.figures.increase import judge_s1_small
from tacit.papers.machine.experiment import Results, Row, Wanted
from tacit.papers.machine.run import run_paper
from tacit.papers.machine.sources import Sources
from tacit.papers.registry import find
from tacit.papers.xian2017.figures.baselines import judge_best
from tacit.papers.xian2017.figures.fits import EPSILONS, NAMES
from tacit.papers.xian2017.figures.samples import PEOPLE, sample_netflix

OUTCOMES = {"holds", "holds in one reading", "does not hold", "not run"}
PAPERS = {
    "xian2017": ("1", "2", "3", "4", "5", "table 1"),
    "hua2015": (*map(str, range(1, 11)), "samples", "cost", "attack", "section 6"),
}


class Few(Sources):
    """Forty invented people under any name."""

    def __init__(self):
        super().__init__({})

    def ratings(self, name):
        return sample(people=40, ratings=900, seed=2)


@pytest.mark.parametrize("name", PAPERS)
def test_the_closed_list_of_figures_is_there(name):
    assert {e.figure for e in find(name).experiments} == set(PAPERS[name])


@pytest.mark.parametrize("name", PAPERS)
@pytest.mark.parametrize("quick", [True, False])
def test_keys_are_told_once_and_in_json(name, quick):
    for experiment in find(name).experiments:
        asked = Wanted(experiment.data[:1], 3, quick)
        keys = [json.dumps(key, sort_keys=True) for key in experiment.keys(asked)]
        assert len(set(keys)) == len(keys), experiment.figure


FAST = [("xian2017", ("1", "5", "table 1")), ("hua2015", ("8", "10", "section 6"))]


@pytest.mark.parametrize(("name", "figures"), FAST)
def test_a_quick_run_ends_with_a_verdict_for_each_finding(name, figures):
    for done in run_paper(find(name), Few(), figures=figures, quick=True):
        assert len(done.verdicts) == len(done.experiment.findings)
        for finding, verdict in done.verdicts:
            assert verdict.outcome in OUTCOMES
            assert verdict.reason, finding.name
        assert list(done.experiment.terminal_tables(done.results))
        for panel in done.experiment.draw(done.results):
            assert panel.curves


def test_a_netflix_sample_is_drawn_by_rule():
    ratings = sample(people=6000, ratings=60_000, seed=1)
    one, two = sample_netflix(ratings), sample_netflix(ratings)
    assert one.n_users == PEOPLE
    assert np.array_equal(one.value, two.value)


def results_of(rows):
    return Results(tuple(Row(key, values) for key, values in rows), Wanted(("ml-100k",), 1, False))


@pytest.mark.parametrize(("best", "outcome"), [(0.9, "holds"), (1.2, "does not hold")])
def test_a_verdict_follows_from_numbers(best, outcome):
    errors = {"DPSS++": 1.0, "DPSAOut++": 1.1, "DPSAObj++": best}
    rows = [
        (
            {
                "data": "ml-100k",
                "split": "80/20",
                "reading": "printed",
                "name": name,
                "epsilon": epsilon,
            },
            {"rmse": error},
        )
        for name, error in errors.items()
        for epsilon in EPSILONS
    ]
    assert judge_best(results_of(rows)).outcome == outcome


def hua_rows(found):
    for reading, error in found.items():
        same = {"data": "ml-100k", "reading": reading}
        plain = same | {"scheme": "plain", "epsilon": 0.0}
        yield plain, {"train@100": 0.7, "held@100": 0.8}
        if error is not None:
            noisy = same | {"scheme": "S1", "epsilon": 0.05}
            yield noisy, {"train@100": error, "held@100": 0.9}


@pytest.mark.parametrize(
    ("errors", "outcome"),
    [
        ((0.7, 0.71, 0.69), "holds"),
        ((1.9, 0.71, None), "holds in one reading"),
        ((1.9, 1.2, None), "does not hold"),
    ],
)
def test_readings_are_judged_apart(errors, outcome):
    found = dict(zip(runs.CHOSEN, errors, strict=True))
    assert judge_s1_small(results_of(list(hua_rows(found)))).outcome == outcome


def test_no_reading_is_no_reading():
    assert verdict_of([], ("a",), "w").outcome == "does not hold"


def test_the_difference_attack_names_every_rating_that_eta_alone_hides():
    """At a small epsilon: eta cancels, and only a fresh rho hides."""
    key = {"data": "x", "seed": 0, "epsilon": 0.05, "victims": 25}
    found = attack.work(Few(), key)
    assert found["eta"] == 100
    assert found["own rho"] < 70
    assert found["sum"] < 70


def test_baselines_bear_the_papers_names():
    assert NAMES["SGDBase++"].noise_off
    assert NAMES["ALSBase++"].noise_off
    assert NAMES["SGDBase++"].method == NAMES["DPSS++"].method
    assert NAMES["ALSBase++"].method == NAMES["DPSAObj++"].method
