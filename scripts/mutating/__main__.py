"""`scripts/mutate`: plant every bug in a copy of the tree, and print who caught it."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue

from mutating.book import Book
from mutating.bug import Bug
from mutating.bugs import BUGS
from mutating.run import Caught, Tree


def main() -> int:
    """The command."""
    asked = _asked()
    chosen = [bug for bug in BUGS if not asked.names or bug.name in asked.names]
    if unknown := set(asked.names) - {bug.name for bug in BUGS}:
        sys.stderr.write(f"no such bug: {', '.join(sorted(unknown))}\n")
        return 2
    if asked.list:
        for bug in chosen:
            _say(f"{bug.name:38} {bug.file:44} {bug.words}")
        return 0
    start = time.monotonic()
    book = Book(Path(asked.json) if asked.json else None, fresh=not asked.resume)
    found, wrong = _all(chosen, asked.jobs, book)
    if wrong:
        sys.stderr.write(f"without any bug: {wrong} does not pass\n")
        return 2
    survived = [each for each in found if not each.by]
    _say(
        f"\n{len(found) - len(survived)} of {len(found)} bugs caught, "
        f"{time.monotonic() - start:.0f} seconds in all"
    )
    if asked.page:
        Path(asked.page).write_text(page(found))
    return 1 if survived else 0


def page(found: list[Caught]) -> str:
    """The table as a page."""
    today = datetime.now(UTC).date().isoformat()
    caught = sum(bool(each.by) for each in found)
    rows = [
        f"| {each.bug.name} | {each.bug.words} | `{each.bug.file}` | "
        f"{f'`{each.by}`' if each.by else 'SURVIVED'} | {each.seconds:.1f} |"
        for each in found
    ]
    return "\n".join(
        [
            "# Planted bugs",
            "",
            (
                f"By `scripts/mutate --page docs/results/mutation.md`, {today}: {caught} of "
                f"{len(found)} caught. Each is planted alone in a copy of the tree, and the tests "
                "that are named for it are run until one fails. All tests that caught one pass on "
                "the tree without a bug."
            ),
            "",
            "| bug | what goes wrong | in | caught by | seconds |",
            "| --- | --- | --- | --- | --- |",
            *rows,
            "",
        ]
    )


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser("scripts/mutate", description=__doc__)
    parser.add_argument("names", nargs="*", help="bugs; all if none is named")
    parser.add_argument("--list", action="store_true", help="only name them")
    parser.add_argument("--jobs", type=int, default=2, help="bugs at a time")
    parser.add_argument("--json", help="write the table to a file as well")
    parser.add_argument(
        "--resume",
        action="store_true",
        help="take from --json what was caught and has not changed since",
    )
    parser.add_argument("--page", help="write it as a page, in Markdown")
    return parser.parse_args()


def _all(bugs: list[Bug], jobs: int, book: Book) -> tuple[list[Caught], str]:
    """Every bug that is not in the book, each worker in a tree of its own; and a test that
    fails without any of them, if there is one."""
    folder = Path(tempfile.mkdtemp(prefix="tacit-mutate-"))
    trees = SimpleQueue[Tree]()
    try:
        for k in range(jobs):
            trees.put(Tree(folder / str(k)))

        known = {bug: book.find(bug) for bug in bugs}

        def plant(bug: Bug) -> Caught:
            if before := known[bug]:
                return before
            tree = trees.get()
            try:
                caught = tree.plant(bug)
            finally:
                trees.put(tree)
            _show(caught)
            book.write(caught)
            return caught

        with ThreadPoolExecutor(jobs) as pool:
            found = list(pool.map(plant, bugs))
        wrong = trees.get().control(each.by for each in found if each.by)
        return found, wrong
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _show(caught: Caught) -> None:
    by = caught.by or f"SURVIVED {caught.why}".strip()
    _say(f"{caught.bug.name:38} {caught.seconds:6.1f} s  {by}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
