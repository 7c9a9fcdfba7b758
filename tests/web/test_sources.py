"""The page as it is built: of these sources, in few small files, with no markup made of text."""

from __future__ import annotations

import posixpath
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import brotli
import pytest

from .conftest import ROOT
from .serve import WEB, files

LIMIT = 60_000
"""Bytes of script, compressed, of the page."""
_IMPORTED = re.compile(r"""\b(?:from|import\()\s*["'](\.[^"']+)["']""")
DEVICE_LIMIT = 30_000
"""The same of the device, which is fetched by who takes part."""


def test_the_built_page_is_current() -> None:
    done = subprocess.run(
        [ROOT / "scripts" / "page", "--check"], capture_output=True, text=True, check=False
    )
    if done.returncode == 3:
        pytest.skip(done.stderr.strip()[-200:])
    assert (done.returncode, done.stderr) == (0, "")


def test_a_page_that_is_not_of_its_sources_is_told(tmp_path: Path) -> None:
    for folder in ("scripts", "web", "src/tacit/serving/web"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    with (tmp_path / "web" / "texts" / "en.js").open("a", encoding="utf-8") as texts:
        texts.write("export const more = 1;\nconsole.log(more);\n")
    script = tmp_path / "scripts" / "page"
    done = subprocess.run([script, "--check"], capture_output=True, text=True, check=False)
    if done.returncode == 3:
        pytest.skip(done.stderr.strip()[-200:])
    assert done.returncode == 1
    assert "js/app.js" in done.stderr
    assert "run scripts/page" in done.stderr
    subprocess.run([script], check=True)
    subprocess.run([script, "--check"], check=True)


def weight(names: Iterable[str]) -> int:
    """Bytes as a browser gets them: each script compressed by itself."""
    return sum(len(brotli.compress(files()[name])) for name in names)


def test_scripts_are_small() -> None:
    """All that a visit fetches: every view, every kind of model, the worker and the service worker.
    What only who takes part in a training needs comes when it is asked for."""
    every = {name for name in files() if name.endswith(".js")}
    device = {name for name in every if name.startswith("js/device/")}
    assert weight(every - device) < LIMIT
    assert weight(device) < DEVICE_LIMIT
    listed = files()["files.json"].decode()
    assert "js/app.js" in listed
    assert "js/device/" not in listed


def test_a_first_view_takes_few_files() -> None:
    """Each one costs a cold load more than its bytes do."""
    front = files()["index.html"].decode()
    named = re.findall(r'(?:src|href)="((?:js|style)/[^"]+)"', front)
    assert sorted(named) == ["js/app.js", "js/helper.js", "style/page.css"]
    assert "@import" not in files()["style/page.css"].decode()
    for name, body in files().items():
        for path in _IMPORTED.findall(body.decode("latin-1")):
            folder = posixpath.dirname(name)
            assert posixpath.normpath(posixpath.join(folder, path)) in files()
    for name in ("js/worker.js", "js/device/desk.js", "sw.js"):
        assert not re.search(r"\bimport\b(?!\.meta)", files()[name].decode())


def test_a_module_of_the_page_exists_once() -> None:
    """Some hold state: a later script takes it from the earlier one that has it."""
    scripts = {name: body.decode() for name, body in files().items() if name.endswith(".js")}
    page = ["js/helper.js", "js/app.js", "js/rest.js", "js/device/view.js"]
    marks = {"createPolicy(": page[0], "Intl.NumberFormat(": page[1], "indexedDB.open(": page[1]}
    for mark, home in marks.items():
        assert [name for name in page if mark in scripts[name]] == [home], mark
    assert _IMPORTED.findall(scripts["js/helper.js"]) == []
    assert set(_IMPORTED.findall(scripts["js/app.js"])) == {"./helper.js", "./rest.js"}
    assert set(_IMPORTED.findall(scripts["js/device/view.js"])) == {"../app.js", "../helper.js"}


def test_every_script_parses(tmp_path: Path) -> None:
    names = [name for name in files() if name.endswith(".js")]
    for place, name in enumerate(names):
        (tmp_path / f"{place}.mjs").write_bytes(files()[name])
    every = (
        "import fs from 'fs'; import vm from 'vm'; for (const f of fs.readdirSync('.')) "
        "new vm.SourceTextModule(fs.readFileSync(f, 'utf8'), {identifier: f});"
    )
    command = [
        "node",
        "--experimental-vm-modules",
        "--no-warnings",
        "--input-type=module",
        "-e",
        every,
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_no_markup_is_ever_made_of_text() -> None:
    sinks = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function"
    )
    found = [
        path.name for path in WEB.rglob("*.js") if sinks.search(path.read_text(encoding="utf-8"))
    ]
    assert found == []
    html = files()["index.html"].decode()
    assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=", html)
