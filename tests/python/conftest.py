"""Names that mistakes in Python use: files, frames, fitted models."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import sparse

import tacit


def _of_likes(frame, book):
    likes = tacit.read(frame.select("user", "item"), positive=True)
    made = tacit.EASE(epsilon=5.0, ledger=book)
    return made.fit(likes, users=20)


@pytest.fixture(scope="session")
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
    (folder / "items.csv").write_text("id,title\n" + "\n".join(f"i{k},Film {k}" for k in range(9)))
    (folder / "twice.csv").write_text("id,title\ni1,A\ni1,B\n")
    (folder / "noid.csv").write_text("colour,title\nred,A\nblue,B\n")
    (folder / "file").write_text("x")
    (folder / "garbage").write_bytes(bytes(range(256)) * 12)
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
        "Bayes": lambda **more: tacit.Bayes(**({"ledger": book} | more)),
        "pandas": frame.to_pandas(),
        "CAL": {
            "out": folder / "calendar",
            "horizon": 4,
            "items": tacit.read_items(folder / "items.csv"),
            "users": 20,
        },
        "likemodel": _of_likes(frame, str(folder / "likes.sqlite")),
        "likes": tacit.read(frame.select("user", "item"), positive=True),
    }
    return names | {"tacit": tacit, "np": np, "pl": pl, "sparse": sparse}
