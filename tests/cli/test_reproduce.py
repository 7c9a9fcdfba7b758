"""`tacit reproduce` runs to the end: every figure of every paper, by the command itself."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

PAPERS = ("mcsherry2009", "hua2015", "wang-tang", "xian2017", "shin2018")


@pytest.mark.parametrize("name", PAPERS)
def test_a_paper_runs_to_the_end(name, tmp_path):
    pytest.importorskip("matplotlib")
    from tacit.papers.registry import find

    out = tmp_path / "page"
    words = [sys.executable, "-m", "tacit", "reproduce", name, "--quick", "--out", str(out)]
    ended = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "NOT PRIVATE" in ended.stdout
    page = (out / "index.html").read_text("utf-8")
    made = json.loads((out / "numbers.json").read_text("utf-8"))
    paper = find(name)
    assert any(figure["cells"] for figure in made["figures"])
    assert [each["figure"] for each in made["figures"]] == [e.figure for e in paper.experiments]
    for figure, experiment in zip(made["figures"], paper.experiments, strict=True):
        assert figure["quick"]
        assert not [cell for cell in figure["cells"] if "failed" in cell["values"]]
        told = [verdict["finding"] for verdict in figure["verdicts"]]
        assert told == [finding.name for finding in experiment.findings]
        assert experiment.title in page
