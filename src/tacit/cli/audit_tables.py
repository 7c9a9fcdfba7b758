"""`tacit audit --gauntlet` and `tacit audit --claims`: two tables, and whether all is well."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.auditing.audit_page import Sheet
from tacit.cli.show import print_json, progress, say, table
from tacit.errors import SettingError

if TYPE_CHECKING:
    from tacit.auditing.gauntlet.exhibit import Cell
    from tacit.papers.attacks.registry import Audited

NOTHING = "."
HELD_OUT = "-"
FELL = "falls"


def show_gauntlet(
    method: str | None, quick: bool, mistake: float, out: Sequence[Path], as_json: bool
) -> bool:
    """Run every attack; whether nothing that is certified fell."""
    from tacit.auditing.gauntlet.run import facts, is_sound, run
    from tacit.methods import find

    if method is not None:
        find(method)
    with progress("gauntlet") as bar:
        cells = run(() if method is None else (method,), quick=quick, mistake=mistake, progress=bar)
    columns, rows = gauntlet_rows(cells)
    sentences = (
        (
            f"{FELL}: more coins guessed than the claim of epsilon 1 allows, or told without "
            f"noise. {NOTHING}: the claim was not refuted. {HELD_OUT}: does not apply."
        ),
        (
            "A twin claims nothing and is attacked as if it claimed epsilon 1; "
            f"any true claim falls with a chance of at most {mistake:g}."
        ),
    )
    skip_reasons = reasons(cells)
    heading = "Where attacks do not apply"
    page = Sheet("The gauntlet", columns, rows, sentences, heading, skip_reasons)
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
    verdicts: dict[tuple[str, str, str], dict[str, str]] = {}
    for cell in cells:
        of = cell.target if isinstance(cell, Skipped) else cell
        row = verdicts.setdefault((of.method, of.calibration, of.unit), {})
        row[cell.attack] = HELD_OUT
        if not isinstance(cell, Skipped):
            row[cell.attack] = FELL if cell.fell else NOTHING
    rows = [[*target, *(row[attack] for attack in attacks)] for target, row in verdicts.items()]
    return ["method", "calibration", "unit", *attacks], rows


def show_claims(
    method: str | None, quick: bool, mistake: float, out: Sequence[Path], as_json: bool
) -> bool:
    """Attack what papers claim; whether what is false fell and what holds did not."""
    from tacit.papers.attacks.registry import CLAIMS, audit_claims

    claim_names = [entry.name for entry in CLAIMS if method in (None, entry.method)]
    if not claim_names:
        raise SettingError(
            f"no claim about {method!r} is audited", remedy="leave it out for all claims"
        )
    with progress("claims") as bar:
        audited = audit_claims(claim_names, quick=quick, mistake=mistake, progress=bar)
    sentences = (
        (
            "Measured is an epsilon that the printed algorithm surely costs at the claim's own "
            f"relation; any true claim is refuted with a chance of at most {mistake:g}."
        ),
        "Derived is what derivation says before anything is measured.",
    )
    evidence = [
        f"{entry.claim.name}: {entry.claim.sentence}. Seen: {entry.finding.note} "
        f"({entry.finding.witness})."
        for entry in audited
    ]
    rows = [claim_row(entry) for entry in audited]
    heading = "What was seen"
    page = Sheet("The claims of papers", CLAIM_COLUMNS, rows, sentences, heading, evidence)
    _give({"claims": [entry.facts() for entry in audited]}, page, out, as_json)
    return all(entry.as_expected for entry in audited)


CLAIM_COLUMNS = ["claim", "paper", "relation", "claimed", "measured", "verdict", "derived"]


def claim_row(audited: Audited) -> list[str]:
    """One line of the table."""
    finding = audited.finding
    measured = "without end" if finding.leak else f"{finding.measured:.2f}"
    return [
        audited.claim.name,
        audited.claim.paper,
        audited.claim.relation,
        f"{audited.claim.epsilon:g}",
        measured,
        finding.verdict_text,
        audited.claim.expected,
    ]


def _give(facts: dict[str, Any], page: Sheet, out: Sequence[Path], as_json: bool) -> None:
    """To the files that were asked for, and to the terminal."""
    from tacit.evaluation.report.charts import write

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
