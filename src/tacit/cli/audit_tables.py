"""`tacit audit --gauntlet` and `tacit audit --claims`: two tables, and whether all is well."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tacit.cli.show import print_json, progress, say, table
from tacit.errors import SettingError

if TYPE_CHECKING:
    from tacit.auditing.claims.registry import Audited
    from tacit.auditing.gauntlet.exhibit import Cell

NOTHING = "."
APART = "-"
FELL = "falls"


def show_gauntlet(
    what: str | None,
    quick: bool,
    mistake: float,
    out: Sequence[Path],
    as_json: bool,
) -> bool:
    """Run every attack; whether nothing that is certified fell."""
    from tacit.auditing.gauntlet.run import facts, is_sound, run
    from tacit.methods import find

    if what is not None:
        find(what)
    with progress("gauntlet") as bar:
        cells = run(
            () if what is None else (what,),
            quick=quick,
            mistake=mistake,
            progress=bar,
        )
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
    page = Page("The gauntlet", columns, rows, words, reasons(cells))
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


def gauntlet_rows(
    cells: Sequence[Cell],
) -> tuple[list[str], list[list[str]]]:
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
    rows = [
        [*who, *(row[attack] for attack in attacks)]
        for who, row in found.items()
    ]
    return ["method", "calibration", "unit", *attacks], rows


def show_claims(
    what: str | None,
    quick: bool,
    mistake: float,
    out: Sequence[Path],
    as_json: bool,
) -> bool:
    """Attack what papers claim; whether what is false fell and what holds did not."""
    from tacit.auditing.claims.registry import CLAIMS, audit_claims

    chosen = [each.name for each in CLAIMS if what in (None, each.method)]
    if not chosen:
        raise SettingError(
            f"no claim about {what!r} is audited",
            remedy="leave it out for all claims",
        )
    with progress("claims") as bar:
        done = audit_claims(chosen, quick=quick, mistake=mistake, progress=bar)
    words = (
        (
            "Measured is an epsilon that the printed algorithm surely costs at the claim's own "
            f"relation; any true claim is refuted with a chance of at most {mistake:g}."
        ),
    )
    seen = [
        f"{each.claim.name}: {each.claim.sentence}. Seen: {each.finding.note} "
        f"({each.finding.witness})."
        for each in done
    ]
    rows = [claim_row(each) for each in done]
    page = Page("The claims of papers", CLAIM_COLUMNS, rows, words, seen)
    _give({"claims": [each.facts() for each in done]}, page, out, as_json)
    return all(each.as_expected for each in done)


CLAIM_COLUMNS = ["claim", "paper", "relation", "claimed", "measured", "verdict"]


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
    ]


class Page(NamedTuple):
    """A table with what is said about it."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    words: tuple[str, ...]
    """Below the table."""
    more: list[str]
    """In a file only."""

    def markdown(self) -> str:
        """With the command and the day."""
        today = datetime.now(UTC).date().isoformat()
        command = " ".join(["tacit", *sys.argv[1:]])
        lines = [
            f"# {self.title}",
            "",
            f"By `{command}`, {today}.",
            "",
            *(f"{line}\n" for line in self.words),
            _line(self.columns),
            _line(["---"] * len(self.columns)),
            *(_line(row) for row in self.rows),
            "",
            *(f"- {line}" for line in self.more),
        ]
        return "\n".join(lines) + "\n"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _give(
    facts: dict[str, Any], page: Page, out: Sequence[Path], as_json: bool
) -> None:
    """To the files that were asked for, and to the terminal."""
    from tacit.evaluation.report.files import write

    text = {
        ".json": json.dumps(facts, indent=1) + "\n",
        ".md": page.markdown(),
    }
    for path in out:
        if path.suffix not in text:
            raise SettingError(
                f"{path} does not end in .json or .md", remedy="name it so"
            )
        write(str(path), text[path.suffix].encode())
    if as_json:
        print_json(facts)
        return
    table(page.columns, page.rows)
    say("")
    for line in page.words:
        say(line)
