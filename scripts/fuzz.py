"""Corrupted files against every reader and every command that takes one.

Ratings, catalogues, personal files and model folders are damaged with their structure in mind
(a cell, a node of JSON, a shape, an offset, a page, an archive), digests are repaired in half of
the folders, and a door or a command reads them in a forked child with a limit on time and
memory. Whatever is not an answer or an error of ours is a finding.

    scripts/fuzz.py --cases 20000        all of it
    scripts/fuzz.py --case 1234          one case, with its traceback
"""

from __future__ import annotations

import argparse
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

sys.path.insert(0, str(Path(__file__).parent))

BATCH = 100
"""Cases of one child."""
SECONDS = 20
"""That one case may take."""
MEGABYTES = 1000
"""That one case may need."""
ADDRESS_SPACE = 6 << 30
"""Of a child: far above what it may need, far below what the machine has."""


@dataclass
class Report:
    """What came of the cases."""

    outcomes: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)
    peak: int = 0
    """Megabytes of the hungriest case, and"""
    hungriest: int = -1
    slowest: float = 0.0


def run_cases(numbers: range, *, show: bool = False) -> Report:
    """All these cases, in children that are forked for a batch each."""
    report = Report()
    with tempfile.TemporaryDirectory(prefix="tacit-fuzz-") as folder:
        originals = Path(folder) / "originals"
        subprocess.run([sys.executable, __file__, "--make", str(originals)], check=True)
        import fuzz_run

        fuzz_run.prepare(originals)  # imports, before any fork
        waiting = list(numbers)
        began = time.monotonic()
        while waiting:
            done = _child(waiting[:BATCH], Path(folder), report)
            waiting = waiting[done:]
            if show:
                minutes = (time.monotonic() - began) / 60
                left = len(waiting)
                found = len(report.findings)
                line = f"{left:>6} left, {found} findings, {minutes:.1f} min"
                sys.stderr.write(f"\r{line}, peak {report.peak} MB ")
    return report


def _child(numbers: list[int], folder: Path, report: Report) -> int:
    """Run these cases until one of them kills the child; gives how many were begun."""
    import fuzz_run

    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        status = 1
        try:
            fuzz_run.work(numbers, folder, writing, ADDRESS_SPACE)
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    done, begun = 0, time.monotonic()
    with os.fdopen(reading, "rb", buffering=0) as lines:
        while True:
            line = _line(lines, SECONDS)
            if line is None or not line:
                break
            spent = time.monotonic() - begun
            begun = time.monotonic()
            if line == b"end\n":
                break
            _take(line.decode(), numbers[done], spent, report)
            done += 1
    if done < len(numbers):
        if line is None:
            os.kill(pid, signal.SIGKILL)
        what = "hangs" if line is None else "kills the process"
        report.findings.append(f"case {numbers[done]}: {what}")
        done += 1
    os.waitpid(pid, 0)
    return done


def _line(lines: IO[bytes], seconds: float) -> bytes | None:
    """The next line of a child, b"" at its end, None if it does not come in time."""
    ready, _, _ = select.select([lines], [], [], seconds)
    return lines.readline() if ready else None


def _take(line: str, number: int, spent: float, report: Report) -> None:
    outcome, megabytes, *words = line.rstrip("\n").split("\t")
    report.outcomes[outcome] += 1
    if int(megabytes) > report.peak:
        report.peak, report.hungriest = int(megabytes), number
    report.slowest = max(report.slowest, spent)
    if outcome == "FINDING":
        report.findings.append(f"case {number}: {' '.join(words)}")
    elif int(megabytes) > MEGABYTES:
        report.findings.append(f"case {number}: needs {megabytes} MB")


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--case", type=int)
    parser.add_argument("--make", metavar="FOLDER")
    asked = parser.parse_args()
    if asked.make:
        import fuzz_make

        fuzz_make.make(Path(asked.make))
        return 0
    if asked.case is not None:
        import fuzz_run

        return fuzz_run.one(asked.case)
    numbers = range(asked.first, asked.first + asked.cases)
    report = run_cases(numbers, show=sys.stderr.isatty())
    say = sys.stdout.write
    say(f"{asked.cases:,} cases: {dict(report.outcomes)}\n")
    say(f"peak {report.peak} MB (case {report.hungriest}), ")
    say(f"slowest {report.slowest:.1f} s, {len(report.findings)} findings\n")
    for finding in report.findings:
        say(f"{finding}\n")
    return 1 if report.findings else 0


if __name__ == "__main__":
    sys.exit(main())
