"""The page's modules keep TypeScript's strict rules."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def typescript(full: bool) -> None:
    """Skips where it is not here already; `scripts/types` fetches it."""
    own = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    cache = Path(os.environ.get("TACIT_TYPES_CACHE") or Path(own) / "tacit")
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    found = sorted(cache.glob("**/node_modules/typescript"))
    if not found and not full:
        pytest.skip("TypeScript is not in the cache: scripts/types fetches it")


@pytest.mark.usefixtures("typescript")
def test_types_are_strict() -> None:
    done = subprocess.run(
        [ROOT / "scripts" / "types"], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
