"""Whole rounds: a fleet in this process, and what it and both servers take for each."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from federated_servers import Servers

from tacit.data.ratings import Ratings
from tacit.data.schema import Schema


def synthetic(people: int, items: int, each: int, seed: int = 1) -> Ratings:
    """People with exactly `each` rated items, popular ones more often."""
    rng = np.random.default_rng(seed)
    weight = 1 / np.arange(1, items + 1) ** 0.5
    rows = [
        np.sort(rng.choice(items, each, replace=False, p=weight / weight.sum()))
        for _ in range(people)
    ]
    value = rng.integers(1, 6, people * each).astype(np.float32)
    ptr = np.arange(people + 1, dtype=np.int64) * each
    names = [f"i{k}" for k in range(items)]
    return Ratings(
        Schema(1, 5),
        [f"u{k}" for k in range(people)],
        names,
        ptr,
        np.concatenate(rows).astype(np.uint32),
        value,
    )


def rounds(
    devices: int, items: int, count: int, options: list[str], title: str, policy: dict[str, Any]
) -> None:
    import uvloop

    from tacit.federation.device.fleet import run_fleet
    from tacit.federation.device.policy import Policy
    from tacit.federation.protocol.long_running import leave_what_is_loaded

    ratings = synthetic(devices, items, 20)
    with tempfile.TemporaryDirectory() as name:
        options = [
            "--users",
            str(devices),
            "--cohort",
            str(devices),
            "--least",
            str(devices),
            "--seconds",
            "60",
            *options,
        ]
        servers = Servers(Path(name), list(ratings.items), options)
        try:
            leave_what_is_loaded()
            began, used = time.perf_counter(), time.process_time()
            fleet = run_fleet(
                servers.url["recommender"],
                ratings,
                pin=servers.pins["recommender"],
                policy=Policy(accept_unbounded=True, **policy),
            )
            report = uvloop.run(fleet)
            whole = time.perf_counter() - began
            cpu = {"fleet": time.process_time() - used, **servers.cpu()}
            seconds = servers.get("recommender", "/v1/status")["seconds"]
            metrics = servers.get("aggregator", "/metrics")
            phases = _phases(servers.get("recommender", "/metrics"))
        finally:
            servers.stop()
    sent = next(float(x.split()[1]) for x in metrics.splitlines() if "bytes_to_recommender" in x)
    answers = max(1, report.answered)
    print(
        f"{title}: {len(seconds)} rounds, {report.answered:,} answers, "
        f"{len(report.failed)} failed, {whole:.1f} s"
    )
    print(
        f"  seconds a round: median of the last {count} {statistics.median(seconds[-count:]):.3f}, "
        f"best {min(seconds):.3f}, worst {max(seconds[1:]):.3f}, the first {seconds[0]:.3f}"
    )
    print(f"  the recommender's phases, mean seconds: {phases}")
    each = ", ".join(f"{who} {used / len(seconds):.2f}" for who, used in cpu.items())
    print(
        f"  CPU seconds a round, enrolment and the rest included: {each}, all "
        f"{sum(cpu.values()) / len(seconds):.2f}"
    )
    print(
        f"  bytes a device and round: {report.bytes_down / answers:,.0f} down, "
        f"{report.bytes_up / answers:,.0f} up "
        f"(enrolment included); aggregator to recommender {sent / len(seconds):,.0f} a round"
    )


def _phases(metrics: str) -> str:
    """What each phase of a round took on average."""
    found = dict[str, dict[str, float]]()
    for line in metrics.splitlines():
        if "phase_seconds_" not in line or "_bucket" in line:
            continue
        name, value = line.split()
        kind = "sum" if "_sum" in name else "count"
        phase = name.partition('phase="')[2].partition('"')[0]
        found.setdefault(phase, {})[kind] = float(value)
    return ", ".join(
        f"{phase} {each['sum'] / max(1, each['count']):.3f}" for phase, each in found.items()
    )
