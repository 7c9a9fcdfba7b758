"""Tables of docs/results that are made of the JSON beside them: python benchmarks/tables.py
PAGE... writes them into their pages, in the order of the JSON.

PAGE.json holds `tables`, each with a title, the command, commit and date that its numbers come
from, `columns` and `rows`. `tests/docs/test_results.py` holds page and JSON together.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "docs" / "results"
BLOCK = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
"""One table of a page."""


def markdown(table: dict[str, Any]) -> str:
    """One table as a page has it."""
    columns = table["columns"]
    lines = [columns, ["---"] * len(columns), *table["rows"]]
    rule = f"|{'---|' * len(columns)}"
    shown = [f"| {' | '.join(cells)} |".replace("|  |", "| |") for cells in lines]
    shown[1] = rule
    return "".join(f"{line}\n" for line in shown)


def read(name: str) -> list[dict[str, Any]]:
    """The tables of a page's JSON."""
    text = (RESULTS / f"{name}.json").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = json.loads(text)["tables"]
    return found


def shown(page: str) -> list[str]:
    """The tables that a page has."""
    return BLOCK.findall(page)


def placed(page: str, tables: list[dict[str, Any]]) -> str:
    """A page with each of its tables taken from the JSON."""
    made = [markdown(table) for table in tables]
    if len(made) != len(shown(page)):
        message = f"{len(shown(page))} tables in the page, {len(made)} beside it"
        raise SystemExit(message)
    parts = iter(made)
    return BLOCK.sub(lambda _: next(parts), page)


def main() -> None:
    for name in sys.argv[1:]:
        file = RESULTS / f"{name}.md"
        page = placed(file.read_text(encoding="utf-8"), read(name))
        file.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
