"""The matrix: every method at every unit, calibration and engine, crossed with the options
that decide what is read and what is planned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations, cycle, product

from tacit.methods import find, names
from tacit.methods.first_order.started import STARTS
from tacit.units import UNITS


@dataclass(frozen=True)
class Case:
    """One fit, as it is asked for on the command line."""

    method: str
    unit: str
    calibration: str
    engine: str
    positive: bool = False
    max_ratings: bool = False
    users: bool = True
    items: bool = True
    delta: bool = True
    """Whether one is allowed: else a pure mechanism is asked for."""
    start: bool = False
    duplicates: str = ""
    """What repeated ratings mean; where they are an error, the files have none."""
    layout: str = "plain"
    reading: str = ""
    """In which form the table is read, and what is declared of it."""
    public: bool = False
    """Whether people whose ratings are public are the prior."""
    apart: bool = False
    without: bool = False
    """Whether somebody asked to be forgotten."""
    budgets: bool = False
    """Whether some asked for less, she in whom neighbours differ among them."""
    then: str = ""
    """What is made of it afterwards: `figures` of it, `invented` people, a fit that starts
    from it (`again`); or `calendar`: two releases of one, instead of a fit."""

    def commands(self) -> list[list[str]]:
        """All that is asked for, one after the other."""
        if self.then == "calendar":
            words = ["refresh", *self.arguments()[1:], "--horizon", "3"]
            return [[*words, "--times", "2"]] * 2
        return [self.arguments(), *AFTER.get(self.then, ())]

    def arguments(self) -> list[str]:
        """For `tacit fit`, in a folder with ratings, items, a book and a start."""
        words = ["fit", "ratings.csv", "--ledger", "book.db", "--out", "model"]
        words += ["--method", self.method, "--unit", self.unit]
        words += ["--calibration", self.calibration, "--engine", self.engine]
        if self.calibration != "none":
            words += ["--epsilon", "1"]
        if self.layout == "plain":
            words += ["--scale", "1,5"]
        if self.positive:
            words += ["--positive", "4"]
        if self.max_ratings:
            words += ["--max-ratings", "3"]
        if self.users:
            words += ["--users", "24"]
        if self.items:
            words += ["--items", "items.csv"]
        if not self.delta:
            words += ["--delta", "0"]
        if self.start:
            words += ["--start", f"earlier-{STARTS[self.method][0]}"]
        if self.public:
            words += ["--public", "public.csv", "--public-are", "critics"]
        if self.apart:
            words += ["--keep-apart", "30%"]
        if self.without:
            words += ["--without", "gone.txt"]
        if self.budgets:
            words += ["--budgets", "budgets.csv"]
        words += DECLARED.get(self.reading, ())
        if self.duplicates:
            words += ["--duplicates", self.duplicates]
        return words

    @property
    def relations(self) -> tuple[str, ...]:
        """In what neighbouring files differ. Where devices take part, who they are is seen,
        so that nobody comes or goes."""
        if self.unit == "value":
            return ("value",)
        if self.engine != "threads":
            return ("record",) if self.unit == "user" else ("cell",)
        return ("person",) if self.unit == "user" else ("cell", "only cell")

    def __str__(self) -> str:
        told = [self.method, self.unit, self.calibration, self.engine]
        told += [
            f"{name}={value}"
            for name, value in (*OPTIONS, *READING, *PEOPLE, LESS)
            if getattr(self, name) == value
        ]
        return " ".join([*told, self.then]).strip()


Option = tuple[str, object]
BOOKED = ["--scale", "1,5", "--ledger", "book.db", "--epsilon", "1"]
INVENTED = ["synthesize", "model", "--people", "9", "--out", "invented.csv"]
AFTER = {
    "figures": [
        [
            *("evaluate", "ratings.csv", "--release", "--model", "model"),
            *("--ledger", "book.db", "--epsilon", "1"),
        ]
    ],
    "invented": [INVENTED],
    "again": [
        [
            *("fit", "ratings.csv", *BOOKED, "--users", "24"),
            *("--items", "items.csv", "--start", "model"),
            *("--out", "model", "--overwrite"),
        ],
        INVENTED,
    ],
}
"""What may be made of a model."""
MEAN: Option = ("duplicates", "mean")
OPTIONS: tuple[Option, ...] = (
    ("positive", True),
    ("max_ratings", True),
    ("users", False),
    ("items", False),
    ("delta", False),
    ("start", True),
    ("duplicates", "last"),
    MEAN,
    ("duplicates", "error"),
    ("layout", "absent"),
)
"""Each option beside its default."""
PEOPLE: tuple[Option, ...] = (("public", True), ("apart", True), ("without", True))
"""Options that decide whose ratings are seen; tried with all others."""
READING: tuple[Option, ...] = tuple(
    ("reading", form) for form in ("odd", "headless", "declared", "gzip", "parquet", "packed")
)
"""Forms of input and declared facts; each is tried beside other options. `odd`: her rows are
made to look like headers, numbers and quotes, and stand first."""
DECLARED = {
    "headless": ["--header", "no", "--columns", "user=1,item=2,rating=3"],
    "declared": [
        *("--header", "no", "--columns", "user=1,item=2,rating=3,time=4", "--delimiter", ";"),
        *("--dates", "dmy", "--decimal", ",", "--encoding", "latin-1"),
    ],
}
"""What is said of a form."""
LESS: Option = ("budgets", True)
"""Beside these alone: it is refused at other units and engines."""
TWO_BY_TWO = tuple(zip(OPTIONS[0::2], OPTIONS[1::2], strict=True))


def kinds() -> Iterator[Case]:
    """Every method at every unit, calibration and engine that it has, with all defaults."""
    for name in names():
        cls = find(name)
        for calibration in cls.calibrations:
            units: Iterable[str] = cls.units
            if calibration == "paper" and cls.paper_unit is not None:
                units = (cls.paper_unit,)
            for unit, engine in product(units, cls.engines):
                yield Case(name, unit, calibration, engine)


def able(kind: Case) -> list[Option]:
    """The options that this kind of fit can be asked with."""
    return [each for each in (*OPTIONS, *PEOPLE) if each[0] != "start" or kind.method in STARTS]


def given(kind: Case, *options: Option) -> Case:
    """The same fit with these options."""
    return replace(kind, **dict(options))  # type: ignore[arg-type]


def matrix() -> list[Case]:
    """All kinds, with each option alone; where something is promised, with each pair too."""
    found = []
    for kind in kinds():
        found.append(kind)
        found += [given(kind, one) for one in (*able(kind), *READING)]
        if kind.calibration != "sound":
            continue
        # Those of `PEOPLE` are in `pairs`.
        others = [each for each in able(kind) if each not in PEOPLE]
        for one, other in combinations(others, 2):
            if one[0] != other[0] and MEAN not in (one, other):
                found.append(given(kind, one, other))
        found += [given(kind, *both) for both in product(READING, others) if readable(*both)]
    return found


def readable(reading: Option, other: Option) -> bool:
    """Whether a table can be in this form and have that option: a layout says its own form, and
    what was packed has no repeated ratings left."""
    return other[0] != "layout" and not (other[0] == "duplicates" and reading[1] == "packed")


def sample() -> list[Case]:
    """A few cases: every method; every option alone at every unit; every option, two by two,
    on every engine and under every calibration. Methods take turns."""
    found = []
    used: Counter[str] = Counter()

    def take(group: list[Case], *options: Option) -> None:
        can = [kind for kind in group if set(options) - set(READING) <= set(able(kind))]
        if can:
            kind = min(can, key=lambda each: used[each.method])
            used[kind.method] += 1
            found.append(given(kind, *options))

    sound = [kind for kind in kinds() if kind.calibration == "sound"]
    for unit, option in product(UNITS, OPTIONS):
        at = [k for k in sound if (k.unit, k.engine) == (unit, "threads")]
        take(at, option)
    others = [kind for kind in kinds() if kind not in sound]
    engines = {kind.engine for kind in sound} - {"threads"}
    groups = [[k for k in sound if k.engine == engine] for engine in sorted(engines)]
    groups += [[k for k in others if k.calibration == c] for c in ("paper", "none")]
    for group, (one, other) in product(groups, TWO_BY_TWO):
        take(group, one, other)
    beside = cycle((("positive", True), ("items", False), ("max_ratings", True), MEAN))
    turns = cycle(UNITS)
    for reading in READING:
        at = next(turns)
        alone = [k for k in sound if (k.unit, k.engine) == (at, "threads")]
        take(alone, reading)
        for unit in ("user", "rating"):
            other = next(each for each in beside if readable(reading, each))
            take([k for k in sound if (k.unit, k.engine) == (unit, "threads")], reading, other)
    for kind in sound:
        if not used[kind.method]:
            take([kind])
    return found


FEW = ("positive", "max_ratings", "items", "start")
"""Options whose pairs are always tried; those of the others at the judged sizes."""


def pairs(*, all_of_them: bool = False) -> list[Case]:
    """Options that decide whose ratings are seen, each with other options at one unit or the
    other; what may be made of such models; calendars."""
    found = []
    units = cycle(("user", "rating", "user"))
    tried = [each for each in OPTIONS if all_of_them or each[0] in FEW]
    for one, other in product(PEOPLE, [*tried, *PEOPLE]):
        if other != one:
            has_all = {one[0], other[0]} & {"public", "start"}
            method = "bayes" if has_all else "bias"
            kind = Case(method, next(units), "sound", "threads")
            found.append(given(kind, *sorted((one, other))))
    user = Case("bayes", "user", "sound", "threads")
    beside = [*PEOPLE, ("start", True), ("max_ratings", True)]
    found += [given(user, LESS, each) for each in beside]
    engine = Case("bayes", "user", "sound", "federated")
    found += [given(engine, one) for one in PEOPLE]
    plain = Case("bayes", "user", "sound", "threads", public=True)
    found += [
        replace(plain, then="again"),
        replace(plain, apart=True, then="figures"),
        replace(plain, start=True, public=False, then="invented"),
    ]
    dated = Case("bias", "user", "sound", "threads", then="calendar")
    found += [
        replace(dated, method="bayes", max_ratings=True),
        replace(dated, method="ease", positive=True),
        replace(dated, unit="rating"),
    ]
    found += [given(dated, option) for option in (*PEOPLE, ("start", True))]
    kept: dict[str, Case] = {}
    for case in found:
        kept.setdefault(str(replace(case, unit="user", method="")), case)
    return list(kept.values())
