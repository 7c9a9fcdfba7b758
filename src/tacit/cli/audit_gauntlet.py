"""The gauntlet and the claims of papers on the command line: published attacks x methods x
calibrations in one table, and each claim beside what was measured of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.cli.show import progress, say, table

if TYPE_CHECKING:
    from tacit.auditing.claims.registry import Audited
    from tacit.auditing.gauntlet.exhibit import Cell

FELL, STOOD, NOT_APPLIED = "FELL", "stood", "–"


def run_gauntlet(what: str | None, asked: dict[str, Any]) -> list[Cell]:
    """All cells for one method, or for all of them."""
    from tacit.auditing.gauntlet.run import run

    done = 0
    with progress("gauntlet") as bar:

        def tell(what: str) -> None:
            nonlocal done
            done += 1
            if bar is not None:
                bar(done, done, what)

        return run(
            () if what is None else (what,),
            quick=asked["quick"],
            mistake=asked["mistake"],
            progress=tell,
        )


def show_gauntlet(cells: list[Cell]) -> None:
    """One row a claim, one column an attack."""
    from tacit.auditing.gauntlet.registry import ATTACKS
    from tacit.auditing.verdict import Finding

    rows: dict[tuple[str, str, str], dict[str, str]] = {}
    for cell in cells:
        if isinstance(cell, Finding):
            key = cell.target
            mark = FELL if cell.fell else STOOD
        else:
            aimed = cell.target
            key = (aimed.method, aimed.unit, aimed.calibration)
            mark = NOT_APPLIED
        rows.setdefault(key, {})[cell.attack] = mark
    columns = ["method", "unit", "calibration", *ATTACKS]
    table(
        columns,
        [
            [*key, *(marks.get(name, NOT_APPLIED) for name in ATTACKS)]
            for key, marks in rows.items()
        ],
    )
    say("")
    say(
        "FELL: the attack refuted the claim, or what a twin of that claim would promise. A "
        "dash: it does not apply. Twins (none) promise nothing, and sound must never fall."
    )


def run_claims(what: str | None, asked: dict[str, Any]) -> list[Audited]:
    """Every claim of a paper, or the one of this name."""
    from tacit.auditing.claims.registry import CLAIMS, audit_claims
    from tacit.errors import SettingError

    known = [claim.name for claim in CLAIMS]
    if what is not None and what not in known:
        raise SettingError(
            f"there is no claim {what}",
            remedy=f"name one of: {'; '.join(known)}",
        )
    return audit_claims(
        () if what is None else (what,),
        quick=asked["quick"],
        mistake=asked["mistake"],
    )


def show_claims(done: list[Audited]) -> None:
    """One row a claim: what was derived of it beside what was measured."""
    from tacit.auditing.audit_page import epsilon_text

    table(
        ("claim", "paper", "claimed", "measured", "derived", "verdict"),
        [
            [
                each.claim.name,
                each.claim.paper,
                f"{each.claim.epsilon:g}",
                epsilon_text(each.finding.measured),
                each.claim.expected,
                each.finding.verdict.value,
            ]
            for each in done
        ],
    )
