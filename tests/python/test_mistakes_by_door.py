"""Two hundred mistakes more, by door: names that are not there, arguments by another name,
values of another kind. Each gets our own error, with what to do, and costs nothing."""

from __future__ import annotations

import re
import warnings

import pytest

import tacit

OPTION = re.compile(r"--[a-z]")
"""Words of the other side."""
DOORS = {
    "names": """
tacit.Bays
tacit.bayes
tacit.readitems
tacit.Ease
tacit.als
tacit.fit
tacit.recommend
tacit.cap
tacit.statement
tacit.Recommender
""",
    "read": """
tacit.read(frame.lazy().select("nothing"), scale=(1, 5))
tacit.read("x" * 5000, scale=(1, 5))
tacit.read(f / "ok.csv", (1, 5), "last", 3, 4, 5, 6, 7, 8, 9, 10, 11)
tacit.read(f / "ok.csv", scale=(1, 10**400))
tacit.read(f / "ok.csv", scale=(1, 5), users=10**30)
tacit.read(f / "ok.csv", scale=(1, 5), positive=0)
tacit.read(f / "ok.csv", scale=(1, 5), columns={"user": True})
tacit.read(f / "ok.csv", scale=(1, 5), sep=";")
tacit.read(f / "ok.csv", scale=(1, 5), encoding="utf-16")
tacit.read(f / "ok.csv", scale=(1, 5), dates="ymd")
tacit.read(f / "ok.csv", scale=(1, 5), header="no")
tacit.read()
tacit.read(frame.with_columns(rating=pl.lit([1, 2])), scale=(1, 5))
tacit.read(frame.with_columns(user=pl.lit([1, 2])), scale=(1, 5))
tacit.pack()
tacit.pack(frame)
tacit.pack(frame, f / "x.tacit", scale=(1, 5), colour=5)
tacit.pack(frame, f / "x.tacit", scale=(1, 5), overwrite="yes")
""",
    "read_items": """
tacit.read_items(f / "items.csv", tags=5)
tacit.read_items(f / "items.csv", item=5)
tacit.read_items(f / "items.csv", title=["a", "b"])
tacit.read_items(f / "items.csv", genre="x")
tacit.read_items()
""",
    "fit": """
Bias(epsilon=1).fit(ratings, users=10**30)
Bias(epsilon=1e-300).fit(ratings, users=20)
Bias(epsilon=1, ledger="").fit(ratings, users=20)
Bayes(epsilon=1).fit(likes, users=20)
Bayes(epsilon=1).fit(likes, users=20, items=items)
tacit.ALS(epsilon=1, ledger=book, factors=0).fit(ratings, users=20)
tacit.ALS(epsilon=1, ledger=book, factors=-1).fit(ratings, users=20)
tacit.ALS(epsilon=1, ledger=book, factors=2.5).fit(ratings, users=20)
tacit.ALS(epsilon=1, ledger=book, factors=10**9).fit(ratings, users=20)
tacit.FederatedMF(epsilon=1, ledger=book, scheme="S9").fit(ratings, users=20)
tacit.GradientSVD(epsilon=1, ledger=book, epochs=0).fit(ratings, users=20)
tacit.PearsonKNN(epsilon=1, ledger=book, neighbours=0).fit(ratings, users=20)
loaded.fit(ratings)
""",
    "verbs": """
Bias(epsilon=1).model_
Bias(epsilon=1).coef_
model.statment_
model.transform(ratings)
model.fit_transform(ratings)
model.predict_proba(mine)
model.similar_users("u1")
model.recommend_for("u1")
loaded.statment
loaded.recommend_all()
model.recommend([("i1", 5, "yesterday")])
model.recommend(frame)
likemodel.recommend(["i1"], by="liked")
likemodel.recommend(["i1"], by="rating")
model.save(f / "model", overwrite="yes")
model.save(f / "model", overwrite=1)
model.save("a" + chr(0))
loaded.save("x" * 5000)
model.statement_.page()
model.statement_.nothing
model.recommend(mine).to_frame()
model.recommend(mine).nothing
""",
    "plan and choose": """
tacit.plan(epsilon=1, users=None, items=5)
tacit.plan(epsilon=1, users=10**40, items=5)
tacit.plan(epsilon=1, users=10, items=5, row=[])
tacit.plan(epsilon=1, users=10, items=5, row=5)
tacit.plan(epsilon=1, users=10, items=5, row=[0])
tacit.plan(epsilon=1, users=10, items=5, row=[-1])
tacit.plan(epsilon=1, users=10, items=5, row=[float("nan")])
tacit.plan(epsilon=1, users=10, items=5, row=[float("inf")])
tacit.plan(epsilon=1, users=10, items=5, positive="yes")
tacit.plan(epsilon=1, users=10, items=5, positive=float("nan"))
tacit.plan(epsilon=1, users=10, items=5, spread=float("inf"))
tacit.plan(["bayes", "bias"], epsilon=1, users=10, items=5)
tacit.plan("bayes,bias", epsilon=1, users=10, items=5)
tacit.plan("bayes", epsilon=1, users=10, items=5, positive=True)
tacit.choose(users=1000, items=500, rmse=.9, by_range="yes")
tacit.choose(users=1000, items=500, by_range="yes")
tacit.choose(users=1000, items=500, rmse=.9, epsilon=1)
tacit.choose(users=1000, items=500, by_range=True, runs=0)
tacit.choose(users=1000, items=500, by_range=True, runs="x")
tacit.choose(users=1000, items=500, by_range=True, tell=5)
tacit.choose(users=1000, items=500, by_range=True, public=5)
tacit.choose(users=1000, items=500, by_range=True, public="none.csv")
""",
    "evaluate, tune, release": """
tacit.evaluate(ratings, "bias", epsilons=True, ledger=book)
tacit.evaluate(ratings, "bias", epsilons=object(), ledger=book)
tacit.evaluate(ratings, "bias", calibrations=None, ledger=book)
tacit.evaluate(ratings, "bias", folds="five", ledger=book)
tacit.evaluate(ratings, "bias", folds=2.5, ledger=book)
tacit.evaluate(ratings, "bias", fold_in="most", ledger=book)
tacit.evaluate(ratings, "bias", fold_in=2, ledger=book, split="people")
tacit.evaluate(ratings, "bias", until=5, ledger=book)
tacit.evaluate(ratings, "bias", processes=0, ledger=book)
tacit.evaluate(ratings, "bias", processes="two", ledger=book)
tacit.evaluate(ratings, "bias", out=5, ledger=book)
tacit.evaluate(ratings, "bias", out=f / "file", ledger=book)
tacit.evaluate(ratings, "bias", population="", ledger=book)
tacit.evaluate(ratings, [], ledger=book)
tacit.evaluate(ratings, "", ledger=book)
tacit.evaluate(ratings, "bias", epsilons=1, twin="no", ledger=book)
tacit.tune(ratings, ["bias", "popularity"], epsilon=1, trials="x", ledger=book)
tacit.tune(ratings, ["bias", "popularity"], epsilon=1, users="x", ledger=book)
tacit.release(model, ratings)
tacit.release(model)
tacit.release()
""",
    "the book": """
tacit.open_book(book).cap("3")
tacit.open_book(book).cap("3", 1e-6, "user")
tacit.open_book(book).cap(3, "1e-6", "user")
tacit.open_book(book).cap(None)
tacit.open_book(book).cap(True, 1e-6, "user")
tacit.open_book(book).cap(3, 1e-6, "user", note=5)
tacit.open_book(book).cap(3j, 1e-6, "user")
tacit.open_book(book).cap([3], 1e-6, "user")
tacit.open_book(book).cap(epsilom=3)
tacit.open_book(book).cap()
tacit.open_book(book).cap(3, 1e-6, "user", "note", True)
tacit.open_book(book).cap(3, 1e-6, "user", accept_unbounded="yes")
tacit.open_book(book).charge(1)
tacit.open_book(book).statement()
tacit.open_book("").entries()
tacit.open_book(book, population="default", cap=3)
tacit.open_book("a" + chr(0)).entries()
""",
    "a calendar": """
tacit.refresh(Bias(epsilon=1), ratings)
tacit.refresh(Bias(epsilon=1), ratings, out=f / "cal", horizon="four", items=items, users=20)
tacit.refresh(Bias(epsilon=1), ratings, out=f / "cal", horizon=4.5, items=items, users=20)
tacit.refresh(Bias(epsilon=1), ratings, **CAL, times="x")
tacit.refresh(Bias(epsilon=1), ratings, **CAL, gap="x")
tacit.refresh(Bias(epsilon=1), ratings, **CAL, periods=5)
tacit.refresh(Bias(epsilon=1), ratings, **CAL, periods="2020-01-01")
tacit.refresh(Bias(epsilon=1), ratings, **CAL, periods=("2020-01-01",))
tacit.refresh(Bias(epsilon=1), ratings, **CAL, periods=("2020-01-01", "x"))
tacit.refresh(Bias(epsilon=1), ratings, out=5, horizon=4, items=items, users=20)
tacit.refresh("bias", ratings, **CAL)
tacit.refresh(tacit.Bias, ratings, **CAL)
tacit.refresh(None, ratings, **CAL)
tacit.refresh(Bias(epsilon=1), ratings, **CAL, epsilon=1)
tacit.refresh()
""",
    "verify, audit, synthesize": """
tacit.verify(loaded, key=5)
tacit.verify(loaded, book=book)
tacit.verify()
tacit.verify(loaded, ledger=book).page(by=5)
tacit.verify(loaded, ledger=book).page("me")
tacit.verify(loaded, ledger=book).page(audit="x")
tacit.verify(loaded, ledger=book).page(audit=5)
tacit.verify(loaded, ledger=book).page(audit=[5])
tacit.verify(loaded, ledger=book).page(markdown="yes")
tacit.synthesize(loaded, 0)
tacit.synthesize(loaded, people=10, times=5)
tacit.synthesize(loaded, people=10, times=("a", "b"))
tacit.synthesize(loaded, people=10, colour=3)
tacit.synthesize()
tacit.audit("bias", quick="yes")
tacit.audit("bias", mistake="x")
tacit.audit("bias", mistake=0)
tacit.audit("bias", mistake=2)
tacit.audit("bias", mistake=float("nan"))
tacit.audit("bias", attacks=5)
tacit.audit("bias", ground=5)
tacit.audit("bias", ground=ratings)
tacit.audit("bias", progress=5)
tacit.audit("bias", colour=5)
""",
    "what is made by hand": """
tacit.sample(10, seed="x")
tacit.sample(10**12)
tacit.sample(5, 6, 7, 8)
tacit.Schema(1, 5, positive="x")
tacit.Catalogue(5)
tacit.Catalogue("abc")
tacit.Catalogue(["a", "b"], titles=["A"])
tacit.Catalogue(["a", "b"], titles="AB")
tacit.Catalogue(["a", "b"], years=[1])
tacit.Schema()
tacit.Schema(1, 5, colour=5)
tacit.Catalogue()
tacit.Catalogue(["a"], title=["A"])
tacit.PublicPeople()
tacit.PublicPeople(ratings, whose="all")
""",
}


def said(mistake: str, names: dict[str, object]) -> str:
    """What is wrong with the answer to a mistake; nothing where it is as it should be."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            eval(mistake, dict(names))  # noqa: S307  our own lines
    except tacit.TacitError as error:
        if error.exit_status != 2 or not (error.remedy or error.place):
            return f"nothing says what to do: {error}"
        return f"in other words: {error}" if OPTION.search(str(error)) else ""
    except Exception as error:  # noqa: BLE001  which one is the answer
        return f"{type(error).__name__}: {error}"
    return "it is not answered at all"


def test_there_are_enough_of_them():
    every = [line for text in DOORS.values() for line in text.split("\n")]
    assert len(set(filter(None, every))) >= 160


@pytest.mark.parametrize("door", DOORS)
def test_a_mistake_is_answered_and_costs_nothing(at, door):
    before = len(tacit.open_book(at["book"]).entries())
    found = {line: told for line in DOORS[door].strip().split("\n") if (told := said(line, at))}
    assert not found
    assert len(tacit.open_book(at["book"]).entries()) == before


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("tacit.Bays", "did you mean Bayes?"),
        ("tacit.Ease", "did you mean EASE?"),
        ("tacit.readitems", "did you mean read_items?"),
        ("tacit.fit", "tacit.Bayes(epsilon=1).fit(ratings)"),
        ("model.statment_", "did you mean statement_?"),
        ("model.statement_.page()", "tacit.verify(model).page"),
        ("loaded.recomend(mine)", "did you mean recommend?"),
        ("model.recommend(mine).to_pandas()", ".frame()"),
        ("tacit.audit('byes')", "did you mean bayes?"),
        ("tacit.Catalogue(['a'], title=['A'])", "did you mean titles?"),
        ("Bayes(epsilon=1).fit(likes, users=20)", "use method ease"),
    ],
)
def test_what_was_meant_is_said(at, wrong, meant):
    with pytest.raises(tacit.TacitError) as seen:
        eval(wrong, dict(at))  # noqa: S307  our own lines
    assert meant in str(seen.value)


def test_a_name_that_is_not_there_is_an_attribute_error(at):
    assert not hasattr(tacit, "Bays")
    assert not hasattr(at["model"], "similar_users")
    assert not hasattr(at["loaded"], "fit")


def test_an_id_that_denotes_the_same_number_is_named(at):
    frame = at["frame"].with_columns(at["pl"].col("user").str.strip_prefix("u"))
    with pytest.warns(tacit.TacitNotice, match=r"'7\.0'.*'7'"):
        at["Bias"](epsilon=1).fit(frame, scale=(1, 5), users=20, budgets={"7.0": 0.5})
