"""The page's sources: their size, the list of files, and no markup made of text."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import brotli
import pytest

from tacit.serving.slim import slim

from .conftest import ROOT
from .serve import WEB

LIMIT = 60_000
"""Bytes of script, compressed."""


def test_all_files_are_listed() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "page-files", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_scripts_are_small() -> None:
    scripts = [
        slim(path.read_text(encoding="utf-8")) for path in WEB.rglob("*.js")
    ]
    assert (
        sum(len(brotli.compress(script.encode())) for script in scripts) < LIMIT
    )


SLIMMED = {
    "/** said */\nlet a = 1; // why\n  b ( 2 );\n": "let a=1;b(2);\n",
    "let a = 1\nlet b = f(\n  a,\n)\n  .then()\nb++\nc": "let a=1\nlet b=f(a,).then()\nb++\nc\n",
    "const s = '// no  comment';\n": "const s='// no  comment';\n",
    "x = a / b / c;\ny = /[/*]  +/.test(s);\n": "x=a / b / c;y=/[/*]  +/.test(s);\n",
    "t = `a  ${ b ? `// ${ c }` : {} }  /* no */`;\n": "t=`a  ${b?`// ${c}`:{}}  /* no */`;\n",
    "a = b + +c;\nreturn /a b/;\n": "a=b + +c;return /a b/;\n",
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
