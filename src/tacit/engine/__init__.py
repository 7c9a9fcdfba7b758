"""Who sums, and who is trusted."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from tacit.errors import SettingError

if TYPE_CHECKING:
    from tacit.data.ratings import Ratings
    from tacit.engine.base import Engine, Progress
    from tacit.engine.simulate import Scenario

ENGINES = ("threads", "federated", "local", "simulate")


def make_engine(
    name: str,
    ratings: Ratings,
    threads: int | None = None,
    progress: Progress | None = None,
    cap: tuple[float, float] | None = None,
    scenario: Scenario | None = None,
) -> Engine:
    """The engine of this name over these ratings. `cap` is what every device's own ledger
    lets it answer in all."""
    if name == "threads":
        from tacit.engine.threads import Threads

        return Threads(ratings, threads, progress)
    if name == "federated":  # in one process; `tacit federate` runs servers and devices
        from tacit.engine.federated import Federated

        return Federated(ratings, threads, progress)
    if name in ("local", "simulate"):
        from tacit.engine.local import Local
        from tacit.engine.simulate import Simulate
        from tacit.ledger.book.devices import DeviceBooks

        books = None
        if cap is not None:
            lasting = scenario is not None and scenario.book is not None
            whose = (
                sha256("\n".join(ratings.users).encode()).hexdigest() if lasting else ""
            )
            books = DeviceBooks(
                ratings.n_users, cap, scenario.book if scenario else None, fleet=whose
            )
        if name == "local":
            return Local(ratings, threads, progress, books=books)
        return Simulate(ratings, threads, progress, books=books, scenario=scenario)
    raise SettingError(
        f"the engine {name!r} is unknown", remedy=f"use {' or '.join(ENGINES)}"
    )
