"""All that others may see of a fit: what is published, what is printed, what the book holds.

*Shown to others* is the model folder, standard output, standard error, the exit status and the
rows of the book. Not so: lines that end in `OWNER`, which the owner alone is told on the
terminal, and the fingerprint of the data, which only the owner can read (sharp-edges.md).
"""

from __future__ import annotations

import io
import json
import os
import sqlite3
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tacit.cli.main import main

OWNER = "; for the owner only"
BLANK = "blank"
RANDOM = {
    "time": "when it was written",
    "previous": "a hash over times",
    "hash": "a hash over times",
    "book_head": "a hash over times",
    "token": "drawn for each request",
    "signature": "over a hash over times",
    "signer": "each book has a key of its own",
    "request": "drawn for each calendar",
    "counted": "a seal of names under the book's key",
    "left": "a digest of noised arrays under the book's key",
}
"""What two runs on one file differ in as well: blanked, wherever it stands."""


@dataclass(frozen=True)
class Revealed:
    """What others see."""

    status: int
    out: str
    err: str
    model: dict[str, Any]
    book: list[Any]

    def differences(self, other: Revealed, *, promised: bool = True) -> list[str]:
        """What another run shows that this one does not. Where nothing is promised, a model
        may hold anything, but its statement says so."""
        found = []
        names = list(self.__dataclass_fields__)
        if not promised:
            names = ["status", "err", "book", "promise"]
        for name in names:
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                found.append(f"{name}: {_first(mine, theirs)}")
        return found

    @property
    def promise(self) -> Any:
        """The statement of the model."""
        return self.model.get("statement.json")


def show(folder: Path, arguments: list[str]) -> Revealed:
    """Run `tacit` with these arguments in this folder, in this process."""
    before = os.getcwd()
    out, err = io.StringIO(), io.StringIO()
    os.chdir(folder)
    try:
        with (
            pytest.MonkeyPatch.context() as patch,
            warnings.catch_warnings(),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            warnings.simplefilter("default")
            patch.setattr(sys, "argv", ["tacit", *arguments])
            code = _exit_code()
    finally:
        os.chdir(before)
    lines = err.getvalue().splitlines()
    told = [line for line in lines if not line.endswith(OWNER)]
    return Revealed(
        code if isinstance(code, int) else 0,
        out.getvalue(),
        "\n".join(told),
        _model(folder / "model"),
        _book(folder / "book.db"),
    )


def _exit_code() -> object:
    """Of the command line's own entry."""
    try:
        main()
    except SystemExit as stop:
        return stop.code
    return 0


def _model(folder: Path) -> dict[str, Any]:
    """Every file of the model, or of a calendar but its owner's; JSON as data, so that what is
    random can be blanked."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")) if folder.exists() else ():
        name = str(path.relative_to(folder))
        if path.is_dir() or name.startswith("private"):
            continue
        if path.suffix == ".json":
            found[name] = _blanked(json.loads(path.read_text()))
        else:
            found[name] = path.read_bytes()
        if path.name == "model.json":  # lists a file that holds a hash over times
            found[name]["files"]["statement.json"] = BLANK
    return found


def _book(path: Path) -> list[Any]:
    """The entries as stored, and how many rows each other table has."""
    if not path.exists():
        return []
    connection = sqlite3.connect(path)
    query = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
    rows: list[Any] = []
    for (table,) in connection.execute(query).fetchall():
        held = connection.execute(f"SELECT * FROM {table}").fetchall()
        rows.append((table, len(held)))
        if table == "entry":
            texts = [field for row in held for field in row if _is_json(field)]
            rows += [_blanked(json.loads(text)) for text in texts]
    connection.close()
    return rows


def _is_json(field: object) -> bool:
    return isinstance(field, str) and field.startswith("{")


def _blanked(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: BLANK if name in RANDOM else _blanked(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_blanked(each) for each in value]
    return value


def _first(mine: Any, theirs: Any) -> str:
    """The first place where two values differ, in words."""
    if isinstance(mine, dict) and isinstance(theirs, dict):
        # A digest differs with anything: it is told last.
        for name in sorted({*mine, *theirs}, key=lambda n: (n == "digest", n)):
            if mine.get(name) != theirs.get(name):
                return f"{name}: {_first(mine.get(name), theirs.get(name))}"
    if isinstance(mine, list) and isinstance(theirs, list):
        for at, (one, other) in enumerate(zip(mine, theirs, strict=False)):
            if one != other:
                return f"{at}: {_first(one, other)}"
        return f"{len(mine)} against {len(theirs)} rows"
    return f"{str(mine)[:300]!r} against {str(theirs)[:300]!r}"
