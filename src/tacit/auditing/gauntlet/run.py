"""The gauntlet: every attack on every method at every calibration, as one table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import get_args

from tacit.auditing.gauntlet.drawing import floating_point, fork_and_replay, timing
from tacit.auditing.gauntlet.exhibit import Cell, Exhibit, Skipped
from tacit.auditing.gauntlet.published import (
    changed_lists,
    cohorts,
    existence,
    linkage,
    membership,
    raw_means,
    reconstruction,
    refreshes,
)
from tacit.auditing.gauntlet.raifle import chosen_state
from tacit.auditing.gauntlet.rollback import ledger_rollback
from tacit.auditing.verdict import MISTAKE, AttackFinding, Calibration, Target
from tacit.methods import METHODS, find
from tacit.units import Unit

EPSILON, DELTA = 1.0, 1e-6
"""Of every fit that claims something."""
QUICK = ("bias", "bayes", "ease", "svd-gradient", "pnbm-sgd", "one-bit")
"""One of each family: those that are run in a minute."""
CALIBRATIONS: tuple[Calibration, ...] = get_args(Calibration)
Progress = Callable[[int, int, str], None]
# All attacks of the gauntlet by name, in the order of the table.


ATTACKS: dict[str, Callable[[Exhibit], Cell]] = {
    "linkage": linkage,
    "lists that change": changed_lists,
    "membership": membership,
    "reconstruction": reconstruction,
    "raw means": raw_means,
    "existence": existence,
    "refreshes": refreshes,
    "cohorts": cohorts,
    "chosen state": chosen_state,
    "floating point": floating_point,
    "fork and replay": fork_and_replay,
    "ledger rollback": ledger_rollback,
    "timing": timing,
}
"""An attack is a function of an exhibit: a finding, or why it does not apply."""


def run(
    methods: Iterable[str] = (),
    calibrations: Iterable[Calibration] = CALIBRATIONS,
    quick: bool = False,
    *,
    mistake: float = MISTAKE,
    attacks: Iterable[str] = (),
    progress: Progress | None = None,
) -> list[Cell]:
    """All cells: findings, and where an attack does not apply why. All methods unless some
    are named; `quick` takes one of each family.

    `mistake` is the chance that any cell at all refutes a claim that holds: it is split
    evenly over them.
    """
    selected = tuple(methods) or (QUICK if quick else tuple(METHODS))
    names = tuple(attacks) or tuple(ATTACKS)
    rows = list(targets(selected, calibrations))
    mistake_share = mistake / max(1, len(rows) * len(names))
    cells: list[Cell] = []
    for index, (name, unit, calibration) in enumerate(rows):
        if progress is not None:
            progress(index, len(rows), f"{name} {calibration}")
        exhibit = Exhibit(Target(name, unit, calibration, EPSILON, DELTA, mistake_share))
        cells += [ATTACKS[attack](exhibit) for attack in names]
    return cells


def targets(
    methods: Sequence[str], calibrations: Iterable[Calibration]
) -> Iterator[tuple[str, Unit, Calibration]]:
    """Each method at each calibration that it has, at the unit of its claim."""
    requested = tuple(calibrations)
    for name in methods:
        kind = find(name)
        for calibration in CALIBRATIONS:
            if calibration not in requested or calibration not in kind.calibrations:
                continue
            unit = kind.units[0]
            if calibration == "paper" and kind.paper_unit is not None:
                unit = kind.paper_unit
            yield name, unit, calibration


def fallen(cells: Iterable[Cell]) -> list[AttackFinding]:
    """The findings that refute what they attacked."""
    return [c for c in cells if isinstance(c, AttackFinding) and c.fell]


def is_sound(cells: Iterable[Cell]) -> bool:
    """Whether nothing that Tacit certifies has fallen."""
    return not any(cell.calibration == "sound" for cell in fallen(cells))


def facts(cells: Iterable[Cell]) -> list[dict[str, object]]:
    """As JSON."""
    return [
        {
            "attack": c.attack,
            "method": c.target.method,
            "unit": c.target.unit,
            "calibration": c.target.calibration,
            "verdict": "does not apply",
            "note": c.why,
        }
        if isinstance(c, Skipped)
        else c.facts()
        for c in cells
    ]
