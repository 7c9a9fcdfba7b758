"""The papers' experiments, run again: one file (or folder) a paper, each with a `PAPER`.

They are found by listing this folder: a module of it that defines `PAPER` is a paper, and
its name with hyphens is what `tacit reproduce` calls it.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from tacit.errors import SettingError
from tacit.evaluation.reproduce.experiment import Paper

MACHINERY = ("again", "experiment", "markdown", "page", "record", "run", "sources")
"""Modules here that are no papers."""


def names() -> list[str]:
    """What `tacit reproduce` can be asked for."""
    return [_name(module) for module in _modules()]


def find(name: str) -> Paper:
    """The paper of this name."""
    for module in _modules():
        if _name(module) == name.replace("_", "-"):
            paper: Paper = import_module(f"{__name__}.{module}").PAPER
            return paper
    raise SettingError(f"there is no paper {name!r}", remedy=f"choose one of {', '.join(names())}")


def _modules() -> list[str]:
    return sorted(module.name for module in iter_modules(__path__) if module.name not in MACHINERY)


def _name(module: str) -> str:
    return module.replace("_", "-")
