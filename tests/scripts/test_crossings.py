"""Rooms have walls: one fit crosses them seldom enough to be followed by hand."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "crossings.py"
MOST, ROUNDS, A_ROUND = 120, 6, 9
"""Calls from one room into another in a fit of `bayes` of so many rounds
(docs/decisions/0010-one-rehearsal.md), and in each round beyond them."""


def test_a_fit_crosses_few_borders():
    """A method and an engine, one call a round each way, and nothing in passing."""
    done = subprocess.run([sys.executable, str(SCRIPT)], check=True, capture_output=True, text=True)
    *table, total = done.stdout.splitlines()
    assert total.endswith("crossings")
    asked = [line.split() for line in table if "Threads.run" in line]
    rounds = sum(int(times) for _, _, times, _ in asked)
    most = MOST + A_ROUND * (rounds - ROUNDS)
    assert rounds >= ROUNDS
    assert int(total.split()[0]) <= most, "\n".join(table)


def test_a_crossing_is_a_call_between_rooms():
    """Both ends are ours, and in different rooms."""
    spec = importlib.util.spec_from_file_location("crossings", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    crossings = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(crossings)
    frame = sys._getframe()
    assert crossings.room(frame) == ""
    assert crossings.crossing(frame) is None
