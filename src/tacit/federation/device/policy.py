"""What the owner of a device accepts, and the task that is weaker and so refused."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.errors import BudgetError, SettingError
from tacit.federation.agreed.assembled import Assembled
from tacit.ledger.account.cost import group
from tacit.ledger.account.event import Unbounded
from tacit.ledger.account.personal import WHOLE, weight_for
from tacit.rounds.options import NoiseFrom
from tacit.units import Unit

SLACK = 1 + 1e-9
"""On a cap, for rounding."""


@dataclass(frozen=True)
class Policy:
    """What the owner of a device accepts; the device refuses anything weaker."""

    epsilon: float = 10.0
    delta: float = 1e-5
    """The cap of the device's own ledger."""
    least: int = 2
    """The smallest cohort to hide in."""
    honest: float = 0.95
    """The largest fraction of a cohort that it believes to be honest."""
    noise: tuple[NoiseFrom, ...] = ("both", "servers")
    """Who may add the noise. Shares of devices alone rest on strangers, of whom a server may
    have invented any number, so the owner must say that she accepts it."""
    accept_unbounded: bool = False
    """Take part in a `paper` training, which no theorem covers."""
    unit: Unit = "user"
    """Whom the cap protects: a whole person, unless the owner says otherwise."""
    asked: float | None = None
    """The most that one training may reveal: where it would be more, the device multiplies
    what it adds by a weight (`tacit.bound.personal`)."""

    def weight(self, assembled: Assembled) -> int:
        """What this device's numbers are multiplied by in a task: `WHOLE` where all of the task
        costs no more than was asked for."""
        if self.asked is None:
            return WHOLE
        if assembled.method.local or len(assembled.bounded) < len(assembled.events):
            raise SettingError(
                "devices of this task answer by a coin, or as a paper prints it: no weight "
                "makes that cost less",
                remedy="leave --own-epsilon out, or let this training pass",
            )
        if assembled.task.unit != "user" or self.unit != "user":
            raise SettingError(
                "a training reveals less of a whole person, and of nothing smaller",
                remedy="leave --own-epsilon out",
            )
        weight = weight_for(assembled.events.values(), self.asked, self.delta)
        if weight == 0:
            raise BudgetError(
                f"no part of this task is worth as little as epsilon {self.asked:g}",
                remedy="ask for more, or let this training pass",
            )
        return weight

    def check(self, assembled: Assembled) -> None:
        """Refuse a task that is weaker than the owner accepts."""
        if not assembled.method.local:  # there nobody but oneself has to be honest
            self._check_cohort(assembled)
        self._check_bounded(assembled)
        price = assembled.price(self.delta, self.unit, self.steps(assembled))
        if self.asked is not None:
            self.weight(assembled)  # refused where there is none
            price = min(price, self.asked)
        if price > self.epsilon * SLACK:
            raise BudgetError(
                "the noise of this task is too small: all of it would cost epsilon "
                f"{price:.3g} at delta {self.delta:g} per {self.unit}; this device's cap is "
                f"{self.epsilon:g}",
                remedy="a larger --cap, if you mean it",
            )

    def steps(self, assembled: Assembled) -> int:
        """How many steps at the task's unit one step at the cap's unit can take.

        A person with k ratings is k steps at the unit `rating`, and the device itself uses no
        more than the task's limit of them. Without a limit no number is enough, and a cap
        cannot count what it would cost.
        """
        task = assembled.task
        steps = group(task.unit, self.unit, task.max_ratings)
        if steps is not None or not assembled.bounded:
            return steps or 1
        raise BudgetError(
            f"the task protects one {task.unit} at a time, which bounds nothing for a "
            f"{self.unit}; this device's cap is per {self.unit}",
            remedy=f"--cap-unit {task.unit}, if you mean it",
        )

    def _check_cohort(self, assembled: Assembled) -> None:
        task = assembled.task
        if task.least < self.least:
            raise SettingError(
                f"the task hides a person among {task.least}; this device asks for {self.least}"
            )
        if assembled.bounded and task.noise not in self.noise:
            raise SettingError(
                f"the noise of this task comes from {task.noise}; this device accepts "
                f"{' or '.join(self.noise)}",
                remedy=f"--accept-noise {task.noise}, if you mean it",
            )
        devices_only = task.noise == "devices"  # else a server's noise suffices
        if devices_only and task.honest > self.honest and assembled.events:
            raise SettingError(
                f"the task takes {task.honest:g} of a cohort to be honest; this device "
                f"{self.honest:g}"
            )

    def _check_bounded(self, assembled: Assembled) -> None:
        if self.accept_unbounded:
            return
        if any(isinstance(event, Unbounded) for event in assembled.events.values()):
            raise BudgetError(
                "nothing bounds what this task reveals", remedy="--accept-unbounded, if you mean it"
            )
        if not assembled.events:
            raise BudgetError(
                "this task adds no noise at all: NOT PRIVATE",
                remedy="--accept-unbounded, if you mean it",
            )
