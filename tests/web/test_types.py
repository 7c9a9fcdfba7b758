"""The page's modules keep TypeScript's strict rules."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_types_are_strict(full: bool) -> None:
    cache = (
        Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        / "tacit"
    )
    cache = Path(os.environ.get("TACIT_TYPES_CACHE") or cache)
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    if not full and not list(cache.glob("**/bin/tsc")):
        pytest.skip("TypeScript is not in the cache: scripts/types fetches it")
    done = subprocess.run(
        [ROOT / "scripts" / "types"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
