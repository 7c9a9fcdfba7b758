"""Cells of reading: the sample and small tables in every form, as the arrays that come out."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse

from comparing import record
from comparing.bench import Bench, write_ratings
from comparing.version import tacit

Listed = tuple[str, Callable[[Bench], record.Record], bool]
Read = Callable[[Bench, Any], Any]

PEOPLE = 30
ROWS = 600


def listed() -> Iterator[Listed]:
    """Name, what to run, and whether it is quick."""
    for name, read in READERS.items():
        yield f"read {name}", _reading(read), name in ("sample", "csv", "likes")
    yield "read catalogue", _catalogue, True


def _reading(read: Read) -> Callable[[Bench], record.Record]:
    def run(bench: Bench) -> record.Record:
        return _ratings(read(bench, tacit.sample(people=PEOPLE, ratings=ROWS, seed=5)))

    return run


def _ratings(found: Any) -> record.Record:
    """All that was read: ids, arrays, what is public, what the owner is told."""
    arrays = {name: getattr(found, name) for name in ("ptr", "item", "value", "time")}
    return {
        "arrays": {n: record.of_array(a) for n, a in arrays.items() if a is not None},
        "users": record.of_bytes("\n".join(found.users).encode()),
        "items": record.of_bytes("\n".join(found.items).encode()),
        "facts": record.plain(found.schema),
        "words": record.plain(found.notes),
    }


def _catalogue(bench: Bench) -> record.Record:
    """The films, and the films as they are read from a file."""
    rows = [
        "id,title,year,genres,length",
        "a,Ant (1991),1991,Drama|War,90",
        "b,Bee,,War,",
        "c,Cow,2001,,81.5",
    ]
    Path("films.csv").write_text("\n".join(rows) + "\n", "utf-8")
    found = {"sample": bench.catalogue, "file": tacit.read_items("films.csv")}
    return {name: _facts(catalogue) for name, catalogue in found.items()}


def _facts(catalogue: Any) -> record.Record:
    told: record.Record = {}
    for name in ("ids", "titles", "tags", "numbers"):
        told[name] = None if getattr(catalogue, name) is None else list(getattr(catalogue, name))
    for name in ("years", "tagged", "numeric"):
        array = getattr(catalogue, name)
        told[name] = None if array is None else record.of_array(array)
    return told


def _csv(sample: Any, delimiter: str = ",") -> Path:
    path = Path("ratings.csv" if delimiter == "," else "ratings.tsv")
    write_ratings(path, sample, delimiter)
    return path


def _doubled(sample: Any) -> Path:
    """Some cells twice, with another rating the second time."""
    lines = _csv(sample).read_text("utf-8").splitlines()
    again = [line.split(",") for line in lines[1:40]]
    more = [f"{user},{item},{6 - int(rating)},{time}" for user, item, rating, time in again]
    Path("doubled.csv").write_text("\n".join([*lines, *more]) + "\n", "utf-8")
    return Path("doubled.csv")


def _zipped(sample: Any) -> Path:
    with zipfile.ZipFile("ratings.zip", "w") as archive:
        archive.write(_csv(sample), "ratings.csv")
    return Path("ratings.zip")


def _frame(sample: Any) -> pl.DataFrame:
    return pl.read_csv(_csv(sample))


def _parquet(sample: Any) -> Path:
    _frame(sample).write_parquet("ratings.parquet")
    return Path("ratings.parquet")


def _numbered(sample: Any) -> list[tuple[int, int, int, int]]:
    person = np.repeat(np.arange(len(sample.users)), np.diff(sample.ptr)) + 1
    columns = (person, sample.item.astype(int) + 1, sample.value.astype(int), sample.time)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _movielens(sample: Any) -> Path:
    Path("ml-1m").mkdir()
    lines = ("::".join(map(str, row)) for row in _numbered(sample))
    Path("ml-1m/ratings.dat").write_text("\n".join(lines) + "\n", "utf-8")
    return Path("ml-1m")


def _netflix(sample: Any) -> Path:
    Path("training_set").mkdir()
    rows = _numbered(sample)
    for movie in sorted({row[1] for row in rows}):
        told = [
            f"{user},{value},2005-09-{user % 28 + 1:02}"
            for user, at, value, _ in rows
            if at == movie
        ]
        text = "\n".join([f"{movie}:", *told]) + "\n"
        Path(f"training_set/mv_{movie:07}.txt").write_text(text, "utf-8")
    return Path("training_set")


def _matrix(sample: Any) -> Any:
    shape = (len(sample.users), len(sample.items))
    return sparse.csr_matrix((sample.value, sample.item.astype(np.int64), sample.ptr), shape=shape)


READERS: dict[str, Read] = {
    "sample": lambda bench, sample: bench.ratings(),
    "rich sample": lambda bench, sample: bench.ratings(many=True),
    "csv": lambda bench, sample: tacit.read(_csv(sample), (1, 5)),
    "csv over a catalogue": lambda bench, sample: tacit.read(
        _csv(sample), (1, 5), items=bench.catalogue, users=PEOPLE
    ),
    "tsv": lambda bench, sample: tacit.read(_csv(sample, "\t"), (1, 5)),
    "likes": lambda bench, sample: tacit.read(_csv(sample), (1, 5), positive=4),
    "no scale": lambda bench, sample: tacit.read(_csv(sample)),
    "narrow scale": lambda bench, sample: tacit.read(_csv(sample), (2, 5)),
    "last of two": lambda bench, sample: tacit.read(_doubled(sample), (1, 5)),
    "mean of two": lambda bench, sample: tacit.read(_doubled(sample), (1, 5), duplicates="mean"),
    "error at two": lambda bench, sample: tacit.read(_doubled(sample), (1, 5), duplicates="error"),
    "zip": lambda bench, sample: tacit.read(_zipped(sample), (1, 5)),
    "parquet": lambda bench, sample: tacit.read(_parquet(sample), (1, 5)),
    "frame": lambda bench, sample: tacit.read(_frame(sample), (1, 5)),
    "sparse": lambda bench, sample: tacit.read(_matrix(sample), (1, 5)),
    "movielens": lambda bench, sample: tacit.read(_movielens(sample)),
    "netflix": lambda bench, sample: tacit.read(_netflix(sample)),
}
