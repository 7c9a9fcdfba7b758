"""Before something that is there is replaced: somebody is asked, or it is refused."""

from __future__ import annotations

import sys

import click

from tacit.shown import one_line


def may_write(place: str, overwrite: bool, option: str = "--out") -> None:
    """Ask before a file is replaced; where nobody can be asked, refuse."""
    from pathlib import Path

    from tacit.errors import StorageError

    try:
        if overwrite or not Path(place).exists():
            return
    except OSError:  # a file on the way: the writing says what is wrong
        return
    asked = sys.stdin.isatty() and sys.stderr.isatty()
    if asked and click.confirm(
        f"{one_line(place)} exists: replace it?", err=True
    ):
        return
    raise StorageError(
        f"{place} exists already",
        remedy=f"choose another {option}, or add --overwrite",
    )


def asked_to_replace(model: str) -> bool:
    """Whether somebody at the terminal lets a model be replaced; False where nobody is
    there."""
    from pathlib import Path

    if not (Path(model) / "model.json").is_file():
        return False
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    return click.confirm(
        f"{one_line(model)} holds a model: replace it?", err=True
    )
