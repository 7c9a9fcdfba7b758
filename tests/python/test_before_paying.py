"""Nothing is charged before every argument was checked, and a bar never costs a fit."""

from __future__ import annotations

import warnings

import pytest

import tacit

SAMPLE = tacit.sample(60)


@pytest.fixture
def book(tmp_path):
    return str(tmp_path / "ledger.sqlite")


def entries(book):
    return tacit.open_book(book, "default").entries()


@pytest.mark.parametrize(
    "wrong",
    [
        {"progress": 5},
        {"progress": "yes"},
        {"progress": lambda done: None},
        {"seed": "x"},
        {"seed": -1},
        {"seed": True},
        {"devices": "many"},
        {"other_people": "no"},
        {"accept_unbounded": 1},
    ],
)
def test_a_wrong_argument_costs_nothing(book, wrong):
    with pytest.raises(tacit.TacitError) as seen:
        tacit.Bias(epsilon=1.0, ledger=book, **wrong).fit(SAMPLE, users=60)
    assert next(iter(wrong)) in str(seen.value)
    assert seen.value.remedy
    assert not entries(book)


def test_a_cap_is_answered_with_what_may_be_asked(book):
    tacit.open_book(book).cap(1)
    with pytest.raises(tacit.TacitError, match="lower epsilon: ") as seen:
        tacit.Bias(epsilon=2.0, ledger=book).fit(SAMPLE, users=60)
    assert "--" not in str(seen.value)
    assert "`tacit.open_book(...).cap(...)`" in str(seen.value)


def test_progress_may_be_true(book, capsys):
    tacit.Bias(epsilon=1.0, ledger=book, progress=True).fit(SAMPLE, users=60)
    assert "[####" in capsys.readouterr().err
    assert tacit.Bias(progress=True).get_params()["progress"] is True


def test_progress_may_be_false(book, capsys):
    tacit.Bias(epsilon=1.0, ledger=book, progress=False).fit(SAMPLE, users=60)
    assert capsys.readouterr().err == ""


def test_a_function_that_fails_does_not_cost_the_fit(book):
    called = []

    def fails(done, total, what):
        called.append(done)
        raise OSError("no screen")

    made = tacit.Bias(epsilon=1.0, ledger=book, progress=fails)
    with pytest.warns(UserWarning, match="progress failed") as seen:
        made.fit(SAMPLE, users=60)
    assert len(called) == 1
    assert made.statement_.epsilon == 1.0
    assert seen[0].filename == __file__


def test_a_warning_names_the_line_that_called(book):
    tacit.Bias(epsilon=1.0, ledger=book, population="a").fit(SAMPLE, users=60)
    with pytest.warns(UserWarning, match="population") as seen:
        tacit.Bias(epsilon=1.0, ledger=book, population="b").fit(SAMPLE, users=60)
    assert seen[0].filename == __file__
    assert "other_people=True" in str(seen[0].message)


@pytest.mark.parametrize(
    ("budgets", "told"), [({"nobody-of-this-name": 0.5}, "1 of 1"), ({"0": 5.0}, "above epsilon")]
)
def test_budgets_that_change_nothing_are_told(book, budgets, told):
    who = {SAMPLE.users[0]: 5.0} if "0" in budgets else budgets
    with pytest.warns(tacit.TacitNotice, match=told):
        tacit.Bias(epsilon=1.0, ledger=book).fit(SAMPLE, users=60, budgets=who)


def test_a_budget_that_is_found_is_not_told(book):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tacit.Bias(epsilon=1.0, ledger=book).fit(SAMPLE, users=60, budgets={SAMPLE.users[0]: 0.5})
