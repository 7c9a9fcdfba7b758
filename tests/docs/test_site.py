"""The site is whole: links are checked, pages of methods are what the code says."""

from __future__ import annotations

import importlib
import re
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

import tacit

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module", autouse=True)
def scripts():
    """The builder is a script, not a part of the package."""
    sys.path.insert(0, str(ROOT / "scripts"))
    yield
    sys.path.remove(str(ROOT / "scripts"))


def part(name: str):
    return importlib.import_module(f"siting.{name}")


def test_the_site_has_no_broken_link_and_every_public_name(tmp_path):
    assert part("build").build(ROOT, tmp_path / "site") == []
    front = (tmp_path / "site" / "docs" / "index.html").read_text("utf-8")
    assert 'href="api.html"' in front
    names = (tmp_path / "site" / "docs" / "api.html").read_text("utf-8")
    for name in set(tacit.__all__) - {"__version__"}:
        assert f'<h3 id="{part("render").slug("tacit." + name)}">' in names
    assert 'src="data:image/svg+xml' in (tmp_path / "site" / "README.html").read_text("utf-8")


def test_a_broken_link_a_broken_anchor_and_a_lost_picture_are_said(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    docs.joinpath("index.md").write_text(
        "# One\n\n[a](none.md) [b](#two-words) [c](index.md#no) ![d](no.png)"
        " [e](../docs/)\n\n## Two: words\n"
    )
    broken = part("build").build(tmp_path, tmp_path / "out")
    assert [line.split(": ")[1].split(" ")[0] for line in broken] == [
        "none.md",
        "index.md#no",
        "no.png",
    ]
    listed = (tmp_path / "out" / "docs" / "index.html").read_text("utf-8")
    assert "<title>" in listed


def test_the_pages_of_methods_are_what_the_code_says():
    for path, text in part("methods").pages(ROOT).items():
        assert path.read_text("utf-8") == text, f"{path.name} is old: run scripts/site --pages"


def test_every_setting_of_every_method_is_told():
    from tacit.methods import METHODS, find

    for name in METHODS:
        for each in part("settings").settings(find(name).Settings):
            assert each.told, f"{name}: {each.name} has no docstring"


def test_the_page_on_trust_names_the_methods_of_each_model():
    from tacit.methods import METHODS, find

    def run_on(engine: str) -> set[str]:
        return {name for name in METHODS if engine in find(name).engines}

    page = (ROOT / "docs" / "trust.md").read_text("utf-8")
    row = next(line for line in page.splitlines() if line.startswith("| methods |"))
    _, curator, servers, nobody = (
        {
            method
            for word in re.findall(r"`([^`]+)`", cell)
            for method in METHODS
            if fnmatch(method, word)
        }
        for cell in row.strip("|").split("|")
    )
    assert set(METHODS) - curator == run_on("threads")
    assert servers == run_on("federated")
    assert nobody == run_on("local")
