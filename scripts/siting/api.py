"""The public names of `tacit`, as their docstrings say them.

`docs/api.md` has a mark; the site has the pages of all names in its place.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import tacit

MARK = "<!-- api -->"
VERBS = ("fit", "recommend", "predict", "explain", "similar", "save", "plan")
"""Of methods: said once, with the first of them."""


def filled(text: str) -> str:
    """The page with its mark replaced."""
    if MARK not in text:
        return text
    return text.replace(MARK, "\n\n".join(_names()))


def _names() -> Iterator[str]:
    from tacit.methods.base import Method

    found = {name: getattr(tacit, name) for name in tacit.__all__}
    found.pop("__version__")
    methods = {
        name
        for name, thing in found.items()
        if inspect.isclass(thing) and issubclass(thing, Method)
    }
    yield "## Functions"
    for name in sorted(found.keys() - methods):
        if not inspect.isclass(found[name]):
            yield _entry(f"tacit.{name}", found[name])
    yield "## Classes"
    for name in sorted(found.keys() - methods):
        if inspect.isclass(found[name]):
            yield _entry(f"tacit.{name}", found[name])
            yield from _members(found[name])
    yield "## What every method can do"
    for verb in VERBS:
        if hasattr(Method, verb):
            yield _entry(verb, getattr(Method, verb))
    yield "## Methods"
    for name in sorted(methods, key=lambda each: found[each].name):
        page = f"methods/{found[name].name}.md"
        yield _entry(f"tacit.{name}", found[name])
        yield f"Its page: [{found[name].name}]({page})."


def _members(owner: type) -> Iterator[str]:
    for name, thing in sorted(vars(owner).items()):
        if name.startswith("_"):
            continue
        plain = getattr(thing, "__func__", thing)
        if isinstance(plain, property):
            yield f"`{owner.__name__}.{name}`: {_told(plain)}"
        elif inspect.isfunction(plain):
            yield (f"`{owner.__name__}.{name}{_signature(plain)}`: {_told(plain)}")


def _entry(name: str, thing: Any) -> str:
    call = _signature(thing) if callable(thing) else ""
    return f"### {name}\n\n```python\n{name}{call}\n```\n\n{_told(thing)}"


def _signature(thing: Callable[..., Any]) -> str:
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return "(...)"
    bare = [one.replace(annotation=_bare(one.annotation)) for one in found.parameters.values()]
    return str(found.replace(parameters=bare, return_annotation=_bare(found.return_annotation)))


class _Bare(str):
    """An annotation that is kept as text, shown without its quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def _bare(annotation: Any) -> Any:
    return _Bare(annotation) if isinstance(annotation, str) else annotation


def _told(thing: object) -> str:
    return inspect.getdoc(thing) or ""
