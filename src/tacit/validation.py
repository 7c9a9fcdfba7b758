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
    parameters = signature(function)
    name = called or function.__name__

    @wraps(function)
    def door(*positional: P.args, **named: P.kwargs) -> R:
        try:
            parameters.bind(*positional, **named)
        except TypeError:
            raise _misnamed(name, parameters, positional, named) from None
        return function(*positional, **named)

    return door


def made_by_name(class_: type[T]) -> type[T]:
    """A class that is called as such a door is."""
    initializer: Any = class_.__dict__["__init__"]
    type.__setattr__(class_, "__init__", by_name(initializer, class_.__name__))
    return class_


def behind(door: Callable[P, R]) -> Callable[P, R]:
    """What stands behind such a door, for callers inside, who know the names."""
    wrapped: Callable[P, R] = getattr(door, "__wrapped__", door)
    return wrapped


def near(name: str, names: Iterable[str]) -> str:
    """`did you mean epsilon? ` where one of the known names looks like this one."""
    matches = get_close_matches(name, list(names), n=1)
    return f"did you mean {matches[0]}? " if matches else ""


def unknown_name(owner: str, name: str, names: Iterable[str]) -> UnknownNameError:
    """The error for a name that somebody asks `owner` for in vain."""
    public = {candidate.casefold(): candidate for candidate in names if candidate[:1] != "_"}
    matches = get_close_matches(name.casefold(), list(public), n=1)
    remedy = f"dir({owner}) lists what there is"
    if name in ELSEWHERE:
        remedy = ELSEWHERE[name]
    elif matches:
        remedy = f"did you mean {public[matches[0]]}? {remedy}"
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
    door: str, declared: Signature, positional: tuple[object, ...], named: Mapping[str, object]
) -> ArgumentError:
    """What is wrong with the arguments of a call."""
    parameters = {
        name: parameter
        for name, parameter in declared.parameters.items()
        if name != "self" and parameter.kind is not Parameter.VAR_KEYWORD
    }
    usage = f"{door} takes: {', '.join(parameters)}"
    if not parameters and len(declared.parameters) > 1:
        usage = "its arguments have names, as epsilon=1 has"
    elif not parameters:
        usage = f"{door} takes nothing"
    for name in named:
        if name not in parameters:
            return ArgumentError(
                f"{door} has no argument {name!r}", remedy=f"{near(name, parameters)}{usage}"
            )
    placed = [
        name
        for name, parameter in parameters.items()
        if parameter.kind is Parameter.POSITIONAL_OR_KEYWORD
    ]
    count = len(positional) - ("self" in declared.parameters)
    if count > len(placed):
        return ArgumentError(
            f"{door} was given {count} argument{'s' * (count != 1)} by position and takes "
            f"{len(placed)} so",
            remedy=f"name the others; {usage}" if parameters else usage,
        )
    twice = [name for name in placed[:count] if name in named]
    if twice:
        return ArgumentError(
            f"{door} was given {twice[0]!r} twice, by position and by name", remedy="give it once"
        )
    have = {*placed[:count], *named}
    missing = [
        name
        for name, parameter in parameters.items()
        if parameter.default is Parameter.empty and name not in have
    ]
    return ArgumentError(
        f"{door} lacks {' and '.join(missing)}",
        remedy="give " + ", ".join(f"{name}=..." for name in missing),
    )


def plain_requirement(message: str) -> str:
    """What pydantic asks for, in our words: `at least 1`."""
    text = message.removeprefix("Input should be ")
    for theirs, ours in PLAINLY:
        text = re.sub(theirs, ours, text)
    return text[:1].lower() + text[1:]


def number(name: str, value: object, remedy: str = "give a number") -> float:
    """A number, which a truth value is not."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise _wrong_type(name, value, "a number", remedy)
    return float(value)


def count(name: str, value: object, *, least: int = 1) -> int:
    """A whole number of at least so much."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise _wrong_type(name, value, "a whole number", f"give {least} or more")
    if int(value) < least:
        raise SettingError(
            f"{name} is {int(value)}; it must be at least {least}", remedy=f"give {least} or more"
        )
    return int(value)


def flag(name: str, value: object) -> bool:
    """A truth value."""
    if not isinstance(value, bool):
        raise _wrong_type(name, value, "a truth value", "give True or False")
    return value


def text(name: str, value: object, remedy: str = "give a text") -> str:
    """A text."""
    if not isinstance(value, str):
        raise _wrong_type(name, value, "a text", remedy)
    return value


def model(source: Any) -> Any:
    """A model, or that of a fitted estimator."""
    fitted = getattr(source, "fitted", source)
    if not hasattr(fitted, "shared") or not hasattr(fitted, "statement"):
        raise SettingError(
            f"this is a {type(source).__name__} and not a model",
            remedy="give a fitted estimator, or tacit.load(path)",
        )
    return fitted


def path(name: str, value: object) -> Path:
    """A place in the file system."""
    remedy = "give the name of a file or folder"
    if not isinstance(value, str | Path):
        raise _wrong_type(name, value, "a path", remedy)
    if not str(value):
        raise SettingError(f"{name} is empty", remedy=remedy)
    path = Path(value)
    longest = max((len(fsencode(part)) for part in path.parts), default=0)
    if len(fsencode(path)) > LONGEST_PATH or longest > LONGEST_NAME:
        raise SettingError(f"{name} is too long for a path", remedy=remedy)
    if "\0" in str(path):
        raise SettingError(f"{name} is no path: it has a zero", remedy=remedy)
    return path


def function(name: str, value: object) -> None:
    """Something that is called; None where there is nothing to call."""
    if value is not None and not callable(value):
        raise _wrong_type(name, value, "a function", f"leave {name} out")


def numbers(values: Mapping[str, object], remedy: str = "give {name} as one number") -> None:
    """Several numbers by name; None where none was given."""
    for name, value in values.items():
        if value is not None:
            number(name, value, remedy.format(name=name))


def kinds(
    *,
    texts: Mapping[str, object] = NOTHING,
    integers: Mapping[str, object] = NOTHING,
    paths: Mapping[str, object] = NOTHING,
    real: Mapping[str, object] = NOTHING,
) -> None:
    """Several arguments by name, each of its kind; all but texts may be None."""
    for name, value in texts.items():
        text(name, value)
    for name, value in integers.items():
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
        raise _wrong_type(name, value, "a list of items", remedy)
    return [item(f"each of {name}", entry, remedy) for entry in value]


def check_named(name: str, value: object) -> None:
    """Values by name; None where none were given."""
    if value is not None and not isinstance(value, Mapping):
        raise _wrong_type(name, value, "values by name", f'give {name}={{"factors": 5}}')


def check_swept(sweep: object) -> None:
    """For each name several values; None where nothing is swept."""
    remedy = 'give lists, such as sweep={"factors": [5, 20]}'
    if sweep is None:
        return
    if not isinstance(sweep, Mapping):
        raise _wrong_type("sweep", sweep, "values by name", remedy)
    for name, values in sweep.items():
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise _wrong_type(f"sweep of {name}", values, "a list", remedy)


def _wrong_type(name: str, value: Any, expected: str, remedy: str) -> SettingError:
    return SettingError(f"{name} is of type {type(value).__name__}, not {expected}", remedy=remedy)
