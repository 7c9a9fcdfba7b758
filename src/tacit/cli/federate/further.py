"""`--also FILE`: further trainings of one recommender, each by what it has of its own.

    [[training]]
    method = "popularity"
    epsilon = 1.0
    out = "models/popular"

What a table does not say is as on the command line.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from pydantic import BaseModel, ConfigDict

from tacit.errors import SettingError
from tacit.typed_file import read_toml

OWN = {
    "method": str,
    "epsilon": float,
    "delta": float,
    "unit": str,
    "calibration": str,
    "items": str,
    "scale": str,
    "users": int,
    "cohort": int,
    "least": int,
    "honest": float,
    "groups": int,
    "noise": str,
    "seconds": float,
    "gather": float,
    "out": str,
    "max-ratings": int,
    "set": dict,
    "seed": int,
    "purpose": str,
    "population": str,
    "accept-unbounded": bool,
}
"""The options that a training may have for itself, with the types of their values."""
NEEDED = ("method", "out")
FORGET = ("epsilon", "delta", "unit", "settings")
"""What another method does not take over from the command line."""


class Trainings(BaseModel):
    """The file of `--also`."""

    model_config = ConfigDict(extra="forbid")

    training: list[dict[str, Any]]


further_option = click.option(
    "--also",
    metavar="FILE",
    help="Further trainings: TOML, a [[training]] table of its own options for each.",
)


def further(o: dict[str, Any]) -> list[dict[str, Any]]:
    """The options of every further training."""
    if o["also"] is None:
        return []
    remedy = "TOML, with a [[training]] table for each, and nothing beside them"
    document = read_toml(Path(o["also"]), Trainings, SettingError, remedy)
    return [_training_options(o, table) for table in document.training]


def _training_options(o: dict[str, Any], table: dict[str, Any]) -> dict[str, Any]:
    """The options of one training: its own, and the others as on the command line."""
    for name, value in table.items():
        kind = OWN.get(name)
        if kind is None:
            raise SettingError(f"a training has no option `{name}` of its own")
        fine = isinstance(value, int | float) if kind is float else None
        if not (isinstance(value, kind) if fine is None else fine):
            raise SettingError(f"`{name}` of a training is not a {kind.__name__}")
    if any(name not in table for name in NEEDED):
        raise SettingError(f"a further training needs {' and '.join(NEEDED)}")
    overrides = {name.replace("-", "_"): value for name, value in table.items()}
    settings = overrides.pop("set", {})
    merged = {**o, **overrides}
    if overrides["method"] != o["method"]:
        merged |= {name: overrides.get(name) for name in FORGET}
    if settings or overrides["method"] != o["method"]:
        merged["settings"] = tuple(f"{k}={v}" for k, v in settings.items())
    return merged
