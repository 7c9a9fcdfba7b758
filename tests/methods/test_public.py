"""Public people: a prior that helps if they are alike, costs little if they rate otherwise, and
changes nothing of what one private person may add."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tacit
from tacit import Bayes, sample, sample_catalogue
from tacit.data.public import PublicPeople
from tacit.data.splits import per_rating
from tacit.engine.threads import Threads
from tacit.errors import DataError, SettingError
from tacit.evaluation.sweep import measure
from tacit.fitting.public_prior import known_of
from tacit.fitting.run import _Run, trial
from tacit.methods.refine.public_prior import Known
from tacit.noise.release import NoNoise

PEOPLE = 1000
PUBLIC = 200


@pytest.fixture(scope="module")
def people():
    """Public ones, and a split of the private ones of the same world."""
    whole = sample(people=PEOPLE + PUBLIC, ratings=48_000, seed=8)
    public = whole.take(whole.user < PUBLIC)
    return public, per_rating(whole.take(whole.user >= PUBLIC), 0.1, 0)


def inverted(ratings):
    scale = ratings.schema
    return replace(ratings, value=scale.low + scale.high - ratings.value)


def error(split, public=None):
    model = trial(
        Bayes(epsilon=1.0, delta=1e-6),
        split.train,
        users=PEOPLE,
        public=None if public is None else PublicPeople(public),
    )
    return measure(model, split, lists=False)["rmse"]


def test_they_help_if_alike_and_cost_little_if_they_rate_otherwise(people):
    """Noise alone moves the error of such a fit by about .004."""
    public, split = people
    alone = error(split)
    assert error(split, public) < alone - 0.02
    assert error(split, inverted(public)) < alone + 0.01
    rng = np.random.default_rng(0)
    shuffled = replace(public, value=rng.permutation(public.value))
    assert error(split, shuffled) < alone + 0.01


def test_what_they_say_is_found_again(people):
    """Effects of items agree with the plain means of well-known ones, and doubt falls with
    the number of raters."""
    public, _ = people
    films = sample_catalogue()
    known = known_of(PublicPeople(public), films)
    count = np.bincount(public.item, minlength=len(films))
    often = count >= 50
    mean = np.bincount(public.item, public.value, minlength=len(films))
    mean = mean[often] / count[often]
    assert np.corrcoef(mean, known.effect[often])[0, 1] > 0.9
    assert known.doubt[often].mean() < 0.6 * known.doubt[count <= 5].mean()
    assert known.doubt.max() == 1.0
    other_way = known_of(PublicPeople(inverted(public)), films)
    np.testing.assert_allclose(other_way.effect, -known.effect, atol=0.02)


def test_other_items_are_left_out_and_order_does_not_matter(people):
    public, _ = people
    films = sample_catalogue()
    some = replace(
        films,
        **{
            name: None if value is None else value[20:]
            for name, value in (
                ("ids", films.ids),
                ("titles", films.titles),
                ("years", films.years),
                ("tagged", films.tagged),
                ("numeric", films.numeric),
            )
        },
    )
    known = known_of(PublicPeople(public), some)
    assert len(known.effect) == len(films) - 20
    strangers = replace(public, items=[f"x{i}" for i in range(len(films))])
    with pytest.raises(DataError, match="none of the items"):
        known_of(PublicPeople(strangers), films)


def hostile(items: int, seed: int) -> Known:
    """A prior as wrong as can be: far out, sure of itself, with huge tastes."""
    rng = np.random.default_rng(seed)
    return Known(
        30.0 * rng.standard_normal(items),
        np.full(items, 1e-6),
        rng.standard_normal(items),
        10.0 * rng.standard_normal((items, 5)),
        "hostile",
    )


@pytest.mark.parametrize("users", [PEOPLE, 100_000])
def test_no_neighbour_moves_a_sum_by_more_than_was_charged(people, users):
    """The hunt of tests/attack/test_neighbours.py, with a prior chosen by an enemy: every
    sum, with and without a person, lies within its bound."""
    ratings = people[1].train
    ratings = ratings.take(ratings.user < 12)
    data = replace(ratings, schema=ratings.schema.declare(users))
    method = Bayes(epsilon=4.0, delta=1e-6)
    run = _Run(method, data, sample_catalogue(), None, None, people=PublicPeople(people[0]))
    public = replace(run.public, known=hostile(run.public.items, 1))
    plan = method.plan(public)
    assert any(round_.name == "tastes" for round_ in plan.rounds)
    fewer = run.engine.ratings
    engines = [Threads(fewer, 1), *(Threads(fewer.take(fewer.user != gone), 1) for gone in (0, 7))]
    state = method.first_state(public).after(people=float(users))
    for round_ in plan.rounds:
        first, *others = [engine.run(round_, state, NoNoise()) for engine in engines]
        for part in round_.parts:
            claimed = part.bound.sensitivity("user", plan.limited)
            for other in others:
                move = first[part.name].value.astype(np.float64)
                move = move - other[part.name].value
                room = 1e-12
                if part.form == "gram":
                    move = move[np.triu_indices(part.size, 1)][:, None]
                    room = 1e-3  # kept as float32, which rounds
                steps = np.rint(move * part.bound.steps)
                assert np.sqrt((steps**2).sum()) <= claimed.l2 * (1 + room)
        state = round_.absorb(state, first)


@pytest.mark.fresh_noise
def test_events_are_those_of_the_plan_and_the_statement_names_them(people):
    """What is charged is the budget, and who was assumed public is told with a digest."""
    public, split = people
    critics = PublicPeople(public, "critics of a paper")
    bayes = Bayes(epsilon=1.0, delta=1e-6).fit(split.train, users=PEOPLE, public=critics)
    told = " ".join(bayes.statement_.public)
    assert "200 people who are taken to be public (critics of a paper" in told
    assert critics.digest[:16] in told
    assert bayes.statement_.epsilon == 1.0
    assert bayes.statement_.certified == "certified"
    other = PublicPeople(inverted(public)).digest
    assert other != critics.digest


def test_what_they_cannot_serve_is_refused(people):
    public, split = people
    given = PublicPeople(public)
    for method in (
        tacit.Bias(epsilon=1.0),
        Bayes(calibration="none"),
        Bayes(epsilon=1.0, engine="federated"),
    ):
        with pytest.raises(SettingError):
            method.fit(split.train, users=PEOPLE, public=given)
    with pytest.raises(DataError, match="public people"):
        Bayes(epsilon=1.0).fit(
            split.train, users=PEOPLE, public=PublicPeople(public.take(public.user < 3))
        )
    with pytest.raises(SettingError, match="description"):
        PublicPeople(public, "two\nlines")
    with pytest.raises(SettingError, match="read"):
        PublicPeople("ratings.csv")  # type: ignore[arg-type]


def test_the_command_takes_them_from_a_file(people, tmp_path):
    from click.testing import CliRunner

    from tacit.cli.fit import fit

    whole = sample(people=60, ratings=1500, seed=3)
    for name, rows in (("mine", range(40)), ("theirs", range(40, 60))):
        part = whole.take(np.isin(whole.user, rows))
        lines = [
            f"{part.users[u]},{part.items[i]},{v:g}"
            for u, i, v in zip(part.user, part.item, part.value, strict=True)
        ]
        table = "user,item,rating\n" + "\n".join(lines) + "\n"
        (tmp_path / f"{name}.csv").write_text(table)
    out = tmp_path / "model"
    asked = [str(tmp_path / "mine.csv"), "--scale", "1,5", "--epsilon", "1"]
    asked += ["--users", "40", "--out", str(out), "--public-are", "critics"]
    alone = CliRunner().invoke(fit, asked)
    assert isinstance(alone.exception, SettingError)
    theirs = ["--public", str(tmp_path / "theirs.csv")]
    done = CliRunner().invoke(fit, [*asked, *theirs])
    assert done.exit_code == 0, done.exception
    told = " ".join(tacit.load(out).statement.public)
    assert "20 people who are taken to be public (critics;" in told
