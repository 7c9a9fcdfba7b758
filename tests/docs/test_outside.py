"""A package from outside adds a method that the command line lists, fits, states and tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "examples" / "outside-method"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as an installer would leave it, without asking a registry for anything."""
    site = tmp_path_factory.mktemp("site")
    (site / "tacit_agreed.py").write_bytes((PACKAGE / "tacit_agreed.py").read_bytes())
    info = site / "tacit_agreed-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tacit-agreed\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[tacit.methods]\nagreed = tacit_agreed:Agreed\n")
    return site


def run(installed: Path, home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(installed), str(ROOT / "src")])
    env = os.environ | {"PYTHONPATH": path, "TACIT_HOME": str(home)}
    return subprocess.run(
        [sys.executable, "-m", *words], env=env, capture_output=True, text=True, check=False
    )


def test_the_package_is_small():
    assert len((PACKAGE / "tacit_agreed.py").read_text().splitlines()) <= 60


def test_the_command_line_lists_fits_and_states_it(installed, tmp_path):
    import tacit

    data = tacit.sample(people=60, ratings=900, seed=2)
    rows = ["user,item,rating"]
    for person in range(data.n_users):
        cells = data.row(person)
        for item, value in zip(data.item[cells], data.value[cells], strict=True):
            rows.append(f"{data.users[person]},{data.items[item]},{value:g}")
    table = tmp_path / "ratings.csv"
    table.write_text("\n".join(rows))
    listed = run(installed, tmp_path, "tacit", "fit", "--help")
    assert "agreed" in listed.stdout, listed.stderr
    out = tmp_path / "model"
    words = ("--scale", "1,5", "--method", "agreed", "--epsilon", "2", "--users", "60")
    fitted = run(installed, tmp_path, "tacit", "fit", str(table), *words, "--out", str(out))
    assert fitted.returncode == 0, fitted.stderr
    stated = run(installed, tmp_path, "tacit", "statement", str(out))
    assert "agreed" in stated.stdout, stated.stderr
    told = " ".join(stated.stdout.split())
    assert "class tacit_agreed.Agreed of tacit-agreed 0.1.0." in told


def test_the_shipped_conformance_tests_pass(installed, tmp_path):
    done = run(
        installed,
        tmp_path,
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
        str(PACKAGE / "tests"),
    )
    assert done.returncode == 0, done.stdout[-3000:]


def test_the_guide_shows_the_very_lines_of_the_package():
    guide = (ROOT / "docs" / "adding-a-method.md").read_text("utf-8")
    assert (PACKAGE / "tacit_agreed.py").read_text("utf-8") in guide
