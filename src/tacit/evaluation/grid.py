"""Candidates of a tuning: methods with settings, all of them named before a rating is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from tacit.errors import SettingError
from tacit.methods import find
from tacit.methods.base import Method

MOST = 1000
"""Candidates: each is rehearsed before anything is charged."""


@dataclass(frozen=True)
class Contestant:
    """A method and its settings."""

    method: str
    settings: Mapping[str, Any]

    def make(self, **options: Any) -> Method:
        """The method, unfitted."""
        return find(self.method)(**options, **self.settings)

    @property
    def label(self) -> str:
        """`bayes, sweeps = 4`."""
        return ", ".join([self.method, *(f"{k} = {v}" for k, v in self.settings.items())])


def candidates(
    methods: Sequence[str], sweep: Mapping[str, Sequence[Any]]
) -> tuple[Contestant, ...]:
    """Every method with every value of every swept setting that it has. A setting that none
    of them has is refused."""
    if not methods:
        raise SettingError("no method is named", remedy="give --method A,B")
    fields = {name: find(name).Settings.model_fields.keys() for name in methods}
    for setting, values in sweep.items():
        if not any(setting in setting_names for setting_names in fields.values()):
            setting_names = sorted(
                {field_name for method_fields in fields.values() for field_name in method_fields}
            )
            raise SettingError(
                f"none of {', '.join(methods)} has a setting {setting!r}",
                remedy=f"their settings are: {', '.join(setting_names) or 'none'}",
            )
        if not values:
            raise SettingError(f"--sweep {setting} names no value")
    contestants = tuple(_contestants(fields, sweep))
    if len(contestants) > MOST:
        raise SettingError(
            f"{len(contestants):,} candidates are more than {MOST:,}", remedy="sweep fewer values"
        )
    return contestants


def _contestants(
    fields: Mapping[str, Any], sweep: Mapping[str, Sequence[Any]]
) -> Iterator[Contestant]:
    for name, method_fields in fields.items():
        swept = {setting: sweep[setting] for setting in sweep if setting in method_fields}
        for values in product(*swept.values()):
            yield Contestant(name, dict(zip(swept, values, strict=True)))
