"""The page's sources: their size, the list of files, and no markup made of text."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import brotli
import pytest

from tacit.serving.slim import slim

from .conftest import ROOT
from .serve import WEB

LIMIT = 60_000
"""Bytes of script, compressed, of the page."""
DEVICE_LIMIT = 30_000
"""The same of the device, which is fetched by who takes part."""


def test_all_files_are_listed() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "page-files", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def weight(paths: Iterable[Path]) -> int:
    """Bytes as a browser gets them: each file slimmed and compressed by itself."""
    return sum(
        len(brotli.compress(slim(path.read_text(encoding="utf-8")).encode()))
        for path in paths
    )


def test_scripts_are_small() -> None:
    """All that a visit fetches: every view, every kind of model, the worker and the service worker.
    What only who takes part in a training needs comes when it is asked for."""
    device = {
        path
        for path in (WEB / "js" / "device").glob("*.js")
        if path.name != "room.js"
    }
    scripts = set(WEB.rglob("*.js"))
    assert weight(scripts - device) < LIMIT
    assert weight(device) < DEVICE_LIMIT
    listed = (WEB / "files.json").read_text(encoding="utf-8")
    assert not any(f"js/device/{path.name}" in listed for path in device)


SLIMMED = {
    "/** said */\nlet a = 1; // why\n  b ( 2 );\n": "let a=1;b(2);\n",
    "let a = 1\nlet b = f(\n  a,\n)\n  .then()\nb++\nc": "let a=1\nlet b=f(a).then()\nb++\nc\n",
    "const s = '// no  comment';\n": "let s='// no  comment';\n",
    "a.const = 1;\nb = { const: 2 };\n": "a.const=1;b={const:2};\n",
    "f((a) => 1, async (b) => 2, (c, d) => 3);\n": "f(a=>1,async(b)=>2,(c,d)=>3);\n",
    "return (a) => a;\n": "return(a)=>a;\n",
    "f('a ' +\n  'b ' +\n  'c', 'd' + 'e'.length);\n": "f('a b c','d'+'e'.length);\n",
    "{ while (a()); }\n{ b = 1; }\n": "{while(a());}\n{b=1}\n",
    "x = a / b / c;\ny = /[/*]  +/.test(s);\n": "x=a / b / c;y=/[/*]  +/.test(s);\n",
    "t = `a  ${ b ? `// ${ c }` : {} }  /* no */`;\n": "t=`a  ${b?`// ${c}`:{}}  /* no */`;\n",
    "a = b + +c - d++ + e * -f;\nreturn /a b/;\n": "a=b+ +c-d++ +e*-f;return /a b/;\n",
    "f([a, b,], {c,},);\ng([,], [1, ,]);\n": "f([a,b],{c});g([,],[1,,]);\n",
}


@pytest.mark.parametrize("source", SLIMMED)
def test_a_slim_script_means_the_same(source: str) -> None:
    assert slim(source) == SLIMMED[source]


def test_every_slim_script_parses(tmp_path: Path) -> None:
    for place, path in enumerate(sorted(WEB.rglob("*.js"))):
        (tmp_path / f"{place}.mjs").write_text(
            slim(path.read_text(encoding="utf-8"))
        )
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
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_no_markup_is_ever_made_of_text() -> None:
    sinks = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function"
    )
    found = [
        path.name
        for path in WEB.rglob("*.js")
        if sinks.search(path.read_text(encoding="utf-8"))
    ]
    assert found == []
    html = (WEB / "index.html").read_text(encoding="utf-8")
    assert not re.search(
        r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=", html
    )
