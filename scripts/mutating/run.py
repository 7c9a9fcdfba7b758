"""A copy of the tree, one bug in it at a time, and the tests that should notice."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mutating.bug import Bug, Rotten

ROOT = Path(__file__).parents[2]
COPIED = (
    "src",
    "tests",
    "spec",
    "scripts",
    "docs",
    "examples",
    "pyproject.toml",
    "README.md",
    "CHANGELOG.md",
)
"""What tests read."""
MOST_SECONDS = 900.0
"""For one bug. A test that hangs has noticed something, but nobody can say what."""
MOST_CONTROL = 1800.0
"""For all tests that caught a bug, on the tree without one."""
FAILED = 1
"""What pytest returns if tests failed; any other status is no catch."""


@dataclass(frozen=True)
class Caught:
    """What became of one bug."""

    bug: Bug
    by: str
    """The first test that failed; empty if none did."""
    seconds: float
    why: str = ""
    """What else happened."""


class Tree:
    """A copy of the checkout, with compiled loops of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(
                    source, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.nb[ic]")
                )
            elif source.exists():
                shutil.copy2(source, folder / name)

    def tests(
        self, names: Iterable[str], cache: Path, seconds: float = MOST_SECONDS
    ) -> subprocess.CompletedProcess[str]:
        """Run some tests of the copy until one fails."""
        paths = {
            "PYTHONPATH": str(self.folder / "src"),
            "NUMBA_CACHE_DIR": str(cache),
            "PYTHONDONTWRITEBYTECODE": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        pytest = (sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-rfE")
        quiet = ("-p", "no:cacheprovider", "-p", "no:xdist")
        return subprocess.run(
            [*pytest, *quiet, *(f"tests/{name}" for name in names)],
            cwd=self.folder,
            env={**os.environ, **paths},
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )

    def plant(self, bug: Bug) -> Caught:
        """Plant a bug, run its tests, and take it out again."""
        path = self.folder / "src" / "tacit" / bug.file
        stamp = path.stat()
        try:
            before = bug.apply(self.folder)
        except Rotten as error:
            return Caught(bug, "", 0.0, str(error))
        start = time.monotonic()
        own = tempfile.mkdtemp(dir=self.folder) if bug.is_compiled else ""
        cache = Path(own) if own else self.folder / "compiled"
        try:
            done = self.tests(bug.caught_by, cache)
        except subprocess.TimeoutExpired:
            return Caught(bug, "", MOST_SECONDS, "a test did not end")
        finally:
            path.write_text(before)
            # Compiled loops are kept by the time of their source.
            os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
            if own:
                shutil.rmtree(own)
        seconds = time.monotonic() - start
        if done.returncode == FAILED:
            return Caught(bug, first_failure(done.stdout), seconds)
        why = "" if done.returncode == 0 else last_line(done)
        return Caught(bug, "", seconds, why)

    def control(self, tests: Iterable[str]) -> str:
        """The first of these tests that fails without any bug, which then says nothing;
        empty if all pass."""
        names = sorted({name for name in tests if "::" in name})
        if not names:
            return ""
        done = self.tests(names, self.folder / "compiled", MOST_CONTROL)
        if done.returncode == 0:
            return ""
        failed = done.returncode == FAILED
        return first_failure(done.stdout) if failed else last_line(done)


def first_failure(output: str) -> str:
    """The test that failed first."""
    for line in output.splitlines():
        word, _, rest = line.partition(" ")
        if word in ("FAILED", "ERROR"):
            return rest.split(" - ")[0].removeprefix("tests/")
    return "a test"


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    """What pytest said at the end."""
    lines = (done.stdout + done.stderr).strip().splitlines()
    return lines[-1] if lines else f"status {done.returncode}"
