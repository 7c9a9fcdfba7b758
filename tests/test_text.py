"""The text of `src` stays easy to read: counted, so that it does not thicken unnoticed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "tacit"
MOST_LINES = 400
MOST_CHARACTERS = 100
MOST_STATEMENTS = 650
"""In a thousand lines that are not blank."""
MOST_NAMES = 2
"""Of one assignment of several values to several names."""
Told = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@cache
def texts() -> dict[Path, str]:
    return {path: path.read_text() for path in sorted(SOURCE.rglob("*.py"))}


@cache
def trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(text) for path, text in texts().items()}


def where(path: Path, line: int) -> str:
    return f"{path.relative_to(SOURCE)}:{line}"


def public(body: list[ast.stmt]) -> Iterator[Told]:
    """Classes, functions and methods that others may call; a test's name is its own sentence."""
    for node in body:
        if not isinstance(node, Told) or node.name.startswith(("_", "test_")):
            continue
        marks = {ast.unparse(mark) for mark in node.decorator_list}
        if marks & {"overload", "abstractmethod", "pytest.fixture"}:
            continue
        yield node
        if isinstance(node, ast.ClassDef):
            yield from public(node.body)


def test_no_file_is_two_files() -> None:
    long = [
        p.name for p, text in texts().items() if text.count("\n") > MOST_LINES
    ]
    assert not long


def test_lines_fit_a_screen_and_none_is_kept_from_the_formatter() -> None:
    wide = [
        where(path, number)
        for path, text in texts().items()
        for number, line in enumerate(text.splitlines(), 1)
        if len(line) > MOST_CHARACTERS or "fmt: skip" in line
    ]
    assert not wide


def test_lines_are_not_dense() -> None:
    lines = sum(
        bool(line.strip())
        for text in texts().values()
        for line in text.splitlines()
    )
    statements = sum(
        isinstance(n, ast.stmt)
        for tree in trees().values()
        for n in ast.walk(tree)
    )
    assert 1000 * statements / lines <= MOST_STATEMENTS


def test_an_assignment_names_few_things() -> None:
    many = [
        where(path, node.lineno)
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Tuple)
        and any(
            isinstance(t, ast.Tuple) and len(t.elts) > MOST_NAMES
            for t in node.targets
        )
    ]
    assert not many


def test_every_public_thing_says_what_it_is() -> None:
    silent = [
        f"{where(path, node.lineno)} {node.name}"
        for path, tree in trees().items()
        for node in public(tree.body)
        if ast.get_docstring(node) is None
    ]
    assert not silent
