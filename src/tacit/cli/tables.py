"""How wide a table must be, and which of its columns stand together where it is too wide."""

from __future__ import annotations

from collections.abc import Sequence

WORD = 16
"""A longer word may be broken where a table is narrow."""
GAP = 2
"""Blanks between two columns."""
PIPED = 160
"""Columns of a table that nobody's terminal limits."""


def needs(name: str, cells: Sequence[str], *, numeric: bool) -> int:
    """The width in which no number and no word of a column is broken."""
    texts = [name] if numeric else [name, *cells]
    lengths = [len(word) for text in texts for word in text.split()]
    longest = min(max([0, *lengths]), WORD)
    return max([longest, *map(len, cells)]) if numeric else longest


def parts(widths: Sequence[int], right: Sequence[bool], room: int) -> list[list[int]]:
    """Columns that stand together: all where there is room, else several groups that each
    begin with what the rows are called."""
    every = list(range(len(widths)))
    named = right.index(True) + 1 if True in right else 0
    keys = every[:named] if sum(widths[:named]) + GAP * named < room / 2 else every[:1]
    if _wide(every, widths) <= room or len(keys) == len(every):
        return [every]
    groups = [list(keys)]
    for column in every[len(keys) :]:
        group = groups[-1]
        if len(group) > len(keys) and _wide([*group, column], widths) > room:
            groups.append(list(keys))
        groups[-1].append(column)
    return groups


def _wide(columns: Sequence[int], widths: Sequence[int]) -> int:
    return sum(widths[i] for i in columns) + GAP * (len(columns) - 1)
