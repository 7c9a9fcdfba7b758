"""`njit` as all kernels take it: compiled code is kept in a folder of the user's, never beside
the source.

A tree that is installed is not written to, a copy of it carries no compiled code along, and a
fit after an update of Tacit compiles what has changed and no more. The folder is
`$XDG_CACHE_HOME/tacit/kernels-2` (`~/.cache/tacit/kernels-2` without it), readable and writable
by its owner alone, because what lies in it is run. `NUMBA_CACHE_DIR` says otherwise, as it does
for everything that numba compiles.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba

OWNER_ONLY = 0o700
FOLDER = "kernels-2"
"""Another name whenever the options of all kernels change: numba compiles a file again when its
source has changed, and not when these have, so that the old code would be run on."""
config: Any = numba.config


@cache
def folder() -> str:
    """Where compiled kernels are kept; empty where there is no safe place, and numba chooses."""
    configured = os.environ.get("XDG_CACHE_HOME")
    try:
        home = Path(configured) if configured else Path.home() / ".cache"
        if not home.is_absolute():
            return ""
        path = home / "tacit" / FOLDER
        path.mkdir(mode=OWNER_ONLY, parents=True, exist_ok=True)
        status = path.stat()
    except (OSError, RuntimeError):
        return ""
    # Compiled code of somebody else would be run as ours.
    foreign_write = stat.S_IMODE(status.st_mode) & (stat.S_IWGRP | stat.S_IWOTH)
    mine = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
    writable = os.access(path, os.W_OK)
    return str(path) if mine and writable and not foreign_write else ""


def njit(**options: Any) -> Callable[[Any], Any]:
    """numba's `njit`, with its cache in `folder`. Where that is is settled when a function is
    decorated, so nothing else that numba compiles in this process is touched.

    Guarantee: a division by zero is infinity or NaN, of which bounds make nothing, and never an
    error: whether a fit ends in one must not depend on what somebody rated.
    """
    options.setdefault("error_model", "numpy")

    def compiled(function: Any) -> Any:
        previous = config.CACHE_DIR
        config.CACHE_DIR = previous or folder()
        try:
            return numba.njit(**options)(function)
        finally:
            config.CACHE_DIR = previous

    return compiled
