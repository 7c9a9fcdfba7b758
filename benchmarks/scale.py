"""From a table to a model at sizes past memory: seconds and peak memory of each command.

    python benchmarks/scale.py run FOLDER --ratings 1e8 --people 480189 --items 17770
    python benchmarks/scale.py run FOLDER --films --ratings 1e8 --people 480189 --items 17770
    python benchmarks/scale.py show      # writes docs/results/scale.md from scale.json

FOLDER gets the table (`benchmarks/scale_made.py`) and the pack, and keeps them. Every command is
a process of its own; its peak is what the system says of its resident memory. `run` adds its
numbers to docs/results/scale.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "docs" / "results"
NUMBERS = RESULTS / "scale.json"
PAGE = RESULTS / "scale.md"
LIMITS = {
    100_000_000: {"bayes": (120, 4.0), "evaluate": (240, 5.0)},
    1_000_000_000: {"pack": (1500, 6.0), "bias": (360, 6.0), "bayes": (2400, 6.0)},
}
"""Seconds and gigabytes that a step is judged by."""


def measured(words: list[str], env: dict[str, str]) -> dict[str, float]:
    """One command: by the clock, of processors, and its peak."""
    start = time.perf_counter()
    child = subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(words)} ended with {child.returncode}")
    return {
        "s": round(time.perf_counter() - start, 1),
        "cpu": round(used.ru_utime + used.ru_stime, 1),
        "gb": round(used.ru_maxrss / 1e6, 2),
    }


def run(asked: argparse.Namespace) -> None:
    """Make what is not there, then pack and fit."""
    folder: Path = asked.folder
    folder.mkdir(exist_ok=True)
    films = folder / "films"
    table, pack = folder / "ratings.csv", folder / "ratings.tacit"
    env = dict(os.environ, TACIT_HOME=str(folder / "home"))
    size = ["--ratings", str(asked.ratings), "--people", str(asked.people)]
    size += ["--items", str(asked.items)]
    made = Path(__file__).with_name("scale_made.py")
    steps: dict[str, dict[str, float]] = {}
    if asked.films:
        # Read as they are, without a pack.
        pack = films
        size.append("--films")
    if not table.exists() and not pack.exists():
        out = films if asked.films else table
        subprocess.run([sys.executable, made, out, *size], check=True)
    tacit = [sys.executable, "-m", "tacit"]
    memory = ["--memory", asked.memory]
    people = ["--users", str(int(asked.people))]
    if not pack.exists():
        words = ["pack", str(table), "--scale", "1,5", "--out", str(pack)]
        steps["pack"] = measured([*tacit, *words, *memory], env)
        print(json.dumps({"pack": steps["pack"]}), flush=True)
    usual = ["--epsilon", "1", *people, *memory, "--overwrite"]
    for method in asked.methods.split(","):
        if method == "evaluate":
            words = ["evaluate", str(pack), "--method", "bayes", "--no-twin"]
            words += ["--epsilon", "1", *people, "--seeds", "1", *memory]
        else:
            out = str(folder / f"model-{method}")
            words = ["fit", str(pack), "--method", method, *usual]
            words += ["--out", out]
        steps[method] = measured([*tacit, *words], env)
        print(json.dumps({method: steps[method]}), flush=True)
    add(asked, None if asked.films else pack.stat().st_size, steps)


def add(asked: argparse.Namespace, size: int | None, steps: dict[str, Any]) -> None:
    """The numbers beside those that are there."""
    told = {"runs": []}
    if NUMBERS.exists():
        told = json.loads(NUMBERS.read_text("utf-8"))
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        capture_output=True,
        text=True,
        check=True,
        cwd=RESULTS,
    )
    told["runs"].append(
        {
            "ratings": int(asked.ratings),
            "people": int(asked.people),
            "items": asked.items,
            "memory": asked.memory,
            "cores": len(os.sched_getaffinity(0)),
            "machine": platform.machine(),
            "busy": asked.busy,
            "pack_bytes": size,
            "commit": commit.stdout.strip(),
            "date": f"{datetime.now(UTC):%Y-%m-%d}",
            "steps": steps,
        }
    )
    NUMBERS.write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    show()


def read_from(each: dict[str, Any]) -> str:
    """What the commands of a run were given."""
    if each["pack_bytes"] is None:
        return "Read from a text file for each film, as the Netflix Prize had them."
    share = each["pack_bytes"] / each["ratings"]
    return f"The pack has {share:.2f} bytes a rating."


def page(told: dict[str, Any]) -> str:
    """The page that follows from the numbers."""
    lines = [
        "# Scale",
        "",
        (
            "From a csv to a model past the size of memory, seeded ratings as skewed as Netflix' "
            "(`benchmarks/scale_made.py`), epsilon 1 for a person: `python benchmarks/scale.py "
            "run FOLDER`. Every command is a process of its own; *peak* is its resident memory. "
            "The numbers are also in [scale.json](scale.json); what follows from them is in "
            "[scale](../scale.md)."
        ),
    ]
    for each in told["runs"]:
        limits = LIMITS.get(each["ratings"], {})
        busy = (
            "a machine that others computed on at the same time: its clock says little, "
            "processor seconds more"
            if each["busy"]
            else "an idle machine"
        )
        lines += [
            "",
            (f"## {each['ratings']:,} ratings, {each['people']:,} people, {each['items']:,} items"),
            "",
            (
                f"`--memory {each['memory']}`, {each['cores']} cores ({each['machine']}), {busy}; "
                f"commit {each['commit']}, {each['date']}. {read_from(each)}"
            ),
            *([each["note"]] if "note" in each else []),
            "",
            "| step | by the clock, s | of processors, s | peak, GB | to stay under |",
            "|---|---|---|---|---|",
        ]
        for name, step in each["steps"].items():
            limit = ""
            if name in limits:
                limit = f"{limits[name][0]:,} s, {limits[name][1]:g} GB"
            lines.append(f"| `{name}` | {step['s']:,} | {step['cpu']:,} | {step['gb']} | {limit} |")
    return "\n".join(lines) + "\n"


def show() -> None:
    """Write the page again."""
    told = json.loads(NUMBERS.read_text("utf-8"))
    PAGE.write_text(page(told), "utf-8")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    kinds = parser.add_subparsers(dest="kind", required=True)
    kinds.add_parser("show")
    asked = kinds.add_parser("run")
    asked.add_argument("folder", type=Path)
    asked.add_argument("--ratings", type=float, default=1e9)
    asked.add_argument("--people", type=float, default=5e6)
    asked.add_argument("--items", type=int, default=50_000)
    asked.add_argument("--memory", default="6GB")
    asked.add_argument("--methods", default="bias,bayes")
    asked.add_argument("--films", action="store_true")
    asked.add_argument("--busy", action="store_true")
    given = parser.parse_args()
    show() if given.kind == "show" else run(given)


if __name__ == "__main__":
    main()
