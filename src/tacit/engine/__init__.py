"""Who sums, and who is trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.errors import SettingError

if TYPE_CHECKING:
    from tacit.data.ratings import Ratings
    from tacit.engine.base import Engine, Progress

ENGINES = ("threads", "federated", "local", "simulate")


def make_engine(
    name: str,
    ratings: Ratings,
    threads: int | None = None,
    progress: Progress | None = None,
    cap: tuple[float, float] | None = None,
) -> Engine:
    """The engine of this name over these ratings. `cap` is what every device's own ledger lets it answer in all."""
    if name == "threads":
        from tacit.engine.threads import Threads

        return Threads(ratings, threads, progress)
    if name == "federated":  # in one process; `tacit federate` runs servers and devices
        from tacit.engine.federated.simulate import Federated

        return Federated(ratings, threads, progress)
    if name in ("local", "simulate"):
        from tacit.engine.device import DeviceBooks
        from tacit.engine.local import Local
        from tacit.engine.simulate import Simulate

        books = None if cap is None else DeviceBooks(ratings.n_users, cap)
        return (Local if name == "local" else Simulate)(ratings, threads, progress, books=books)
    raise SettingError(f"the engine {name!r} is unknown", remedy=f"use {' or '.join(ENGINES)}")
