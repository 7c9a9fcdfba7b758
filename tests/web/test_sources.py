"""The page's sources: types, size, the list of files, and texts in one place."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys

from .conftest import ROOT, Tools
from .serve import WEB

LIMIT = 60_000
"""Bytes of script, compressed."""


def test_types(tools: Tools) -> None:
    compiler = tools.modules / ".bin" / "tsc"
    done = subprocess.run(
        [compiler, "-p", WEB / "tsconfig.json"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_all_files_are_listed() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "page-files", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_scripts_are_small() -> None:
    scripts = [path.read_bytes() for path in WEB.rglob("*.js")]
    assert sum(len(gzip.compress(script, 9)) for script in scripts) < LIMIT


def test_no_markup_is_ever_made_of_text() -> None:
    sinks = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function")
    found = [path.name for path in WEB.rglob("*.js") if sinks.search(path.read_text(encoding="utf-8"))]
    assert found == []
    html = (WEB / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=", html)
