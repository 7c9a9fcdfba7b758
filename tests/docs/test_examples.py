"""Every example runs, in a folder of its own."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = sorted(
    path for path in FOLDER.glob("*.py") if path.stem not in ("invent", "cluster")
)  # a step of the tutorial, run by its test; and tests/engine/spark runs the other


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(example, tmp_path, monkeypatch, capsys, full):
    if example.stem == "federation" and not full:
        pytest.skip("servers of its own: only with scripts/test --full")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out.strip()
    assert list(tmp_path.glob("*.sqlite"))
    if example.stem == "shop":
        page = (tmp_path / "statement.html").read_text("utf-8")
        assert "A shop" in page
        assert "No evaluation on these ratings stands in the book" in page
        assert (tmp_path / "model" / "model.json").is_file()


def test_the_notebook_runs(tmp_path, monkeypatch):
    """Its cells, one after the other; it is kept without outputs."""
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((FOLDER / "notebook.ipynb").read_text("utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert notebook["nbformat"] == 4
    assert not any(cell["outputs"] for cell in cells)
    names: dict[str, object] = {"__name__": "__main__"}
    for cell in cells:
        exec(compile("".join(cell["source"]), "notebook", "exec"), names)
    assert names["model"].statement_.certified == "certified"
    assert names["model"].statement_._repr_html_()
