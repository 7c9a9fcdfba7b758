"""Every line of every shell block runs, or is marked as a matter of other machines.

Lines of seconds run always, with few people; those of minutes with scripts/test --full.
"""

from __future__ import annotations

import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tacit.cli.main import COMMANDS, main
from tacit.cli.main import tacit as commands

ROOT = Path(__file__).parents[2]
PAGES = {
    str(page.relative_to(ROOT)): page.read_text("utf-8")
    for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md", "deploy/*.md")
    for page in sorted(ROOT.glob(pattern))
}
SHELL = re.compile(r"^```(?:sh|bash)\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`tacit ([a-z][^`\n]*)`")
PEOPLE = 200
LONG = (
    "tacit serve",
    "tacit evaluate ratings.csv --scale",
    "tacit audit",
    "tacit tune",
    "python examples/audit-others",
)
"""Lines that begin so take a quarter of a minute or more."""
REFUTED = "tacit audit --lists lists/before.parquet"
"""Shows a false claim false, which its status says: 1."""
BY_CHANCE = "tacit audit --claims --quick"
"""Its status is 1 where a short run missed what a derivation knows, which happens."""
ELSEWHERE = {
    "tacit audit --lists before.parquet": "lists of others; examples/audit-others has some",
    "pip install": "the machine of who installs it",
    "scripts/": "what runs these tests, and its like",
    "pytest examples/": "tests/docs/test_outside.py runs it",
    "tacit federate aggregator  …": "a second machine",
    "tacit federate device --recommender URL": "somebody's phone",
    "tacit federate recommender …": "a third",
}
OTHERS = {
    "docs/tutorial.md": "tests/docs/test_tutorial.py",
    "docs/choosing-epsilon.md": "tests/docs/test_tutorial.py",
    "examples/outside-method/README.md": "tests/docs/test_outside.py",
    "docs/spark.md": "tests/engine/spark/test_cluster.py",
    "docs/operate.md": "as one script, below",
    "deploy/README.md": "as one script, below",
}


def lines(page: str) -> list[str]:
    """The lines of a page's shell blocks, without comments and blank ones."""
    text = "".join(SHELL.findall(PAGES[page])).replace("\\\n", " ")
    found = (line.strip() for line in text.splitlines())
    return [line for line in found if line and not line.startswith("#")]


TOLD = [page for page in PAGES if lines(page) and page not in OTHERS]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that pages speak of."""
    folder = tmp_path_factory.mktemp("desk")
    kept, before = sys.argv, Path.cwd()
    try:
        os.chdir(folder)
        script = str(ROOT / "examples" / "invent.py")
        sys.argv = [script, "--people", str(PEOPLE)]
        runpy.run_path(script, run_name="__main__")
    finally:
        sys.argv = kept
        os.chdir(before)
    rows = (folder / "ratings.csv").read_text("utf-8").splitlines()
    dated = [f"{rows[0]},date", *(f"{row},2026-01-06" for row in rows[1:])]
    (folder / "ratings.csv").write_text("\n".join(dated) + "\n", "utf-8")
    others = [dated[0], *(f"critic-{row}" for row in dated[1:])]
    (folder / "critics.csv").write_text("\n".join(others) + "\n", "utf-8")
    for copy in ("january", "february", "public"):
        shutil.copy(folder / "ratings.csv", folder / f"{copy}.csv")
    shutil.copy(folder / "films.csv", folder / "movies.csv")
    (folder / "asked.csv").write_text("user,epsilon\nu1,0.3\n")
    (folder / "new.csv").write_text("id,title,genres\nx1,A New Film,Drama\n")
    declared = re.search(r"```toml\n(.*?)```", PAGES["docs/officer.md"], re.S)
    (folder / "about.toml").write_text(declared[1], "utf-8")
    for name in ("chain.pem", "key.pem"):
        (folder / name).write_text("for a server that is not started\n")
    (folder / "token").write_text("a token of more than sixteen letters\n")
    (folder / "token").chmod(0o600)
    return folder


def run(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """One command, as its words say."""
    monkeypatch.setattr(sys, "argv", words)
    if words[0] == "python":
        script = str(ROOT / words[1])
        monkeypatch.setattr(sys, "argv", [script, *words[2:]])
        runpy.run_path(script, run_name="__main__")
        return
    with pytest.raises(SystemExit) as stop:
        main()
    line = shlex.join(words)
    status = stop.value.code or 0
    if line.startswith(BY_CHANCE):
        assert status in (0, 1), words
        return
    assert status == int(line.startswith(REFUTED)), words


def prepare(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a page takes for granted: a model, and its owner's key."""
    fitted = "tacit fit ratings.csv --scale 1,5 --items films.csv --epsilon 1"
    more = f"--method bias --users {PEOPLE} --out"
    made = "".join(lines(page))
    for name in ("model", "likes-model"):
        used = f" {name}" in made and f"--out {name}" not in made
        if used:
            run(shlex.split(f"{fitted} {more} {name}"), monkeypatch)
    if "--key owner.key" in made and "--out owner.key" not in made:
        run(shlex.split("tacit ledger key --out owner.key"), monkeypatch)


@pytest.mark.parametrize("page", TOLD)
def test_the_lines_of_a_page_run(page, desk, tmp_path, monkeypatch, full):
    wanted = [
        line
        for line in lines(page)
        if not line.startswith(tuple(ELSEWHERE)) and (full or not line.startswith(LONG))
    ]
    if not wanted:
        pytest.skip("nothing but lines of minutes, or of other machines")
    folder = tmp_path / "desk"
    shutil.copytree(desk, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("TACIT_HOME", str(tmp_path / "home"))
    served: list[object] = []
    monkeypatch.setattr(
        "tacit.serving.run.run", lambda server, *_: served.append(server)
    )  # a server would not end
    prepare(page, monkeypatch)
    for line in wanted:
        few = re.sub(r"\b(20000|6000)\b", str(PEOPLE), line)
        run(shlex.split(few, comments=True), monkeypatch)
    serving = [line for line in wanted if line.startswith("tacit serve")]
    assert len(served) == len(serving)


def test_what_is_left_to_others_is_there():
    for page in OTHERS:
        assert lines(page), f"{page} has no shell block any more"
    every = [line for page in PAGES for line in lines(page)]
    for start in (*LONG, *ELSEWHERE):
        assert any(line.startswith(start) for line in every), start


@pytest.mark.parametrize("page", ["docs/operate.md", "deploy/README.md"])
def test_the_scripts_of_operation_run(page, tmp_path, full):
    """Each page's blocks one after the other in one shell, as they say."""
    if not full:
        pytest.skip("a database and servers: only with scripts/test --full")
    if page == "docs/operate.md" and shutil.which("initdb") is None:
        pytest.skip("no PostgreSQL is installed")
    text = "".join(SHELL.findall(PAGES[page]))
    text = text.replace("/tmp/tacit-trial", str(tmp_path / "trial"))
    cwd = ROOT if page == "docs/operate.md" else tmp_path
    where = str(Path(sys.executable).parent)
    env = os.environ | {
        "PATH": f"{where}{os.pathsep}{os.environ['PATH']}",
        "TACIT_HOME": str(tmp_path / "home"),
    }
    done = subprocess.run(
        ["bash", "-c", f"set -uo pipefail\n{text}"],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Traceback" not in done.stderr
    if page == "docs/operate.md":
        assert "verified" in done.stdout
        assert "stopped: 0" in done.stdout


def named() -> list[tuple[str, str]]:
    """Commands in the running text of pages."""
    return [(page, line) for page, text in PAGES.items() for line in INLINE.findall(text)]


def test_commands_in_the_text_have_the_options_that_they_are_said_to_have():
    wrong = []
    for page, line in named():
        words = re.split(r"[\s=]+", line.split(" → ")[0])
        command = commands.get_command(None, words[0])
        if words[0] not in COMMANDS:
            if len(words) > 1:  # one word may be a label of the protocol
                wrong.append((page, line))
            continue
        rest = words[1:]
        while getattr(command, "commands", None) and rest:
            inner = command.get_command(None, rest[0].split("|")[0])
            if inner is None:
                break
            command, rest = inner, rest[1:]
        if getattr(command, "commands", None):
            continue
        known = {"--help", "-h"}
        for each in command.params:
            known |= {*each.opts, *each.secondary_opts}
        used = {word.strip(",.;:()[]") for word in rest if word[:2] == "--"}
        if not used <= known:
            wrong.append((page, line))
    assert not wrong
