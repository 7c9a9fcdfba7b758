"""One case of the fuzzer: damage, read, judge."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import resource
import shutil
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import Any

import fuzz_corrupt as corrupt
from fuzz_models import HOSTILE, damage_model

PLACE = Path()
"""Of the originals."""
CONTROLS = {chr(code) for code in (*range(32), *range(127, 160))} - {"\n"}
COMMON_SCALE = (-10, 99)


def prepare(originals: Path) -> None:
    """Import what the cases need. polars must not be used before a fork: its threads would
    be missing in the child."""
    global PLACE
    PLACE = originals
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    import importlib

    for name in (
        "tacit.cli.main",
        "tacit.cli.show",
        "tacit.cli.recommend",
        "tacit.cli.similar",
        "tacit.cli.statement",
        "tacit.cli.verify",
        "tacit.cli.export",
        "tacit.cli.add_items",
        "tacit.cli.fit",
        "tacit.data.read",
        "tacit.data.reading.items",
        "tacit.data.reading.personal",
        "tacit.data.reading.delimited",
        "tacit.kernels.parse",
        "tacit.fitting.run",
        "tacit.methods.baselines.popularity",
        "tacit.model.model",
        "tacit.model.export",
        "tacit.model.person.lists",
        "tacit.ledger.book.book",
        "tacit.ledger.statement.statement",
        "tacit.kernels.descent",
        "rich.table",
        "rich.console",
        "polars",
    ):
        importlib.import_module(name)
    from tacit.model.model import load

    for folder in sorted((PLACE / "model").iterdir()):  # compiled once, for all
        load(folder).recommend({"1": 5, "2": 4}, 2)


def work(numbers: list[int], folder: Path, pipe: int, space: int) -> None:
    """In a child: run the cases and tell of each in a line."""
    resource.setrlimit(resource.RLIMIT_AS, (space, space))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.stdin.close()
    home = Path(tempfile.mkdtemp(dir=folder))
    os.environ["TACIT_HOME"] = str(home / "home")
    noise = home / "stderr"
    descriptor = os.open(noise, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    os.dup2(descriptor, 2)
    with os.fdopen(pipe, "w") as told:
        for number in numbers:
            forget_peak()
            os.ftruncate(descriptor, 0)
            place = home / str(number)
            place.mkdir()
            outcome, words = judged(number, place)
            if b"panicked" in noise.read_bytes():
                outcome, words = "FINDING", "a panic reaches the terminal"
            shutil.rmtree(place, ignore_errors=True)
            words = words.replace("\t", " ").replace("\n", " | ")
            told.write(f"{outcome}\t{peak()}\t{words}\n")
            told.flush()
        told.write("end\n")
    shutil.rmtree(home, ignore_errors=True)


def forget_peak() -> None:
    """The kernel counts the peak of memory anew."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak() -> int:
    """Megabytes, at most at one time since then."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) >> 10
    return 0


def one(number: int) -> int:
    """A single case in this process, with its traceback."""
    import subprocess

    with tempfile.TemporaryDirectory() as folder:
        originals = Path(folder) / "originals"
        script = Path(__file__).with_name("fuzz.py")
        subprocess.run([sys.executable, script, "--make", originals], check=True)
        os.environ["TACIT_HOME"] = str(Path(folder) / "home")
        prepare(originals)
        place = Path(folder) / "case"
        place.mkdir()
        outcome, words = judged(number, place)
        sys.stdout.write(f"{outcome}: {words}\n")
        sys.stdout.write(f"peak {peak()} MB; kept in {kept(place)}\n")
    return 0


def kept(place: Path) -> Path:
    target = Path(tempfile.gettempdir()) / "tacit-fuzz-case"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(place, target, symlinks=True, ignore=_special)
    return target


def _special(folder: str, names: list[str]) -> list[str]:
    paths = [Path(folder) / name for name in names]
    return [p.name for p in paths if p.is_fifo() or p.is_socket() or p.is_char_device()]


def judged(number: int, place: Path) -> tuple[str, str]:
    """The outcome of a case, in a word and in words."""
    from tacit.errors import TacitError

    rng = random.Random(number)
    warnings.simplefilter("ignore")
    words = "not begun"
    try:
        words, act = case(rng, place)
        return act(), words
    except TacitError as error:
        text = str(error)
        if CONTROLS & set(text) or text.count("\n") > 1:
            return "FINDING", f"{words}: an error with controls: {text!r}"
        return "refused", words
    except BaseException:  # noqa: BLE001  that is what we look for
        lines = traceback.format_exc().splitlines()
        where = [line.strip() for line in lines if "/tacit/" in line][-2:]
        return "FINDING", f"{words}: {lines[-1][:200]} {where}"


def case(rng: random.Random, place: Path) -> tuple[str, Any]:
    """Damage something, and say how it is read."""
    kind = rng.choice(["ratings", "catalogue", "personal", "model", "model"])
    if kind == "model":
        return model_case(rng, place)
    original = rng.choice(sorted((PLACE / kind).iterdir()))
    data, name = original.read_bytes(), original.name
    if rng.random() < 0.005:
        head = b"" if rng.random() < 0.5 else b"user,item,rating\n"
        data, name = corrupt.bomb(rng.randrange(6), head)
    else:
        plain = not name.endswith((".gz", ".zip", ".parquet"))
        how = corrupt.damage_table if plain and rng.random() < 0.7 else corrupt.damage
        data = how(data, rng) if rng.random() < 0.9 else data
        if rng.random() < 0.2:
            data, name = corrupt.pack(data, name, rng)
    path = place / name
    path.write_bytes(data)
    if rng.random() < 0.01:
        path.unlink()
        rng.choice([lambda: os.mkfifo(path), lambda: path.symlink_to("/dev/zero"), path.mkdir])()
    words = f"{kind} {name}"
    return words, {"ratings": ratings, "catalogue": items, "personal": own}[kind](rng, path)


def ratings(rng: random.Random, path: Path) -> Any:
    from tacit.data.read import read
    from tacit.data.reading.items import read_items

    act = rng.randrange(20)
    if act == 0:
        return lambda: command(
            "fit",
            path,
            "--method",
            "popularity",
            "--calibration",
            "none",
            "--scale",
            "1,5",
            "--out",
            path.parent / "made",
            "--json",
        )
    if act == 1:
        lists = path.parent / "lists.csv"
        return lambda: command(
            "recommend", PLACE / "model" / "mean", "--people", path, "--out", lists
        )
    known = read_items(PLACE / "catalogue" / "items.csv") if act == 2 else None
    settings: dict[str, Any] = {"duplicates": rng.choice(["last", "mean", "error"])}
    if rng.random() < 0.8:
        settings["scale"] = rng.choice([(1, 5), (0.5, 10), COMMON_SCALE])
    if rng.random() < 0.2:
        settings["positive"] = rng.choice([True, 3])
    if rng.random() < 0.3:
        settings["header"] = rng.random() < 0.5
        settings["columns"] = {"user": 1, "item": 2, "rating": 3}
        settings["delimiter"] = rng.choice([None, ";", "tab", " ", "::"])
    if rng.random() < 0.3:
        settings["dates"] = rng.choice(["iso", "dmy", "mdy"])
        settings["decimal"] = rng.choice([".", ","])
        settings["encoding"] = rng.choice([None, "latin-1", "cp1252"])

    def door() -> str:
        found = read(path, items=known, **settings)
        assert found.n_users >= 2
        assert "Ann" not in repr(found)
        return "read"

    return door


def items(rng: random.Random, path: Path) -> Any:
    from tacit.data.reading.items import read_items

    act = rng.randrange(6)
    if act == 0:
        return lambda: command(
            "add-items", PLACE / "model" / "gaussian", path, "--out", path.parent / "made"
        )
    if act == 1:
        return lambda: command(
            "plan", "--method", "popularity", "--epsilon", 1, "--users", 50, "--items", path
        )

    def door() -> str:
        read_items(path)
        return "read"

    return door


def own(rng: random.Random, path: Path) -> Any:
    from tacit.data.reading.personal import read_personal

    model = rng.choice(sorted((PLACE / "model").iterdir()))
    mine = PLACE / "personal" / "mine.csv"
    act = rng.randrange(6)
    if act == 0:
        return lambda: command("recommend", model, "--ratings", mine, "--only", path)
    if act == 1:
        return lambda: command("recommend", model, "--ratings", mine, "--exclude", path)
    if act in (2, 3):
        more = rng.choice([[], ["--json"], ["--by", "liked"]])
        return lambda: command("recommend", model, "--ratings", path, *more)

    def door() -> str:
        read_personal(path, likes=rng.random() < 0.5)
        return "read"

    return door


def model_case(rng: random.Random, place: Path) -> tuple[str, Any]:
    original = rng.choice(sorted((PLACE / "model").iterdir()))
    folder = place / "model"
    shutil.copytree(original, folder)
    damage_model(folder, rng)
    mine = PLACE / "personal" / "mine.csv"
    source = PLACE / "ratings" / "plain.csv"
    catalogue = PLACE / "catalogue" / "items.csv"
    made = place / "made"
    call = rng.choice(
        [
            ("recommend", folder, "--ratings", mine),
            ("recommend", folder, "--ratings", mine, "--json"),
            ("recommend", folder, "--ratings", mine, "--by", "explore"),
            ("recommend", folder, "--people", source, "--out", place / "lists.csv"),
            ("similar", folder, "1"),
            ("similar", folder, f"{HOSTILE}1"),
            ("similar", folder, "Film né 2", "--json"),
            ("statement", folder),
            ("statement", folder, "--json"),
            ("statement", folder, "--registry"),
            ("verify", folder),
            ("export", folder, "--to", "npz", "--out", place / "x.npz"),
            ("export", folder, "--to", "npz", "--similarities", "--out", place / "x.npz"),
            ("add-items", folder, catalogue, "--out", made),
            (
                "fit",
                source,
                "--start",
                folder,
                "--method",
                "bias",
                "--calibration",
                "none",
                "--scale",
                "1,5",
                "--out",
                made,
            ),
        ]
    )
    return f"{original.name} {call[0]}", lambda: command(*call)


def command(*arguments: object) -> str:
    """A command in this process; its output must be printable, and JSON where it says so."""
    import click

    from tacit.cli.main import tacit

    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            tacit.main(args=[str(a) for a in arguments], standalone_mode=False)
            outcome = "answered"
        except (click.ClickException, SystemExit) as error:
            outcome = "refused"
            if isinstance(error, SystemExit) and error.code not in (1, 2):
                raise
    shown = out.getvalue()
    assert not CONTROLS & set(shown), f"controls reach the terminal: {shown[:300]!r}"
    if "--json" in arguments and outcome == "answered":
        body = "\n".join(x for x in shown.splitlines() if not x.startswith("note:"))
        json.loads(body, parse_constant=_constant)
    return outcome


def _constant(name: str) -> None:
    raise AssertionError(f"JSON holds {name}")
