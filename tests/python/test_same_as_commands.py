"""Python is as good as the command line: what fit takes, how things are shown, which verbs
there are."""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import tacit
from tacit.data.catalogue import Catalogue
from tacit.methods import find, names
from tacit.notices import in_python, localize, on_the_command_line

VERBS = ("recommend", "predict", "explain", "similar", "find", "save")
SECRET = "very-secret-person"


@pytest.fixture(scope="module")
def table():
    return pl.DataFrame(
        {
            "user": [SECRET if u == 3 else f"u{u}" for u in range(40) for _ in range(6)],
            "item": [f"i{(u + k) % 9}" for u in range(40) for k in range(6)],
            "rating": [1.0 + (u * k) % 5 for u in range(40) for k in range(6)],
        }
    )


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    return str(tmp_path_factory.mktemp("same") / "ledger.sqlite")


def source(kind, table, folder):
    if kind in ("path", "text"):
        path = folder / "ratings.csv"
        table.write_csv(path)
        return str(path) if kind == "text" else path
    if kind == "sparse":
        return sparse.csr_matrix(1 + np.arange(12).reshape(4, 3) % 5)
    return {
        "ratings": lambda: tacit.read(table, scale=(1, 5)),
        "polars": lambda: table,
        "lazy": table.lazy,
        "pandas": lambda: pd.DataFrame(table.to_dict(as_series=False)),
        "arrow": table.to_arrow,
    }[kind]()


@pytest.mark.parametrize(
    "kind", ["ratings", "polars", "lazy", "pandas", "arrow", "path", "text", "sparse"]
)
def test_fit_takes_what_read_takes(kind, table, tmp_path):
    given = source(kind, table, tmp_path)
    said = {} if kind == "ratings" else {"scale": (1, 5)}
    model = tacit.Bias(epsilon=1.0, ledger=str(tmp_path / "own.sqlite")).fit(
        given, users=40, **said
    )
    assert model.statement_.certified == "certified"


def test_a_catalogue_and_a_start_may_be_paths(table, book, tmp_path):
    path = tmp_path / "items.csv"
    path.write_text("id,title\n" + "\n".join(f"i{k},Film {k}" for k in range(9)))
    first = tacit.Bias(epsilon=1.0, ledger=book).fit(table, scale=(1, 5), items=path, users=40)
    assert first.recommend({"Film 1": 5})[0].title.startswith("Film")
    first.save(tmp_path / "model")
    second = tacit.Bias(epsilon=1.0, ledger=book).fit(
        table, scale=(1, 5), items=path, users=40, start=tmp_path / "model"
    )
    assert second.statement_.starts


@pytest.fixture(scope="module")
def fitted(table, book):
    return tacit.Bias(epsilon=5.0, ledger=book).fit(table, scale=(1, 5), users=40)


def test_a_loaded_model_has_the_verbs_of_a_fitted_one(fitted, tmp_path):
    fitted.save(tmp_path / "m")
    loaded = tacit.load(tmp_path / "m")
    mine = {"i1": 5.0, "i2": 1.0}
    for verb in VERBS:
        one = inspect.signature(getattr(fitted, verb)).parameters
        other = inspect.signature(getattr(loaded, verb)).parameters
        assert set(one) <= set(other)
    assert fitted.recommend(mine) == loaded.recommend(mine)
    assert fitted.explain(mine, "i3") == loaded.explain(mine, "i3")
    assert loaded.statement_.method == fitted.statement_.method
    assert tacit.verify(loaded, ledger=fitted.ledger).holds


def test_lists_are_frames(fitted):
    mine = {"i1": 5.0}
    lists = fitted.recommend(mine, 3)
    frame = lists.frame()
    assert frame.columns[:3] == ["item", "title", "rating"]
    assert frame.height == 3
    assert fitted.predict(mine, ["i1", "i2"]).frame().height == 2
    assert fitted.similar("i1", 2).frame().height == 2
    assert "<table>" in lists._repr_html_()
    assert isinstance(lists, list)


def test_lists_and_reasons_are_tables_in_words(fitted):
    mine = {"i1": 5.0, "i2": 1.0}
    told = str(fitted.recommend(mine, 3)).splitlines()
    assert told[0].split()[:2] == ["item", "rating"]
    assert len(told) == 4
    why = fitted.explain(mine, "i3")
    assert "Share(" not in fitted.recommend(mine)._repr_html_()
    assert "<table>" in why._repr_html_()
    assert why.frame().height == 1 + len(why.own) + len(why.features)
    assert str(why).startswith("i3: ")


def test_own_ratings_may_be_a_frame_and_ids_numbers(book):
    rows = [(u, (u + k) % 9, 1.0 + u % 5) for u in range(40) for k in range(6)]
    table = pd.DataFrame(rows, columns=["user_id", "movie_id", "rating"])
    made = tacit.Bias(epsilon=5.0, ledger=book, population="numbers").fit(
        table, scale=(1, 5), users=40
    )
    one = made.recommend({1: 5.0, 2: 5.0})
    mine = pd.DataFrame({"movie_id": [1, 2], "rating": [5.0, 5.0]})
    assert made.recommend(mine) == one
    assert made.recommend(pl.DataFrame(mine.to_dict("list"))) == one
    assert made.recommend(pd.Series({1: 5.0, 2: 5.0})) == one
    assert made.explain(mine, 3).item == "3"
    assert len(made.predict(mine, mine.movie_id)) == 2
    assert len(made.recommend(mine, only=[3, 4])) == 2


def test_what_was_left_out_in_reading_is_told(table, tmp_path):
    made = tacit.Bias(epsilon=1.0, ledger=str(tmp_path / "own.sqlite"))
    some = tacit.Catalogue([f"i{k}" for k in range(5)])
    with pytest.warns(tacit.TacitNotice, match="dropped") as seen:
        made.fit(table, scale=(1, 5), items=some, users=40)
    assert seen[0].filename == __file__
    with pytest.warns(tacit.TacitNotice, match="'Nope' is not in this model"):
        made.recommend({"i1": 5.0, "Nope": 3})
    ratings = tacit.read(table, scale=(1, 5), items=some)
    assert "dropped" in ratings._repr_html_()


def test_evaluate_takes_what_fit_takes(table, tmp_path):
    found = tacit.evaluate(
        table,
        "bias",
        epsilon=1,
        scale=(1, 5),
        seeds=1,
        users=40,
        ledger=str(tmp_path / "own.sqlite"),
    )
    assert found.cells


def test_evaluate_reads_ratings_by_the_rows_of_a_catalogue(table, tmp_path):
    """Ratings that were read without it list their items in an order of their own."""
    alone = tacit.read(table, scale=(1, 5))
    items = Catalogue(list(reversed(alone.items)))

    def error(ratings):
        found = tacit.evaluate(
            ratings,
            "bias",
            items=items,
            calibrations="none",
            epsilon=1,
            seeds=1,
            users=40,
            ledger=str(tmp_path / "own.sqlite"),
        )
        return found.cells[0]["rmse"]

    beside = tacit.read(table, scale=(1, 5), items=items)
    assert error(alone) == pytest.approx(error(beside), abs=1e-3)


def test_nothing_that_is_shown_has_a_cell_in_it(table, fitted):
    ratings = tacit.read(table, scale=(1, 5))
    shown = [
        ratings,
        fitted,
        fitted.model_,
        fitted.statement_,
        tacit.sample_catalogue(),
        tacit.plan(epsilon=1, users=100, items=10, method="bias"),
        fitted.recommend({"i1": 5.0}),
    ]
    for each in shown:
        for text in (repr(each), each._repr_html_()):
            assert SECRET not in text
            assert "<script" not in text
        assert "array(" not in repr(each)
    for each in shown[:6]:
        assert len(repr(each)) < 300


def test_a_plan_is_shown_by_its_rounds():
    from tacit.methods.base import Public

    method = tacit.Bias(epsilon=1.0)
    schema = tacit.Schema(1, 5, users=100)
    from tacit.rounds.plan import Budget

    plan = method.plan(Public(schema, tacit.Catalogue(["a", "b"]), "user", budget=Budget(1, 0)))
    assert repr(plan).startswith("Plan(user;")
    assert "<ul>" in plan._repr_html_()


def test_an_estimator_can_be_cloned_and_end_a_pipeline(table, book):
    """What scikit-learn asks of the last step: parameters that make an equal one, and
    fit(X, y)."""
    sklearn = pytest.importorskip("sklearn", reason="only if it is installed")
    from sklearn.base import clone
    from sklearn.pipeline import Pipeline

    assert sklearn
    model = clone(tacit.Bias(epsilon=1.0, ledger=book))
    pipe = Pipeline([("bias", model)])
    pipe.fit(table, bias__scale=(1, 5), bias__users=40)
    assert pipe[-1].recommend({"i1": 5.0})


@pytest.mark.parametrize("name", names())
def test_parameters_make_an_equal_estimator(name):
    made = find(name)(epsilon=1.0, population="x")
    again = type(made)(**made.get_params())
    assert again.get_params() == made.get_params()
    assert list(inspect.signature(made.fit).parameters)[:2] == ["ratings", "y"]


def test_doors_are_functions():
    for name in (
        *("read", "read_items", "load", "plan", "choose", "evaluate"),
        *("open_book", "verify", "tune", "release", "sample"),
    ):
        door = getattr(tacit, name)
        assert callable(door)
        assert door.__doc__
        assert inspect.signature(door).return_annotation is not inspect.Signature.empty


@pytest.mark.parametrize(
    ("told", "python"),
    [
        ("such as --scale 1,5", "such as scale=(1, 5)"),
        ("add --overwrite", "add overwrite=True"),
        ("choose another --out", "choose another path"),
        ("--set even=30", "even=30"),
        ("--keep-apart 10%", "keep_apart=0.1"),
        ("--unit value is", 'unit="value" is'),
        ("--users is missing", "users is missing"),
        ("--max-ratings K", "max_ratings=K"),
        ("`tacit plan` shows", "`tacit.plan(...)` shows"),
        ("a - b -- c", "a - b -- c"),
    ],
)
def test_each_side_has_its_words(told, python):
    assert in_python(told) == python
    assert localize(told) == python
    with on_the_command_line():
        assert localize(told) == told
