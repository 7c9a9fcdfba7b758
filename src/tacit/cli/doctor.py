"""`tacit doctor`: is this installation well, and is it fast?"""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import click

from tacit.cli.grouped import Command
from tacit.cli.options import json_option

PACKAGES = ("numpy", "scipy", "numba", "polars", "pydantic", "cryptography", "safetensors")
NOTED = "note"
SLOW = "slow"
BROKEN = "broken"
"""Grades: what may be meant so, what costs time, what must not stay. Exit status 0, 3, 1."""


@click.command(cls=Command)
@click.option(
    "--ledger", metavar="FILE|URL", help="The book to look at; TACIT_HOME holds the default one."
)
@click.option("--wipe", is_flag=True, help="Delete the caches of private data.")
@click.option(
    "--repair",
    is_flag=True,
    help="Put right what can be: folders, modes of files, compiled kernels.",
)
@json_option
def doctor(ledger: str | None, wipe: bool, repair: bool, as_json: bool) -> None:
    """Versions, threads, BLAS, entropy, ledger health, caches, and what makes this machine
    slow. Exit status 0: well; 1: something is broken; 3: it works, slower than it could."""
    from tacit.cli.show import fact, print_json, say

    wiped = {"wiped": f"{wipe_caches()} cached files"} if wipe else {}
    detected = problems(ledger)
    repairs = []
    if repair:
        repairs = [ill.repair() for ill in detected if ill.repair is not None]
        detected = problems(ledger)
    facts = wiped | examine(ledger)
    if as_json:
        summaries = [{"what": i.what, "why": i.why, "remedy": i.remedy} for i in detected]
        print_json({**facts, "ailments": summaries, "repaired": repairs})
    else:
        for name, value in facts.items():
            fact(name, value)
        for line in repairs:
            say(f"\nrepaired: {line}")
        for ill in detected:
            say(f"\n{ill.grade}: {ill.what}\n  why: {ill.why}\n  remedy: {ill.remedy}")
        if not detected:
            say("\nwell: nothing slows this installation down")
    grades = {ill.grade for ill in detected}
    if BROKEN in grades:
        raise SystemExit(1)
    if SLOW in grades:
        raise SystemExit(3)


# What `tacit doctor` looks at.


def cache_folder() -> Path:
    """The one folder for caches of private data: opt-in, mode 0600 inside."""
    from tacit.ledger.book.store import home

    return home() / "cache"


def wipe_caches() -> int:
    """Delete every cached file; returns how many there were."""
    folder = cache_folder()
    count = sum(1 for path in folder.rglob("*") if path.is_file()) if folder.exists() else 0
    shutil.rmtree(folder, ignore_errors=True)
    return count


def examine(ledger: str | None = None) -> dict[str, str]:
    """Facts in the order in which they are printed."""
    import tacit

    facts = {
        "tacit": tacit.__version__,
        "python": f"{platform.python_version()} on {platform.system()}",
    }
    facts |= {name: _version(name) for name in PACKAGES}
    facts["cores"] = f"{len(os.sched_getaffinity(0))} usable of {os.cpu_count()}"
    facts["blas"] = _blas()
    facts["entropy"] = entropy_state()
    facts["ledger"] = ledger_state(ledger)
    folder = cache_folder()
    held = [path for path in folder.rglob("*") if path.is_file()] if folder.exists() else []
    facts["private caches"] = (
        f"{folder}: {len(held)} files, {sum(p.stat().st_size for p in held) / 1e6:.1f} MB"
    )
    return facts


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing: install Tacit again"


def _blas() -> str:
    import numpy  # noqa: F401  loads the library that threadpoolctl looks for
    from threadpoolctl import threadpool_info

    pools = [
        f"{p['internal_api']} {p['version']} ({p['num_threads']} threads)"
        for p in threadpool_info()
    ]
    return ", ".join(pools) or "none found"


def entropy_state() -> str:
    """Fresh keys must differ and the keystream must not be stuck."""
    from tacit.noise import bits

    first, second = bits.fresh().words(64), bits.fresh().words(64)
    ones = sum(int(word).bit_count() for word in first) / (64 * 64)
    well = (first != second).all() and 0.4 < ones < 0.6
    return (
        "fresh keys from the system, AES-CTR keystream"
        if well
        else "BROKEN: do not fit on this machine"
    )


def ledger_state(location: str | None) -> str:
    """Every book at this place is replayed."""
    from tacit.errors import TacitError
    from tacit.ledger.book.book import open_book
    from tacit.ledger.book.chain import sealed_populations
    from tacit.ledger.book.store import open_store

    try:
        store = open_store(location)
        with store.read() as session:
            names = [] if session is None else sealed_populations(store, session)
        books = [open_book(location, name).verify() for name in names]
    except TacitError as error:
        prefix = f"{error.place}: " if error.place else ""
        return f"NOT WELL: {prefix}{error.message}"
    summary = ", ".join(f"{book.population}: {book.entries} entries" for book in books)
    strays = sum(len(book.strays) for book in books)
    stray_note = (
        f"; rows under no seal, not counted: {strays} (tacit ledger verify)" if strays else ""
    )
    return f"{store.place}: {summary or 'no book yet'}{stray_note}"


# What makes an installation slow or useless: each with why, the remedy, and where it can be
# a repair.


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
    from tacit.ledger.book.store import home

    status = ledger_state(location)
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

    if entropy_state().startswith("BROKEN"):
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
