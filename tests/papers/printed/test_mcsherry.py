"""McSherry & Mironov as printed, against `mcsherry_reference`: plain numpy from the paper
alone (sections 4.2 to 4.6 and 5.2, where the readings that it leaves open are listed).

Whole runs: raw ratings in, predictions out, without noise and with the very draws that the
program made, to 1e-6 in float64.
"""

from __future__ import annotations

from contextlib import contextmanager

import mcsherry_reference as plain
import numpy as np
import pytest

from tacit import CovarianceKNN, CovarianceSVD, sample
from tacit.engine import printed as engine
from tacit.errors import SettingError
from tacit.fitting.run import trial
from tacit.model.person.base import Cells, Own
from tacit.model.person.centred import Centred, CentredNeighbours
from tacit.papers.mcsherry2009.printed import forms as mcsherry
from tacit.papers.mcsherry2009.printed.probe import split_probe
from tacit.rounds.round import Block

PEOPLE = 110
ASKED = np.arange(0, 400, 13)
GIVEN = {"shrink_diagonal": 6.0, "shrink_off": 9.0, "ridge": 0.8}
NEAR = 1e-6
BOTH = [CovarianceKNN, CovarianceSVD]


@pytest.fixture(scope="module")
def data():
    return sample(people=PEOPLE, ratings=5000, seed=5)


def people_of(ratings):
    """(items, ratings of 1 to 5) of everyone."""
    return [
        (ratings.item[ratings.row(u)].astype(int), ratings.value[ratings.row(u)].astype(float))
        for u in range(ratings.n_users)
    ]


def program(method, data, *, noise_off=True, **settings):
    """What the program fits: all parameters given unless said, so no probe set."""
    settings = GIVEN | settings
    made = method(epsilon=30.0, calibration="paper", **settings)
    return trial(made, data, noise_off=noise_off)


def wanted(method, data, people=None, draws=plain.nothing, **settings):
    """What the reference predicts of ASKED for everyone."""
    settings = GIVEN | settings
    law = settings.get("law", "gaussian")
    known = ("person_total",)
    found = plain.measure(
        people or people_of(data),
        data.n_items,
        law=law,
        unit=settings.get("unit", "rating"),
        beta_m=settings.get("item_prior", 15.0),
        beta_p=settings.get("person_prior", 20.0),
        clamp=settings.get("clamp", 1.0),
        noise=draws,
        **{name: settings[name] for name in known if name in settings},
    )
    clean = settings.get("cleaning") != "none"
    shrink = {
        "diagonal": settings["shrink_diagonal"],
        "rest": settings["shrink_off"],
        "k": settings.get("rank", 20),
    }
    told = {
        "ridge": settings["ridge"],
        "beta_p": settings.get("person_prior", 20.0),
        "clamp": settings.get("clamp", 1.0) if settings.get("residuals") == "clamped" else None,
    }
    if method is CovarianceKNN:
        matrix = plain.matrix_of(found, clean=clean, **shrink)
        told["k"] = settings.get("neighbours", 20)
        predict = lambda own, values: plain.knn(  # noqa: E731
            found, matrix, own, values, ASKED, **told
        )
    else:
        factor = plain.factor_of(found, clean=clean, **shrink)
        predict = lambda own, values: plain.svd(  # noqa: E731
            found, factor, own, values, ASKED, **told
        )
    return np.array([predict(*each) for each in people_of(data)])


def predicted(model, data):
    """All asked cells at once, as evaluations ask."""
    cells = Cells(
        data.ptr,
        data.item,
        data.value.astype(np.float64) - 3,
        np.arange(PEOPLE + 1, dtype=np.int64) * len(ASKED),
        np.tile(ASKED.astype(np.uint32), PEOPLE),
    )
    return 3 + model.personal.predict_cells(cells).reshape(PEOPLE, -1)


def predicted_alone(model, data, row):
    """One person's, as her own device computes them."""
    own, values = people_of(data)[row]
    mean, _ = model.personal.predict(Own(own, values - 3))
    return 3 + mean[ASKED]


SETTINGS = [
    {},
    {"cleaning": "none"},
    {"law": "laplace"},
    {"unit": "user"},
    {"unit": "user", "law": "laplace", "person_total": "norm"},
    {"item_prior": 3.0, "person_prior": 7.0, "clamp": 0.6, "rank": 5, "residuals": "clamped"},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("method", BOTH)
def test_without_noise_a_whole_run_is_the_papers(data, method, settings):
    model = program(method, data, **settings)
    right = wanted(method, data, **settings)
    np.testing.assert_allclose(predicted(model, data), right, atol=NEAR)
    np.testing.assert_allclose(predicted_alone(model, data, 3), right[3], atol=NEAR)


@contextmanager
def recorded(monkeypatch):
    """The draws that the engine hands to each measurement."""
    seen = {}
    real = engine.handed

    def record(path, charge, draws):
        seen[path] = real(path, charge, draws)
        return seen[path]

    with monkeypatch.context() as patched:
        patched.setattr(engine, "handed", record)
        yield seen


STEPS = 2**20
"""Of the grid on which noise is drawn."""


def the_same(seen, entries=False):
    """The recorded draws, as the reference asks for them."""

    def noise(name, shape):
        drawn = seen[name] / STEPS
        if len(shape) < 2:
            return drawn.reshape(shape)
        if entries:
            each = drawn.reshape(shape)
            return (each + each.T) / 2
        out = np.zeros(shape)
        out[np.triu_indices(shape[0])] = drawn
        return out + np.triu(out, 1).T

    return noise


NOISY = [{}, {"cleaning": "none", "law": "laplace"}, {"unit": "user"}, {"matrix_noise": "entries"}]


@pytest.mark.parametrize("settings", NOISY, ids=str)
@pytest.mark.parametrize("method", BOTH)
def test_with_the_same_draws_a_whole_run_is_the_papers(data, method, settings, monkeypatch):
    with recorded(monkeypatch) as seen:
        model = program(method, data, noise_off=False, **settings)
    assert all(seen[path].any() for path in seen if path != "probe/parameters")
    noise = the_same(seen, "matrix_noise" in settings)
    right = wanted(method, data, draws=noise, **settings)
    found = predicted(model, data)
    # A noisy plain matrix is not positive, and its solutions are as large as they like.
    scale = np.maximum(np.abs(right), 1.0)
    assert (np.abs(found - right) / scale).max() < NEAR


@pytest.mark.parametrize("cleaning", ["paper", "none"])
@pytest.mark.parametrize("method", BOTH)
def test_with_a_probe_set_the_rest_is_measured(data, method, cleaning):
    """The parameters are fitted on ratings that were held back; given these, the run is
    the paper's on what is left."""
    made = method(epsilon=30.0, calibration="paper", cleaning=cleaning, seed=2)
    model = trial(made, data, noise_off=True)
    block = Block(np.arange(PEOPLE), data.ptr, data.item, data.value.astype(np.float64), data.time)
    kept = split_probe(block, 2).training
    assert 0.9 * len(data) < len(kept.item) < len(data)
    people = [
        (kept.item[a:b].astype(int), kept.value[a:b])
        for a, b in zip(kept.ptr[:-1], kept.ptr[1:], strict=True)
    ]
    told = {name: model.shared.numbers[name] for name in GIVEN}
    right = wanted(method, data, people=people, cleaning=cleaning, **told)
    np.testing.assert_allclose(predicted(model, data), right, atol=NEAR)


def test_the_statement_says_what_was_used(data):
    model = program(CovarianceKNN, data, rank=7)
    said = model.statement.settings
    assert "rank = 7" in said
    assert "neighbours = 20" in said
    assert "item_prior = 15.0" in said
    claimed = 30 / np.sqrt(2 * np.log(6 / 1e-6))
    (theta,) = (line for line in said if line.startswith("theta = "))
    assert float(theta.split()[-1]) == pytest.approx(claimed)
    assert any(line.startswith("noise off") for line in said)
    assert model.statement.certified == "not private"
    with pytest.raises(SettingError, match="noise off"):
        model.save("nowhere")


def test_noise_off_is_for_papers_alone(data):
    with pytest.raises(SettingError, match="noise off is for what papers"):
        trial(CovarianceSVD(epsilon=1.0), data, noise_off=True)


# The mistakes that were found in this reading, put back: the comparison must notice each.


def joint(monkeypatch):
    """A person's level solved together with the neighbours' weights."""
    real = CentredNeighbours._between

    def level_is_a_factor(self, rows):
        return real(self, rows) + self.numbers["ridge"] / 20.0

    def not_taken_off(self, own):
        again = self.numbers["level_mean"]
        rest = own.values - self._baseline[own.items] - again
        return Centred(again, rest)

    monkeypatch.setattr(CentredNeighbours, "_between", level_is_a_factor)
    monkeypatch.setattr(CentredNeighbours, "centred", not_taken_off)


def truncated(monkeypatch):
    """No cleaning, and rank 20 all the same."""
    real = mcsherry.averaged

    def low(state, shrinkage, least):
        return plain.low_rank(
            real(state, shrinkage, least), 20, np.ones(len(state.count))
        ) @ np.eye(20, len(state.count))

    monkeypatch.setattr(mcsherry, "averaged", low)


def by_rating(monkeypatch):
    """Section 4.5 with the weights of single ratings."""
    from tacit.papers.mcsherry2009.printed.forms import Measurements

    monkeypatch.setattr(Measurements, "_lengths", lambda self, used: np.ones(len(used.value)))


@pytest.mark.parametrize(
    ("mistake", "settings"),
    [(joint, {}), (truncated, {"cleaning": "none"}), (by_rating, {"unit": "user"})],
)
def test_a_mistake_put_back_is_caught(data, mistake, settings, monkeypatch):
    mistake(monkeypatch)
    model = program(CovarianceKNN, data, **settings)
    right = wanted(CovarianceKNN, data, **settings)
    rows = [np.abs(predicted_alone(model, data, row) - right[row]).max() for row in (0, 3, 8)]
    assert max(rows) > 1e-3


def test_the_printed_neighbours_are_good_enough_on_movielens(full, public_data):
    """.914 on this split; solved jointly with the level it was .944."""
    from tacit.data.read import read
    from tacit.data.splits import make
    from tacit.evaluation.sweep import measure

    file = public_data / "ml-100k" / "u.data"
    if not full or not file.is_file():
        pytest.skip("needs --full and MovieLens 100K in TACIT_DATA")
    part = make(read(str(file), layout="ml-100k"), "90/10")
    made = CovarianceKNN(epsilon=1.0, calibration="paper")
    model = trial(made, part.train, noise_off=True)
    assert measure(model, part, lists=False)["rmse"] <= 0.925
