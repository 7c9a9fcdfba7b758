"""Cells of the command line: chains of commands in an empty folder, under injected bits."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl

from comparing import record
from comparing.bench import PEOPLE, Bench, source, write_ratings
from comparing.version import METHODS, find, inject_bits, main, tacit

Listed = tuple[str, Callable[[Bench], record.Record], bool]

QUICK = ("bayes", "ease", "knn-cosine")
ITEMS = "items.csv"
BUDGET = "--epsilon 4 --threads 1"


def listed() -> Iterator[Listed]:
    """Name, what to run, and whether it is quick."""
    for name in METHODS:
        cls = find(name)
        delta = "--delta 0" if cls.units == ("value",) else ""
        yield (f"cli use {name}", _chain(_use(f"{name} {BUDGET} {delta}")), name in QUICK)
        for calibration in cls.calibrations:
            pure = "--delta 0" if calibration == "paper" and cls.paper_unit == "value" else delta
            told = f"{name} --calibration {calibration} {BUDGET} {pure}"
            plan = f"plan --method {told} --users 5000 --items 60 --no-forecast"
            quick = name in QUICK and calibration == "sound"
            yield (f"cli plan {name} {calibration}", _chain([f"{plan} --json", plan]), quick)
            for split in ("90/10", "people") if calibration == "sound" else ("90/10",):
                judged = f"evaluate RATINGS --method {told} --split {split} --hold 30 --seeds 1"
                line = f"{judged} --no-twin --scale 1,5 --items {ITEMS} --json"
                quick = name in QUICK and calibration == "none" and split == "90/10"
                yield (f"cli evaluate {name} {calibration} {split}", _chain([line]), quick)
    yield ("cli likes ease", _chain(_use(f"ease {BUDGET}", "--positive 4")), False)
    yield "cli likes als", _chain(_use(f"als {BUDGET}", "--positive 4")), False
    yield ("cli capped bayes", _chain(_use(f"bayes {BUDGET}", "--max-ratings 15")), False)
    forecast = f"plan --method bayes {BUDGET} --users 300 --items 40 --json"
    yield "cli forecast", _chain([forecast]), False
    for split in ("80/20", "time", "90/10 --days", "90/10 --folds 3"):
        judged = f"evaluate RATINGS --method bias,bayes {BUDGET} --split {split} --scale 1,5 --json"
        yield f"cli splits {split}", _chain([judged]), False


def _use(method: str, data: str = "") -> list[str]:
    """A model from its fit to everything that is done with it."""
    fit = f"fit RATINGS --method {method} {data} --scale 1,5 --items {ITEMS} --users {PEOPLE}"
    return [
        f"{fit} --out model --ledger book.db --json",
        "statement model",
        "statement model --json",
        "statement model --registry --deployment d --curator c --date 2026-01-01",
        "verify model --ledger book.db --json",
        "ledger show --ledger book.db --json",
        "recommend model --ratings own.csv -n 5 --json",
        "recommend model --ratings own.csv -n 5",
        "recommend model --ratings dated.csv -n 5 --json",
        "recommend model --ratings own.csv -n 3 --by liked --json",
        "recommend model --people RATINGS --scale 1,5 --out lists.csv --json",
        "similar model FAMOUS --json",
        "export model --to npz --out arrays.npz --json",
        "export model --to parquet --out arrays.parquet --json",
        "export model --similarities --to npz --out pairs.npz --json",
        "add-items model new.csv --out larger --json",
    ]


def _chain(lines: list[str]) -> Callable[[Bench], record.Record]:
    def run(bench: Bench) -> record.Record:
        _lay_out(bench)
        with inject_bits(source()):
            told = {line: _call(line.replace("FAMOUS", bench.famous[-1])) for line in lines}
        return {"commands": told, "written": _written()}

    return run


def _lay_out(bench: Bench) -> None:
    """The files that the commands name, in the working folder."""
    write_ratings(Path("RATINGS"), bench.ratings())
    own = [f"{item},{rating}" for item, rating in bench.own.items()]
    Path("own.csv").write_text("\n".join(["item,rating", *own]) + "\n", "utf-8")
    dated = [f"{line},{1_500_000_000 + 40_000 * at}" for at, line in enumerate(own)]
    Path("dated.csv").write_text("\n".join(["item,rating,timestamp", *dated]) + "\n", "utf-8")
    films = bench.catalogue
    Path(ITEMS).write_text("".join(_films(films, range(len(films)))), "utf-8")
    head, *lines = _films(films, range(40, 44))
    Path("new.csv").write_text("".join([head, *(f"new-{line}" for line in lines)]), "utf-8")


def _films(films: Any, rows: range) -> Iterator[str]:
    yield "id,title,year,genres\n"
    for row in rows:
        genres = "|".join(
            tag for tag, has in zip(films.tags, films.tagged[row], strict=True) if has
        )
        yield f'{films.ids[row]},"{films.titles[row]}",{films.years[row]},{genres}\n'


def _call(line: str) -> record.Record:
    """The status and the words of one command."""
    out, err = io.StringIO(), io.StringIO()
    status: Any = 0
    with (
        patch.object(sys, "argv", ["tacit", *line.split()]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as left:
            status = left.code
    return {
        "status": status,
        "out": _parsed(out.getvalue()),
        "err": record.in_words(err.getvalue()),
    }


def _parsed(text: str) -> Any:
    try:
        return record.blanked(json.loads(text))
    except json.JSONDecodeError:
        return record.in_words(text)


def _written() -> record.Record:
    """What the commands wrote, by content and not by container."""
    found: record.Record = {}
    for path in sorted(Path().glob("*.npz")):
        with np.load(path, allow_pickle=False) as arrays:
            found[path.name] = {name: record.of_array(arrays[name]) for name in sorted(arrays)}
    for path in sorted(Path().glob("*.parquet")):
        rows = pl.read_parquet(path).to_dict(as_series=False)
        found[path.name] = {name: record.of_bytes(repr(rows[name]).encode()) for name in rows}
    for path in sorted(Path().glob("lists.csv")):
        found[path.name] = record.of_bytes(path.read_bytes())
    if Path("larger").is_dir():
        found["larger"] = tacit.load("larger").shared.digest()
    return found
