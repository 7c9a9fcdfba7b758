"""One case of the matrix: two neighbouring files, and what others see of each."""

from __future__ import annotations

import shutil
from pathlib import Path

from .files import pair, rows, write
from .matrix import Case
from .replay import play, record
from .shown import Revealed, show

EARLIER = ("bias", "pnbm-sgd")
"""Methods of models that a case may start from."""


def earlier(folder: Path) -> Path:
    """A book that has paid for one model of each kind to start from, of other people."""
    lines = [f"other {person},{item},{value}" for person, item, value in rows()]
    write(folder, "\n".join(["user,item,rating", *lines]) + "\n")
    for method in EARLIER:
        words = ["fit", "ratings.csv", "--scale", "1,5", "--ledger", "book.db"]
        words += ["--out", f"earlier-{method}", "--method", method]
        words += ["--epsilon", "1", "--users", "24", "--items", "items.csv"]
        done = show(folder, words)
        assert done.status == 0, done.err
    return folder


def compare(case: Case, folder: Path, begun: Path | None = None, gone: str = "") -> list[str]:
    """What differs, over all pairs of neighbours: nothing, if the promise is kept. `gone`
    lists other people to be forgotten."""
    found = []
    for number, relation in enumerate(case.relations):
        both = pair(relation, case.layout, case.duplicates in ("last", "mean"))
        left = folder / f"{number}-left"
        right = folder / f"{number}-right"
        write(left, both.left, case.reading)
        write(right, both.right, case.reading)
        if gone:
            (left / "gone.txt").write_text(gone)
            (right / "gone.txt").write_text(gone)
        if case.start:
            assert begun is not None
            _copy(begun, left)
            _copy(begun, right)
        with record() as tape:
            firsts = [show(left, words) for words in case.commands()]
        with play(tape):
            seconds = [show(right, words) for words in case.commands()]
        told = list(tape.differ)
        for first, second in zip(firsts, seconds, strict=True):
            promised = case.calibration != "none"
            told += first.differences(second, promised=promised)
        found += [f"{case} ({relation}): {each}" for each in told]
        found += _broken(case, firsts[0])
        if firsts[0].status == 0:
            broken = [each.err for each in firsts if each.status]
            found += [f"{case}: then {each}" for each in broken]
    return found


def _copy(begun: Path, folder: Path) -> None:
    for path in begun.iterdir():
        if path.is_dir():
            shutil.copytree(path, folder / path.name)
        elif path.name.startswith("book.db"):
            shutil.copy(path, folder / path.name)


def _broken(case: Case, shown: Revealed) -> list[str]:
    """A fit is made, or refused with a reason before anything is charged."""
    if shown.status == 0:
        return []
    charged = [row for row in shown.book if isinstance(row, dict)]
    if not case.start and charged:
        return [f"{case}: charged, and then {shown.err}"]
    told = shown.err.lower()
    if shown.status != 2 or ("remedy" not in told and "error" not in told):
        return [f"{case}: ended with {shown.status}: {shown.err}"]
    return []
