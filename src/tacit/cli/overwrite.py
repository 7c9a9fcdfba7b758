"""Before something that is there is replaced: somebody is asked, or it is refused."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from tacit.redaction import one_line

if TYPE_CHECKING:
    from tacit.publication import Reservation


def may_write(path: str, overwrite: bool, option: str = "--out") -> None:
    """Ask before a file is replaced; where nobody can be asked, refuse."""
    from pathlib import Path

    from tacit.errors import StorageError

    target = Path(path)
    try:
        folder = target.parent.is_dir()
        exists = target.exists()
        if target.is_dir():
            raise StorageError(f"{path} is a folder", remedy=f"name a file for {option}")
    except OSError:  # a file on the way
        folder = exists = False
    if not folder:
        raise StorageError(
            f"there is no folder {target.parent}", remedy=f"make it, or choose another {option}"
        )
    if overwrite or not exists:
        return
    if somebody_is_there() and click.confirm(f"{one_line(path)} exists: replace it?", err=True):
        return
    raise StorageError(
        f"{path} exists already", remedy=f"choose another {option}, or add --overwrite"
    )


def somebody_is_there() -> bool:
    """Whether there is a terminal to ask at; a job without one has no standard input."""
    streams: tuple[Any, ...] = (sys.stdin, sys.stderr)
    return all(stream is not None and stream.isatty() for stream in streams)


def asked_to_replace(model: str) -> bool:
    """Whether somebody at the terminal lets a model be replaced; False where nobody is
    there."""
    from pathlib import Path

    if not (Path(model) / "model.json").is_file():
        return False
    if not somebody_is_there():
        return False
    return click.confirm(f"{one_line(model)} holds a model: replace it?", err=True)


@contextmanager
def reserve_model(out: str, overwrite: bool) -> Iterator[Reservation]:
    """Hold the folder of a model before its fit is charged: a second fit into it is refused
    before it pays."""
    from tacit.cli.options import note
    from tacit.model.shared import check_target
    from tacit.publication import remains, reserved

    with reserved(out) as reservation:
        check_target(reservation.target, overwrite=overwrite)
        for folder in remains(reservation.target):
            note(f"a process was killed while it wrote {out}: a whole model is in {folder}")
        yield reservation
