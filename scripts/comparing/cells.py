"""The list of cells: what is fitted, on what data, under which promise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from comparing import commands, record, tables
from comparing.bench import Bench
from comparing.version import METHODS, find

EPSILON = 4.0
LARGE_EPSILON = 60.0
"""With the larger sample: enough for tastes and similarities to stand out of the noise."""
DELTA = 1e-6
STARTS = ("bias", "bayes", "pnbm-sgd", "pnbm-langevin", "als")
"""Earlier models that every method is offered; those that it cannot use it must refuse."""
USABLE = {
    **dict.fromkeys(("bias", "bayes"), ("bias", "bayes")),
    **dict.fromkeys(("knn-pearson", "knn-cosine"), ("pnbm-sgd", "pnbm-langevin")),
}
"""Those that it can use, to be tried in more ways; the others must refuse once."""
DEVICES = {"drop_out": 0.2, "late": 0.2, "leave": 0.1, "cheats": 0.05, "over": 4, "seed": 3}
FEWER: dict[str, dict[str, Any]] = {"S3": {"rounds": 2}}
"""Beside a setting whose cell would take half a minute."""
WRONG: dict[str, dict[str, Any]] = {
    "no epsilon": {},
    "negative epsilon": {"epsilon": -1.0},
    "large delta": {"epsilon": EPSILON, "delta": 0.5},
    "unknown calibration": {"epsilon": EPSILON, "calibration": "loud"},
    "unknown engine": {"epsilon": EPSILON, "engine": "steam"},
    "unknown setting": {"epsilon": EPSILON, "colour": "red"},
    "unknown unit": {"epsilon": EPSILON, "unit": "galaxy"},
}
QUICK_LIKES = ("popularity", "bayes", "ease", "als", "one-bit")
QUICK_PURE = ("bias", "bayes", "als")
QUICK_STARTS = (("bayes", "bayes"), ("knn-cosine", "pnbm-sgd"))


@dataclass(frozen=True)
class Cell:
    """A name and what is run under it; `quick` ones are in the short list."""

    name: str
    run: Callable[[Bench], record.Record]
    quick: bool = False


def cells() -> Iterator[Cell]:
    """All of them, in the order in which they are run."""
    yield from _crossed()
    yield from _other_deltas()
    yield from _rich()
    yield from _settings()
    yield from _started()
    yield from _devices()
    yield from _promises()
    yield from _refusals()
    yield from (Cell(name, run, quick) for name, run, quick in commands.listed())
    yield from (Cell(name, run, quick) for name, run, quick in tables.listed())


def _rows(*calibrations: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Method, label and options: every unit, calibration and engine that a class names."""
    for name in METHODS:
        cls = find(name)
        for engine, calibration in product(cls.engines, cls.calibrations):
            if calibrations and calibration not in calibrations:
                continue
            units = (cls.paper_unit,) if calibration == "paper" else cls.units
            for unit in units:
                options: dict[str, Any] = {
                    "calibration": calibration,
                    "engine": engine,
                    "unit": unit,
                }
                if calibration != "none":
                    options |= {"epsilon": EPSILON, "delta": 0.0 if unit == "value" else DELTA}
                yield name, f"{name} {calibration} {unit} {engine}", options


def _first(name: str, options: dict[str, Any]) -> bool:
    """Whether these options are the first of their method and calibration."""
    cls = find(name)
    unit = cls.paper_unit if options["calibration"] == "paper" else cls.units[0]
    return bool(options["engine"] == cls.engines[0] and options["unit"] == unit)


def _fitted(
    label: str, name: str, options: dict[str, Any], quick: bool = False, **data: Any
) -> Cell:
    def run(bench: Bench) -> record.Record:
        return _told(bench, bench.fit(name, options, **data))

    return Cell(label, run, quick)


def _told(bench: Bench, model: Any) -> record.Record:
    return record.of_model(model, Path.cwd(), bench.own, bench.famous[-1])


def _crossed() -> Iterator[Cell]:
    """Every method, unit, calibration and engine by likes, features, caps and declared people.

    Of the sixteen ways a half that still has every three of these together in every way; a quarter,
    with every two, for `paper` and `none`, which declared people hardly concern.
    """
    for name, label, options in _rows():
        for likes, bare, capped, counted in product((False, True), repeat=4):
            words = (
                "likes" if likes else "rated",
                "bare" if bare else "features",
                "capped" if capped else "whole",
                "counted" if counted else "declared",
            )
            sound = options["calibration"] == "sound"
            usual = not (bare or capped or counted) and _first(name, options)
            quick = usual and (not likes or (sound and name in QUICK_LIKES))
            half = (likes + bare + capped + counted) % 2 == 0
            quarter = capped == (likes != bare) and counted == likes
            if not quick and not (half if sound else quarter):
                continue
            yield _fitted(
                f"{label} {' '.join(words)}",
                name,
                options,
                quick,
                kind=words[0],
                features=not bare,
                cap=capped,
                declared=not counted,
            )


def _other_deltas() -> Iterator[Cell]:
    """A pure promise where there is one; one with a delta where the usual promise is pure."""
    for name, label, options in _rows("sound", "paper"):
        delta = 0.0 if options["delta"] else DELTA
        for kind in ("rated", "likes") if options["calibration"] == "sound" else ("rated",):
            quick = name in QUICK_PURE and kind == "rated" and _first(name, options)
            changed = {**options, "delta": delta}
            yield _fitted(f"{label} {kind} delta={delta:g}", name, changed, quick, kind=kind)


def _rich() -> Iterator[Cell]:
    """More people and a budget at which noise hides little."""
    for name, label, options in _rows():
        if options["engine"] != find(name).engines[0]:
            continue
        budget = {} if options["calibration"] == "none" else {"epsilon": LARGE_EPSILON}
        for kind in ("rated", "likes") if _first(name, options) else ("rated",):
            yield _fitted(f"{label} {kind} rich", name, options | budget, kind=kind, many=True)


def _settings() -> Iterator[Cell]:
    """Every setting of every method at another value than its own, and another seed."""
    for name, label, options in _rows():
        if not _first(name, options):
            continue
        yield _fitted(f"{label} seed=3", name, {**options, "seed": 3})
        for field, known in find(name).Settings.model_fields.items():
            for value in _others(known.annotation, known.default):
                beside = FEWER.get(value, {}) if isinstance(value, str) else {}
                yield _fitted(f"{label} {field}={value}", name, {**options, field: value, **beside})


def _others(kind: Any, usual: Any) -> list[Any]:
    """Values that a setting could have instead."""
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    for each in kinds:
        if get_origin(each) is Literal:
            return [value for value in get_args(each) if value != usual]
        if each is bool:
            return [not usual]
        if each is int:
            return [7 if usual is None else max(1, usual // 2)]
        if each is float:
            return [0.25 if usual is None else usual / 2]
    return []


def _started() -> Iterator[Cell]:
    """Fits that build on an earlier model of other people and fewer items."""
    for (name, label, options), start in product(_rows("sound", "none"), STARTS):
        usable = start in USABLE.get(name, ())
        if not usable and not (_first(name, options) and options["calibration"] == "sound"):
            continue
        ways = product(("rated", "likes"), (True, False)) if usable else [("rated", True)]
        for kind, features in ways:
            words = f"{label} {kind} {'features' if features else 'bare'} from {start}"
            quick = (name, start) in QUICK_STARTS and kind == "rated" and features
            quick = quick and options["calibration"] == "sound" and _first(name, options)
            yield _begun(words, name, options, start, quick, kind=kind, features=features)


def _begun(
    label: str, name: str, options: dict[str, Any], start: str, quick: bool, **data: Any
) -> Cell:
    def run(bench: Bench) -> record.Record:
        return _told(bench, bench.try_from(name, options, start, **data))

    return Cell(label, run, quick)


def _devices() -> Iterator[Cell]:
    """Devices that drop out, come late, leave and cheat; and devices with poor ledgers."""
    for name, label, options in _rows():
        if not find(name).local:
            continue
        some = {"devices": {"cap": EPSILON / 3}}
        yield _fitted(f"{label} poor devices", name, options | some)
        yield _fitted(f"{label} bad devices", name, options | {"devices": DEVICES})


def _promises() -> Iterator[Cell]:
    """Fits under real bits and a real charge, of which only the promise is compared."""
    for name, label, options in _rows("sound", "paper"):
        for declared in (True, False) if _first(name, options) else (True,):
            words = f"{label} {'declared' if declared else 'counted'} promise"
            yield _promised(words, name, options, declared)


def _promised(label: str, name: str, options: dict[str, Any], declared: bool) -> Cell:
    def run(bench: Bench) -> record.Record:
        model = bench.fit_for_real(name, options, declared=declared)
        return record.of_promise(model.statement)

    return Cell(label, run, quick="bayes sound user threads declared" in label)


def _refusals() -> Iterator[Cell]:
    """What every method must refuse, and in which words."""
    for name, (label, options) in product(METHODS, WRONG.items()):
        yield _fitted(f"{name} refuses {label}", name, options)
    for name, unit in product(METHODS, ("user", "rating", "value")):
        if unit != find(name).paper_unit:
            options = {"epsilon": EPSILON, "calibration": "paper", "unit": unit}
            yield _fitted(f"{name} refuses paper {unit}", name, options)
