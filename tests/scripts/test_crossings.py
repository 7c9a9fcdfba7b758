"""What `scripts/crossings` counts: calls from one folder of the source into another."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "crossings.py"


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
