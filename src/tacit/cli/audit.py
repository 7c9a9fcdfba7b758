"""`tacit audit`: try to break a claim; claimed, proven and measured epsilon."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.options import (
    json_option,
    ledger_options,
    note,
    parse_settings,
)
from tacit.cli.show import print_json, progress, say, table
from tacit.errors import SettingError
from tacit.units import UNITS, Unit

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
    "--attack",
    "attacks",
    multiple=True,
    type=click.Choice(["worst", "device", "transcript", "published"]),
    help="Only these attacks; all unless said. The chance of a mistake is shared among them.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Settings of the method, as `fit` takes them.",
)
@click.option(
    "--fresh",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Items of each canary that nobody else rates; 16 unless said, 12 where quick.",
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
    help="All findings (.json), a page that stands alone (.html), a table (.md); several times "
    "for several.",
    multiple=True,
)
@click.option(
    "--gauntlet",
    is_flag=True,
    help="Published attacks instead, at every calibration: one table.",
)
@click.option(
    "--parties",
    is_flag=True,
    help="What each server of a federation sees of one rating and one person.",
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
@json_option
def audit(
    what: str | None,
    everything: bool,
    out: tuple[Path, ...],
    gauntlet: bool,
    parties: bool,
    lists: str | None,
    canaries: Path | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """Try to break a claim, on invented people. Spends nothing and reads no ratings.

    Exit status 1 where a sound claim was refuted.
    """
    check_out(out)
    if gauntlet:
        _gauntlet(what, asked, out, as_json)
        return
    if lists is not None or canaries is not None:
        done = _theirs(lists, canaries, asked)
    elif parties:
        done = _seen(asked)
    else:
        done = _ours(what, everything, asked)
    write(done, out)
    if as_json:
        print_json(done.facts())
    else:
        show(done)
    if done.fell:
        sys.exit(1)


def _gauntlet(
    what: str | None,
    asked: dict[str, Any],
    out: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Published attacks at every calibration."""
    from tacit.auditing.audit import Audit
    from tacit.auditing.gauntlet.run import facts, is_sound
    from tacit.auditing.verdict import Finding
    from tacit.cli.audit_gauntlet import run_gauntlet, show_gauntlet

    cells = run_gauntlet(what, asked)
    made = tuple(cell for cell in cells if isinstance(cell, Finding))
    write(Audit(made, asked["mistake"], asked["quick"], _command()), out)
    if as_json:
        print_json({"cells": facts(cells)})
    else:
        show_gauntlet(cells)
    if not is_sound(cells):
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


def _seen(asked: dict[str, Any]) -> Audit:
    """The views of the servers of a federation."""
    from dataclasses import replace

    from tacit.auditing.audit import Audit
    from tacit.auditing.parties import DEVICES, METHOD, audit_parties
    from tacit.auditing.verdict import Target

    devices = asked["planted"] or (DEVICES // 3 if asked["quick"] else DEVICES)
    both: tuple[Unit, ...] = ("user", "rating")
    units = (asked["unit"],) if asked["unit"] else both
    # Two views of each unit may be mistaken.
    each = asked["mistake"] / (2 * len(units))
    first = Target(METHOD, "user", "sound", asked["epsilon"], asked["delta"])
    findings = [
        finding
        for unit in units
        for finding in audit_parties(
            replace(first, unit=unit, mistake=each), devices
        )
    ]
    made = tuple(
        replace(finding, method=f"{METHOD}: {finding.attack}")
        for finding in findings
    )
    return Audit(made, asked["mistake"], asked["quick"], _command())


def _ours(what: str | None, everything: bool, asked: dict[str, Any]) -> Audit:
    """Methods of Tacit, or of packages beside it, or the method of a model."""
    from tacit.auditing.audit import audit as run

    ground, model = _ground(what, asked)
    named = asked.pop("attacks")
    if named:
        asked["attacks"] = named
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
    planted, fresh = asked.pop("planted"), asked.pop("fresh")
    settings = parse_settings(asked.pop("settings"), "--set")
    taken = {
        name: asked.pop(name)
        for name in ("ratings", "scale", "owner_only", "ledger", "population")
    }
    usual = QUICK if quick else WHOLE
    shape = CanaryShape(planted or usual.people, fresh or usual.fresh)
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
        return with_settings(owners_ground(ratings, shape), settings), model
    if model is not None:
        return with_settings(like_model(model, quick, shape), settings), model
    return with_settings(invented_ground(quick, shape), settings), None


def with_settings(ground: Ground, settings: dict[str, Any]) -> Ground:
    """The same ground with settings that were asked for."""
    from dataclasses import replace

    return replace(ground, settings={**ground.settings, **settings})


def write(done: Audit, out: tuple[Path, ...]) -> None:
    """The files that were asked for."""
    import json

    from tacit.evaluation.report.files import write as write_file

    for path in out:
        if path.suffix == ".html":
            done.write_page(path)
        elif path.suffix == ".md":
            from tacit.auditing.audit_text import audit_text

            write_file(str(path), audit_text(done).encode())
        else:
            text = json.dumps(done.facts(), indent=1) + "\n"
            write_file(str(path), text.encode())


def check_out(out: tuple[Path, ...]) -> None:
    """Refuse a file of no known format before the work is done."""
    for path in out:
        if path.suffix not in (".json", ".html", ".md"):
            raise SettingError(
                f"{path} does not end in .json, .html or .md",
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
