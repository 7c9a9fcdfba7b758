"""Which fits an evaluation compares: methods x units x calibrations x epsilons x settings,
each checked before a rating is read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, get_args

from tacit.errors import SettingError
from tacit.rounds.options import NAMES, Calibration, What
from tacit.units import Unit

if TYPE_CHECKING:
    from tacit.fitting.order import Order
    from tacit.methods.base import Method

NOISE_OFF = "noise off"
"""The calibration that tables name where a printed algorithm runs without its noise."""


@dataclass(frozen=True)
class Arm:
    """One line of a table: a method as it would be fitted. Plain data, so that it can be sent
    to another process."""

    method: str
    unit: str
    calibration: str
    """`sound`, `paper`, `none` (the twin) or `noise off`."""
    epsilon: float | None = None
    delta: float | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Of the method, those that are swept too."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Engine, threads and the like: they change no promise."""
    swept: tuple[str, ...] = ()
    """The names among the settings that an evaluation varies."""

    def make(self, seed: int) -> Method:
        """The unfitted method with this seed of initial factors."""
        from tacit.methods import find

        private = self.calibration in ("sound", "paper")
        printed = self.calibration == NOISE_OFF
        options = {
            "calibration": "paper" if printed else self.calibration,
            "epsilon": self.epsilon if private or printed else None,
            "unit": self.unit,
            "seed": seed,
        }
        if self.delta is not None and (private or printed):
            options["delta"] = self.delta
        return find(self.method)(**dict(self.options) | options | dict(self.settings))

    def key(self) -> dict[str, Any]:
        """All that its answer depends on, as JSON can hold it."""
        engine_options = {
            name: value
            for name, value in self.options.items()
            if name in ("engine", "devices") and value is not None
        }
        return {
            "method": self.method,
            "unit": self.unit,
            "calibration": self.calibration,
            "epsilon": None if self.calibration == "none" else self.epsilon,
            "delta": None if self.calibration == "none" else self.delta,
            "settings": dict(self.settings),
            **engine_options,
        }

    @property
    def threads(self) -> int:
        """As many as its fit has: all, unless told."""
        threads = self.options.get("threads")
        return int(threads or len(os.sched_getaffinity(0)))

    @property
    def is_private(self) -> bool:
        """Whether noise is drawn."""
        return self.calibration in ("sound", "paper")

    @property
    def name(self) -> str:
        """In a few words, for a bar of progress."""
        budget = self.calibration if self.epsilon is None else f"{self.epsilon:g}"
        return f"{self.method} {budget}"

    @property
    def swept_settings(self) -> dict[str, Any]:
        """The settings that are swept."""
        return {name: self.settings[name] for name in self.swept}


@dataclass(frozen=True)
class Grid:
    """What is to be compared, as it was asked for."""

    methods: Sequence[str]
    epsilons: Sequence[float]
    units: Sequence[Unit | None] = (None,)
    """None: the unit that a method takes unless told."""
    calibrations: Sequence[str] = ("sound",)
    sweep: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    twin: bool = True

    def __post_init__(self) -> None:
        for option, requested, choices in (
            ("--unit", self.units, (None, *get_args(Unit))),
            ("--calibration", self.calibrations, get_args(Calibration)),
        ):
            for name in requested:
                if name not in choices:
                    raise SettingError(
                        f"{option} {name} is unknown",
                        remedy=f"use {' or '.join(filter(None, choices))}",
                    )
        for name, values in self.sweep.items():
            if not len(values):
                raise SettingError(
                    f"--sweep {name} names no value", remedy=f"for example: --sweep {name}=5,20"
                )
            if name in self.settings:
                raise SettingError(f"{name} is both set and swept", remedy="keep one of the two")

    def arms(self, people: int | None) -> tuple[list[Arm], list[Order], list[str]]:
        """Every arm once, its order, and what was left out in words.

        A combination that a method does not have is left out if it has another; a method
        that has none is refused.
        """
        unique: dict[str, tuple[Arm, Order]] = {}
        left_out: list[str] = []
        for method in self.methods:
            mine = self._arms_of(method, people, left_out)
            unique |= {repr(arm.key()): (arm, order) for arm, order in mine}
        arms = [arm for arm, _ in unique.values()]
        return arms, [order for _, order in unique.values()], left_out

    def _arms_of(
        self, method: str, people: int | None, left_out: list[str]
    ) -> list[tuple[Arm, Order]]:
        several = len(self.units) * len(self.calibrations) > 1
        pairs: list[tuple[Arm, Order]] = []
        first_fault: SettingError | None = None
        for unit, calibration in product(self.units, self.calibrations):
            try:
                pairs += self._block(method, unit, calibration, people)
            except SettingError as fault:
                first_fault = first_fault or fault
                left_out.append(f"{method} {unit or ''} {calibration}: {fault.message}")
        if first_fault is not None and (not several or not pairs):
            raise first_fault
        return pairs

    def _block(
        self, method: str, unit: Unit | None, calibration: str, people: int | None
    ) -> list[tuple[Arm, Order]]:
        """All budgets of a unit and a calibration, then what stands beside them."""
        block: list[tuple[Arm, Order]] = []
        for settings in self._settings():
            budgets: list[tuple[str, float | None]]
            budgets = [(calibration, epsilon) for epsilon in self.epsilons]
            if calibration == "none":
                budgets = [("none", None)]
            elif calibration == "paper" and self.twin:
                budgets += _noise_off(self.epsilons)
            if calibration != "none" and self.twin:
                budgets.append(("none", None))
            for name, epsilon in budgets:
                same = unit
                if block and name in ("none", NOISE_OFF):
                    same = self._unit_beside(method, block[0][0], unit)
                block.append(self._checked(method, same, name, epsilon, settings, people))
        return block

    def _unit_beside(self, method: str, private_arm: Arm, default: Unit | None) -> Unit | None:
        """A twin stands beside its private fits at their unit, if it has it."""
        from tacit.methods import find

        units = find(method).units
        return next((unit for unit in units if unit == private_arm.unit), default)

    def _checked(
        self,
        method: str,
        unit: Unit | None,
        calibration: str,
        epsilon: float | None,
        settings: Mapping[str, Any],
        people: int | None,
    ) -> tuple[Arm, Order]:
        from tacit.fitting.check import check

        options = dict(self.options)
        method_settings = dict(settings)
        for name in set(method_settings) & set(NAMES[What]):
            options[name] = method_settings.pop(name)
        requested_delta = options.pop("delta", None)
        draft = Arm(
            method,
            unit,  # type: ignore[arg-type]
            calibration,
            epsilon,
            requested_delta,
            method_settings,
            options,
            tuple(name for name in self.sweep if name in method_settings),
        )
        order = check(draft.make(0), people=people)
        delta = None if order.budget is None else order.budget.delta
        arm = Arm(
            method, order.unit, calibration, epsilon, delta, method_settings, options, draft.swept
        )
        return arm, order

    def _settings(self) -> Iterator[dict[str, Any]]:
        """Every combination of swept values, beside what is fixed."""
        names = list(self.sweep)
        for values in product(*self.sweep.values()):
            yield dict(self.settings) | dict(zip(names, values, strict=True))


def _noise_off(epsilons: Iterable[float]) -> list[tuple[str, float | None]]:
    """What stands beside a printed algorithm: itself with its noise off. Papers whose steps
    depend on the budget take those of the largest."""
    return [(NOISE_OFF, max(epsilons))]
