"""Methods of other packages: found by entry points, imported when they are asked for, and
refused in words where something is wrong with them."""

from __future__ import annotations

import importlib
import sys

import pytest

from tacit import Bayes, sample, sample_catalogue
from tacit.errors import SettingError
from tacit.fitting.run import trial
from tacit.methods import METHODS, find, names

MEAN = '''
from tacit.bound import OwnMeans, Rows
from tacit.methods.base import Method
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.round import Part, Round
from tacit.rounds.state import State, later
from dataclasses import dataclass
import numpy as np


@dataclass(frozen=True)
class Known(State):
    mean: float = later()


class Mean(Method):
    """Everybody's mean, and no form."""

    name = "outside-mean"
    source = "a test"

    def plan(self, public):
        def contribute(block, state):
            return {"mean": Rows(block.ptr, block.item * 0, block.value[:, None])}

        def absorb(state, released):
            return state.after(mean=float(released["mean"].value[0, 0] / state.people))

        parts = (Part("mean", 1, OwnMeans(2.0, 5)),)
        return Plan(public.unit, (Round("mean", parts, contribute, absorb),))

    def first_state(self, public):
        return Known()

    def finish(self, public, state):
        arrays = {"weight": np.ones(public.items, np.float32)}
        numbers = {"mean": state.mean}
        made = self.settings.model_dump()
        return Shared(
            self.name, "mean", arrays, numbers, public.schema, public.catalogue, made
        )


NOT_A_METHOD = 3
'''


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Put a package with these entry points on the path, as an installer would."""

    def put(package, points, text=MEAN):
        home = tmp_path / package
        facts = home / f"{package}-1.0.dist-info"
        facts.mkdir(parents=True)
        (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = [f"{name} = {value}" for name, value in points.items()]
        (facts / "entry_points.txt").write_text("\n".join(["[tacit.methods]", *lines, ""]))
        (home / f"{package}.py").write_text(text)
        monkeypatch.syspath_prepend(str(home))
        importlib.invalidate_caches()

    yield put
    for name in ("outsider", "rival"):
        sys.modules.pop(name, None)


def test_a_method_of_another_package_is_listed_and_fits(install):
    install("outsider", {"outside-mean": "outsider:Mean"})
    assert names() == (*METHODS, "outside-mean")
    assert "outsider" not in sys.modules  # listing imports nothing
    method = find("outside-mean")
    data = sample(people=400, ratings=8000, seed=1)
    model = trial(method(epsilon=5.0), data, items=sample_catalogue(), users=400)
    assert model.shared.method == "outside-mean"
    ids = model.shared.catalogue.ids
    truth = data.value.mean()
    assert model.predict({}, [ids[0]])[0].rating == pytest.approx(truth, abs=0.4)
    twin = trial(method(calibration="none"), data, items=sample_catalogue())
    assert twin.statement.certified == "not private"


@pytest.mark.fresh_noise
def test_a_statement_names_the_package_of_a_method(install):
    """Break 2: a certified statement says whose code it rests on."""
    install("outsider", {"outside-mean": "outsider:Mean"})
    method = find("outside-mean")(epsilon=5.0)
    data = sample(people=200, ratings=4000, seed=1)
    method.fit(data, items=sample_catalogue(), users=200)
    assert method.statement_.certified == "certified"
    told = " ".join(str(method.statement_).split())
    assert "not Tacit's: it is the class outsider.Mean of outsider 1.0." in told
    assert "has not reviewed its code" in told


def test_a_name_of_tacit_cannot_be_taken(install):
    install("outsider", {"bayes": "outsider:Mean"})
    assert find("bayes") is Bayes
    assert names() == tuple(METHODS)


def test_an_unknown_name_is_told_the_methods_of_other_packages(install):
    install("outsider", {"outside-mean": "outsider:Mean"})
    with pytest.raises(SettingError, match="unknown") as told:
        find("outside-men")
    assert "did you mean outside-mean" in str(told.value)


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("no_such_module:Mean", "ModuleNotFoundError"),
        ("outsider:NoSuchClass", "AttributeError"),
        ("outsider:NOT_A_METHOD", "not a class below"),
        ("outsider:Mean", "must carry the name"),
    ],
)
def test_a_broken_one_is_refused_only_when_it_is_asked_for(install, value, fault):
    install("outsider", {"broken": value})
    assert find("bayes") is Bayes
    assert "broken" in names()
    with pytest.raises(SettingError, match=fault) as told:
        find("broken")
    assert "outsider" in str(told.value)


def test_two_packages_with_one_name_are_refused_when_it_is_asked_for(install):
    install("outsider", {"outside-mean": "outsider:Mean"})
    install("rival", {"outside-mean": "rival:Mean"})
    assert names().count("outside-mean") == 1
    with pytest.raises(SettingError, match="more than once") as told:
        find("outside-mean")
    assert "outsider" in str(told.value)
    assert "rival" in str(told.value)
