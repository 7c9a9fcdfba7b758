"""`scripts/speed`: time five fits in two checkouts in turn, and say what changed beyond noise."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from comparing.trees import Tree

from speeding.rule import RULE, Change
from speeding.shapes import SHAPES, Shape

PAIRS = 3
FIGURES = {"read": "s", "fit": "s", "memory": "MB"}
"""Processor seconds (user and system) of reading and of the fit, and the peak of the process."""
FEWEST = {"read": 0.5, "fit": 0.5, "memory": 50.0}
"""Below it, a figure is shown and never judged: a start of an interpreter would be measured."""
Runs = dict[str, list[float]]


class FailedRunError(Exception):
    """A process ended without its figures."""


def main() -> int:
    """Exit status 0 if nothing takes more, 1 if anything does, 2 if it could not be found out."""
    asked = _arguments()
    shapes = [shape for shape in SHAPES if asked.only in shape.name]
    trees = [
        Tree.at(path, Path(tempfile.gettempdir()) / "tacit-speed")
        for path in (asked.old, asked.new)
    ]
    every: dict[str, Any] = {}
    try:
        with tempfile.TemporaryDirectory(prefix="tacit-speed-") as folder:
            for shape in shapes:
                one = shape.quick() if asked.quick else shape
                every[shape.name] = _told(one, _runs(one, trees, asked.pairs, Path(folder)))
    except FailedRunError as error:
        _say(str(error))
        return 2
    if asked.json:
        asked.json.write_text(json.dumps(every, indent=1), "utf-8")
    more = [
        f"{name}: {figure}"
        for name, figures in every.items()
        for figure, found in figures.items()
        if found["verdict"] == "more"
    ]
    _say("takes more: " + ", ".join(more) if more else "nothing takes more beyond noise")
    return 1 if more else 0


def _arguments() -> Any:
    parser = argparse.ArgumentParser(
        prog="scripts/speed",
        description="Time the same fits in two checkouts, in turn (old new old new ...), after one "
        "run of each that compiles, with one thread. " + RULE,
        epilog="Exit status 1 if anything takes more, 2 if a run failed.",
    )
    parser.add_argument("old", type=Path, help="the checkout to compare with")
    parser.add_argument("new", type=Path, help="the checkout to judge")
    parser.add_argument("--quick", action="store_true", help="small tables: does it run at all?")
    parser.add_argument(
        "--only", default="", metavar="WORDS", help="shapes with this in their name"
    )
    parser.add_argument("--pairs", type=int, default=PAIRS, help=f"runs of each ({PAIRS} or more)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every run")
    asked = parser.parse_args()
    asked.pairs = max(asked.pairs, PAIRS)
    return asked


def _runs(shape: Shape, trees: list[Tree], pairs: int, folder: Path) -> list[Runs]:
    """All runs of both checkouts on one table that both read."""
    table = folder / "ratings.parquet"
    shape.write(table)
    found: list[Runs] = [{figure: [] for figure in FIGURES} for _ in trees]
    for turn in range(pairs + 1):
        for tree, runs in zip(trees, found, strict=True):
            figures = _run(shape, tree, table)
            for figure, value in figures.items() if turn else ():
                runs[figure].append(value)
    return found


def _run(shape: Shape, tree: Tree, table: Path) -> dict[str, float]:
    """One process of one checkout."""
    tree.kernels.mkdir(parents=True, exist_ok=True)
    likes = "likes" if shape.likes else "ratings"
    command = [sys.executable, "-m", "speeding.worker", str(tree.checkout), str(table)]
    with (
        tempfile.TemporaryDirectory(prefix="tacit-speed-") as home,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as errors,
    ):
        process = subprocess.Popen(
            [*command, shape.method, likes],
            env=tree.environment() | {"TACIT_HOME": home},
            stdout=out,
            stderr=errors,
            cwd=home,
        )
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            raise
        process.returncode = os.waitstatus_to_exitcode(status)
        for file in (out, errors):
            file.seek(0)
        if process.returncode:
            words = errors.read().decode(errors="replace")[-4000:]
            raise FailedRunError(f"{shape.name} in {tree.checkout} failed:\n{words}")
        seconds: dict[str, float] = json.loads(out.read())
    return seconds | {"memory": usage.ru_maxrss / 1024}


def _told(shape: Shape, runs: list[Runs]) -> dict[str, Any]:
    """Print a line a figure; what is written of them."""
    told = {}
    for figure, unit in FIGURES.items():
        old, new = (each[figure] for each in runs)
        change = Change.of(old, new)
        judged = max(change.old, change.new) >= FEWEST[figure]
        verdict = change.verdict if judged else ""
        _say(
            f"{shape.name:12} {figure:7} {change.old:8.2f} -> {change.new:8.2f} {unit:2} "
            f"x {change.ratio:.2f} (noise {change.noise:.2f}) {verdict}".rstrip()
        )
        told[figure] = {"old": old, "new": new, "ratio": change.ratio, "verdict": verdict}
    return told


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
