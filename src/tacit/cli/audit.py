"""`tacit audit`: try to break a claim; claimed, proven and measured epsilon."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.grouped import Command
from tacit.cli.no_effect import refuse_no_effect
from tacit.cli.options import (
    TABLE,
    columns_option,
    json_option,
    ledger_options,
    note,
    parse_settings,
    read_table,
    table_options,
)
from tacit.cli.overwrite import may_write
from tacit.cli.show import print_json, progress, say, table
from tacit.errors import SettingError
from tacit.units import UNITS, Unit

if TYPE_CHECKING:
    from tacit.auditing.audit import Audit
    from tacit.auditing.canaries import Ground
    from tacit.model.model import Model


@click.command(cls=Command)
@click.argument("what", metavar="[METHOD|MODEL]", required=False)
@click.option("--all", "everything", is_flag=True, help="Every method and every unit.")
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
    "--unit", type=click.Choice(UNITS), help="Only this unit; all that a method has unless said."
)
@click.option(
    "--calibration",
    type=click.Choice(["sound", "paper", "none"]),
    default="sound",
    show_default=True,
    help="Whose claim: ours, a paper's, or the twin's, which claims nothing.",
)
@click.option(
    "--quick", is_flag=True, help="Smaller crowds: seconds a method; less of a claim is reached."
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
    type=click.Choice(["worst", "device", "transcript", "published", "calendar"]),
    help="Only these attacks; the first four unless said. The chance of a mistake is shared "
    "among them.",
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
    type=click.IntRange(0, 1000),
    metavar="N",
    help="Items of each canary that nobody else rates; 16 unless said, 12 where quick. 0 where a "
    "matrix over all items is audited.",
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
    "--scale", metavar="LOW,HIGH", help="With --ratings: lowest and highest possible rating."
)
@columns_option
@table_options
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
@click.option("--overwrite", is_flag=True, help="Replace files that are there already.")
@click.option(
    "--gauntlet", is_flag=True, help="Published attacks instead, at every calibration: one table."
)
@click.option(
    "--claims",
    is_flag=True,
    help="The claims of the papers instead; one of them where its name is given.",
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
    overwrite: bool,
    gauntlet: bool,
    claims: bool,
    parties: bool,
    lists: str | None,
    canaries: Path | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """Try to break a claim, on invented people. Spends nothing and reads no ratings.

    Exit status 1 where a sound claim was refuted.
    """
    refuse_no_effect()
    check_out(out)
    for path in out:
        may_write(str(path), overwrite)
    asked["command"] = _command()
    _check_one(gauntlet, claims, parties, lists is not None)
    if gauntlet or claims:
        from tacit.cli.audit_tables import show_claims, show_gauntlet

        show_table = show_claims if claims else show_gauntlet
        _table(show_table, what, asked, out, as_json)
        return
    if lists is not None or canaries is not None:
        report = theirs(lists, canaries, asked)
    elif parties:
        report = audit_federation(asked)
    else:
        report = _ours(what, everything, asked)
    write(report, out)
    if as_json:
        print_json(report.facts())
    else:
        show(report)
    if report.fell:
        sys.exit(1)


def _check_one(*kinds: bool) -> None:
    """Refuse two audits in one."""
    if sum(kinds) > 1:
        raise SettingError(
            "--gauntlet, --claims, --parties and --lists are audits of their own",
            remedy="give one of them",
        )


def _table(
    show_table: Callable[..., bool],
    method: str | None,
    options: dict[str, Any],
    out: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Published attacks at every calibration; or what papers claim, each by the attack that
    it has to stand. Status 1 where something fell that must not, or stood that must."""
    if not show_table(method, options["quick"], options["mistake"], out, as_json):
        sys.exit(1)


def _ours(subject: str | None, everything: bool, options: dict[str, Any]) -> Audit:
    """Methods of Tacit, or of packages beside it, or the method of a model."""
    from tacit.auditing.audit import audit as run

    check_what(subject)
    if (subject is None) != everything:
        raise SettingError(
            "an audit needs a METHOD or --all, one of the two",
            remedy="for example: tacit audit bias --quick",
        )
    ground, model = ground_of(subject, options)
    named = options.pop("attacks")
    if named:
        options["attacks"] = named
    if model is not None:
        subject = model.shared.method
        promise = model.statement
        options |= {"unit": promise.unit, "calibration": promise.calibration}
        claim = promise.epsilon or promise.claimed_epsilon
        options["epsilon"] = claim or options["epsilon"]
        options["delta"] = promise.delta or options["delta"]
    with progress("audit") as bar:
        return run(subject, progress=bar, ground=ground, **options)


def write(report: Audit, out: tuple[Path, ...]) -> None:
    """The files that were asked for."""
    import json

    from tacit.evaluation.report.charts import write as write_file

    for path in out:
        if path.suffix == ".html":
            report.write_page(path)
        elif path.suffix == ".md":
            from tacit.auditing.audit_page import audit_text

            write_file(str(path), audit_text(report).encode())
        else:
            text = json.dumps(report.facts(), indent=1) + "\n"
            write_file(str(path), text.encode())


def check_out(out: tuple[Path, ...]) -> None:
    """Refuse a file of no known format before the work is done."""
    for path in out:
        if path.suffix not in (".json", ".html", ".md"):
            raise SettingError(
                f"{path} does not end in .json, .html or .md",
                remedy="name the file after its format",
            )


def show(report: Audit) -> None:
    """The table on a terminal."""
    from tacit.auditing.audit_page import COLUMNS, line

    table(COLUMNS, [line(report, finding) for finding in report.best])
    say("")
    for finding in report.best if len(report.best) == 1 else ():
        say(f"{finding.attack}: {finding.note}")
    say(
        f"Measured is an epsilon that a fit surely costs; the chance that any true claim is "
        f"called refuted is at most {report.mistake:g}."
    )
    say("Not refuted is not proven: docs/audit.md says what an audit shows.")


def _command() -> str:
    return " ".join(["tacit", *sys.argv[1:]])


# Target of an audit, from the options of `tacit audit`.


def theirs(lists: str | None, canaries: Path | None, options: dict[str, Any]) -> Audit:
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
        epsilon=options["epsilon"],
        delta=options["delta"],
        unit=options["unit"] or "user",
        mistake=options["mistake"],
    )
    return Audit((finding,), options["mistake"], options["quick"], options["command"])


def audit_federation(options: dict[str, Any]) -> Audit:
    """The views of the servers of a federation."""
    from tacit.auditing.audit import Audit
    from tacit.auditing.parties import DEVICES, METHOD, audit_parties
    from tacit.auditing.verdict import Target

    devices = options["planted"] or (DEVICES // 3 if options["quick"] else DEVICES)
    all_units: tuple[Unit, ...] = ("user", "rating")
    units = (options["unit"],) if options["unit"] else all_units
    # Two views of each unit may be mistaken.
    mistake = options["mistake"] / (2 * len(units))
    target = Target(METHOD, "user", "sound", options["epsilon"], options["delta"])
    findings = [
        finding
        for unit in units
        for finding in audit_parties(replace(target, unit=unit, mistake=mistake), devices)
    ]
    named_findings = tuple(
        replace(finding, method=f"{METHOD}: {finding.attack}") for finding in findings
    )
    return Audit(named_findings, options["mistake"], options["quick"], options["command"])


def check_what(subject: str | None) -> None:
    """Refuse at once what is neither a method nor a model's folder."""
    from tacit.methods import find

    if subject is None or Path(subject).is_dir():
        return
    if Path(subject).is_file():
        raise SettingError(
            f"{subject} is a file, neither a method nor the folder of a model",
            remedy="name a method, such as bias, or a model; your own people: --ratings FILE",
        )
    try:
        find(subject)
    except SettingError as error:
        model_names = [path.parent.name for path in Path().glob("*/model.json")]
        matches = get_close_matches(subject, model_names, n=1)
        if not matches:
            raise
        raise SettingError(
            error.message, remedy=f"did you mean the model {matches[0]}? {error.remedy}"
        ) from None


def ground_of(subject: str | None, options: dict[str, Any]) -> tuple[Ground, Model | None]:
    """Where the audit takes place, and the model that it is about, if it is one. What is
    used here is taken out of what was asked."""
    from tacit.auditing.canaries import (
        QUICK,
        WHOLE,
        CanaryShape,
        invented_ground,
        like_model,
        owners_ground,
    )

    quick = options["quick"]
    planted, fresh = options.pop("planted"), options.pop("fresh")
    settings = parse_settings(options.pop("settings"), "--set")
    data_options = {
        name: options.pop(name)
        for name in (
            *("ratings", "scale", "columns"),
            *TABLE,
            *("owner_only", "ledger", "population"),
        )
    }
    usual = QUICK if quick else WHOLE
    fresh = usual.fresh if fresh is None else fresh
    shape = CanaryShape(planted or usual.people, fresh)
    model = None
    if subject is not None and Path(subject).is_dir():
        from tacit.model.model import load

        model = load(subject)
    if data_options["ratings"] is not None:
        from tacit.fitting.publish import book_evaluation

        note("NOT PRIVATE: what this audit prints is for the owner only")
        ratings = read_table(data_options["ratings"], data_options)
        book_evaluation(
            data_options["ledger"],
            data_options["population"],
            owner_only=data_options["owner_only"],
        )
        return with_settings(owners_ground(ratings, shape), settings), model
    if model is not None:
        return with_settings(like_model(model, quick, shape), settings), model
    return with_settings(invented_ground(quick, shape), settings), None


def with_settings(ground: Ground, settings: dict[str, Any]) -> Ground:
    """The same ground with settings that were asked for."""
    return replace(ground, settings={**ground.settings, **settings})
