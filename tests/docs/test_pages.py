"""What the pages say is true: their Python runs, their links lead somewhere, their papers exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md") for page in ROOT.glob(pattern)
)
GUIDES = sorted((ROOT / "docs").glob("adding-*.md"))
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
WEB = ROOT / "web"
NOTHING = re.compile(r"(?i)expose no one|without learning (any|about)|learns nothing about")
LINK = re.compile(r"\]\(([^)\s]+)\)")


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("guide", GUIDES, ids=name)
def test_the_worked_example_runs(guide, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall(guide.read_text("utf-8"))
    assert blocks, "a guide has a worked example"
    names = {"__name__": "__main__"}
    for block in blocks:
        exec(compile(block, str(guide), "exec"), names)


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_the_examples_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for block in BLOCK.findall((ROOT / page).read_text("utf-8")):
        exec(compile(block, page, "exec"), names)
    assert (tmp_path / "model" / "model.json").is_file()


@pytest.mark.parametrize("page", ["evaluate", "plan", "reproduce"])
def test_the_python_of_a_guide_runs(page, tmp_path, monkeypatch, full):
    """With the ratings and items that its text takes for granted."""
    import tacit

    if page != "reproduce" and not full:
        pytest.skip("many fits: only with scripts/test --full")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TACIT_HOME", str(tmp_path / "home"))
    names = {
        "__name__": "__main__",
        "tacit": tacit,
        "ratings": tacit.sample(people=120, ratings=2400, seed=2),
        "items": tacit.sample_catalogue(),
    }
    blocks = BLOCK.findall((ROOT / "docs" / f"{page}.md").read_text("utf-8"))
    assert blocks
    for block in blocks:
        exec(compile(block, page, "exec"), names)


def test_no_page_has_python_that_nobody_runs():
    run = {"README.md", "docs/python.md"} | {name(guide) for guide in GUIDES}
    run |= {f"docs/{page}.md" for page in ("evaluate", "plan", "reproduce")}
    told = {name(page) for page in PAGES if BLOCK.search(page.read_text("utf-8"))}
    assert told == run


def test_the_figure_of_the_readme_can_be_drawn_from_the_results():
    import runpy

    pytest.importorskip("matplotlib")
    drawn = runpy.run_path(str(ROOT / "scripts" / "accuracy.py"))
    lines = drawn["lines"]()
    assert all(len(each) >= 3 for each in lines.values())
    assert all(0.7 < rmse < 1.1 for each in lines.values() for rmse in each.values())
    assert lines["bayes, with public genres"][20.0] > drawn["twin"]()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    text = page.read_text("utf-8")
    for link in LINK.findall(text):
        if "://" in link or link.startswith("#"):
            continue
        target = (page.parent / link.split("#")[0]).resolve()
        assert target.exists(), f"{name(page)} links to {link}"


def leads_to(page: Path) -> set[Path]:
    """What a page links to; a folder is a list of its pages."""
    found = {
        (page.parent / link.split("#")[0]).resolve()
        for link in LINK.findall(page.read_text("utf-8"))
    }
    inner = {each for path in found if path.is_dir() for each in path.glob("*")}
    return found | inner


def test_the_index_leads_to_every_page_in_two_clicks():
    index = ROOT / "docs" / "index.md"
    first = leads_to(index)
    pages = [path for path in first if path.suffix == ".md" and path.exists()]
    known = first.union(*(leads_to(page) for page in pages))
    for page in (ROOT / "docs").glob("**/*.md"):
        if page != index:
            assert page.resolve() in known, f"no way leads to {name(page)}"


def test_nothing_refers_to_a_document_that_is_not_here():
    for path in [*PAGES, *(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]:
        if path == Path(__file__):
            continue
        text = path.read_text("utf-8")
        found = re.search(r"\b(DESIGN|MECHANISMS)\b", text)
        assert found is None, f"{name(path)} refers to {found}"


def test_no_page_promises_that_nothing_is_learned():
    """Epsilon is a limit, not a zero: what is true is very little, as much as was set."""
    texts = [*PAGES, ROOT / "pyproject.toml", *(ROOT / "src").rglob("*.py")]
    texts += [page for kind in ("html", "js", "webmanifest") for page in WEB.rglob(f"*.{kind}")]
    for page in texts:
        if page.name != "CHANGELOG.md":
            assert not NOTHING.search(page.read_text("utf-8")), name(page)
