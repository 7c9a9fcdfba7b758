"""The good originals that the fuzzer damages: one of every kind, small."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

PEOPLE = 25
ITEMS = 15
WIDTH = 4


def make(folder: Path) -> None:
    """Write all originals into a folder."""
    for kind in ("ratings", "catalogue", "personal", "model"):
        (folder / kind).mkdir(parents=True)
    ratings(folder / "ratings")
    catalogues(folder / "catalogue")
    personal(folder / "personal")
    models(folder / "model")


def rows() -> list[tuple[int, int, int, int]]:
    return [
        (u, i, 1 + (u * i) % 5, 875_000_000 + 1000 * u + i)
        for u in range(1, PEOPLE + 1)
        for i in range(1, ITEMS + 1)
        if (u + 2 * i) % 3
    ]


def ratings(folder: Path) -> None:
    import polars as pl

    every = rows()
    lines = [",".join(map(str, row)) for row in every]
    table = "user,item,rating,timestamp\n" + "\n".join(lines) + "\n"
    texts = {
        "plain.csv": table,
        "names.csv": "user,item,rating\n"
        + "".join(f"Ann {u},Film né {i},{r}\n" for u, i, r, _ in every),
        "dates.tsv": "user\titem\trating\tdate\n"
        + "".join(f"{u}\t{i}\t{r}.5\t2005-09-{1 + u:02}\n" for u, i, r, _ in every),
        "u.data": table.split("\n", 1)[1].replace(",", "\t"),
        "ratings.dat": table.split("\n", 1)[1].replace(",", "::"),
        "mv_0000001.txt": "1:\n"
        + "".join(f"{u},{r},2005-09-06\n" for u, i, r, _ in every if i == 1)
        + "2:\n7,3,2005-01-01\n",
        "jester.csv": "".join(
            f"{ITEMS}," + ",".join(str((u * i) % 21 - 10.0) for i in range(100)) + "\n"
            for u in range(PEOPLE)
        ),
        "BX-Book-Ratings.csv": '"User-ID";"ISBN";"Book-Rating"\n'
        + "".join(f'"{u}";"01951{i:05}";"{r}"\n' for u, i, r, _ in every),
        "likes.csv": "user,item\n" + "".join(f"{u},{i}\n" for u, i, _, _ in every),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    frame = pl.DataFrame(every, schema=["user", "item", "rating", "timestamp"], orient="row")
    frame.write_parquet(folder / "numbers.parquet", compression="uncompressed")
    named = frame.with_columns(pl.format("u{}", "user").alias("user"))
    named.write_parquet(folder / "names.parquet")
    (folder / "plain.csv.gz").write_bytes(gzip.compress(table.encode()))
    with zipfile.ZipFile(folder / "plain.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ml-1m/ratings.dat", texts["ratings.dat"])
        archive.writestr("ml-1m/README", "hello")
    with tarfile.open(folder / "plain.tar.gz", "w:gz") as tar:
        info = tarfile.TarInfo("ml-100k/u.data")
        data = texts["u.data"].encode()
        info.size = len(data)
        tar.addfile(info, io.BytesIO(data))


def catalogues(folder: Path) -> None:
    import polars as pl

    every = [
        (i, f"Film né {i} ({1980 + i})", "Drama|War" if i % 2 else "Comedy", i / 3)
        for i in range(1, ITEMS + 4)
    ]
    text = "id,title,genres,length\n"
    text += "".join(f'{i},"{t}",{g},{x:.2f}\n' for i, t, g, x in every)
    (folder / "items.csv").write_text(text, encoding="utf-8")
    (folder / "movies.dat").write_bytes(
        "".join(f"{i}::{t}::{g}\n" for i, t, g, _ in every).encode("latin-1")
    )
    flags = "|".join("01"[k % 2] for k in range(19))
    (folder / "u.item").write_bytes(
        "".join(f"{i}|{t}|01-Jan-1995||u|{flags}\n" for i, t, _, _ in every).encode("latin-1")
    )
    frame = pl.DataFrame(
        [(i, t, g.split("|"), x) for i, t, g, x in every],
        schema=["id", "title", "genres", "length"],
        orient="row",
    )
    frame.write_parquet(folder / "items.parquet")
    (folder / "items.csv.gz").write_bytes(gzip.compress(text.encode()))


def personal(folder: Path) -> None:
    import polars as pl

    text = "item,rating,timestamp\nFilm né 1,5,875000000\n2,4,2005-09-06\n"
    text += '"Film né 3 (1983)",1,\n'
    (folder / "mine.csv").write_text(text, encoding="utf-8")
    (folder / "bare.csv").write_text("1,5\n2,4\n3,1\n", encoding="utf-8")
    (folder / "names.txt").write_text("1\n2\nFilm né 3\n", encoding="utf-8")
    frame = pl.DataFrame({"item": ["1", "2"], "rating": [4.0, 5.0]})
    frame.write_parquet(folder / "mine.parquet")


def arrays(rng: np.random.Generator) -> dict[str, tuple[dict[str, Any], dict[str, float]]]:
    """Arrays and numbers of every personal model, and of one that knows what choices imply."""

    def single(*shape: int) -> Any:
        return rng.normal(size=shape).astype(np.float32)

    near = rng.integers(0, ITEMS, ITEMS * 3).astype(np.int32)
    start = np.arange(0, ITEMS * 3 + 1, 3).astype(np.int64)
    base = {
        "baseline": single(ITEMS),
        "variance": np.abs(single(ITEMS)),
        "loadings": single(ITEMS, WIDTH),
        "weight": np.abs(single(ITEMS)),
    }
    lists = {"start": start, "neighbour": near, "similarity": single(ITEMS * 3)}
    noise = {"noise": 0.75}
    some = {**noise, "neighbours": 2.0}
    path = {"path": single(3, ITEMS, WIDTH)}
    steps = {"start": 0.1, "rate": 0.1, "ridge": 0.1, "middle": 3.0, "unit_width": 1.0}
    kept = {"level": 0.1, "level_variance": 0.1, "kept": 1.0, **noise}
    return {
        "mean": ({"weight": base["weight"]}, {"mean": 0.2}),
        "gaussian": ({**base, "kept": np.abs(single(9, ITEMS))}, kept),
        "implied gaussian": (
            {
                **base,
                "per_rating": np.abs(single(WIDTH)),
                "implied": single(WIDTH, WIDTH),
                "usual": single(WIDTH),
            },
            noise,
        ),
        "ease": (
            {
                "weight": base["weight"],
                "left": single(5, 3),
                "right": single(5, 3),
                "head": np.arange(5, dtype=np.int32),
            },
            {},
        ),
        "centred": (
            {
                "baseline": base["baseline"],
                "weight": base["weight"],
                "similarity": single(ITEMS, ITEMS),
                "covariance": single(ITEMS, ITEMS),
            },
            {"level_prior": 5.0, "level_mean": 0.1, "clamp": 2.0, "ridge": 0.5, "neighbours": 2.0},
        ),
        "factor-neighbours": ({**base, "factor": single(ITEMS, 3)}, some),
        "kept-neighbours": ({**base, **lists}, some),
        "neighbourhood": (
            {**base, **lists, "doubt": np.abs(single(ITEMS))},
            {**noise, "floor": 1.0, "around": 0.5, "kept": 1.0},
        ),
        "factors": ({**base, "implicit": single(ITEMS, WIDTH)}, {**noise, "per_rating": 0.1}),
        "liked factors": (
            {"factors": single(ITEMS, WIDTH), "weight": base["weight"]},
            {"weight": 10.0, "ridge": 0.1},
        ),
        "descent": (path, steps),
        "sparse-descent": ({**path, "projection": single(6, ITEMS)}, steps),
    }


def models(folder: Path) -> None:
    """One folder for every personal model, with the statement of a real fit."""
    from tacit.data.catalogue import Catalogue
    from tacit.data.read import read
    from tacit.data.schema import Schema
    from tacit.methods import find
    from tacit.model.shared import Shared

    with tempfile.TemporaryDirectory() as home:
        os.environ["TACIT_HOME"] = home
        method = find("bias")(epsilon=1.0, population="fuzz", purpose="a trial")
        source = folder.parent / "ratings" / "plain.csv"
        statement = method.fit(read(source, (1, 5)), users=PEOPLE).model_.statement
    ids = [str(i) for i in range(1, ITEMS + 1)]
    catalogue = Catalogue(
        ids,
        [f"Film né {i} ({1980 + int(i)})" for i in ids],
        np.array([1980 + int(i) for i in ids], np.int32),
        ("Comedy", "Drama"),
        np.array([[int(i) % 2, 1 - int(i) % 2] for i in ids], np.uint8),
        ("length",),
        np.array([[np.nan if int(i) == 3 else int(i) / 3] for i in ids], np.float32),
    )
    for name, (held, numbers) in arrays(np.random.default_rng(1)).items():
        personal = name.removeprefix("implied ")
        likes = personal in ("ease", "liked factors")
        schema = Schema(1, 5, users=PEOPLE, positive=4.0 if likes else None)
        method_name = "bias" if personal == "gaussian" else "als"
        if personal == "neighbourhood":
            method_name = "pnbm-sgd"
        shared = Shared(method_name, personal, held, numbers, schema, catalogue, {"sweeps": 3})
        shared.save(folder / name.replace(" ", "-"), statement.to_json())
