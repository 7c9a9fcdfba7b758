"""Where books are kept: few verbs, so that another database can join. A SQLite file, or a
PostgreSQL database.

Guarantee asked of every store: `write` gives one exclusive transaction, which is durable
when it ends, or never was.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from tacit.errors import SettingError
from tacit.validation import kinds

FORMAT = 2
"""Of the book and of its seal; a larger one was made by a newer version. Books of format 1
have no proofs, and are brought up to date by their next charge."""

Proof = tuple[str, int, str, str]
"""Population, number and hash of an entry that was sealed, and the MAC that says so."""


class Session(Protocol):
    """One transaction. Somebody may have written past Tacit: what it reads is to be judged by
    the seal and by proofs, and need not even be of the types that Tacit writes."""

    def rows(self, population: str) -> Iterable[tuple[Any, Any, Any]]:
        """Number, text and hash of every row of a population, by number."""

    def proofs(self, population: str) -> Iterable[tuple[Any, Any, Any]]:
        """Number, hash and MAC of every entry of a population that was ever sealed."""

    def append(
        self,
        population: str,
        number: int,
        text: str,
        hash: str,
        head: tuple[str, str],
        proofs: Sequence[Proof],
    ) -> None:
        """One more entry, in the place of the head that was read a new one with its MAC, and
        the proofs of entries that have none yet."""

    def head(self) -> tuple[Any, Any] | None:
        """The text of the latest heads and its MAC."""

    def populations(self) -> list[Any]:
        """Names of all populations with entries."""

    def lacks(self) -> list[str]:
        """Tables and guards against changes that were there when it was made and are gone."""

    def marks(self) -> list[tuple[Any, Any]]:
        """Every mark of data that were charged, with its population."""

    def remember(self, mark: str, population: str) -> None:
        """Add a mark of data that belong to a population."""


class Store(Protocol):
    """A place for books. `place` is how errors name it; `key` is None before the first
    entry is written."""

    place: str

    def read(self) -> AbstractContextManager[Session | None]:
        """A session for looking; None before the first entry."""

    def write(self) -> AbstractContextManager[Session]:
        """A session in one transaction, committed at the end and rolled back on an error."""

    def key(self, create: bool = False) -> bytes | None:
        """The key that signs heads; made if `create` asks for it."""

    def had_entries(self) -> bool:
        """Whether the key remembers an entry: if there is none now, all were taken away."""


def check_names(location: object, population: object) -> None:
    """Refuse a place or a name that no book can have."""
    wrong = not isinstance(location, str | Path | None)
    if wrong or not isinstance(population, str) or _unlikely(location):
        kinds(texts={"population": population}, paths={"ledger": location})
    name = str(population)
    if not (0 < len(name) <= 200 and name.isprintable() and name == name.strip()):
        raise SettingError(
            "a population needs a name of 1 to 200 printable characters, without blanks at "
            "its ends",
            remedy="give --population a name, or leave it out",
        )


def _unlikely(location: object) -> bool:
    """Whether no file can have this name: it is empty or holds a null byte."""
    return location is not None and (not str(location) or "\0" in str(location))


def open_store(location: str | Path | None = None) -> Store:
    """A path, a URL, or nothing for `TACIT_HOME/ledger.sqlite` (a platform data folder
    without TACIT_HOME)."""
    from tacit.ledger.book.sqlite import SQLiteStore

    if location is None:
        return SQLiteStore(home() / "ledger.sqlite")
    scheme = re.match(r"([a-zA-Z][a-zA-Z0-9+.-]+)://", str(location))
    if scheme and scheme[1].lower() in ("postgres", "postgresql"):
        from tacit.ledger.book.postgres import PostgresStore

        return PostgresStore(str(location))
    if scheme and scheme[1].lower() == "sqlite":
        return SQLiteStore(Path(str(location)[len(scheme[0]) :]))
    if scheme:
        raise SettingError(
            f"no ledger can be kept at a {scheme[1]}:// address in this version",
            remedy="give a file or postgresql://",
        )
    return SQLiteStore(Path(location))


def home() -> Path:
    """The folder of the default ledger and of caches."""
    configured = os.environ.get("TACIT_HOME")
    if configured:
        return Path(configured)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "tacit"
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home()) / "tacit"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "tacit"
