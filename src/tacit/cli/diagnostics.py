"""What makes an installation slow or useless: each with why, the remedy, and where it can be
a repair."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

NOTED = "note"
SLOW = "slow"
BROKEN = "broken"
"""Grades: what may be meant so, what costs time, what must not stay. Exit status 0, 3, 1."""


@dataclass(frozen=True)
class Problem:
    """One thing that is not well."""

    grade: str
    what: str
    why: str
    remedy: str
    repair: Callable[[], str] | None = None
    """Puts it right and says what it did."""


def problems(ledger: str | None = None) -> list[Problem]:
    """All that is found."""
    return [*_compiled(), *_threads(), *_memory(), *_ledger(ledger), *_entropy()]


def _compiled() -> Iterator[Problem]:
    """Kernels are compiled once and kept; where they cannot be, every start compiles."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        yield Problem(
            SLOW,
            "kernels are not compiled (NUMBA_DISABLE_JIT is set)",
            "every inner loop runs in plain Python, hundreds of times slower",
            "unset NUMBA_DISABLE_JIT",
        )
    caches = kernel_caches()
    if not any(map(_writable, caches)):
        cache = caches[-1]
        yield Problem(
            SLOW,
            f"compiled kernels cannot be kept in {cache}",
            "so every start compiles them again, about a minute in all",
            "set NUMBA_CACHE_DIR to a folder that may be written, or run with --repair",
            lambda: _make(cache),
        )


def kernel_caches() -> list[Path]:
    """Where compiled kernels are kept (`tacit.kernels.compiled`): the folder that numba was
    told, else the user's own."""
    override = os.environ.get("NUMBA_CACHE_DIR")
    if override:
        return [Path(override)]
    cache = os.environ.get("XDG_CACHE_HOME")
    home = Path(cache) if cache else Path.home() / ".cache"
    return [home / "tacit" / "kernels-2"]


def _threads() -> Iterator[Problem]:
    usable = len(os.sched_getaffinity(0))
    for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS"):
        setting = os.environ.get(name, "")
        if setting.isdigit() and 0 < int(setting) < usable:
            yield Problem(
                NOTED,
                f"{name} is {setting}, and {usable} cores are usable",
                "fits use fewer threads than there are cores",
                f"unset {name}, unless the other cores are somebody else's",
            )
    from threadpoolctl import threadpool_info

    if not any(pool["user_api"] == "blas" for pool in threadpool_info()):
        import numpy  # noqa: F401  loads the library that is looked for

    if not any(pool["user_api"] == "blas" for pool in threadpool_info()):
        yield Problem(
            SLOW,
            "numpy has no fast linear algebra",
            "ease and the covariance methods solve large systems by it",
            "install numpy from a wheel: pip install --force-reinstall numpy",
        )


def _memory() -> Iterator[Problem]:
    """Little memory is a slow set-up: large matrices go to disk."""
    try:
        pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):  # not told by this system
        return
    if pages < 2 << 30:
        yield Problem(
            SLOW,
            f"this machine has {pages / 1e9:.1f} GB of memory",
            "a fit of 10,000 items by `ease` wants 2 GB",
            "use a smaller catalogue (--items), or a larger machine",
        )


def _ledger(location: str | None) -> Iterator[Problem]:
    from tacit.cli.health import _ledger as looked
    from tacit.ledger.book.store import home

    status = looked(location)
    if status.startswith("NOT WELL"):
        yield Problem(
            BROKEN,
            "the ledger cannot be used",
            status.removeprefix("NOT WELL: "),
            "name another one with --ledger, or restore it from a copy and run "
            "`tacit ledger verify`",
        )
    elif location is None and not _writable(home()):
        yield Problem(
            BROKEN,
            f"{home()} cannot be written",
            "the default ledger is kept there, and nothing is fitted without one",
            "set TACIT_HOME to a folder of yours, or run with --repair",
            lambda: _make(home()),
        )
    for key in Path(home()).glob("*.key"):
        if key.stat().st_mode & 0o077:
            yield Problem(
                BROKEN,
                f"others may read {key}",
                "whoever has this key can sign statements in your name",
                "chmod 600, or run with --repair",
                lambda key=key: _close(key),  # type: ignore[misc]
            )


def _entropy() -> Iterator[Problem]:
    from tacit.cli.health import _entropy as looked

    if looked().startswith("BROKEN"):
        yield Problem(
            BROKEN,
            "the random generator is stuck",
            "noise that can be guessed protects nobody",
            "do not fit on this machine",
        )


def _writable(folder: Path) -> bool:
    """Whether a folder can be written, or made."""
    near = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    return near.is_dir() and os.access(near, os.W_OK | os.X_OK)


def _make(folder: Path) -> str:
    from tacit.errors import StorageError

    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
    except OSError as error:
        raise StorageError(
            f"{folder} cannot be made: {error.strerror}", remedy="choose another folder"
        ) from None
    return f"made {folder}"


def _close(key: Path) -> str:
    key.chmod(0o600)
    return f"only you may read {key} now"
