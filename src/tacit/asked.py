"""What a caller in Python may have given by mistake: arguments of another kind than was asked
for, refused with their name and what to give instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, Signature, signature
from numbers import Integral, Real
from os import fsencode
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, TypeVar

from tacit.errors import ArgumentError, SettingError, UnknownNameError

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
NOTHING: Mapping[str, object] = MappingProxyType({})
FIT = "an estimator fits: tacit.Bayes(epsilon=1).fit(ratings)"
MODEL = "it is a verb of a fitted estimator or of tacit.load(path)"
PAGE = "tacit.verify(model).page(...) makes a page to forward"
ELSEWHERE: Mapping[str, str] = MappingProxyType(
    {
        "fit": FIT,
        "train": FIT,
        **dict.fromkeys(("recommend", "explain", "similar"), MODEL),
        **dict.fromkeys(("predict", "save", "export"), MODEL),
        "statement": f"it is model.statement_; {PAGE}",
        **dict.fromkeys(("page", "to_html", "write_page"), PAGE),
        "cap": "tacit.open_book(...).cap(3) sets it",
        "ledger": "tacit.open_book(...) opens it",
        **dict.fromkeys(
            ("to_frame", "to_pandas", "to_polars", "df"), ".frame() gives a frame of polars"
        ),
        **dict.fromkeys(
            ("transform", "fit_transform", "predict_proba"),
            "a recommender recommends: recommend, predict, explain, similar",
        ),
        **dict.fromkeys(
            ("similar_users", "recommend_for", "recommend_all"),
            "a model knows nobody: give a person's own ratings to recommend",
        ),
        "charge": "a fit charges the book itself",
    }
)
"""What somebody wants who asks for a name that is not there."""
PLAINLY = (
    (r"greater than or equal to", "at least"),
    (r"less than or equal to", "at most"),
    (r"greater than", "more than"),
    (r"a valid integer\b.*", "a whole number"),
    (r"a valid number\b.*", "a number"),
    (r"a valid boolean\b.*", "True or False"),
    (r"a valid string\b.*", "a text"),
)
"""Sentences of the library that checks settings, and ours."""
LONGEST_PATH = 4095
LONGEST_NAME = 255
"""Bytes of a path, and of each of its parts, that a system can have."""


def by_name(function: Callable[P, R], called: str = "") -> Callable[P, R]:
    """A door whose arguments are asked for by name: what is unknown, missing or too much is
    refused in words, and as a `TypeError` too. `called` is its name, if it has another."""
    known = signature(function)
    name = called or function.__name__

    @wraps(function)
    def door(*given: P.args, **named: P.kwargs) -> R:
        try:
            known.bind(*given, **named)
        except TypeError:
            raise _misnamed(name, known, given, named) from None
        return function(*given, **named)

    return door


def made_by_name(made: type[T]) -> type[T]:
    """A class that is called as such a door is."""
    begin: Any = made.__dict__["__init__"]
    type.__setattr__(made, "__init__", by_name(begin, made.__name__))
    return made


def behind(door: Callable[P, R]) -> Callable[P, R]:
    """What stands behind such a door, for callers inside, who know the names."""
    found: Callable[P, R] = getattr(door, "__wrapped__", door)
    return found


def near(name: str, known: Iterable[str]) -> str:
    """`did you mean epsilon? ` where one of the known names looks like this one."""
    found = get_close_matches(name, list(known), n=1)
    return f"did you mean {found[0]}? " if found else ""


def unknown_name(owner: str, name: str, known: Iterable[str]) -> UnknownNameError:
    """The error for a name that somebody asks `owner` for in vain."""
    public = {each.casefold(): each for each in known if each[:1] != "_"}
    found = get_close_matches(name.casefold(), list(public), n=1)
    remedy = f"dir({owner}) lists what there is"
    if name in ELSEWHERE:
        remedy = ELSEWHERE[name]
    elif found:
        remedy = f"did you mean {public[found[0]]}? {remedy}"
    return UnknownNameError(f"{owner} has no name {name!r}", remedy=remedy)


class Suggesting:
    """Answers a name that is not there with the one that was meant."""

    if not TYPE_CHECKING:  # who checks types knows which names there are

        def __getattr__(self, name: str) -> NoReturn:
            """Only asked for what is not there; Python and notebooks ask for much."""
            if name.startswith(("__", "_repr_", "_ipython_")):
                raise AttributeError(name)
            raise unknown_name(type(self).__name__, name, dir(self))


def _misnamed(
    door: str, known: Signature, given: tuple[object, ...], named: Mapping[str, object]
) -> ArgumentError:
    """What is wrong with the arguments of a call."""
    wanted = {
        name: each
        for name, each in known.parameters.items()
        if name != "self" and each.kind is not Parameter.VAR_KEYWORD
    }
    takes = f"{door} takes: {', '.join(wanted)}"
    if not wanted and len(known.parameters) > 1:
        takes = "its arguments have names, as epsilon=1 has"
    elif not wanted:
        takes = f"{door} takes nothing"
    for name in named:
        if name not in wanted:
            return ArgumentError(
                f"{door} has no argument {name!r}", remedy=f"{near(name, wanted)}{takes}"
            )
    placed = [name for name, each in wanted.items() if each.kind is Parameter.POSITIONAL_OR_KEYWORD]
    many = len(given) - ("self" in known.parameters)
    if many > len(placed):
        return ArgumentError(
            f"{door} was given {many} argument{'s' * (many != 1)} by position and takes "
            f"{len(placed)} so",
            remedy=f"name the others; {takes}" if wanted else takes,
        )
    twice = [name for name in placed[:many] if name in named]
    if twice:
        return ArgumentError(
            f"{door} was given {twice[0]!r} twice, by position and by name", remedy="give it once"
        )
    have = {*placed[:many], *named}
    missing = [
        name
        for name, each in wanted.items()
        if each.default is Parameter.empty and name not in have
    ]
    return ArgumentError(
        f"{door} lacks {' and '.join(missing)}",
        remedy="give " + ", ".join(f"{name}=..." for name in missing),
    )


def wanted(told: str) -> str:
    """What pydantic asks for, in our words: `at least 1`."""
    found = told.removeprefix("Input should be ")
    for theirs, ours in PLAINLY:
        found = re.sub(theirs, ours, found)
    return found[:1].lower() + found[1:]


def number(name: str, value: object, remedy: str = "give a number") -> float:
    """A number, which a truth value is not."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise _other(name, value, "a number", remedy)
    return float(value)


def count(name: str, value: object, *, least: int = 1) -> int:
    """A whole number of at least so much."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise _other(name, value, "a whole number", f"give {least} or more")
    if int(value) < least:
        raise SettingError(
            f"{name} is {int(value)}; it must be at least {least}", remedy=f"give {least} or more"
        )
    return int(value)


def flag(name: str, value: object) -> bool:
    """A truth value."""
    if not isinstance(value, bool):
        raise _other(name, value, "a truth value", "give True or False")
    return value


def text(name: str, value: object, remedy: str = "give a text") -> str:
    """A text."""
    if not isinstance(value, str):
        raise _other(name, value, "a text", remedy)
    return value


def model(given: Any) -> Any:
    """A model, or that of a fitted estimator."""
    found = getattr(given, "fitted", given)
    if not hasattr(found, "shared") or not hasattr(found, "statement"):
        raise SettingError(
            f"this is a {type(given).__name__} and not a model",
            remedy="give a fitted estimator, or tacit.load(path)",
        )
    return found


def path(name: str, value: object) -> Path:
    """A place in the file system."""
    remedy = "give the name of a file or folder"
    if not isinstance(value, str | Path):
        raise _other(name, value, "a path", remedy)
    if not str(value):
        raise SettingError(f"{name} is empty", remedy=remedy)
    found = Path(value)
    longest = max((len(fsencode(part)) for part in found.parts), default=0)
    if len(fsencode(found)) > LONGEST_PATH or longest > LONGEST_NAME:
        raise SettingError(f"{name} is too long for a path", remedy=remedy)
    if "\0" in str(found):
        raise SettingError(f"{name} is no path: it has a zero", remedy=remedy)
    return found


def function(name: str, value: object) -> None:
    """Something that is called; None where there is nothing to call."""
    if value is not None and not callable(value):
        raise _other(name, value, "a function", f"leave {name} out")


def numbers(values: Mapping[str, object], remedy: str = "give {name} as one number") -> None:
    """Several numbers by name; None where none was given."""
    for name, value in values.items():
        if value is not None:
            number(name, value, remedy.format(name=name))


def kinds(
    *,
    texts: Mapping[str, object] = NOTHING,
    whole: Mapping[str, object] = NOTHING,
    paths: Mapping[str, object] = NOTHING,
    real: Mapping[str, object] = NOTHING,
) -> None:
    """Several arguments by name, each of its kind; all but texts may be None."""
    for name, value in texts.items():
        text(name, value)
    for name, value in whole.items():
        if value is not None:
            count(name, value, least=-(2**31))
    for name, value in paths.items():
        if value is not None:
            path(name, value)
    numbers(real)


def item(name: str, value: object, remedy: str) -> str:
    """The id or title of an item; a whole number is an id."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        return text(name, value, remedy)
    return str(int(value))


def names(name: str, value: object) -> list[str]:
    """Several items by id or title. One text alone is refused: its letters are not meant."""
    remedy = f'give a list, such as {name}=["Alien", "Heat"]'
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise _other(name, value, "a list of items", remedy)
    return [item(f"each of {name}", each, remedy) for each in value]


def check_named(name: str, value: object) -> None:
    """Values by name; None where none were given."""
    if value is not None and not isinstance(value, Mapping):
        raise _other(name, value, "values by name", f'give {name}={{"factors": 5}}')


def check_swept(sweep: object) -> None:
    """For each name several values; None where nothing is swept."""
    remedy = 'give lists, such as sweep={"factors": [5, 20]}'
    if sweep is None:
        return
    if not isinstance(sweep, Mapping):
        raise _other("sweep", sweep, "values by name", remedy)
    for name, values in sweep.items():
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise _other(f"sweep of {name}", values, "a list", remedy)


def _other(name: str, value: Any, wanted: str, remedy: str) -> SettingError:
    return SettingError(f"{name} is of type {type(value).__name__}, not {wanted}", remedy=remedy)
