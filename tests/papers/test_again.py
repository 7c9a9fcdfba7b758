"""Finished numbers judged again: nothing is run, and a page says what its numbers say."""

from __future__ import annotations

import json

import pytest

from tacit.errors import DataError
from tacit.papers.machine.again import judge_again, read, runs_of
from tacit.papers.machine.experiment import Curve, Experiment, Finding, Panel, Paper, Verdict
from tacit.papers.machine.markdown import markdown
from tacit.papers.machine.record import record


def never(sources, key):
    raise AssertionError("nothing is run again")


def draw(results):
    yield Panel("t", "x", "y", (Curve.of("ours", results.along("x", "y")),))


def falls(results):
    series = results.along("x", "y")
    down = series.y[-1] < series.y[0]
    return Verdict("holds" if down else "does not hold", f"to {series.y[-1]:g}")


PAPER = Paper(
    "tried",
    "A paper",
    (
        Experiment(
            figure="1",
            title="a line",
            data=("a", "b"),
            split="none",
            keys=lambda asked: (),
            work=never,
            draw=draw,
            findings=(Finding("falls", "It falls.", "section 1", falls),),
        ),
    ),
)


def told(data, y, *, seeds=1, command="tacit reproduce tried"):
    cells = [
        {"key": {"data": data, "x": x, "seed": 0}, "values": {"y": value, "seconds": 1.0}}
        for x, value in enumerate(y)
    ]
    figure = {"figure": "1", "data": [data], "seeds": seeds, "quick": False}
    return {
        "paper": "tried",
        "command": command,
        "version": "0.0.1",
        "commit": "abc",
        "date": "2026-01-01",
        "figures": [figure | {"cells": cells}],
    }


def test_a_record_is_judged_by_the_code_of_today():
    (done,) = judge_again(PAPER, [told("a", (2.0, 1.0))])
    assert done.verdicts[0][1] == Verdict("holds", "to 1")
    assert done.missing == ("b",)
    (other,) = judge_again(PAPER, [told("a", (1.0, 2.0))])
    assert other.verdicts[0][1].outcome == "does not hold"


def test_runs_of_several_data_sets_make_one_page():
    records = [
        told("b", (5.0, 1.0), command="tacit reproduce tried --seeds 1"),
        told("a", (9.0, 1.0, 7.0), seeds=3),
        told("a", (2.0, 3.0), seeds=3),
    ]
    (done,) = judge_again(PAPER, records)
    assert done.results.asked.data == ("a", "b")
    assert len(done.results.rows) == 4, "of a data set the last run counts"
    assert done.results.values("y", data="a") == [2.0, 3.0]
    assert dict(done.seeds) == {"b": 1, "a": 3}
    made = record(PAPER, [done], "tacit again", runs=runs_of(records))
    page = " ".join(markdown(PAPER, [done], made).split())
    assert "`tacit reproduce tried --seeds 1`, tacit 0.0.1 (commit abc)" in page
    assert "judged again by `tacit again`" in page
    assert "Seeds: b 1, a 3" in page
    once_more = judge_again(PAPER, [json.loads(json.dumps(made))])
    assert once_more == [done]
    assert runs_of([made]) == runs_of(records)


def test_a_record_of_another_paper_is_refused(tmp_path):
    file = tmp_path / "numbers.json"
    file.write_text(json.dumps(told("a", (1.0,)) | {"paper": "other"}))
    with pytest.raises(DataError, match="no numbers of tried"):
        read(file, PAPER)
    file.write_text("{")
    with pytest.raises(DataError, match="not readable"):
        read(file, PAPER)
