"""Cells are computed once, kept whole, and the same in one process and in two."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tacit.errors import SettingError, TacitError
from tacit.evaluation.cells import StoredCells, name_of, run_cells

KEYS = [{"number": number, "digest": "a"} for number in range(6)]


@pytest.fixture(autouse=True)
def found_by_other_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new process must find the functions of this file by name."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))


def square(common: int, key: Mapping[str, Any]) -> dict[str, Any]:
    return {"value": common + key["number"] ** 2}


def refuse(common: int, key: Mapping[str, Any]) -> dict[str, Any]:
    if key["number"] == 3:
        raise SettingError("number 3 is not wanted", remedy="leave it out")
    return square(common, key)


def vanish(common: int, key: Mapping[str, Any]) -> dict[str, Any]:
    os.kill(os.getpid(), signal.SIGKILL)
    return {}


@pytest.mark.parametrize("processes", [1, 2])
def test_answers_come_in_the_order_of_the_keys(processes: int) -> None:
    answers = run_cells(KEYS, square, 10, processes=processes)
    assert answers == [{"value": 10 + n * n} for n in range(6)]


def test_a_kept_cell_is_not_computed_again(tmp_path: Path) -> None:
    run_cells(KEYS[:4], square, 10, folder=tmp_path)
    seen: list[tuple[int, int]] = []

    def tell(done: int, total: int, left: float | None) -> None:
        seen.append((done, total))

    # another `common` shows which were read: a key must hold all that matters
    answers = run_cells(KEYS, square, 20, folder=tmp_path, progress=tell)
    assert [a["value"] for a in answers] == [10, 11, 14, 19, 36, 45]
    assert seen == [(4, 6), (5, 6), (6, 6)]


def test_a_torn_or_foreign_file_counts_as_none(tmp_path: Path) -> None:
    kept = StoredCells(tmp_path)
    kept.keep(KEYS[0], {"value": 1})
    file = tmp_path / name_of(KEYS[0])
    assert file.stat().st_mode & 0o777 == 0o600
    whole = file.read_text()
    file.write_text(whole[: len(whole) // 2])
    assert kept.find(KEYS[0]) is None
    (tmp_path / name_of(KEYS[1])).write_text(whole)
    assert kept.find(KEYS[1]) is None
    file.write_text(whole)
    assert kept.find(KEYS[0]) == {"value": 1}


@pytest.mark.parametrize("processes", [1, 2])
def test_our_own_error_keeps_its_kind_and_words(processes: int) -> None:
    with pytest.raises(SettingError, match="number 3 is not wanted") as caught:
        run_cells(KEYS, refuse, 10, processes=processes)
    assert "leave it out" in str(caught.value)


def test_a_killed_worker_is_told_with_a_remedy() -> None:
    with pytest.raises(TacitError, match="fewer processes"):
        run_cells(KEYS, vanish, 10, processes=2)


SLOW = """
import sys, time
from collections.abc import Mapping
from pathlib import Path
from tacit.evaluation.cells import run_cells

def slow(common, key):
    with open(common, "a") as log:
        log.write(f"{key['n']}\\n")
    time.sleep(.15)
    return {"n": key["n"]}

if __name__ == "__main__":
    keys = [{"n": n} for n in range(8)]
    run_cells(keys, slow, sys.argv[2], folder=Path(sys.argv[1]))
"""


def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    program = tmp_path / "slow.py"
    program.write_text(SLOW)
    folder = tmp_path / "cells"
    log = tmp_path / "log"
    command = [sys.executable, str(program), str(folder), str(log)]
    first = subprocess.Popen(command)
    while len(list(folder.glob("*.json"))) < 3:
        time.sleep(0.02)
    first.kill()
    first.wait()
    finished = len(list(folder.glob("*.json")))
    subprocess.run(command, check=True)
    times = log.read_text().split()
    assert sorted(set(times)) == [str(n) for n in range(8)]
    # only the cell that the kill met may have begun twice
    assert len(times) <= 9
    assert 3 <= finished < 8
