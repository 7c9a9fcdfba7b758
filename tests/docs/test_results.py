"""A results page is what the numbers beside it give today: no table of it is by hand."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest

from tacit.papers.machine.again import judge_again, read
from tacit.papers.machine.markdown import markdown
from tacit.papers.registry import find, names

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results"
MEASURED = ("covariance", "mf", "one-bit", "pnbm")
TABLED = ("federated", "forecast", "twins")


def measured(name="measured"):
    """A file of benchmarks/, which is no package."""
    file = ROOT / "benchmarks" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(file.stem, file)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.mark.parametrize("name", names())
def test_a_papers_page_follows_from_its_numbers(name):
    paper = find(name)
    made = read(RESULTS / f"{name}.json", paper)
    done = judge_again(paper, [made])
    page = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
    assert page == markdown(paper, done, made)


@pytest.mark.parametrize("name", MEASURED)
def test_a_measured_page_has_no_other_tables(name):
    module = measured()
    page = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
    numbers = RESULTS / f"{name}.json"
    part = ""
    if numbers.is_file():
        told = json.loads(numbers.read_text(encoding="utf-8"))
        for table in told["tables"]:
            for needed in ("command", "commit", "date", "rows"):
                assert table[needed], needed
        part = module.section(told, name)
    assert part in page
    assert not re.search(r"^\|", page.replace(part, ""), re.MULTILINE)


@pytest.mark.parametrize("name", TABLED)
def test_a_page_has_the_tables_of_the_numbers_beside_it(name):
    module = measured("tables")
    tables = module.read(name)
    for table in tables:
        for needed in ("command", "commit", "date", "rows"):
            assert table[needed], needed
    page = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
    assert module.shown(page) == [module.markdown(table) for table in tables]


@pytest.mark.parametrize(("name", "module"), [("scale", "scale"), ("beside", "beside/page")])
def test_a_page_of_timings_follows_from_its_numbers(name, module):
    """And says of each run on which commit, day and machine it was."""
    told = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    for run in told.get("runs", [told]):
        for needed in ("commit", "date", "machine", "cores"):
            assert run[needed], needed
    page = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
    assert page == measured(module).page(told)


def test_the_tables_of_other_shapes_follow_from_their_numbers():
    told = json.loads((RESULTS / "shapes.json").read_text(encoding="utf-8"))
    for needed in ("command", "commit", "date", "rows"):
        assert told[needed], needed
    page = (RESULTS / "bayes.md").read_text(encoding="utf-8")
    assert measured("shapes").section(told) in page


def test_the_simulated_load_is_what_the_page_says():
    page = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    assert measured("load").table() in page
