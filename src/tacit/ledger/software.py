"""Which version of Tacit this is: books and statements both say so."""

from __future__ import annotations

from functools import cache


@cache
def software() -> str:
    """The version of Tacit that writes entries and statements."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("tacit")
    except PackageNotFoundError:  # run from a bare source tree
        return "0+unknown"
