"""What is shipped: nothing is missing from it, nothing is in it that does not belong there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

import tacit

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yaml"))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel and a source archive, made without asking a registry for anything."""
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_the_wheel_is_the_package_and_nothing_else(built):
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    inside = {name for name in names if not name.split("/")[0].endswith("info")}
    there = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "tacit").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert inside == there
    for kind in (".sql", ".js", ".css", ".html", ".csv", ".typed"):
        assert any(name.endswith(kind) for name in inside), kind


def test_the_source_archive_has_what_one_needs_to_build_and_to_read(built):
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = archive.getnames()
    heads = {name.split("/")[1] for name in names}
    assert heads <= {
        ".gitignore",
        "PKG-INFO",
        "pyproject.toml",
        "src",
        "web",
        "docs",
        "examples",
        "CHANGELOG.md",
        "CITATION.cff",
        "CONTRIBUTING.md",
        "LICENSE",
        "README.md",
        "SECURITY.md",
    }
    assert {"src", "web", "LICENSE", "README.md", "pyproject.toml"} <= heads
    assert not [name for name in names if re.search(r"cache|\.sqlite", name)]


def test_every_requirement_has_a_floor_that_the_lowest_run_pins():
    listed = subprocess.run(
        [ROOT / "scripts" / "lowest", "--print"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    core = {re.split(r"[\[>]", each)[0] for each in PROJECT["dependencies"]}
    assert core <= {line.split("==")[0] for line in listed}
    assert "dp-accounting" not in core


def test_the_bill_of_materials_names_every_requirement():
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "sbom"], capture_output=True, text=True, check=True
    )
    told = json.loads(done.stdout)
    names = {each["name"] for each in told["components"]}
    core = {re.split(r"[\[>]", each)[0] for each in PROJECT["dependencies"]}
    assert told["bomFormat"] == "CycloneDX"
    assert core - {"dp-accounting"} <= names
    known = {each["bom-ref"] for each in told["components"]}
    for each in told["dependencies"]:
        assert set(each["dependsOn"]) <= known


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_runs_the_projects_own_commands(path):
    told = yaml.safe_load(path.read_text("utf-8"))
    ran = [
        step["run"].split()[0]
        for job in told["jobs"].values()
        for step in job["steps"]
        if "run" in step
    ]
    assert ".ci/run" in ran
    for command in ran:
        assert os.access(ROOT / command, os.X_OK), command


def test_the_citation_is_of_this_version():
    told = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert told["version"] == tacit.__version__ == PROJECT["version"]
    assert told["license"] == PROJECT["license"]


def test_a_shell_completes_commands_and_options():
    for words, found in (("st", "statement"), ("fit --eps", "--epsilon")):
        place = len(words.split())
        env = os.environ | {
            "_TACIT_COMPLETE": "bash_complete",
            "COMP_WORDS": f"tacit {words}",
            "COMP_CWORD": str(place),
        }
        code = "import sys; sys.argv = ['tacit']; from tacit.cli.main import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False
        )
        assert f"plain,{found}" in done.stdout.splitlines(), done.stderr
