"""`tacit.audit`: try to break a claim; claimed, proven and measured epsilon, and a verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit import __version__
from tacit.auditing.attacks import VIEWS, device_game, one_run, worst_pair
from tacit.auditing.canaries import Ground, invented_ground
from tacit.auditing.verdict import MISTAKE, AttackFinding, Calibration, Target, make_finding
from tacit.errors import SettingError
from tacit.methods import find, names, names_of
from tacit.units import Unit
from tacit.validation import by_name, flag, function, number
from tacit.validation import path as asked_path

if TYPE_CHECKING:
    from tacit.auditing.attacks import GroundAttack

ATTACKS = ("worst", "device", "transcript", "published")
"""The worst neighbours, one device, and a fit with canaries: its transcript, its model."""
CALENDAR = "calendar"
"""Of methods that `tacit refresh` knows: the worst pair of streams, if it is asked for."""
EPSILON = 1.0
"""Unless another is asked for."""
DELTA = 1e-6
MOST_MISTAKE = 0.5


@dataclass(frozen=True)
class Audit:
    """All findings, and how sure they are together."""

    findings: tuple[AttackFinding, ...]
    mistake: float
    """Chance that any true claim among them is refuted."""
    quick: bool
    command: str = ""

    @property
    def best(self) -> tuple[AttackFinding, ...]:
        """The attack that did best on each target, in the order of the targets."""
        best_of_target: dict[tuple[str, ...], AttackFinding] = {}
        for finding in self.findings:
            current = best_of_target.get(finding.target)
            if current is None or finding.reached > current.reached:
                best_of_target[finding.target] = finding
        return tuple(best_of_target.values())

    @property
    def fell(self) -> tuple[AttackFinding, ...]:
        """Claims of `sound` that did not stand: none, unless something is wrong."""
        return tuple(
            finding for finding in self.findings if finding.fell and finding.calibration == "sound"
        )

    def facts(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "tacit": __version__,
            "command": self.command,
            "quick": self.quick,
            "mistake": self.mistake,
            "best": [finding.facts() for finding in self.best],
            "findings": [finding.facts() for finding in self.findings],
        }

    def page(self) -> str:
        """A page that stands alone, for the file of a privacy officer."""
        from tacit.auditing.audit_page import audit_page

        return audit_page(self)

    def write_page(self, path: str | Path) -> None:
        """Write that page, whole or not at all."""
        from tacit.evaluation.report.charts import write

        write(str(asked_path("path", path)), self.page().encode())


@by_name
def audit(
    methods: str | Sequence[str] | None = None,
    *,
    epsilon: float = EPSILON,
    delta: float = DELTA,
    unit: Unit | None = None,
    calibration: Calibration = "sound",
    quick: bool = False,
    mistake: float = MISTAKE,
    ground: Ground | None = None,
    attacks: Sequence[str] = ATTACKS,
    progress: Callable[[int, int, str], None] | None = None,
    command: str = "",
) -> Audit:
    """Attack every claim of these methods, of all of them where none is named.

    `ground` is where: invented people unless given. `mistake` is the chance that any true
    claim of the whole table is refuted; it is shared out evenly among the findings. A claim
    that is not refuted is not proven: a finding says how much of it was reached.
    """
    _check_kinds(epsilon, delta, quick, mistake, ground, progress)
    targets = tuple(_targets(methods, epsilon, delta, unit, calibration))
    chosen_attacks = _named(attacks)
    # A device's game takes the place of the transcript where nobody is trusted.
    measured = int(not {"device", "transcript"}.isdisjoint(attacks))
    measured += int("published" in attacks)
    mistake_each = mistake / max(measured * len(targets), 1)
    tested_ground = ground or invented_ground(quick)
    findings: list[AttackFinding] = []
    for index, target in enumerate(targets):
        if progress is not None:
            progress(index, len(targets), target.method)
        aimed = replace(target, mistake=mistake_each, quick=quick)
        findings += _attacked(aimed, tested_ground, chosen_attacks)
    return Audit(tuple(findings), mistake, quick, command)


def _check_kinds(
    epsilon: object, delta: object, quick: object, mistake: object, ground: object, progress: object
) -> None:
    """Refuse what no audit could be made with."""
    if not 0 < number("epsilon", epsilon) < inf:
        raise SettingError(
            f"epsilon is {epsilon}; it must be a positive, finite number",
            remedy="give the epsilon that is claimed, such as 1",
        )
    if not 0 <= number("delta", delta) < 1:
        raise SettingError(
            f"delta is {delta}; it must be at least 0 and below 1", remedy="1e-6 is a common choice"
        )
    if not 0 < number("mistake", mistake) <= MOST_MISTAKE:
        raise SettingError(
            f"mistake is {mistake}: it must be above 0 and at most {MOST_MISTAKE}",
            remedy="give the chance that a true claim is refuted, such as 0.05",
        )
    flag("quick", quick)
    function("progress", progress)
    if ground is not None and not isinstance(ground, Ground):
        raise SettingError(
            f"ground is a {type(ground).__name__} and no ground of an audit",
            remedy="leave it out: invented people are attacked",
        )


def _named(attacks: Sequence[str]) -> tuple[GroundAttack, ...]:
    """The attacks of these names."""
    if isinstance(attacks, str) or not isinstance(attacks, Iterable):
        attacks = (str(attacks),)
    unknown = sorted(set(attacks) - {*ATTACKS, CALENDAR})
    if unknown or not attacks:
        raise SettingError(
            f"there is no attack {', '.join(unknown)}" if unknown else "no attack was named",
            remedy=f"name some of {', '.join((*ATTACKS, CALENDAR))}",
        )
    selected: list[GroundAttack] = []
    if "worst" in attacks:
        selected.append(worst_pair)
    if "device" in attacks:
        selected.append(device_game)
    if CALENDAR in attacks:
        from tacit.auditing.streams import calendar_pair

        selected.append(calendar_pair)
    views = [view for view in VIEWS if view in attacks]
    if views:
        selected.append(partial(one_run, views=views))
    return tuple(selected)


def _attacked(
    target: Target, ground: Ground, attacks: Iterable[GroundAttack]
) -> list[AttackFinding]:
    findings = [finding for attack in attacks for finding in attack(target, ground)]
    if not findings:
        findings = [
            make_finding(
                target,
                "none applies",
                0.0,
                proven=inf,
                note="no attack of this audit applies to how this method runs",
            )
        ]
    return findings


def _targets(
    methods: str | Sequence[str] | None,
    epsilon: float,
    delta: float,
    unit: Unit | None,
    calibration: Calibration,
) -> Iterable[Target]:
    """One for each method and unit that exists in this calibration."""
    method_names = None if methods is None else names_of(methods)
    targets = [
        Target(name, claimed_unit, calibration, epsilon, delta)
        for name in (names() if method_names is None else method_names)
        for claimed_unit in _units(name, calibration)
        if unit is None or claimed_unit == unit
    ]
    if not targets:
        raise SettingError(
            f"nothing to audit: no such method has the calibration {calibration}"
            + (f" at the unit {unit}" if unit else ""),
            remedy="docs/methods.md lists the units and calibrations of every method",
        )
    return targets


def _units(name: str, calibration: Calibration) -> tuple[Unit, ...]:
    method = find(name)
    if calibration not in method.calibrations:
        return ()
    if calibration != "paper":
        return method.units
    return () if method.paper_unit is None else (method.paper_unit,)
