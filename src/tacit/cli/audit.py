"""`tacit audit`: try to break a claim; claimed, proven and measured epsilon."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.options import json_option, ledger_options, note
from tacit.cli.show import print_json, progress, say, table
from tacit.errors import SettingError
from tacit.units import UNITS

if TYPE_CHECKING:
    from tacit.auditing.audit import Audit
    from tacit.auditing.ground import Ground
    from tacit.model.model import Model


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
    "--planted",
    type=click.IntRange(20, 100_000),
    metavar="N",
    help="Canary people; 4,000 unless said, 600 where quick.",
)
@click.option(
    "--ratings",
    metavar="FILE",
    help="The owner's own people around the canaries: NOT PRIVATE, booked as an evaluation.",
)
@click.option(
    "--scale",
    metavar="LOW,HIGH",
    help="With --ratings: lowest and highest possible rating.",
)
@click.option(
    "--owner-only",
    is_flag=True,
    help="With --ratings: allow it on a capped book; the findings stay with the owner.",
)
@ledger_options
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="All findings: .json, or .html for a page that stands alone. Both where given twice.",
    multiple=True,
)
@click.option(
    "--lists",
    metavar="BEFORE,AFTER",
    help="Somebody else's recommender: its lists before and after a training with canaries.",
)
@click.option(
    "--canaries",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="With --lists: whose items are whose, and which canaries were in.",
)
@click.option(
    "--gauntlet",
    is_flag=True,
    help="Published attacks on METHOD, or on all, at every calibration: one table.",
)
@click.option(
    "--claims",
    is_flag=True,
    help="What papers claim, each sentence attacked at its own relation.",
)
@json_option
def audit(
    what: str | None,
    everything: bool,
    out: tuple[Path, ...],
    lists: str | None,
    canaries: Path | None,
    gauntlet: bool,
    claims: bool,
    as_json: bool,
    **asked: Any,
) -> None:
    """Try to break a claim, on invented people. Spends nothing and reads no ratings.

    Exit status 1 where a sound claim was refuted.
    """
    if gauntlet or claims:
        from tacit.cli.audit_tables import show_claims, show_gauntlet

        shown = show_claims if claims else show_gauntlet
        if not shown(what, asked["quick"], asked["mistake"], out, as_json):
            sys.exit(1)
        return
    if lists is not None or canaries is not None:
        done = _theirs(lists, canaries, asked)
    else:
        done = _ours(what, everything, asked)
    write(done, out)
    if as_json:
        print_json(done.facts())
    else:
        show(done)
    if done.fell:
        sys.exit(1)


def _theirs(
    lists: str | None, canaries: Path | None, asked: dict[str, Any]
) -> Audit:
    """Another recommender, from its lists."""
    from tacit.auditing.audit import Audit
    from tacit.auditing.others import audit_lists

    files = (lists or "").split(",")
    if canaries is None or len(files) != 2:
        raise SettingError(
            "an audit of lists needs --lists BEFORE,AFTER and --canaries FILE",
            remedy="docs/audit.md describes the three files",
        )
    finding = audit_lists(
        files[0],
        files[1],
        canaries,
        epsilon=asked["epsilon"],
        delta=asked["delta"],
        unit=asked["unit"] or "user",
        mistake=asked["mistake"],
    )
    return Audit((finding,), asked["mistake"], asked["quick"], _command())


def _ours(what: str | None, everything: bool, asked: dict[str, Any]) -> Audit:
    """Methods of Tacit, or of packages beside it, or the method of a model."""
    from tacit.auditing.audit import audit as run

    ground, model = _ground(what, asked)
    if model is not None:
        what = model.shared.method
        promise = model.statement
        asked |= {"unit": promise.unit, "calibration": promise.calibration}
        claim = promise.epsilon or promise.claimed_epsilon
        asked["epsilon"] = claim or asked["epsilon"]
        asked["delta"] = promise.delta or asked["delta"]
    if (what is None) != everything:
        raise SettingError(
            "an audit needs a METHOD or --all, one of the two",
            remedy="for example: tacit audit bias --quick",
        )
    with progress("audit") as bar:
        return run(
            what, progress=bar, command=_command(), ground=ground, **asked
        )


def _ground(
    what: str | None, asked: dict[str, Any]
) -> tuple[Ground, Model | None]:
    """Where the audit takes place, and the model that it is about, if it is one. What is
    used here is taken out of what was asked."""
    from tacit.auditing.canaries import CanaryShape
    from tacit.auditing.ground import (
        QUICK,
        WHOLE,
        invented_ground,
        like_model,
        owners_ground,
    )

    quick = asked["quick"]
    planted = asked.pop("planted")
    taken = {
        name: asked.pop(name)
        for name in ("ratings", "scale", "owner_only", "ledger", "population")
    }
    usual = QUICK if quick else WHOLE
    shape = CanaryShape(planted or usual.people, usual.fresh)
    model = None
    if what is not None and Path(what).is_dir():
        from tacit.model.model import load

        model = load(what)
    if taken["ratings"] is not None:
        from tacit.cli.options import parse_scale
        from tacit.data.read import read
        from tacit.fitting.publish import book_evaluation

        note("NOT PRIVATE: what this audit prints is for the owner only")
        ratings = read(taken["ratings"], scale=parse_scale(taken["scale"]))
        book_evaluation(
            taken["ledger"],
            taken["population"],
            owner_only=taken["owner_only"],
        )
        return owners_ground(ratings, shape), model
    if model is not None:
        return like_model(model, quick, shape), model
    return invented_ground(quick, shape), None


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
