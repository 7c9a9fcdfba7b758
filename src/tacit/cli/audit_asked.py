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


def theirs(lists: str | None, canaries: Path | None, asked: dict[str, Any]) -> Audit:
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
    return Audit((finding,), asked["mistake"], asked["quick"], asked["command"])


def seen(asked: dict[str, Any]) -> Audit:
    """The views of the servers of a federation."""
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
        for finding in audit_parties(replace(first, unit=unit, mistake=each), devices)
    ]
    made = tuple(replace(finding, method=f"{METHOD}: {finding.attack}") for finding in findings)
    return Audit(made, asked["mistake"], asked["quick"], asked["command"])


def check_what(what: str | None) -> None:
    """Refuse at once what is neither a method nor a model's folder."""
    from tacit.methods import find

    if what is None or Path(what).is_dir():
        return
    if Path(what).is_file():
        raise SettingError(
            f"{what} is a file, neither a method nor the folder of a model",
            remedy="name a method, such as bias, or a model; your own people: --ratings FILE",
        )
    try:
        find(what)
    except SettingError as error:
        beside = [each.parent.name for each in Path().glob("*/model.json")]
        meant = get_close_matches(what, beside, n=1)
        if not meant:
            raise
        raise SettingError(
            error.message, remedy=f"did you mean the model {meant[0]}? {error.remedy}"
        ) from None


def ground_of(what: str | None, asked: dict[str, Any]) -> tuple[Ground, Model | None]:
    """Where the audit takes place, and the model that it is about, if it is one. What is
    used here is taken out of what was asked."""
    from tacit.auditing.canaries import CanaryShape
    from tacit.auditing.ground import QUICK, WHOLE, invented_ground, like_model, owners_ground

    quick = asked["quick"]
    planted, fresh = asked.pop("planted"), asked.pop("fresh")
    settings = parse_settings(asked.pop("settings"), "--set")
    taken = {
        name: asked.pop(name) for name in ("ratings", "scale", "owner_only", "ledger", "population")
    }
    usual = QUICK if quick else WHOLE
    fresh = usual.fresh if fresh is None else fresh
    shape = CanaryShape(planted or usual.people, fresh)
    model = None
    if what is not None and Path(what).is_dir():
        from tacit.model.model import load

        model = load(what)
    if taken["ratings"] is not None:
        from tacit.cli.parse import parse_scale
        from tacit.data.read import read
        from tacit.fitting.publish import book_evaluation

        note("NOT PRIVATE: what this audit prints is for the owner only")
        ratings = read(taken["ratings"], scale=parse_scale(taken["scale"]))
        book_evaluation(taken["ledger"], taken["population"], owner_only=taken["owner_only"])
        return with_settings(owners_ground(ratings, shape), settings), model
    if model is not None:
        return with_settings(like_model(model, quick, shape), settings), model
    return with_settings(invented_ground(quick, shape), settings), None


def with_settings(ground: Ground, settings: dict[str, Any]) -> Ground:
    """The same ground with settings that were asked for."""
    return replace(ground, settings={**ground.settings, **settings})
