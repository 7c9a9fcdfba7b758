"""What a proof quotes from the code is what the code says.

A page of `docs/proofs` marks a quoted number by a comment in the same paragraph, which a
reader of the page does not see: `tacit: 2.106 = CentredCells(4000).sensitivity(...)...`. The
expression may use the bounds, `sqrt`, and any dotted name of the package. A decimal that is
not the code's (a paper's, or one that another test computes) is named by `not of the code`.
"""

from __future__ import annotations

import re
from importlib import import_module
from math import isclose, sqrt
from pathlib import Path

import pytest

import tacit
from tacit import bound

PROOFS = sorted((Path(__file__).parents[2] / "docs" / "proofs").glob("*.md"))
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
MARK = re.compile(r"<!-- tacit: (\S+) = (.*?) -->")
OTHER = re.compile(r"<!-- not of the code: (.*?) -->")
DECIMAL = re.compile(r"(?<![\w.^])(\d*\.\d+)(?![\w.]*\d)")
SECTION = re.compile(r"0\.\d")
"""Pages write .3 for a decimal, and 0.3 for a section."""
DOTTED = re.compile(r"\btacit(?:\.[a-z_]\w*)+")


def blocks(page: Path) -> list[str]:
    """The paragraphs of a page, with their marks."""
    return re.split(r"\n\s*\n", page.read_text("utf-8"))


def shown(text: str) -> str:
    """What a reader sees."""
    return COMMENT.sub("", text)


def value(expression: str) -> float:
    """The number that an expression over the package gives."""
    for dotted in DOTTED.findall(expression):
        parts = dotted.split(".")
        for end in range(2, len(parts) + 1):
            try:
                import_module(".".join(parts[:end]))
            except ModuleNotFoundError:
                break
    names = {name: getattr(bound, name) for name in bound.__all__}
    names |= {"tacit": tacit, "sqrt": sqrt, "sqrt2": sqrt(2)}
    found = eval(expression, {"__builtins__": {}}, names)  # noqa: S307
    return float(found)


def agrees(quoted: str, found: float) -> bool:
    """Whether a number is this one, rounded to the digits that are printed."""
    try:
        said = float(quoted)
    except ValueError:
        return isclose(value(quoted), found, rel_tol=1e-9)
    digits = len(quoted.partition(".")[2])
    return isclose(round(found, digits), said, rel_tol=1e-12)


MARKS = [
    pytest.param(block, *mark, id=f"{page.stem}-{mark[0]}-{number}")
    for page in PROOFS
    for number, block in enumerate(blocks(page))
    for mark in MARK.findall(block)
]


@pytest.mark.parametrize(("block", "quoted", "expression"), MARKS)
def test_a_quoted_constant_is_that_of_the_code(block, quoted, expression):
    """One page said 1.695 where 1.0585 is charged."""
    found = value(expression)
    assert agrees(quoted, found), f"the code says {found:.6g}"
    seen = re.search(rf"(?<![\w.]){re.escape(quoted)}(?![\d])", shown(block))
    assert seen, f"{quoted} does not stand in the paragraph of its mark"


@pytest.mark.parametrize("page", PROOFS, ids=lambda page: page.stem)
def test_every_decimal_of_a_proof_is_marked(page):
    text = page.read_text("utf-8")
    known = {mark[0] for mark in MARK.findall(text)}
    for others in OTHER.findall(text):
        known |= set(others.split())
    quoted = {number for number in DECIMAL.findall(shown(text)) if not SECTION.fullmatch(number)}
    assert quoted <= known, quoted - known


def test_there_are_marks_and_a_false_one_is_seen():
    assert len(MARKS) > 30
    assert agrees("1.0585", 1.05854)
    assert not agrees("1.695", 1.05854)
    assert not agrees("1.0586", 1.05854)
