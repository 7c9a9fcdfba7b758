"""Where an audit of `tacit audit` takes place, as its options say."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.options import note
from tacit.cli.parse import parse_settings
from tacit.errors import SettingError
from tacit.units import Unit

if TYPE_CHECKING:
    from tacit.auditing.audit import Audit
    from tacit.auditing.ground import Ground
    from tacit.model.model import Model


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
    from tacit.auditing.canaries import CanaryShape
    from tacit.auditing.ground import QUICK, WHOLE, invented_ground, like_model, owners_ground

    quick = options["quick"]
    planted, fresh = options.pop("planted"), options.pop("fresh")
    settings = parse_settings(options.pop("settings"), "--set")
    data_options = {
        name: options.pop(name)
        for name in ("ratings", "scale", "owner_only", "ledger", "population")
    }
    usual = QUICK if quick else WHOLE
    fresh = usual.fresh if fresh is None else fresh
    shape = CanaryShape(planted or usual.people, fresh)
    model = None
    if subject is not None and Path(subject).is_dir():
        from tacit.model.model import load

        model = load(subject)
    if data_options["ratings"] is not None:
        from tacit.cli.parse import parse_scale
        from tacit.data.read import read
        from tacit.fitting.publish import book_evaluation

        note("NOT PRIVATE: what this audit prints is for the owner only")
        ratings = read(data_options["ratings"], scale=parse_scale(data_options["scale"]))
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
