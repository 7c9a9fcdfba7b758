"""Where pyspark is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def spark_path() -> str:
    """For PYTHONPATH of a process of its own; pyspark and Java are put there if they are
    not."""
    done = subprocess.run(
        [ROOT / "scripts" / "spark", sys.executable], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(done.stderr.strip() or "pyspark cannot be had here")
    found = [done.stdout.strip(), os.environ.get("PYTHONPATH", "")]
    return os.pathsep.join(part for part in found if part)
