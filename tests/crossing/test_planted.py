"""The matrix finds, by itself, what was once broken and what must never be: put back, each of
these makes a case of the sample fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tacit.engine.memory import InMemory
from tacit.errors import Failure
from tacit.fitting import check, publish, run
from tacit.methods.baselines.popularity import Popularity
from tacit.model.shared import Shared

from .crossing import compare
from .matrix import Case, sample

SAMPLE = sample()


def found(folder: Path, wanted: Callable[[Case], bool]) -> list[str]:
    """What the first case of the sample says that is wanted and fails."""
    cases = [case for case in SAMPLE if wanted(case) and not case.start]
    assert cases, "the sample holds no such case"
    for number, case in enumerate(cases):
        if told := compare(case, folder / str(number)):
            return told
    return []


def at_value(option: str, value: object) -> Callable[[Case], bool]:
    """Cases of the unit `value` with this option."""

    def wanted(case: Case) -> bool:
        return case.unit == "value" and getattr(case, option) == value

    return wanted


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values may decide anything, as they once did."""
    from tacit.cli import options

    monkeypatch.setattr(check, "check_values", lambda *_, **__: None)
    monkeypatch.setattr(check, "check_values", lambda *_, **__: None)
    monkeypatch.setattr(options, "check_data", lambda *_, **__: None)


@pytest.mark.usefixtures("unchecked")
def test_break_1_a_threshold_on_values_shows(tmp_path: Path) -> None:
    """Break 1: `--unit value --positive N` was certified, and a value showed."""
    told = found(tmp_path, at_value("positive", True))
    assert any("draws" in each for each in told)


@pytest.mark.usefixtures("unchecked")
def test_break_1_a_value_that_means_absent_shows(tmp_path: Path) -> None:
    """Break 1, its family: a layout in which a value stands for no rating."""
    assert found(tmp_path, at_value("layout", "absent"))


def failing(*_: object) -> Shared:
    """What a method might do at its end, after all is released."""
    raise Failure("it broke")


def test_break_3_a_charge_that_fails_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Break 3: a fit was charged, and then failed for a reason that was public before."""
    monkeypatch.setattr(Popularity, "finish", failing)
    told = compare(plain("user"), tmp_path / "rehearsed")
    assert not any("charged, and then" in each for each in told)
    monkeypatch.setattr(run._Run, "rehearse", lambda *_, **__: None)
    told = compare(plain("user"), tmp_path / "at once")
    assert any("charged, and then" in each for each in told)


def plain(unit: str) -> Case:
    """A case with nothing beside the defaults."""
    return Case("svd-output" if unit == "value" else "popularity", unit, "sound", "threads")


def planted_in_model(made: Callable[[InMemory], float], patch: pytest.MonkeyPatch) -> None:
    """A number of the private rows among the published ones."""
    original = run._Run.go

    def go(self: Any, **more: Any) -> Shared:
        shared = original(self, **more)
        number = made(self.engine)
        return replace(shared, numbers={**shared.numbers, "planted": number})

    patch.setattr(run._Run, "go", go)


COUNTS: dict[str, tuple[str, Callable[[InMemory], float]]] = {
    "people": ("user", lambda engine: float(engine.people)),
    "ratings": ("rating", lambda engine: float(len(engine.ratings))),
    "likes": ("value", lambda engine: float((engine.ratings.value >= 4).sum())),
}


@pytest.mark.parametrize("name", COUNTS)
def test_an_exact_count_in_the_model_shows(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unit, made = COUNTS[name]
    planted_in_model(made, monkeypatch)
    told = compare(plain(unit), tmp_path)
    assert any("planted" in each for each in told)


def test_an_exact_count_in_the_statement_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def assumed(self: publish.StatementInputs) -> list[str]:
        return [f"people: {seen[-1]}"]

    seen: list[int] = []
    original = InMemory.align

    def align(self: InMemory, items: Any) -> None:
        original(self, items)
        seen.append(self.people)

    monkeypatch.setattr(InMemory, "align", align)
    monkeypatch.setattr(publish.StatementInputs, "_assumed", assumed)
    assert any("people: " in each for each in compare(plain("user"), tmp_path))


def test_a_plan_for_the_exact_number_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Break 4, mended the wrong way: the true number of people, uncounted."""
    monkeypatch.setattr(run, "known_people", lambda order, engine: engine.people)
    case = Case("bias", "user", "sound", "threads", users=False)
    assert compare(case, tmp_path)


def test_an_exact_count_on_the_terminal_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tacit.cli import options

    def tell(ratings: Any, duplicates: str) -> None:
        options.note(f"read {len(ratings)} ratings")

    monkeypatch.setattr(options, "note_reading", tell)
    told = compare(plain("rating"), tmp_path)
    assert any("ratings" in each for each in told)


def test_a_shape_that_depends_on_people_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import numpy as np

    original = run._Run.go

    def go(self: Any, **more: Any) -> Shared:
        shared = original(self, **more)
        rows = np.zeros(self.engine.people, np.float32)
        return replace(shared, arrays={**shared.arrays, "weight": rows})

    monkeypatch.setattr(run._Run, "go", go)
    assert compare(plain("user"), tmp_path)


def test_public_people_who_are_compared_with_private_ones_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It looks careful to drop public people who are in the private table too: what then is
    published tells who is in it."""
    original = run.check_beside

    def check_beside(people: Any, private: Any) -> None:
        original(people, private)
        there = set(private.users)
        listed = people.ratings
        keep = [user not in there for user in listed.users]
        kept = listed.take(np.repeat(keep, np.diff(listed.ptr)))
        object.__setattr__(people, "ratings", kept)

    monkeypatch.setattr(run, "check_beside", check_beside)
    case = Case("bayes", "user", "sound", "threads", public=True)
    assert compare(case, tmp_path)


def test_how_many_were_forgotten_shows_unless_the_owner_alone_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tacit.cli import options, people

    monkeypatch.setattr(people, "note", lambda text: options.note(text.split(";")[0]))
    case = Case("bias", "user", "sound", "threads", without=True)
    told = compare(case, tmp_path, gone="p5\n")
    assert any("left out" in each for each in told)


def test_the_sample_holds_every_method_and_every_option_at_every_unit() -> None:
    from tacit.methods import names
    from tacit.units import UNITS

    assert {case.method for case in SAMPLE} == set(names())
    for unit in UNITS:
        sound = [c for c in SAMPLE if (c.unit, c.calibration) == (unit, "sound")]
        for option in ("positive", "max_ratings"):
            assert any(getattr(case, option) for case in sound), (unit, option)
        for option in ("users", "items", "delta"):
            assert not all(getattr(case, option) for case in sound)
        assert any(case.layout == "absent" for case in sound)
