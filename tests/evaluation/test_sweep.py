"""The grid, the splits, the cells, and what is made of them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.data import splits
from tacit.data.ratings import Ratings
from tacit.errors import SettingError
from tacit.evaluation.arms import Grid
from tacit.evaluation.protocol import HeldBack
from tacit.evaluation.sweep import digest_of


def _evaluate(small: Ratings, **more) -> tacit.Evaluation:
    asked = {"seeds": 2, "reference": False} | more
    return tacit.evaluate(small, "bias", (0.5, 8), **asked)


@pytest.fixture(scope="module")
def found(small, tmp_path_factory) -> tacit.Evaluation:
    ledger = tmp_path_factory.mktemp("ledger") / "book"
    return _evaluate(small, ledger=str(ledger))


def test_one_line_a_combination_and_the_twin_last(found) -> None:
    told = [(c["calibration"], c["epsilon"], c["runs"]) for c in found.cells]
    assert told == [("sound", 0.5, 2), ("sound", 8.0, 2), ("none", None, 2)]
    assert found.cells[0]["delta"] > 0
    assert found.reference is found.cells[2]


def test_every_metric_that_is_named_is_there(found) -> None:
    cell = found.cells[0]
    for name in (
        "rmse mae recall@20 precision@20 f@20 ndcg@20 map@20 mrr@20 overlap@30 "
        "f_twin@30 coverage@20 novelty@20 popularity_lift@20 inside80"
    ).split():
        assert cell[name] is not None, name
        assert cell[f"{name}_sd"] is not None, name
    assert len(cell["error_cdf"]) == len(found.facts["error_at"])
    assert len(cell["spread"]["rmse"]["deciles"]) == 9
    assert cell["spread"]["rmse"]["worst_tenth"] > cell["rmse"]
    assert len(cell["by_activity"]["rmse"]) == 5
    assert len(cell["by_popularity"]["rmse"]) == 5


def test_over_the_twin_is_the_difference_of_the_means(found) -> None:
    private, twin = found.cells[0], found.cells[2]
    over = private["over_twin"]["rmse"]
    assert over["mean"] == pytest.approx(private["rmse"] - twin["rmse"])
    assert over["low"] < over["mean"] < over["high"]


def test_simple_answers_stand_beside(found) -> None:
    named = {each["baseline"]: each for each in found.baselines}
    assert named["own mean"]["rmse"] < named["global mean"]["rmse"]
    assert named["global mean"]["recall@20"] is None
    assert named["popularity"]["rmse"] is None
    assert named["popularity"]["recall@20"] > 0


def test_the_result_is_a_frame_and_a_table(found) -> None:
    frame = found.frame()
    assert frame.height == len(found.cells) + len(found.baselines)
    assert frame["rmse"][0] == found.cells[0]["rmse"]
    assert "NOT PRIVATE" in found._repr_html_()
    told = found.to_json()
    assert json.loads(json.dumps(told))["note"].startswith("NOT PRIVATE")
    for name in ("version", "data_digest", "split", "seeds", "users"):
        assert told[name] is not None


def test_people_one_by_one(found, small) -> None:
    frame = found.people()
    one = frame.filter((frame["person"] == "u3") & (frame["run"] == 1) & (frame["epsilon"] == 8.0))
    assert one.height == 1
    on = found.swept.task.prepared(1)
    asked = int(np.diff(on.split.test.ptr)[3])
    assert one["ratings_asked"][0] == asked


def test_swept_settings_make_lines_of_their_own(small) -> None:
    found = tacit.evaluate(
        small, "knn-pearson", 5, sweep={"keep": [3, 9]}, seeds=1, twin=False, baselines=False
    )
    assert [c["settings"] for c in found.cells] == [{"keep": 3}, {"keep": 9}]
    assert "set_keep" in found.frame().columns


def test_what_a_method_does_not_have_is_left_out_and_told() -> None:
    grid = Grid(("bias", "als"), (1.0,), units=("user", "rating"))
    arms, _, left_out = grid.arms(1000)
    told = {(arm.method, arm.unit) for arm in arms}
    assert told == {("bias", "user"), ("bias", "rating"), ("als", "user")}
    assert any("als rating" in words for words in left_out)
    with pytest.raises(SettingError):
        Grid(("als",), (1.0,), units=("rating",)).arms(1000)


def test_beside_a_paper_stands_the_same_with_its_noise_off(small) -> None:
    found = tacit.evaluate(
        small,
        "covariance-svd",
        (0.5, 5),
        calibrations="paper",
        seeds=1,
        baselines=False,
        reference=False,
    )
    told = [(c["calibration"], c["epsilon"]) for c in found.cells]
    assert told == [("paper", 0.5), ("paper", 5.0), ("noise off", None), ("none", None)]
    noisy, off = found.cells[0], found.cells[2]
    over = noisy["over_twin"]["rmse"]["mean"]
    assert over == pytest.approx(noisy["rmse"] - off["rmse"])
    assert over > 0.05


def test_one_cut_of_time_for_everybody(small) -> None:
    first = 10**9 + 5 * 10**6
    part = splits.by_date(small, first)
    assert part.train.time is not None
    assert part.train.time.max() < first <= part.test.time.min()
    kept = splits.until(small, first)
    assert np.array_equal(np.sort(kept.time), np.sort(part.train.time))
    with pytest.raises(SettingError, match="one side"):
        splits.by_date(small, 1)


@pytest.mark.parametrize(
    ("split", "future"), [("90/10", True), ("people", True), ("time", False), ("2001-09-20", False)]
)
def test_which_splits_let_the_future_in(split: str, future: bool) -> None:
    how = HeldBack(split)
    how.check()
    assert how.lets_the_future_in is future


@pytest.mark.parametrize(
    ("split", "days", "told"),
    [
        ("90/10", None, False),
        ("90/10", True, True),
        ("people", None, False),
        ("time", None, True),
        ("2001-09-20", None, True),
        ("probe", None, True),
        ("probe", False, False),
    ],
)
def test_the_day_of_a_question_is_told_where_the_split_goes_by_time(
    split: str, days: bool | None, told: bool
) -> None:
    how = HeldBack(split, days=days)
    assert how.by_day is told
    assert how.key()["days"] is told
    assert HeldBack(split, folds=3).by_day is False


def test_whoever_asks_by_time_asks_on_the_day(small) -> None:
    """The twin draws no noise, so that its error tells what it was told."""
    unless, with_days, without = (
        _evaluate(small, split="time", days=days).cells[2]["rmse"] for days in (None, True, False)
    )
    assert unless == with_days != without


@pytest.mark.parametrize("bad", ["2001-13-20", "soon", "10"])
def test_a_split_that_is_none_is_refused(bad: str) -> None:
    with pytest.raises(SettingError):
        HeldBack(bad).check()


def test_kept_cells_are_not_repeated(small, tmp_path, monkeypatch) -> None:
    first = _evaluate(small, out=tmp_path / "cells")
    monkeypatch.setattr(
        "tacit.evaluation.sweep._fitted", lambda *_: pytest.fail("a cell was repeated")
    )
    again = _evaluate(small, out=tmp_path / "cells")
    assert again.to_json() == first.to_json()


def test_other_data_are_other_cells(small, tmp_path) -> None:
    _evaluate(small, out=tmp_path, seeds=1)
    before = len(list(tmp_path.glob("*.json")))
    later = splits.until(small, 10**9 + 9 * 10**6)
    _evaluate(later, out=tmp_path, seeds=1)
    assert len(list(tmp_path.glob("*.json"))) == 2 * before


def test_other_code_makes_other_cells(small, tmp_path, monkeypatch) -> None:
    _evaluate(small, out=tmp_path, seeds=1)
    before = len(list(tmp_path.glob("*.json")))
    monkeypatch.setattr("tacit.evaluation.sweep.code_digest", lambda: "other")
    _evaluate(small, out=tmp_path, seeds=1)
    assert len(list(tmp_path.glob("*.json"))) == 2 * before


def test_a_digest_of_code_moves_with_every_byte_that_counts(tmp_path) -> None:
    (tmp_path / "methods").mkdir()
    (tmp_path / "cli").mkdir()
    (tmp_path / "methods" / "one.py").write_text("x = 1\n")
    first = digest_of(tmp_path)
    (tmp_path / "cli" / "shown.py").write_text("y = 1\n")
    assert digest_of(tmp_path) == first
    (tmp_path / "methods" / "one.py").write_text("x = 2\n")
    assert digest_of(tmp_path) != first


def test_people_are_held_back_among_those_who_were_there(small) -> None:
    """`until` first, then whole people: nobody later is held back or learned from."""
    early = "2001-09-20"
    found = _evaluate(small, split="people", hold=20, until=early, seeds=2)
    before = splits.until(small, splits.parse_date(early))
    assert found.facts["people"] == before.n_users
    people = found.people()
    names = set(people["person"])
    assert names <= set(before.users)
    assert len(names) <= 40


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.json"))


KILLED = """
import sys, time
from pathlib import Path
from tacit.evaluation.cells import run_cells

def work(common, key):
    time.sleep(0.15 if key["n"] < 3 else 60)
    return {"square": key["n"] ** 2}

if __name__ == "__main__":
    keys = [{"n": n} for n in range(12)]
    run_cells(keys, work, None, folder=Path(sys.argv[1]), processes=2)
"""


def test_a_killed_run_leaves_no_process_behind(tmp_path: Path) -> None:
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    folder = tmp_path / "cells"
    with subprocess.Popen([sys.executable, str(script), str(folder)]) as run:
        children = _wait_for(folder, 2, run.pid)
        run.kill()
    assert len(children) >= 2
    for child in children:
        assert _gone(child), "a process outlived its parent"


@pytest.mark.full
def test_a_killed_evaluation_goes_on_where_it_was(tmp_path: Path, full: bool) -> None:
    """The command itself, in two processes, met by SIGKILL in the middle."""
    if not full:
        pytest.skip("only with scripts/test --full")
    table = tmp_path / "ratings.csv"
    rows = [f"u{u},i{i},{1 + (u * i) % 5}" for u in range(400) for i in range(60) if (u + i) % 3]
    table.write_text("user,item,rating\n" + "\n".join(rows) + "\n")
    folder = tmp_path / "cells"
    words = [sys.executable, "-m", "tacit", "evaluate", str(table)]
    words += "--scale 1,5 --method bias --epsilon 1,2,4 --users 400".split()
    words += "--seeds 20 --no-reference --processes 2 --json --out".split()
    words.append(str(folder))
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as run:
        _wait_for(folder, 20, run.pid)
        run.kill()
    kept = {each.name: each.stat().st_mtime_ns for each in _files(folder)}
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    after = {each.name: each.stat().st_mtime_ns for each in _files(folder)}
    assert 20 <= len(kept) < len(after) == 20 * (4 + 4)
    assert all(after[name] == when for name, when in kept.items())
    assert [cell["runs"] for cell in told["cells"]] == [20] * 4


def _wait_for(folder: Path, cells: int, pid: int) -> list[int]:
    """Until so many cells are kept; the processes that the run has started."""
    for _ in range(1200):
        if folder.exists() and len(_files(folder)) >= cells:
            break
        time.sleep(0.05)
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in path.read_text().split()]


def _gone(pid: int) -> bool:
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().split()[2]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False
