"""Who is told how far a computation is: a bar on the terminal or in a notebook, or a function
of the caller.

Guarantee: it is checked before anything is charged, and a function of the caller that fails
later costs its owner the bar and not the fit: it is warned about once and not called again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from inspect import Signature, signature
from threading import Lock
from typing import Any

from tacit.errors import SettingError
from tacit.notices import warn

WIDTH = 30
"""Characters of a full bar."""
REMEDY = "give True for a bar, or a function of (done, total, what)"


def teller(progress: object) -> Callable[[int, int, Any], None] | None:
    """The callback that `progress` asks for: None for None and False, a bar for True, or the
    function, whose errors do not stop the fit."""
    if progress is None or progress is False:
        return None
    if progress is True:
        return Bar()
    if isinstance(progress, Bar | _GuardedCallback):
        return progress
    if not callable(progress):
        raise SettingError(
            f"progress is of type {type(progress).__name__}, not a function", remedy=REMEDY
        )
    try:
        call_signature: Signature | None = signature(progress)
    except (TypeError, ValueError):  # a function that is not written in Python
        call_signature = None
    if call_signature is not None:
        try:
            call_signature.bind(0, 1, "")
        except TypeError:
            raise SettingError(
                "the function of progress does not take three arguments", remedy=REMEDY
            ) from None
    return _GuardedCallback(progress)


class Bar:
    """One line of standard error that is written over, and ended when all is done."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._last = ""

    def __call__(self, done: int, total: int, what: Any) -> None:
        """Overwrite the line; the same line is not written twice."""
        full = WIDTH * done // max(total, 1)
        message = what if isinstance(what, str) else f"{float(what):.0f} seconds left"
        line = f"\r[{'#' * full}{' ' * (WIDTH - full)}] {done}/{total} {message}"
        with self._lock:
            if line == self._last:
                return
            gap = " " * max(len(self._last) - len(line), 0)
            self._last = line if done < total else ""
            sys.stderr.write(line + gap + ("\n" if done >= total else ""))
            sys.stderr.flush()


class _GuardedCallback:
    """A function of the caller, which may fail."""

    def __init__(self, callback: Callable[[int, int, Any], object]) -> None:
        self._told: Callable[[int, int, Any], object] | None = callback

    def __call__(self, done: int, total: int, what: Any) -> None:
        callback = self._told
        if callback is None:
            return
        try:
            callback(done, total, what)
        except Exception as error:  # noqa: BLE001  whatever it is, the fit goes on
            self._told = None
            warn(
                f"the function of progress failed ({type(error).__name__}) and is not "
                "called again; the computation goes on"
            )
