"""Who sums, and who is trusted: the engines by name.

Those of Tacit stand in `OWN`; an installed package adds its own by entry points of the group
`tacit.engines`, each naming a class as `tacit.engine.base.EngineClass` says. An engine that
also runs what papers print is registered as `NAME-printed` and is not listed.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from tacit.errors import SettingError

if TYPE_CHECKING:
    from tacit.data.ratings import Ratings
    from tacit.engine.base import Engine, EngineClass
    from tacit.engine.spark.table import SparkRatings
    from tacit.rounds.options import How
    from tacit.rounds.plan import Budget

GROUP = "tacit.engines"
PRINTED = "-printed"
OWN = {
    "threads": "tacit.engine.threads:Threads",
    "spark": "tacit.engine.spark.engine:Spark",
    "federated": "tacit.engine.federated:Federated",
    "local": "tacit.engine.local:Local",
    "simulate": "tacit.engine.simulate:Simulate",
    "threads-printed": "tacit.engine.printed:PrintedThreads",
    "federated-printed": "tacit.engine.printed:PrintedFederated",
    "local-printed": "tacit.engine.printed:PrintedLocal",
    "simulate-printed": "tacit.engine.printed:PrintedSimulate",
}
"""Also declared in pyproject.toml; here too, because the metadata of an editable install may
be older than the code."""


@cache
def registered() -> dict[str, str]:
    """Every engine by name, as `module:Class`; Tacit's own cannot be replaced."""
    installed = {entry.name: entry.value for entry in entry_points(group=GROUP)}
    return {**OWN, **{n: value for n, value in installed.items() if n not in OWN}}


def engines() -> tuple[str, ...]:
    """Names that `--engine` accepts; engines of printed forms are chosen by calibration, never by
    name."""
    return tuple(name for name in registered() if not name.endswith(PRINTED))


def find_engine(name: str, *, printed: bool = False) -> EngineClass:
    """The class of an engine; with `printed`, the one that also runs what papers print, where
    there is one."""
    addresses = registered()
    if name not in engines():
        raise SettingError(
            f"the engine {name!r} is unknown", remedy=f"use {' or '.join(engines())}"
        )
    address = addresses.get(f"{name}{PRINTED}", addresses[name]) if printed else addresses[name]
    module, cls = address.split(":")
    engine_class: EngineClass = getattr(import_module(module), cls)
    return engine_class


def make_engine(
    ratings: Ratings | SparkRatings,
    how: How,
    *,
    budget: Budget | None = None,
    printed: bool = False,
) -> Engine:
    """The engine that was asked for over these ratings. `budget` is what every device's own
    ledger lets it answer in all."""
    return find_engine(how.engine or "threads", printed=printed).over(ratings, how, budget)
