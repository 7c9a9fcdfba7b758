"""Two sides, two languages: an error that names `--scale 1,5` on the command line names
`scale=(1, 5)` in Python.

Errors are written once, in the words of the command line, and said in those of the side that
asked. Python is the side unless `on_the_command_line` is entered, which the command line does.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Note = Callable[[str], None]
"""How the command line tells the person at the terminal something."""
_COMMANDS: ContextVar[Note | None] = ContextVar("commands", default=None)
"""None while Python is the side that asks."""

FLAGS = (*("overwrite", "accept_unbounded", "owner_only", "other_people"), *("days", "positive"))
"""Options that are said without a value."""
CHOICES = {
    "unit": ("user", "rating", "value"),
    "calibration": ("sound", "paper", "none"),
    "engine": ("threads", "simulate", "federated", "local", "spark"),
    "by": ("rating", "liked", "explore", "popularity"),
    "duplicates": ("last", "mean", "error"),
    "dates": ("iso", "dmy", "mdy"),
    "encoding": ("utf-8", "latin-1", "cp1252"),
    "decimal": (",",),
}
"""Options whose value is a word of a few."""
RENAMED = {
    "noise": "noise_from",
    "out": "path",
    "set": "",
    "public_items": "PublicPeople(..., items=...)",
}
"""Options that Python calls otherwise."""
CALLS = {
    "tacit fit --out": "save",
    "tacit fit": "fit",
    "tacit plan": "tacit.plan(...)",
    "tacit choose": "tacit.choose(...)",
    "tacit evaluate": "tacit.evaluate(...)",
    "tacit ledger cap": "tacit.open_book(...).cap(...)",
    "tacit ledger show": "tacit.open_book(...).entries()",
    "tacit verify": "tacit.verify(...)",
    "tacit export": "export",
}
"""Commands, longest first, and what does the same in Python."""
_OPTION = re.compile(
    r"--(?P<name>[a-z][a-z-]*[a-z])"
    r"(?:[ =](?P<value>LOW,HIGH|-?[\d.]+,-?[\d.]+|-?\d[\d.e-]*%?(?![\w])|[A-Z_]{1,}\b"
    r"|[a-z]+=[^\s,;)]+(?:,[a-z]+=[^\s,;)]+)*|,(?= )|(?:latin-1|utf-8|cp1252|[a-z]+)\b))?"
)


def _unsaid(text: str) -> None:
    """What nobody is told."""


@contextmanager
def on_the_command_line(note: Note = _unsaid) -> Iterator[None]:
    """Errors speak of options inside, and `note` tells what every command has to tell."""
    token = _COMMANDS.set(note)
    try:
        yield
    finally:
        _COMMANDS.reset(token)


@contextmanager
def unnoted() -> Iterator[None]:
    """The command line tells nothing inside: of a book that nobody chose, for example."""
    token = _COMMANDS.set(_COMMANDS.get() and _unsaid)
    try:
        yield
    finally:
        _COMMANDS.reset(token)


class TacitNotice(UserWarning):
    """What Python is told and the command line prints as a note: how something was read, what
    was left out, what a choice means. `warnings.simplefilter("ignore", tacit.TacitNotice)`
    silences them."""


def notice(text: str) -> None:
    """Tell a caller in Python, at her own line. The command line says it in its own way."""
    if _COMMANDS.get() is None:
        warn(text, TacitNotice)


def noted(text: str) -> None:
    """Tell whoever is at a terminal; in Python nobody."""
    note = _COMMANDS.get()
    if note is not None:
        note(text)


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn whoever called Tacit, at her own line and not at one of ours."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and _is_ours(frame.f_globals):
        frame, level = frame.f_back, level + 1
    warnings.warn(localize(text), category, stacklevel=level)


def _is_ours(names: dict[str, object]) -> bool:
    return str(names.get("__name__", "")).partition(".")[0] == "tacit"


def localize(text: str) -> str:
    """The text in the words of the side that asked."""
    return in_python(text) if _COMMANDS.get() is None else text


def in_python(text: str) -> str:
    """Options as keyword arguments, commands as calls."""
    for command, call in CALLS.items():
        text = text.replace(f"`{command}`", f"`{call}`")
    return _OPTION.sub(_argument, text)


def _argument(match: re.Match[str]) -> str:
    name = match["name"].replace("-", "_")
    value = match["value"]
    keyword = RENAMED.get(name, name)
    if value is None:
        return f"{name}=True" if name in FLAGS else keyword
    if not keyword:  # --set NAME=VALUE
        return value
    if name == "columns" and "=" in value:
        pairs = [pair.split("=", 1) for pair in value.split(",")]
        return f"columns={{{', '.join(_column(*pair) for pair in pairs)}}}"
    if name == "header" and value in ("yes", "no"):
        return f"header={value == 'yes'}"
    if value in CHOICES.get(name, ()):
        return f'{keyword}="{value}"'
    if "," in value:
        low, high = value.lower().split(",")
        return f"{keyword}=({low}, {high})"
    if value.endswith("%"):
        return f"{keyword}={float(value[:-1]) / 100:g}"
    if value[0].isdigit() or value[0] == "-" or value.isupper():
        return f"{keyword}={value}"
    # A word of the sentence, not of the option.
    flag = f"{name}=True" if name in FLAGS else keyword
    return f"{flag} {value}"


def _column(role: str, column: str) -> str:
    named = "None" if column == "none" else column if column.isdigit() else f'"{column}"'
    return f'"{role}": {named}'
