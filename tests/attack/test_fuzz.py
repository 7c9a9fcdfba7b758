"""Corrupted files and folders: no traceback, no hang, nothing above 1 GB (break 9)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "fuzz.py"
SAMPLE = 150
ALL = 20_000


def fuzz(*arguments: object) -> subprocess.CompletedProcess[str]:
    """In a process of its own: the children must be forked before polars has threads."""
    return subprocess.run(
        [sys.executable, str(SCRIPT), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="needs fork and /proc")
def test_corrupted_files_end_in_an_answer_or_an_error_of_ours(full):
    """Break 9: 222 of 2,467 hostile folders ended in a traceback, a fifo hung, a device ate
    the memory, a damaged parquet file was a panic."""
    found = fuzz("--cases", ALL if full else SAMPLE)
    assert found.returncode == 0, found.stdout[-3000:] + found.stderr[-2000:]
    assert "0 findings" in found.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="needs fork and /proc")
@pytest.mark.parametrize(
    ("broken", "tells"),
    [
        ("tacit.model.shared.check_needs = lambda *a: None", "case"),
        ("tacit.redaction.acts = lambda c: False", "controls"),
        ("tacit.data.reading.guard.BROKEN = ()", "case"),
    ],
)
def test_the_fuzzer_finds_what_is_put_back(broken, tells, tmp_path, full):
    """The attack itself is attacked: without one of the checks it must find something."""
    if not full:
        pytest.skip("takes a minute: scripts/test --full")
    module = broken.rsplit(" = ", 1)[0].rsplit(".", 1)[0]
    (tmp_path / "run.py").write_text(
        f"import sys\nsys.path.insert(0, {str(SCRIPT.parent)!r})\n"
        f"import tacit, {module}\nimport fuzz\n{broken}\n"
        "report = fuzz.run_cases(range(400))\n"
        "print(len(report.findings), report.findings[:3])\n"
        "sys.exit(0 if report.findings else 1)\n"
    )
    found = subprocess.run(
        [sys.executable, str(tmp_path / "run.py")], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout + found.stderr[-2000:]
    assert tells in found.stdout
