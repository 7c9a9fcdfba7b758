"""`tacit audit`: try to break a claim; claimed, proven and measured epsilon."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.options import json_option
from tacit.cli.show import print_json, progress, say, table
from tacit.errors import SettingError
from tacit.units import UNITS

if TYPE_CHECKING:
    from tacit.auditing.audit import Audit


@click.command()
@click.argument("what", metavar="[METHOD|MODEL]", required=False)
@click.option(
    "--all", "everything", is_flag=True, help="Every method and every unit."
)
@click.option(
    "--epsilon",
    type=click.FloatRange(0, min_open=True),
    default=1.0,
    show_default=True,
    help="The claim that is attacked; a model's own where a model is given.",
)
@click.option(
    "--delta",
    type=click.FloatRange(0, 1),
    default=1e-6,
    show_default=True,
    help="At which epsilons are compared.",
)
@click.option(
    "--unit",
    type=click.Choice(UNITS),
    help="Only this unit; all that a method has unless said.",
)
@click.option(
    "--calibration",
    type=click.Choice(["sound", "paper", "none"]),
    default="sound",
    show_default=True,
    help="Whose claim: ours, a paper's, or the twin's, which claims nothing.",
)
@click.option(
    "--quick",
    is_flag=True,
    help="Smaller crowds: seconds a method; less of a claim is reached.",
)
@click.option(
    "--mistake",
    type=click.FloatRange(0, 0.5, min_open=True),
    default=0.05,
    show_default=True,
    help="Chance that any true claim of the whole table is refuted.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="All findings: .json, or .html for a page that stands alone. Both where given twice.",
    multiple=True,
)
@json_option
def audit(
    what: str | None,
    everything: bool,
    out: tuple[Path, ...],
    as_json: bool,
    **asked: Any,
) -> None:
    """Try to break a claim, on invented people. Spends nothing and reads no ratings.

    Exit status 1 where a sound claim was refuted.
    """
    from tacit.auditing.audit import audit as run

    if (what is None) != everything:
        raise SettingError(
            "an audit needs a METHOD or --all, one of the two",
            remedy="for example: tacit audit bias --quick",
        )
    with progress("audit") as bar:
        done = run(what, progress=bar, command=_command(), **asked)
    write(done, out)
    if as_json:
        print_json(done.facts())
    else:
        show(done)
    if done.fell:
        sys.exit(1)


def write(done: Audit, out: tuple[Path, ...]) -> None:
    """The files that were asked for."""
    import json

    from tacit.evaluation.report.files import write as write_file

    for path in out:
        if path.suffix == ".html":
            done.write_page(path)
        elif path.suffix == ".json":
            text = json.dumps(done.facts(), indent=1) + "\n"
            write_file(str(path), text.encode())
        else:
            raise SettingError(
                f"{path} does not end in .json or .html",
                remedy="name the file after its format",
            )


def show(done: Audit) -> None:
    """The table on a terminal."""
    from tacit.auditing.audit_page import COLUMNS, line

    table(COLUMNS, [line(done, finding) for finding in done.best])
    say("")
    for finding in done.best if len(done.best) == 1 else ():
        say(f"{finding.attack}: {finding.note}")
    say(
        f"Measured is an epsilon that a fit surely costs; the chance that any true claim is "
        f"called refuted is at most {done.mistake:g}."
    )
    say("Not refuted is not proven: docs/audit.md says what an audit shows.")


def _command() -> str:
    return " ".join(["tacit", *sys.argv[1:]])
