"""The page's modules keep TypeScript's strict rules, and mean the same when they are slimmed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tacit.serving.slim import slim

from .serve import WEB

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def typescript(full: bool) -> Path | None:
    """Its folder, if it is here already; `scripts/types` fetches it."""
    own = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    cache = Path(os.environ.get("TACIT_TYPES_CACHE") or Path(own) / "tacit")
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    found = sorted(cache.glob("**/node_modules/typescript"))
    if not found and not full:
        pytest.skip("TypeScript is not in the cache: scripts/types fetches it")
    return found[-1] if found else None


def test_types_are_strict(typescript: Path | None) -> None:
    done = subprocess.run(
        [ROOT / "scripts" / "types"], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]


def test_slim_scripts_have_the_syntax_of_their_sources(
    typescript: Path | None, tmp_path: Path
) -> None:
    if typescript is None:
        pytest.skip("TypeScript was not in the cache when the tests began")
    as_written, as_sent = tmp_path / "written", tmp_path / "sent"
    as_written.mkdir()
    as_sent.mkdir()
    for place, path in enumerate(sorted(WEB.rglob("*.js"))):
        source = path.read_text(encoding="utf-8")
        name = f"{place}-{path.name}"
        (as_written / name).write_text(source, encoding="utf-8")
        (as_sent / name).write_text(slim(source), encoding="utf-8")
    done = subprocess.run(
        ["node", Path(__file__).with_name("same_syntax.cjs"), typescript, as_written, as_sent],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
