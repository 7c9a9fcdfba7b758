"""Experiments as data: found by listing, run once, judged, and told where data is missing."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tacit.errors import DataError, SettingError
from tacit.papers.machine.again import judge_again
from tacit.papers.machine.experiment import (
    Curve,
    Experiment,
    Finding,
    Panel,
    Paper,
    Results,
    Row,
    Verdict,
    Wanted,
    of_panel,
)
from tacit.papers.machine.markdown import markdown
from tacit.papers.machine.page import page_of
from tacit.papers.machine.record import record, text
from tacit.papers.machine.run import run_paper
from tacit.papers.machine.sources import SAMPLE, look
from tacit.papers.registry import find, names


def keys(asked):
    return [{"x": x, "seed": seed} for x in (1, 2, 3) for seed in asked.splits]


def on_data(asked):
    return [{"x": 1, "data": name} for name in asked.data]


def counted(sources, key):
    """Leaves a mark for each time that it runs."""
    with Path(os.environ["TACIT_TEST_RUNS"]).open("a") as file:
        file.write("x")
    return {"y": key["x"] * 2.0 + 0.1 * key["seed"]}


def killed(sources, key):
    """The third cell ends the whole process, as a kill would."""
    if key["x"] == 3 and os.environ.get("TACIT_TEST_KILL"):
        os.kill(os.getpid(), signal.SIGKILL)
    return counted(sources, key)


def broken(sources, key):
    """The second cell fails, until it is mended."""
    if key["x"] == int(os.environ.get("TACIT_TEST_BREAK", "2")):
        raise ZeroDivisionError("nothing to divide by")
    return counted(sources, key)


def draw(results):
    yield Panel("t", "x", "y", (Curve.of("ours", results.along("x", "y")),))


def rises(results):
    series = results.along("x", "y")
    up = series.y[-1] > series.y[0]
    return Verdict("holds" if up else "does not hold", "it rises", {"y": 1.0})


def experiment(work=counted, **more):
    return Experiment(
        figure="1",
        title="a line",
        split="none",
        work=work,
        draw=draw,
        findings=(Finding("rises", "It rises.", "section 1", rises),),
        **({"invented": True, "data": (), "keys": keys} | more),
    )


@pytest.fixture(autouse=True)
def marks(tmp_path, monkeypatch):
    file = tmp_path / "runs"
    file.touch()
    monkeypatch.setenv("TACIT_TEST_RUNS", str(file))
    return file


def paper(**more):
    return Paper("tried", "A paper", (experiment(**more),), ("read so",))


def test_papers_are_found_by_listing():
    assert "mcsherry2009" in names()
    for name in names():
        found = find(name)
        assert found.name == name
        figures = [each.figure for each in found.experiments]
        assert len(figures) == len(set(figures))
        for each in found.experiments:
            told = [finding.name for finding in each.findings]
            assert len(told) == len(set(told)), "findings of a figure differ"
    with pytest.raises(SettingError, match="no paper"):
        find("nobody2001")


def test_every_cell_of_a_paper_is_json_and_different():
    for name in names():
        for each in find(name).experiments:
            asked = Wanted(each.data or (), 2)
            made = [json.dumps(key, sort_keys=True) for key in each.keys(asked)]
            assert made
            assert len(made) == len(set(made))


def test_a_finished_cell_is_not_run_again(tmp_path, marks):
    folder = tmp_path / "cells"
    (done,) = run_paper(paper(), look(None), seeds=2, folder=folder)
    assert len(marks.read_text()) == 6
    assert done.verdicts[0][1].outcome == "holds"
    (again,) = run_paper(paper(), look(None), seeds=2, folder=folder)
    assert len(marks.read_text()) == 6
    assert again.results.rows == done.results.rows
    run_paper(paper(), look(None), seeds=3, folder=folder)
    assert len(marks.read_text()) == 9


def test_a_killed_run_goes_on_where_it_was(tmp_path, marks, monkeypatch):
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path\n"
        "import test_framework as t\n"
        "from tacit.papers.machine.run import run_paper\n"
        "from tacit.papers.machine.sources import look\n"
        "run_paper(t.paper(work=t.killed), look(None), seeds=1, folder=Path(sys.argv[2]))\n"
    )
    here = str(Path(__file__).parent)
    words = [sys.executable, "-c", program, here, str(tmp_path / "cells")]
    monkeypatch.setenv("TACIT_TEST_KILL", "1")
    assert subprocess.run(words, check=False).returncode == -signal.SIGKILL
    assert len(marks.read_text()) == 2
    monkeypatch.delenv("TACIT_TEST_KILL")
    assert subprocess.run(words, check=False).returncode == 0
    assert len(marks.read_text()) == 3


def test_a_failing_cell_costs_its_cell(tmp_path, marks, monkeypatch):
    made = paper(work=broken)
    folder = tmp_path / "cells"
    for processes in (1, 2):
        (done,) = run_paper(made, look(None), seeds=1, folder=folder, processes=processes)
        assert [row.key["x"] for row in done.results.rows] == [1, 3]
        assert len(done.results.failed) == 1
        assert "ZeroDivisionError: nothing to divide by" in done.results.failures()[0]
    kept = record(made, [done], "tacit reproduce tried")
    assert [cell["values"].get("failed") for cell in kept["figures"][0]["cells"]].count(None) == 2
    (again,) = judge_again(made, [json.loads(text(kept))])
    for each in (done, again):
        page = page_of(made, [each], kept)
        for words in ("1 of 3 cells failed", "nothing to divide by", "cells failed</"):
            assert words in page
        assert "1 of 3 cells failed" in markdown(made, [each], kept)
        # The judge rests on a curve, and the curve lacks a point.
        outcome = each.verdicts[0][1]
        assert outcome.outcome == "not run"
        assert "nothing to divide by" in outcome.reason
    # What failed is tried again, and nothing else.
    before = len(marks.read_text())
    monkeypatch.setenv("TACIT_TEST_BREAK", "0")
    (mended,) = run_paper(made, look(None), seeds=1, folder=folder)
    assert not mended.results.failed
    assert mended.verdicts[0][1].outcome == "holds"
    assert len(marks.read_text()) == before + 1


def test_a_verdict_that_rests_on_other_cells_stays():
    rows = [Row({"x": x, "of": of}, {"y": x}) for x in (1, 2) for of in "ab"]
    rows[-1] = Row(rows[-1].key, {"failed": "no luck"})
    found = Results.of(rows, Wanted(()))

    def judged(of):
        def judge(results):
            return Verdict("holds", f"{results.mean('y', x=2, of=of) or 9.0:g}")

        return Finding("f", "w", "s", judge).verdict(found)

    assert judged("a").outcome == "holds"
    assert "1 of 4 cells failed: no luck" in judged("a").reason
    assert judged("b").outcome == "not run"
    assert "no luck" in judged("b").reason


def test_data_that_cannot_be_read_ends_the_run(tmp_path):
    folder = tmp_path / "ml-100k"
    folder.mkdir()
    (folder / "u.data").write_text("no ratings\n")
    made = Paper("p", "P", (experiment(data=("ml-100k",), invented=False, keys=on_data),), ())
    with pytest.raises(DataError):
        run_paper(made, look(tmp_path), seeds=1)


def test_a_quick_run_stands_on_a_small_sample():
    assert look(None, quick=True).ratings(SAMPLE).n_users < look(None).ratings(SAMPLE).n_users


def test_the_page_and_the_record_say_how_they_were_made(tmp_path):
    made = paper()
    done = run_paper(made, look(None), seeds=1, folder=None)
    kept = record(made, done, "tacit reproduce tried", date="2026-01-01")
    assert kept == json.loads(text(kept))
    assert kept["figures"][0]["verdicts"][0]["outcome"] == "holds"
    page = page_of(made, done, kept)
    assert page == page_of(made, done, kept), "equal numbers, equal bytes"
    for words in (
        "NOT PRIVATE",
        "tacit reproduce tried",
        "2026-01-01",
        "It rises.",
        "read so",
        kept["version"],
    ):
        assert words in page


def test_data_that_is_not_there_is_named_with_its_place(tmp_path):
    folder = tmp_path / "data" / "ml-100k"
    folder.mkdir(parents=True)
    (folder / "u.data").write_text("1\t1\t5\t1\n")
    made = Paper("p", "P", (experiment(data=("ml-20m",), invented=False),), ())
    (done,) = run_paper(made, look(tmp_path / "data"), seeds=1)
    verdict = done.verdicts[0][1]
    assert verdict.outcome == "not run"
    assert "ml-20m/ratings.csv" in verdict.reason
    assert not done.results
    assert done.missing == ("ml-20m",)


def test_a_folder_may_be_the_set_itself_or_hold_several(tmp_path):
    (tmp_path / "u.data").write_text("1\t1\t5\t1\n")
    assert look(tmp_path).available(("ml-1m", "ml-100k")) == ("ml-100k",)
    films = tmp_path / "netflix-100" / "training_set"
    films.mkdir(parents=True)
    (films / "mv_0000001.txt").write_text("1:\n")
    assert set(look(tmp_path).folders) == {"ml-100k", "netflix-100"}
    assert look(None).available(("ml-1m",)) == (SAMPLE,)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(DataError, match="no data set"):
        look(empty)


def test_means_are_over_seeds():
    rows = (
        Row({"x": 1, "seed": 0}, {"y": 1.0}),
        Row({"x": 1, "seed": 1}, {"y": 3.0}),
        Row({"x": 2, "seed": 0}, {"y": None}),
    )
    found = Results(rows, Wanted(()))
    series = found.along("x", "y")
    assert (series.x, series.y) == ((1.0,), (2.0,))
    assert series.sd[0] == pytest.approx(2**0.5)
    assert found.mean("y", x=2) is None


def test_a_chart_is_a_table_too():
    panel = Panel(
        "t",
        "x",
        "y",
        (
            Curve("a", (1, 2), (0.5, 0.25)),
            Curve("level", (1, 2), (0.3, 0.3), style="line"),
            Curve("printed", (2,), (0.2,), style="paper"),
        ),
    )
    shown = of_panel(panel)
    assert shown.columns == ("x", "1", "2")
    assert shown.rows[2] == ("printed", None, "0.2000")


def test_the_command_writes_for_the_owner_alone(tmp_path, monkeypatch):
    from click.testing import CliRunner

    from tacit.cli.main import tacit

    monkeypatch.setattr(sys, "argv", ["tacit", "reproduce", "mcsherry2009"])
    out = tmp_path / "out"
    words = ["reproduce", "mcsherry2009", "--figure", "noise", "--quick"]
    words += ["--out", str(out), "--processes", "1", "--json"]
    ended = CliRunner().invoke(tacit, words)
    assert ended.exit_code == 0, ended.output
    made = json.loads(ended.stdout)
    assert made["note"].startswith("NOT PRIVATE")
    assert made["figures"][0]["figure"] == "noise"
    for name in ("index.html", "numbers.json"):
        assert stat.S_IMODE((out / name).stat().st_mode) == 0o600
    wrong = CliRunner().invoke(tacit, ["reproduce", "mcsherry2009", "--figure", "9"])
    assert "has no figure '9'" in str(wrong.exception)


def test_the_command_makes_the_page_of_what_did_not_fail(tmp_path, monkeypatch, marks):
    from click.testing import CliRunner

    from tacit.cli.main import tacit

    monkeypatch.setattr(sys, "argv", ["tacit", "reproduce", "tried"])
    monkeypatch.setattr("tacit.papers.registry.find", lambda name: paper(work=broken))
    out = tmp_path / "out"
    words = ["reproduce", "tried", "--out", str(out), "--processes", "1", "--seeds", "1"]
    ended = CliRunner().invoke(tacit, words)
    assert ended.exit_code == 1
    assert "FAILED: 1 of 3 cells failed" in ended.output
    assert "1 of 3 cells failed" in (out / "index.html").read_text("utf-8")
    before = len(marks.read_text())
    monkeypatch.setenv("TACIT_TEST_BREAK", "0")
    ended = CliRunner().invoke(tacit, [*words, "--overwrite"])
    assert ended.exit_code == 0, ended.output
    assert "HOLDS: It rises." in ended.output
    assert len(marks.read_text()) == before + 1
