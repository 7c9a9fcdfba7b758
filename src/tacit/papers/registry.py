"""The papers, by the names that `tacit reproduce` gives them."""

from __future__ import annotations

from importlib import import_module

from tacit.errors import SettingError
from tacit.papers.machine.experiment import Paper

FOLDERS = {
    "hua2015": "hua2015",
    "mcsherry2009": "mcsherry2009",
    "shin2018": "shin2018",
    "wang-tang": "wang_tang",
    "xian2017": "xian2017",
}


def names() -> list[str]:
    return list(FOLDERS)


def find(name: str) -> Paper:
    """Raise SettingError if no paper has this name; `_` and `-` are the same."""
    folder = FOLDERS.get(name.replace("_", "-"))
    if folder is None:
        raise SettingError(
            f"there is no paper {name!r}", remedy=f"choose one of {', '.join(FOLDERS)}"
        )
    paper: Paper = import_module(f"tacit.papers.{folder}.paper").PAPER
    return paper
