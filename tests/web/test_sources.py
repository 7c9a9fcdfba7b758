"""The page's sources: their size, the list of files, and no markup made of text."""

from __future__ import annotations

import posixpath
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import brotli
import pytest

from tacit.serving.joined import scripts
from tacit.serving.slim import slim

from .conftest import ROOT
from .serve import WEB, files

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
    listed = (WEB / "files.json").read_text(encoding="utf-8")
    assert "js/app.js" in listed
    assert "js/device/" not in listed


def test_a_first_view_takes_few_files() -> None:
    """Each one costs a cold load more than its bytes do."""
    front = files()["index.html"].decode()
    named = re.findall(r'(?:src|href)="((?:js|style)/[^"]+)"', front)
    assert sorted(named) == ["js/app.js", "js/helper.js", "style/page.css"]
    assert "@import" not in files()["style/page.css"].decode()
    for name, body in files().items():
        for path in re.findall(r"\b(?:from |import\()'(\.[^']+)'", body.decode("latin-1")):
            folder = posixpath.dirname(name)
            assert posixpath.normpath(posixpath.join(folder, path)) in files()
    for name in ("js/worker.js", "js/device/desk.js", "sw.js"):
        assert not re.search(r"\bimport\b(?!\.meta)", files()[name].decode())


ONE = "import { BASE as base } from '../base.js';\nconst x = 1;\nexport const one = [x, base];\n"
PARTS = {
    "js/base.js": "export const BASE = new URL('../', import.meta.url);\n",
    "js/deep/one.js": ONE,
    "js/helper.js": "import { BASE } from './base.js';\nexport const first = BASE;\n",
    "js/app.js": "import { first } from './helper.js';\nimport { one } from './deep/one.js';\n"
    "const x = [first, one];\nawait import('./rest.js');\n",
    "js/rest.js": "import { one } from './deep/one.js';\nexport { one };\n",
    "js/device/view.js": "import { one } from '../deep/one.js';\n",
    "js/device/desk.js": "import { BASE } from '../base.js';\n",
    "js/worker.js": "import { one } from './deep/one.js';\n",
    "sw.js": "import { BASE } from './js/base.js';\n",
}


def test_joined_modules_exist_once_and_keep_their_places() -> None:
    made = scripts(PARTS)
    assert sorted(made) == sorted(set(PARTS) - {"js/base.js", "js/deep/one.js"})
    assert made["js/app.js"] == (
        "import { $base } from './helper.js';\n"
        "import * as $helper from './helper.js';\n"
        "const $deep_one = (() => {\nconst { BASE: base } = $base;\nconst x = 1;\n"
        "const one = [x, base];\n\nreturn { one };\n})();\n"
        "const { first } = $helper;\nconst { one } = $deep_one;\n"
        "const x = [first, one];\nawait import('./rest.js');\n"
        "export { $deep_one };\n"
    )
    assert made["js/device/view.js"].startswith("import { $deep_one } from '../app.js';\n")
    assert "new URL('./js/base.js', import.meta.url)" in made["sw.js"]


@pytest.mark.parametrize(
    "text",
    [
        "export let one = 1;\n",
        "export * from './base.js';\n",
        "export default 1;\n",
        "const x = 1;\nexport { x as one };\n",
        "import { x } from '../app.js';\n",
    ],
)
def test_forms_that_cannot_be_joined_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"deep/one|app"):
        scripts({**PARTS, "js/deep/one.js": text})


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
    html = (WEB / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=", html)
