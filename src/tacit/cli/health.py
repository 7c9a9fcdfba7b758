"""What `tacit doctor` looks at."""

from __future__ import annotations

import os
import platform
import shutil
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("numpy", "scipy", "numba", "polars", "pydantic", "cryptography", "safetensors")


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
    facts["entropy"] = _entropy()
    facts["ledger"] = _ledger(ledger)
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


def _entropy() -> str:
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


def _ledger(location: str | None) -> str:
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
