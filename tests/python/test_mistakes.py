"""A hundred mistakes in Python: each gets our own error, with a place or a remedy, in the
words of Python."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from scipy import sparse

import tacit

OPTION = re.compile(r"--[a-z]")
"""Words of the other side."""


@pytest.fixture(scope="module")
def at(tmp_path_factory):
    """Names that the mistakes use: files, frames, a fitted model."""
    folder = tmp_path_factory.mktemp("mistakes")
    frame = pl.DataFrame(
        {
            "user": [f"u{u}" for u in range(20) for _ in range(6)],
            "item": [f"i{(u + k) % 9}" for u in range(20) for k in range(6)],
            "rating": [1 + (u * k) % 5 for u in range(20) for k in range(6)],
        }
    )
    (folder / "ok.csv").write_text(frame.write_csv())
    (folder / "empty.csv").write_text("")
    (folder / "header.csv").write_text("user,item,rating\n")
    (folder / "text.csv").write_text("user,item,rating\na,b,good\n")
    (folder / "off.csv").write_text("user,item,rating\na,b,9\n")
    (folder / "short.csv").write_text("user,item,rating\na,b,3\nc,d\n")
    (folder / "two.csv").write_text("user,item\na,b\n")
    (folder / "bytes.csv").write_bytes(b"user,item,rating\n\xff\xfe\xfa,b,3\n")
    (folder / "double.csv").write_text("user,item,rating\na,b,3\na,b,4\n")
    (folder / "bad.parquet").write_bytes(b"PAR1 no parquet")
    (folder / "items.csv").write_text(
        "id,title\n" + "\n".join(f"i{k},Film {k}" for k in range(9))
    )
    (folder / "twice.csv").write_text("id,title\ni1,A\ni1,B\n")
    (folder / "noid.csv").write_text("colour,title\nred,A\nblue,B\n")
    (folder / "file").write_text("x")
    ratings = tacit.read(frame, scale=(1, 5))
    book = str(folder / "ledger.sqlite")
    model = tacit.Bias(epsilon=5.0, ledger=book).fit(ratings, users=20)
    model.save(folder / "model")
    (folder / "broken").mkdir()
    (folder / "broken" / "model.json").write_text("{")
    capped = str(folder / "capped.sqlite")
    tacit.open_book(capped, "default").cap(1.0, 1e-6, unit="user")
    names = {
        "f": folder,
        "frame": frame,
        "ratings": ratings,
        "model": model,
        "loaded": tacit.load(folder / "model"),
        "book": book,
        "capped": capped,
        "mine": {"i1": 5.0, "i2": 1.0},
        "items": tacit.read_items(folder / "items.csv"),
        "Bias": lambda **more: tacit.Bias(**({"ledger": book} | more)),
        "likes": tacit.read(frame.select("user", "item"), positive=True),
    }
    return names | {"tacit": tacit, "np": np, "pl": pl, "sparse": sparse}


MISTAKES = """
tacit.read(f / "none.csv", scale=(1, 5))
tacit.read(str(f / "none.csv"), scale=(1, 5))
tacit.read(f / "empty.csv", scale=(1, 5))
tacit.read(f / "header.csv", scale=(1, 5))
tacit.read(f / "text.csv", scale=(1, 5))
tacit.read(f / "off.csv", scale=(1, 5))
tacit.read(f / "short.csv", scale=(1, 5))
tacit.read(f / "two.csv", scale=(1, 5))
tacit.read(f / "bytes.csv", scale=(1, 5))
tacit.read(f / "bad.parquet", scale=(1, 5))
tacit.read(f / "ok.csv")
tacit.read(f / "ok.csv", scale=(5, 1))
tacit.read(f / "ok.csv", scale=(1, 1))
tacit.read(f / "ok.csv", scale=5)
tacit.read(f / "ok.csv", scale="1,5")
tacit.read(f / "ok.csv", scale=(1, 2, 3))
tacit.read(f / "ok.csv", scale=(1, float("nan")))
tacit.read(f / "ok.csv", scale=(1, 5), layout="ml-9m")
tacit.read(f / "ok.csv", scale=(1, 5), layout=7)
tacit.read(f / "ok.csv", scale=(1, 5), duplicates="first")
tacit.read(f / "double.csv", scale=(1, 5), duplicates="error")
tacit.read(f / "ok.csv", scale=(1, 5), columns={"who": "user"})
tacit.read(f / "ok.csv", scale=(1, 5), columns={"user": "person"})
tacit.read(f / "ok.csv", scale=(1, 5), columns={"user": 9})
tacit.read(f / "ok.csv", scale=(1, 5), columns="user")
tacit.read(f / "ok.csv", scale=(1, 5), users=0)
tacit.read(f / "ok.csv", scale=(1, 5), users=-3)
tacit.read(f / "ok.csv", scale=(1, 5), users="many")
tacit.read(f / "ok.csv", scale=(1, 5), users=2.5)
tacit.read(f / "ok.csv", scale=(1, 5), positive=9)
tacit.read(f / "ok.csv", scale=(1, 5), positive=True)
tacit.read(f / "ok.csv", scale=(1, 5), positive="four")
tacit.read(f / "ok.csv", scale=(1, 5), items="items.csv")
tacit.read(f / "ok.csv", scale=(1, 5), items=5)
tacit.read(None, scale=(1, 5))
tacit.read(5, scale=(1, 5))
tacit.read(object(), scale=(1, 5))
tacit.read([], scale=(1, 5))
tacit.read({}, scale=(1, 5))
tacit.read(frame)
tacit.read(frame.head(0), scale=(1, 5))
tacit.read(frame.select("user", "item"), scale=(1, 5))
tacit.read(frame.select("item", "rating"), scale=(1, 5))
tacit.read(frame.with_columns(rating=pl.lit(7)), scale=(1, 5))
tacit.read(frame.with_columns(rating=pl.lit(None, pl.Float64)), scale=(1, 5))
tacit.read(frame.with_columns(rating=pl.lit("good")), scale=(1, 5))
tacit.read(np.ones((3, 3)), scale=(1, 5))
tacit.read(sparse.csr_matrix(np.eye(3)))
tacit.read(sparse.csr_matrix(9 * np.eye(3)), scale=(1, 5))
tacit.read_items(f / "none.csv")
tacit.read_items(f / "twice.csv")
tacit.read_items(f / "noid.csv")
tacit.read_items(f / "empty.csv")
tacit.read_items(5)
tacit.read_items(None)
Bias().fit(ratings, users=20)
Bias(epsilon=0).fit(ratings, users=20)
Bias(epsilon=-1).fit(ratings, users=20)
Bias(epsilon=float("inf")).fit(ratings, users=20)
Bias(epsilon=float("nan")).fit(ratings, users=20)
Bias(epsilon="one").fit(ratings, users=20)
Bias(epsilon=[1, 2]).fit(ratings, users=20)
Bias(epsilon=1, delta=2).fit(ratings, users=20)
Bias(epsilon=1, delta="small").fit(ratings, users=20)
Bias(epsilon=1, delta=.2).fit(ratings, users=20)
Bias(epsilon=1, unit="person").fit(ratings, users=20)
Bias(epsilon=1, unit="value").fit(ratings, users=20)
Bias(epsilon=1, calibration="strict").fit(ratings, users=20)
Bias(epsilon=1, calibration="paper").fit(ratings, users=20)
Bias(epsilon=1, engine="gpu").fit(ratings, users=20)
Bias(epsilon=1, threads=0).fit(ratings, users=20)
Bias(epsilon=1, threads="two").fit(ratings, users=20)
Bias(epsilon=1, colour="red").fit(ratings, users=20)
Bias(epsilon=1, population="").fit(ratings, users=20)
Bias(epsilon=1, population=5).fit(ratings, users=20)
Bias(epsilon=1, ledger=5).fit(ratings, users=20)
Bias(epsilon=1, ledger=str(f / "file")).fit(ratings, users=20)
Bias(epsilon=2, ledger=capped).fit(ratings, users=20)
Bias(epsilon=1, purpose=3).fit(ratings, users=20)
Bias(epsilon=1).fit(None)
Bias(epsilon=1).fit(5)
Bias(epsilon=1).fit(f / "none.csv", scale=(1, 5))
Bias(epsilon=1).fit(f / "ok.csv")
Bias(epsilon=1).fit(frame)
Bias(epsilon=1).fit(ratings, scale=(1, 5))
Bias(epsilon=1).fit(ratings, [1, 2, 3])
Bias(epsilon=1).fit(ratings, users="x")
Bias(epsilon=1).fit(ratings, users=0)
Bias(epsilon=1).fit(ratings, items=5)
Bias(epsilon=1).fit(ratings, items=f / "none.csv")
Bias(epsilon=1).fit(ratings, users=20, start=5)
Bias(epsilon=1).fit(ratings, users=20, start=f / "none")
Bias(epsilon=1).fit(ratings, users=20, keep_apart=2)
Bias(epsilon=1).fit(ratings, users=20, keep_apart="x")
Bias(epsilon=1).recommend(mine)
Bias(epsilon=1).statement_
Bias(epsilon=1).save(f / "new")
model.recommend(5)
model.recommend("i1")
model.recommend({"i1": 9})
model.recommend({"i1": "good"})
model.recommend({"nothing": 3})
model.recommend([5])
model.recommend([("i1",)])
model.recommend(mine, 0)
model.recommend(mine, -1)
model.recommend(mine, "ten")
model.recommend(mine, by="colour")
model.recommend(mine, only="i1")
model.recommend(mine, only=5)
model.recommend(mine, exclude=5)
model.recommend(mine, only=["nothing"])
model.recommend(mine, reasons=-1)
model.predict(5)
model.predict(mine, 5)
model.predict(mine, "i1")
model.explain(mine, 5)
model.explain(5, "i1")
model.similar(5)
model.similar("i1", -1)
model.save(5)
model.save(f / "file")
model.save(f / "model")
model.set_params(epsilon="x").fit(ratings, users=20)
loaded.save(f)
loaded.recommend(mine, "ten")
loaded.recommend("i1")
tacit.load(f / "none")
tacit.load(f / "file")
tacit.load(f / "broken")
tacit.load(5)
tacit.load(None)
tacit.verify(loaded, ledger=str(f / "file"))
tacit.verify(loaded, key=f / "none")
tacit.verify(5)
tacit.plan(epsilon=0, users=10, items=5)
tacit.plan(epsilon="x", users=10, items=5)
tacit.plan(epsilon=1, users=0, items=5)
tacit.plan(epsilon=1, users="x", items=5)
tacit.plan(epsilon=1, users=10, items=0)
tacit.plan(epsilon=1, users=10, items="x")
tacit.plan("byes", epsilon=1, users=10, items=5)
tacit.plan(epsilon=1, users=10, items=5, scale=(5, 1))
tacit.choose(users=10, items=5)
tacit.choose(users=1000, items=500, rmse=.9, recall=.1)
tacit.choose(users=1000, items=500, rmse=9)
tacit.choose(users=1000, items=500, rmse="x")
tacit.evaluate(5)
tacit.evaluate("ratings.csv")
tacit.evaluate(ratings, "byes", ledger=book)
tacit.evaluate(ratings, "bias", epsilons=0, ledger=book)
tacit.evaluate(ratings, "bias", seeds=0, ledger=book)
tacit.evaluate(ratings, "bias", split="most", ledger=book)
tacit.open_book(str(f / "file"), "default").entries()
tacit.open_book(5, "default")
tacit.open_book(book, "")
tacit.open_book(book, "default").cap(-1, 1e-6, unit="user")
tacit.sample(0)
tacit.sample(10, seed=-1)
tacit.sample("many")
tacit.Schema(5, 1)
tacit.Schema("a", "b")
tacit.Catalogue(["a", "a"])
Bias(epsilon=1).fit(ratings, budgets={"u1": -1})
Bias(epsilon=1).fit(ratings, budgets={"u1": "little"})
Bias(epsilon=1).fit(ratings, budgets=f / "two.csv")
Bias(epsilon=1).fit(ratings, budgets=[1, 2])
Bias(epsilon=1).fit(ratings, public=frame)
Bias(epsilon=1).fit(ratings, public=3)
Bias(epsilon=1).fit(ratings, public=tacit.PublicPeople(ratings))
tacit.PublicPeople(frame)
Bias(epsilon=1, memory="lots").fit(ratings)
Bias(epsilon=1, memory=-1).fit(ratings)
Bias(epsilon=1).fit(frame, scale=(1, 5), columns={"tags": "colour"})
Bias(epsilon=1).fit(frame, scale=(1, 5), items=f / "items.csv", columns={"tags": "shape"})
tacit.read_items(f / "items.csv", tags="shape")
tacit.read_items(f / "items.csv", tags=["title", "shape"])
tacit.read_items(f / "items.csv", title="name of it")
tacit.plan(epsilon=1, users=100, items="none.csv")
tacit.plan(epsilon=1, users=100, items=None)
tacit.evaluate(ratings, "bias", items="none.csv", ledger=book)
tacit.tune(frame, ["bias", "popularity"], epsilon=1, ledger=book)
tacit.tune(ratings, ["bias", "popularity"], epsilon=1, trials=0, ledger=book)
tacit.release(model, ratings, epsilon=1)
tacit.release(f / "model", ratings, epsilon=1)
tacit.synthesize(model, step=9)
tacit.synthesize(f / "model")
tacit.pack(frame, f / "x.csv", scale=(1, 5))
tacit.pack(frame, f / "x.tacit")
tacit.pack(frame, f / "x.tacit", scale=(1, 5), memory="some")
Bias(epsilom=1)
Bias(epsilon=1).set_params(epsilom=2)
tacit.Bias(1.0)
Bias(epsilon=1).fit(ratings, scael=(1, 5))
Bias(epsilon=1).fit()
model.recommend(mine, k=5)
model.recommend(mine, 5, 6)
model.explain(mine)
model.explain(mine, "i1", item="i1")
model.similar()
loaded.recommend(mine, k=5)
tacit.load()
model.recommend({"i1": None})
model.recommend(frame.select("user"))
model.explain(mine, "nothing")
model.similar("nothing")
model.predict(mine, ["nothing", "i1"])
tacit.plan()
tacit.plan(tacit.Bayes, epsilon=1, users=10, items=5)
tacit.plan(epsilon=1, users=10, items=5, each=-3)
tacit.plan(epsilon=1, users=10, items=5, each="many")
tacit.plan(epsilon=1, users=10, items=5, row=[1, "x"])
tacit.plan(epsilon=1, users=10, items=5, scale="1-5")
tacit.plan(epsilon=1, users=10, items=5, spread=-1)
tacit.choose(users=10, items=5, by_range=True, each=0)
tacit.choose(users=10, items=5, rmse=.9, twin=-1)
tacit.evaluate(ratings, [tacit.Bias], ledger=book)
tacit.evaluate(ratings, tacit.Bias(epsilon=1), ledger=book)
tacit.evaluate(ratings, "bias", split=.2, ledger=book)
tacit.evaluate(ratings, "bias", seeds=[1, 2], ledger=book)
tacit.evaluate(ratings, "bias", listed="x", ledger=book)
tacit.evaluate(ratings, "bias", sweep=["factors"], ledger=book)
tacit.evaluate(ratings, "bias", settings=["a"], ledger=book)
tacit.evaluate(ratings, "bias", epsilons=None, ledger=book)
tacit.evaluate(ratings, "bias", epsilons=[], ledger=book)
tacit.evaluate(ratings, "bias", scale=(1, 5), ledger=book)
tacit.tune(ratings, ["als"], sweep={"factors": 5}, epsilon=1, ledger=book)
tacit.tune(ratings, None, epsilon=1, ledger=book)
tacit.tune(ratings, ["bias", "popularity"])
tacit.audit(tacit.Bayes(epsilon=1))
""".strip().splitlines()


def test_there_are_a_hundred_of_them():
    assert len(set(MISTAKES)) == len(MISTAKES) >= 100


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_answered(at, mistake, recwarn):
    with pytest.raises(tacit.TacitError) as seen:
        eval(mistake, dict(at))  # noqa: S307  our own lines
    error = seen.value
    assert error.remedy or error.place, f"nothing says what to do: {error}"
    assert not OPTION.search(str(error)), str(error)
    assert error.exit_status == 2


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        ("tacit.Bayes(epsilom=1)", "did you mean epsilon?"),
        ("model.recommend(mine, reason=1)", "did you mean reasons?"),
        ("Bias(epsilon=1).fit(ratings, scael=(1, 5))", "did you mean scale?"),
    ],
)
def test_a_name_that_is_nearly_right_is_answered_with_it(at, call, meant):
    with pytest.raises(TypeError, match="has no") as seen:
        eval(call, dict(at))  # noqa: S307  our own lines
    assert meant in str(seen.value)
