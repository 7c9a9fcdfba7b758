"""What the pages say is true: their Python runs, their links lead somewhere, their papers exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page
    for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md")
    for page in ROOT.glob(pattern)
)
GUIDES = sorted((ROOT / "docs").glob("adding-*.md"))
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
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


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    text = page.read_text("utf-8")
    for link in LINK.findall(text):
        if "://" in link or link.startswith("#"):
            continue
        target = (page.parent / link.split("#")[0]).resolve()
        assert target.exists(), f"{name(page)} links to {link}"


def test_the_index_leads_to_every_page():
    index = (ROOT / "docs" / "index.md").read_text("utf-8")
    known = {
        (ROOT / "docs" / link.split("#")[0]).resolve()
        for link in LINK.findall(index)
    }
    for page in (ROOT / "docs").glob("**/*.md"):
        if page.name == "index.md" or page.parent.name == "decisions":
            continue
        assert page.resolve() in known, (
            f"docs/index.md does not lead to {name(page)}"
        )


def test_nothing_refers_to_a_document_that_is_not_here():
    for path in [
        *PAGES,
        *(ROOT / "src").rglob("*.py"),
        *(ROOT / "tests").rglob("*.py"),
    ]:
        if path == Path(__file__):
            continue
        text = path.read_text("utf-8")
        found = re.search(r"\b(DESIGN|MECHANISMS)\b", text)
        assert found is None, f"{name(path)} refers to {found}"
