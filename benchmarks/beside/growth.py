"""How time and memory grow: a fit of `bayes` and an epoch of least squares over four doublings of
ratings, people, items and rank, with the exponent of a fitted power."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

DOUBLINGS = 4
WANTED = 1.05
"""The most that an exponent in ratings or people may be."""
CHILD = """
import json, resource, sys, time
import numpy as np
sys.path.insert(0, sys.argv[1])
import ours
data = dict(np.load(sys.argv[2]))
method, rank = sys.argv[3], int(sys.argv[4])
if method == "als":
    ours.FACTORS = rank
    run = ours.als(data, 1)
else:
    from tacit.fitting.run import trial
    from tacit.methods import find
    ratings = ours.as_ratings(data)
    made = find(method)(epsilon=1.0, threads=1)
    run = lambda: trial(made, ratings, users=ratings.n_users)
run()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
times = []
for _ in range(3):
    start = time.process_time()
    run()
    times.append(time.process_time() - start)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"s": min(times), "mb": peak / 1000}))
"""


def measured(path: Path, method: str, rank: int) -> dict[str, float]:
    """One process: the best of three."""
    here = str(Path(__file__).parent)
    words = [sys.executable, "-c", CHILD, here, str(path), method, str(rank)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def exponent(sizes: list[float], values: list[float]) -> float:
    """Of the power that fits best."""
    slope = np.polyfit(np.log(sizes), np.log(values), 1)[0]
    return round(float(slope), 3)


def grown(folder: Path, start: int) -> Iterator[dict[str, Any]]:
    """One row for each way of growing. Ratings grow at fixed people and items, people at fixed
    ratings a person, items at fixed people and ratings."""
    people, items = start // 100, 1000
    ways: dict[str, tuple[str, list[tuple[int, int, int, int]]]] = {
        "ratings": ("bayes", []),
        "people": ("bayes", []),
        "items": ("bayes", []),
        "rank": ("als", []),
    }
    for k in range(DOUBLINGS + 1):
        twice = 2**k
        ways["ratings"][1].append((start * twice, people * 4, items * 4, 0))
        ways["people"][1].append((start * twice, people * twice, items, 0))
        ways["items"][1].append((start * 4, people * 4, items * twice, 0))
        ways["rank"][1].append((start * 4, people * 4, items, 8 * twice))
    for name, (method, sizes) in ways.items():
        found = []
        for size in sizes:
            path = made(folder, *size[:3])
            found.append(measured(path, method, size[3]))
        place = {"ratings": 0, "people": 1, "items": 2, "rank": 3}[name]
        along = [float(size[place]) for size in sizes]
        yield {
            "grows": name,
            "job": method,
            "sizes": along,
            "s": [round(each["s"], 4) for each in found],
            "mb": [round(each["mb"], 1) for each in found],
            "exponent": exponent(along, [each["s"] for each in found]),
            "memory": exponent(along, [each["mb"] for each in found]),
        }


def made(folder: Path, ratings: int, people: int, items: int) -> Path:
    """Seeded ratings of this size as arrays."""
    path = folder / f"{ratings}-{people}-{items}.npz"
    if not path.exists():
        np.savez(path, **table(ratings, people, items))
    return path


def table(ratings: int, people: int, items: int) -> dict[str, Any]:
    """Rows in order by person and item."""
    from scale_made import windows

    parts = list(windows(ratings, people, items))
    user, item, value = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.lexsort((item, user))
    counts = np.bincount(user, minlength=people + 1)[1:]
    return {
        "ptr": np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        "item": (item[order] - 1).astype(np.uint32),
        "value": value[order].astype(np.float64),
        "items": items,
    }
