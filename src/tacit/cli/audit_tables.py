"""`tacit audit --gauntlet` and `tacit audit --claims`: two tables, and whether all is well."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.auditing.sheet import Sheet
from tacit.cli.show import print_json, progress, say, table
from tacit.errors import SettingError

if TYPE_CHECKING:
    from tacit.auditing.claims.registry import Audited
    from tacit.auditing.gauntlet.exhibit import Cell

NOTHING = "."
APART = "-"
FELL = "falls"


def show_gauntlet(
    what: str | None, quick: bool, mistake: float, out: Sequence[Path], as_json: bool
) -> bool:
    """Run every attack; whether nothing that is certified fell."""
    from tacit.auditing.gauntlet.run import facts, is_sound, run
    from tacit.methods import find

    if what is not None:
        find(what)
    with progress("gauntlet") as bar:
        cells = run(() if what is None else (what,), quick=quick, mistake=mistake, progress=bar)
    columns, rows = gauntlet_rows(cells)
    words = (
        (
            f"{FELL}: more coins guessed than the claim of epsilon 1 allows, or told without "
            f"noise. {NOTHING}: the claim was not refuted. {APART}: does not apply."
        ),
        (
            "A twin claims nothing and is attacked as if it claimed epsilon 1; "
            f"any true claim falls with a chance of at most {mistake:g}."
        ),
    )
    apart = reasons(cells)
    said = "Where attacks do not apply"
    page = Sheet("The gauntlet", columns, rows, words, said, apart)
    _give({"cells": facts(cells)}, page, out, as_json)
    return is_sound(cells)


def reasons(cells: Sequence[Cell]) -> list[str]:
    """Where attacks do not apply, and why: each once."""
    from tacit.auditing.gauntlet.exhibit import Skipped

    return list(
        dict.fromkeys(
            f"{cell.attack} does not apply where {cell.why}"
            for cell in cells
            if isinstance(cell, Skipped)
        )
    )


def gauntlet_rows(cells: Sequence[Cell]) -> tuple[list[str], list[list[str]]]:
    """One row a method and calibration, one column an attack."""
    from tacit.auditing.gauntlet.exhibit import Skipped

    attacks = list(dict.fromkeys(cell.attack for cell in cells))
    found: dict[tuple[str, str, str], dict[str, str]] = {}
    for cell in cells:
        of = cell.target if isinstance(cell, Skipped) else cell
        row = found.setdefault((of.method, of.calibration, of.unit), {})
        row[cell.attack] = APART
        if not isinstance(cell, Skipped):
            row[cell.attack] = FELL if cell.fell else NOTHING
    rows = [[*who, *(row[attack] for attack in attacks)] for who, row in found.items()]
    return ["method", "calibration", "unit", *attacks], rows


def show_claims(
    what: str | None, quick: bool, mistake: float, out: Sequence[Path], as_json: bool
) -> bool:
    """Attack what papers claim; whether what is false fell and what holds did not."""
    from tacit.auditing.claims.registry import CLAIMS, audit_claims

    chosen = [each.name for each in CLAIMS if what in (None, each.method)]
    if not chosen:
        raise SettingError(
            f"no claim about {what!r} is audited", remedy="leave it out for all claims"
        )
    with progress("claims") as bar:
        done = audit_claims(chosen, quick=quick, mistake=mistake, progress=bar)
    words = (
        (
            "Measured is an epsilon that the printed algorithm surely costs at the claim's own "
            f"relation; any true claim is refuted with a chance of at most {mistake:g}."
        ),
        "Derived is what derivation says before anything is measured.",
    )
    seen = [
        f"{each.claim.name}: {each.claim.sentence}. Seen: {each.finding.note} "
        f"({each.finding.witness})."
        for each in done
    ]
    rows = [claim_row(each) for each in done]
    said = "What was seen"
    page = Sheet("The claims of papers", CLAIM_COLUMNS, rows, words, said, seen)
    _give({"claims": [each.facts() for each in done]}, page, out, as_json)
    return all(each.as_expected for each in done)


CLAIM_COLUMNS = ["claim", "paper", "relation", "claimed", "measured", "verdict", "derived"]


def claim_row(done: Audited) -> list[str]:
    """One line of the table."""
    found = done.finding
    measured = "without end" if found.leak else f"{found.measured:.2f}"
    return [
        done.claim.name,
        done.claim.paper,
        done.claim.relation,
        f"{done.claim.epsilon:g}",
        measured,
        found.words,
        done.claim.expected,
    ]


def _give(facts: dict[str, Any], page: Sheet, out: Sequence[Path], as_json: bool) -> None:
    """To the files that were asked for, and to the terminal."""
    from tacit.evaluation.report.files import write

    command = " ".join(["tacit", *sys.argv[1:]])
    text = {
        ".json": json.dumps({"command": command, **facts}, indent=1) + "\n",
        ".md": page.markdown(command),
        ".html": page.html(command),
    }
    for path in out:
        write(str(path), text[path.suffix].encode())
    if as_json:
        print_json(facts)
        return
    table(page.columns, page.rows)
    say("")
    for line in page.words:
        say(line)
