"""Estimators in scikit-learn: what works, and what is refused before it costs anything."""

from __future__ import annotations

import subprocess
import sys

import pytest

import tacit

SAMPLE = tacit.sample(60)


@pytest.fixture
def book(tmp_path):
    return str(tmp_path / "ledger.sqlite")


def test_it_is_not_imported_before_it_asks():
    code = "import sys, tacit; tacit.Bias(epsilon=1); assert 'sklearn' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_search_without_a_scorer_is_refused_before_a_fit(book):
    made = tacit.Bias(epsilon=1.0, ledger=book)
    with pytest.raises(tacit.TacitError, match="no score") as seen:
        hasattr(made, "score")
    assert "tacit.tune" in seen.value.remedy
    assert "score" not in dir(made)


def test_learned_names_are_attributes():
    made = tacit.Bias(epsilon=1.0)
    assert not hasattr(made, "statement_")
    assert not hasattr(made, "model_")
    with pytest.raises(tacit.TacitError, match="not fitted"):
        made.statement_  # noqa: B018  what is asked is whether it raises


def test_a_fitted_estimator_says_so(book):
    made = tacit.Bias(epsilon=1.0, ledger=book)
    assert repr(made).endswith("sqlite')")
    made.fit(SAMPLE, users=60)
    assert repr(made).endswith("), fitted")
    made.set_params(epsilon=9.0)
    assert "epsilon=9.0" in repr(made)
    assert repr(made).endswith("fitted before with epsilon=1.0")


@pytest.fixture
def sklearn():
    return pytest.importorskip("sklearn", reason="only if it is installed")


def test_a_pipeline_is_shown_and_predicts(sklearn, book):
    from sklearn.base import clone, is_classifier
    from sklearn.exceptions import NotFittedError
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import check_is_fitted

    made = clone(tacit.Bias(epsilon=1.0, ledger=book))
    with pytest.raises(NotFittedError):
        check_is_fitted(made)
    assert not is_classifier(made)
    pipe = Pipeline([("bias", made)])
    assert "Bias" in pipe._repr_html_()
    pipe.fit(SAMPLE, bias__users=60)
    check_is_fitted(pipe)
    assert pipe.predict({SAMPLE.items[0]: 5.0})[0].rating
    assert "Bias" in pipe._repr_html_()


def test_a_search_pays_for_each_fit_or_is_refused(sklearn, book):
    import polars
    from sklearn.model_selection import GridSearchCV

    table = polars.DataFrame(
        {
            "user": [str(u) for u in range(40) for _ in range(6)],
            "item": [f"i{(u + k) % 9}" for u in range(40) for k in range(6)],
            "rating": [1.0 + (u * k) % 5 for u in range(40) for k in range(6)],
        }
    )
    made = tacit.Bias(epsilon=1.0, ledger=book)
    grid = {"epsilon": [0.5, 1.0]}
    said = {"scale": (1, 5), "users": 40}
    with pytest.raises(tacit.TacitError, match="no score"):
        GridSearchCV(made, grid, cv=2).fit(table, **said)
    assert not tacit.open_book(book, "default").entries()
    search = GridSearchCV(made, grid, cv=2, scoring=lambda one, rows, y=None: one.epsilon)
    search.fit(table, **said)
    assert len(tacit.open_book(book, "default").entries()) >= 5
    assert search.best_params_ == {"epsilon": 1.0}


def test_a_picture_shows_itself_in_a_notebook():
    pytest.importorskip("matplotlib", reason="only if it is installed")
    told = tacit.plan("bias", epsilon=1, users=1000, items=100)
    assert told.plot()._repr_png_().startswith(b"\x89PNG")
