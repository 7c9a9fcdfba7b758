"""The declared figures of McSherry & Mironov run, and their judges read numbers as they
should."""

from __future__ import annotations

import pytest

from tacit import sample
from tacit.papers.machine.experiment import Results, Row, Wanted
from tacit.papers.machine.sources import SAMPLE, Sources
from tacit.papers.mcsherry2009.figures import judged1
from tacit.papers.mcsherry2009.figures.figure1 import FIGURE1
from tacit.papers.mcsherry2009.figures.figure2 import FIGURE2
from tacit.papers.mcsherry2009.figures.fits import at_date, at_theta, until


@pytest.fixture(scope="module")
def sources():
    found = Sources({})
    found._read[SAMPLE] = sample(people=70, ratings=2000, seed=2)
    return found


def test_a_cell_of_figure_1_has_its_error_and_that_of_averages(sources):
    key = {
        "data": SAMPLE,
        "seed": 0,
        "method": "kNN",
        "cleaning": "none",
        "theta": None,
        "split": "probe",
    }
    off = at_theta(sources, key)
    noisy = at_theta(sources, {**key, "theta": 0.15})
    assert noisy["rmse"] > off["rmse"] + 0.1
    assert off["rmse"] != off["global"]
    assert off["shrink_off"] == 0.0


def test_a_cell_of_figure_2_has_the_ratings_up_to_its_date(sources):
    key = {"data": SAMPLE, "cut": 0.4, "theta": 5.0, "seed": 0}
    early = at_date(sources, key)
    ratings = sources.ratings(SAMPLE)
    _, whole = until(ratings, 1.0)
    assert 0 < early["records"] < len(whole) == len(ratings)
    days = (ratings.time.max() - ratings.time.min()) / 86_400
    assert early["day"] == pytest.approx(0.4 * days, abs=1)
    assert early["loss"] == pytest.approx(100 * (early["rmse"] - early["noise_off"]))


def feature_interactions(numbers, data="ml-100k"):
    """Cells of figure 1 with these errors at theta 1 and 10, and without noise."""
    rows = []
    for (method, cleaning), errors in numbers.items():
        for theta, error in zip((1.0, 10.0, None), errors, strict=True):
            key = {
                "data": data,
                "seed": 0,
                "method": method,
                "cleaning": cleaning,
                "theta": theta,
                "split": "probe",
            }
            rows.append(Row(key, {"rmse": error, "global": 1.0}))
    return Results(tuple(rows), Wanted((data,)))


AS_PRINTED = {
    ("kNN", "paper"): (0.98, 0.95, 0.94),
    ("kNN", "none"): (1.20, 0.93, 0.92),
    ("SVD", "paper"): (0.99, 0.96, 0.95),
    ("SVD", "none"): (1.30, 0.94, 0.93),
}


def test_what_the_paper_reports_is_judged_to_hold():
    found = feature_interactions(AS_PRINTED)
    for judge in (judged1.grows, judged1.crossing, judged1.helps, judged1.impairs):
        assert judge(found).outcome == "holds"
    assert judged1.matches(found).outcome == "not run"
    assert "netflix/" in judged1.matches(found).reason


def test_other_numbers_are_judged_not_to_hold():
    turned = {key: errors[::-1] for key, errors in AS_PRINTED.items()}
    assert judged1.grows(feature_interactions(turned)).outcome == "does not hold"
    harmless = {**AS_PRINTED, ("kNN", "none"): (1.2, 0.99, 0.98)}
    whole = feature_interactions(harmless, "netflix")
    assert judged1.impairs(whole).outcome == "does not hold"
    smaller = judged1.impairs(feature_interactions(harmless))
    assert smaller.outcome == "not run", "smaller data cannot refute it"
    assert "ml-100k: error that cleaning adds" in smaller.reason
    fixed = {**harmless, ("kNN", "fixed"): (1.0, 1.01, 1.01), ("SVD", "fixed"): (1.0, 1.01, 1.01)}
    assert judged1.impairs(feature_interactions(fixed)).outcome == "holds in one reading"
    behind = {**AS_PRINTED, ("SVD", "none"): (0.97, 0.94, 0.93)}
    assert judged1.helps(feature_interactions(behind)).outcome == "does not hold"
    assert judged1.crossing(feature_interactions(behind)).outcome == "does not hold"


def test_the_loss_must_fall_with_time():
    def dated(*losses):
        rows = tuple(
            Row(
                {"data": "netflix-100", "cut": place, "seed": 0},
                {"loss": loss, "day": 100 * place, "records": place},
            )
            for place, loss in enumerate(losses)
        )
        return Results(rows, Wanted(("netflix-100",)))

    (finding,) = FIGURE2.findings
    assert finding.verdict(dated(9, 5, 3)).outcome == "holds"
    assert finding.verdict(dated(3, 5, 9)).outcome == "does not hold"


def test_every_figure_draws_what_it_ran():
    (panel,) = FIGURE1.draw(feature_interactions(AS_PRINTED))
    assert [curve.label for curve in panel.curves][:2] == ["kNN, cleaned", "kNN, not cleaned"]
    assert panel.curves[-1].style == "line"
