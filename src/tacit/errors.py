"""One exception tree. The command line turns its two branches into exit status 2 and 1.

    TacitError
    ├── UsageError            exit 2: the caller can put it right
    │   ├── DataError         a ratings, catalogue or personal file (carries its place)
    │   ├── SettingError      an argument, option or `--set` value
    │   │   ├── ArgumentError     of a call in Python; a TypeError too
    │   │   ├── UnfittedError     not fitted yet; an AttributeError too
    │   │   ├── UnknownNameError  a name that is not there; an AttributeError too
    │   │   └── UnknownKeyError   a key that is not there; a KeyError too
    │   ├── ModelError        a model folder that is damaged, foreign or newer than this
    │   ├── BookError         a ledger that is damaged, foreign or newer than this version
    │   ├── BudgetError       a cap that would be overspent
    │   └── StorageError      a folder or disk that cannot be written
    └── Failure               exit 1: it broke, and the caller could not have known

An error gives the place and the remedy. It quotes a value only if that is the caller's own
setting, never a cell of a ratings file. What it quotes is shown and never obeyed
(`tacit.redaction`).
"""

from __future__ import annotations

import errno

from tacit.notices import localize
from tacit.redaction import one_line


class TacitError(Exception):
    """The root: `message`, and where known `place` (file, line, column) and `remedy`."""

    exit_status = 1

    def __init__(
        self, message: str, *, place: str | None = None, remedy: str | None = None
    ) -> None:
        self.message = one_line(message)
        self.place = None if place is None else one_line(place)
        self.remedy = None if remedy is None else one_line(remedy)
        super().__init__(self.message)

    def __str__(self) -> str:
        """Place, message and remedy, in the words of the side that asked (`tacit.notices`)."""
        message = localize(self.message)
        text = f"{self.place}: {message}" if self.place else message
        return f"{text}\n  remedy: {localize(self.remedy)}" if self.remedy else text


class UsageError(TacitError, ValueError):
    """The caller can put it right."""

    exit_status = 2


class DataError(UsageError):
    """A ratings, catalogue or personal file is not what it should be."""


class SettingError(UsageError):
    """An argument, option or setting is unknown or out of range."""


class ArgumentError(SettingError, TypeError):
    """An argument of a call in Python is unknown, missing or given twice."""


class UnfittedError(SettingError, AttributeError):
    """A learned name of an estimator that is not fitted: `hasattr` is False."""


class UnknownNameError(SettingError, AttributeError):
    """A name that a thing does not have: `hasattr` is False."""


class UnknownKeyError(SettingError, KeyError):
    """A key that a thing does not have."""


class ModelError(UsageError):
    """A model folder is damaged, foreign or newer than this version."""


class BookError(UsageError):
    """A ledger is damaged, foreign or newer than this version."""


class BudgetError(UsageError):
    """A cap would be overspent."""


class StorageError(UsageError):
    """A folder or disk cannot be written."""


class Failure(TacitError):
    """Something broke that the caller could not have foreseen."""


def reason(error: OSError) -> str:
    """Why the system refused, in its words; not all libraries give an error number."""
    return error.strerror or str(error) or type(error).__name__


def is_full(error: OSError) -> bool:
    """Whether a disk has no room left, or a user none on it."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def format_location(path: object, line: int | None = None, column: int | str | None = None) -> str:
    """`ratings.csv, line 7, column 3`: how every error names a spot in a file."""
    text = str(path)
    if line is not None:
        text += f", line {line}"
    if column is not None:
        text += f", column {column}"
    return text
