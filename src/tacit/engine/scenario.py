"""How the devices of the local model behave, and where their own ledgers are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from tacit.errors import SettingError


@dataclass(frozen=True)
class Scenario:
    """How devices behave. All of it is simulated with a seed and has nothing to do with
    privacy noise."""

    drop_out: float = 0.0
    """Chance that a device does not answer in a round."""
    late: float = 0.0
    """Share of the devices that join at a random round of the first `over`."""
    leave: float = 0.0
    """Share of the devices that leave for good at a random round of the first `over`."""
    over: int = 10
    cheats: float = 0.0
    """Share of the devices that always send the largest answer, unrandomized."""
    seed: int = 0
    book: str | None = None
    """File of the devices' own ledgers, which outlives the run; unset, they end with it."""
    cap: float | None = None
    """Epsilon that a device's own ledger lets it answer in all; unset, the budget of the fit."""

    def __post_init__(self) -> None:
        chances = {
            "drop_out": self.drop_out,
            "late": self.late,
            "leave": self.leave,
            "cheats": self.cheats,
        }
        for name, chance in chances.items():
            if not 0 <= chance <= 1:
                raise SettingError(
                    f"the scenario's {name} is {chance:g}; it must be between 0 and 1",
                    remedy=f"give a chance, such as --devices {name}=.1",
                )

    @staticmethod
    def from_options(options: Mapping[str, Any], engine: str) -> Scenario:
        """From `--devices NAME=VALUE`. Real devices (`local`) behave as they do: only their
        ledger can be named."""
        kinds = {field.name: (str if field.name == "book" else float) for field in fields(Scenario)}
        allowed = [name for name in kinds if engine == "simulate" or name in ("book", "cap")]
        settings: dict[str, Any] = {}
        for name, value in options.items():
            if engine not in ("local", "simulate") or name not in allowed:
                raise SettingError(
                    f"the engine {engine} has no devices of which to say {name}",
                    remedy=f"use --engine simulate with {', '.join(kinds)}; --engine "
                    "local with book, cap",
                )
            try:
                settings[name] = kinds[name](value)
            except (TypeError, ValueError):
                raise SettingError(f"devices: {name} is {value!r}, which is no number") from None
        settings |= {name: int(settings[name]) for name in ("over", "seed") if name in settings}
        return Scenario(**settings)

    def describe(self) -> list[str]:
        """What is not as usual, for a statement; a path is nobody's business."""
        usual = asdict(Scenario(book=self.book))
        changed = {n: v for n, v in asdict(self).items() if v != usual[n]}
        return [f"devices: {name} = {value:g}" for name, value in changed.items()]
