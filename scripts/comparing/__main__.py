"""`scripts/compare`: prove that not one number changed between two checkouts on this machine."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from comparing.differ import differences
from comparing.trees import Found, Tree, WorkerError, run

SHOWN_CELLS = 40
SHOWN_LINES = 6
"""What is printed of many differences; `--json` has all."""
JOBS = 2


def main() -> int:
    """Exit status 0 if nothing differs, 1 if anything does, 2 if it could not be found out."""
    asked = _arguments()
    cache = asked.cache or _home_of_the_cache(asked.old)
    old, new = (Tree.at(path, cache) for path in (asked.old, asked.new))
    began = time.monotonic()
    try:
        before, after = _both(old, new, asked)
    except WorkerError as error:
        _say(str(error))
        return 2
    told = {
        name: differences(before[name]["record"], after[name]["record"])
        for name in before
        if name in after
    }
    changed = {name: lines for name, lines in told.items() if lines}
    gone = [name for name in before if name not in after]
    added = [name for name in after if name not in before]
    _report(changed, gone, added, asked.all)
    refused, crashed = (
        sum(word in each["record"] for each in before.values()) for word in ("refused", "crashed")
    )
    _say(
        f"{len(before):,} cells of the old checkout ({refused:,} refused, {crashed:,} crashed): "
        f"{len(told) - len(changed):,} equal, {len(changed):,} differ, {len(gone):,} gone; "
        f"{len(added):,} new; {time.monotonic() - began:.0f} s"
    )
    if asked.json:
        found = {"differ": changed, "gone": gone, "new": added, "equal": len(told) - len(changed)}
        taken = {
            name: [each.get(name, {}).get("seconds") for each in (before, after)] for name in told
        }
        asked.json.write_text(json.dumps({**found, "seconds": taken}, indent=1), "utf-8")
    return 1 if changed or gone else 0


def _arguments() -> Any:
    parser = argparse.ArgumentParser(
        prog="scripts/compare",
        description="Run the same cells in two checkouts with the same bits and tell which differ.",
    )
    parser.add_argument(
        "old", type=Path, help="the checkout to compare with; what it gives is cached"
    )
    parser.add_argument("new", type=Path, help="the checkout to judge, which is always run")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="about a hundred cells: every method in every calibration",
    )
    parser.add_argument(
        "--only", default="", metavar="WORDS", help="cells whose name has all of these words"
    )
    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="write every difference and the time of every cell",
    )
    parser.add_argument("--all", action="store_true", help="print every difference")
    parser.add_argument(
        "--fresh", action="store_true", help="run the old checkout too, whatever is cached"
    )
    parser.add_argument(
        "--jobs", type=int, default=JOBS, help="processes at once, at least one a checkout"
    )
    parser.add_argument(
        "--cache", type=Path, metavar="DIR", help="instead of the git folder of the old checkout"
    )
    return parser.parse_args()


def _both(old: Tree, new: Tree, asked: Any) -> tuple[Found, Found]:
    """What the cells give in each checkout; side by side where both must run."""
    words = asked.only.split()
    wanted = [
        [name for name in tree.names(asked.quick) if all(word in name.split() for word in words)]
        for tree in (old, new)
    ]
    known = {} if asked.fresh else old.known()
    missing = [name for name in wanted[0] if name not in known]
    work = [(old, missing)] if missing else []
    parts = max(1, asked.jobs - len(work))
    work += [(new, wanted[1][part::parts]) for part in range(parts)]
    found = run(work)
    first = found.pop(0) if missing else {}
    after = {name: each for part in found for name, each in part.items()}
    old.keep(first)
    new.keep(after)
    known |= first
    return {name: known[name] for name in wanted[0]}, {name: after[name] for name in wanted[1]}


def _home_of_the_cache(checkout: Path) -> Path:
    """Beside the commits, where all worktrees find it and none of them carries it."""
    asked = ["git", "-C", str(checkout), "rev-parse", "--path-format=absolute", "--git-common-dir"]
    told = subprocess.run(asked, check=False, capture_output=True, text=True)
    if told.returncode:
        return Path(tempfile.gettempdir()) / "tacit-compare-cache"
    return Path(told.stdout.strip()) / "tacit-compare"


def _report(
    changed: dict[str, list[str]], gone: list[str], added: list[str], everything: bool
) -> None:
    cells, lines = (len(changed), 10**9) if everything else (SHOWN_CELLS, SHOWN_LINES)
    for name in list(changed)[:cells]:
        _say(f"differs: {name}")
        for line in changed[name][:lines]:
            _say(f"    {line}")
        if len(changed[name]) > lines:
            _say(f"    and {len(changed[name]) - lines} more")
    if len(changed) > cells:
        _say(f"... and {len(changed) - cells:,} more cells (--all prints them)")
    for word, names in (("gone", gone), ("new", added)):
        for name in names[:cells]:
            _say(f"{word}: {name}")
        if len(names) > cells:
            _say(f"... and {len(names) - cells:,} more {word}")


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
