"""One process: the cells that it is told, in the checkout that is on its path.

`python -m comparing.worker list CHECKOUT` prints the names of all cells, with a star if quick.
`python -m comparing.worker run CHECKOUT NAMES OUT` runs those that the file NAMES lists and writes
a line each to OUT.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

from comparing.bench import Bench
from comparing.cells import Cell, cells
from comparing.record import BLANK, in_words, refusal
from comparing.version import tacit


def main() -> None:
    """See the module."""
    what, checkout = sys.argv[1], Path(sys.argv[2]).resolve()
    if not Path(tacit.__file__).resolve().is_relative_to(checkout):
        sys.exit(f"the tacit that was imported is not that of {checkout}: {tacit.__file__}")
    if what == "list":
        sys.stdout.writelines(f"{'*' if cell.quick else ' '}{cell.name}\n" for cell in cells())
        return
    wanted = set(Path(sys.argv[3]).read_text("utf-8").splitlines())
    with Path(sys.argv[4]).open("w", encoding="utf-8") as out:
        bench = Bench()
        for cell in cells():
            if cell.name in wanted:
                began = time.process_time()
                found = run(cell, bench)
                taken = round(time.process_time() - began, 3)
                line = json.dumps({"name": cell.name, "seconds": taken, "record": found})
                out.write(line.replace(str(bench.root), BLANK) + "\n")
                out.flush()
        os.chdir("/")


def run(cell: Cell, bench: Bench) -> dict[str, Any]:
    """The record of a cell; a refusal is one, and so is a crash, which is told apart from it."""
    folder = bench.folder()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = cell.run(bench)
        except tacit.TacitError as error:
            found = refusal(error)
        except Exception as error:  # noqa: BLE001 (whatever it is, it is what this version does)
            sys.stderr.write(f"{cell.name}: {''.join(traceback.format_exception(error))}\n")
            found = {"crashed": type(error).__name__, "words": in_words(str(error))}
    notes = [in_words(str(each.message)) for each in told if each.category is UserWarning]
    shutil.rmtree(folder)
    return {**found, "notes": notes} if notes else found


if __name__ == "__main__":
    main()
