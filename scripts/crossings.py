"""Count how often one fit crosses from a room of `src/tacit` into another.

A crossing is a Python call whose caller and callee are both written in `src/tacit`, in
different rooms. A room is the first folder below `src/tacit`; a file there is a room of its
own name. Each call counts, also one that goes on in a generator. What runs while a module is
imported is not the fit's, and is left out; so is what other packages call.

    scripts/crossings             bayes on the embedded sample, as the command line runs it
    scripts/crossings --by-room   borders only
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.data.ratings import Ratings

TREE = Path(__file__).resolve().parents[1] / "src"
sys.path.insert(0, str(TREE))
ROOT = str(TREE / "tacit") + "/"


def main() -> None:
    """Run one fit under a profiler and print what crossed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--method", default="bayes")
    parser.add_argument("--by-room", action="store_true")
    parser.add_argument("rest", nargs="*", help="further options of `tacit fit`, after --")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        crossed = walk(Path(folder), given.method, given.rest)
    if given.by_room:
        rooms: Counter[tuple[str, ...]] = Counter()
        for (caller, callee, _), times in crossed.items():
            rooms[caller, callee] += times
        show(rooms)
    else:
        show(crossed)
    sys.stdout.write(f"{sum(crossed.values())} crossings\n")


def show(counted: Counter[Any]) -> None:
    """The table: caller, callee, what was called, how often."""
    for names, times in sorted(counted.items(), key=lambda row: (row[0][:2], -row[1])):
        caller, callee, *what = names
        told = f"{caller:<12} {callee:<12} {times:4}  {' '.join(what)}"
        sys.stdout.write(told.rstrip() + "\n")


def walk(folder: Path, method: str, rest: list[str]) -> Counter[tuple[str, ...]]:
    """Fit the embedded sample by the command line and count."""
    from tacit.cli.main import tacit
    from tacit.data.sample import sample

    ratings = folder / "ratings.csv"
    write(sample(), ratings)
    counted: Counter[tuple[str, ...]] = Counter()
    command = [
        *("fit", str(ratings), "--method", method, "--epsilon", "1"),
        *("--users", "2000", "--threads", "1", "--scale", "1,5"),
        *("--ledger", str(folder / "book.db")),
        *("--out", str(folder / "model"), *rest),
    ]

    def look(frame: FrameType, what: str, _: object) -> None:
        if what == "call":
            border = crossing(frame)
            if border:
                counted[border] += 1

    sys.setprofile(look)
    try:
        tacit.main(command, standalone_mode=False)
    finally:
        sys.setprofile(None)
    return counted


def write(people: Ratings, path: Path) -> None:
    """The people of the sample as a csv."""
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["user", "item", "rating"])
        for place in range(people.n_users):
            cells = range(people.ptr[place], people.ptr[place + 1])
            for cell in cells:
                item = people.items[people.item[cell]]
                out.writerow([people.users[place], item, people.value[cell]])


def crossing(frame: FrameType) -> tuple[str, str, str] | None:
    """The border that this call crosses, and the function called."""
    into, back = room(frame), frame.f_back
    if not into or back is None or not room(back) or room(back) == into:
        return None
    if imported(frame):
        return None
    name = frame.f_code.co_qualname
    where = frame.f_code.co_filename.removeprefix(ROOT).removesuffix(".py")
    return room(back), into, f"{where}:{name}"


def imported(frame: FrameType | None) -> bool:
    """Whether this runs while a module of ours is imported."""
    while frame is not None:
        if frame.f_code.co_name == "<module>" and room(frame):
            return True
        frame = frame.f_back
    return False


def room(frame: FrameType) -> str:
    """The first folder below `src/tacit`, or the file there; nothing elsewhere."""
    path = frame.f_code.co_filename
    if not path.startswith(ROOT):
        return ""
    return path.removeprefix(ROOT).split("/")[0].removesuffix(".py")


if __name__ == "__main__":
    main()
