"""What is asked of a fit, and how it is run: every option is declared here, once.

`What` is the promise: changing it changes what is released. `How` says where and for whom a
fit runs: changing it never changes a promise. A method takes the fields of both as keyword
arguments and keeps them as attributes; the command line makes its options from them
(`tacit.cli.options`); engines and the conductor are given a `How`. What only one method has is
in its own `Settings`.

Imports nothing heavy, because the command line reads it to print its help.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, Literal, TypeVar

if TYPE_CHECKING:
    from tacit.units import Unit

Calibration = Literal["sound", "paper", "none"]
"""`sound`: the promise is proven. `paper`: as printed, claimed and not certified. `none`: the
non-private twin."""
NoiseFrom = Literal["servers", "devices", "both"]
"""Who adds the noise of a federation: each server a whole one, every device a share, or
both (docs/decisions/0007-noise-by-servers.md)."""
NOISE_FROM: NoiseFrom = "servers"
"""Default of `noise_from`."""
Progress = Callable[[int, int, str], None]
"""Called with (done, total, what); may come from any thread."""
DESCRIPTION = "told"
"""Metadata key of a field's description on the command line."""


@dataclass(frozen=True)
class Spoken:
    """Group and help text of an option on the command line."""

    group: Literal["promise", "run", "ledger", "book"]
    help: str
    metavar: str | None = None
    kind: type | None = None
    """Type of its value: text if None; `bool` makes a flag."""
    many: bool = False
    """NAME=VALUE, as often as needed."""
    show: bool = False
    """Whether help shows the default."""
    flag: str = ""
    """On the command line, where that is not its name."""


def option(default: Any, description: Spoken | None = None) -> Any:
    """A field that is an option; one without a description (`description`) exists in Python
    only."""
    return field(default=default, metadata={DESCRIPTION: description})


@dataclass(frozen=True, kw_only=True, eq=False)
class What:
    """The options that define the promise: budget, unit, horizon, and what the noise is calibrated
    to."""

    epsilon: float | None = option(
        None,
        Spoken(
            "promise",
            "The privacy budget of this fit: less is safer, 1 is careful; `tacit plan` shows what "
            "it buys.",
            kind=float,
        ),
    )
    delta: float | None = option(
        None,
        Spoken(
            "run",
            "What any outcome may be likelier with one's data beyond e^epsilon times: the smaller "
            "of 1e-6 and .1/people unless said; 0 asks for a mechanism that has none.",
            kind=float,
        ),
    )
    unit: Unit | None = option(
        None,
        Spoken(
            "promise",
            "What is hidden: all of a person (unless said), one rating, or only its value.",
            "user|rating|value",
        ),
    )
    calibration: Calibration = option(
        "sound",
        Spoken(
            "run",
            "sound keeps its promise; paper is noised as a paper prints it, which may promise "
            "too much; none is NOT PRIVATE.",
            "sound|paper|none",
            show=True,
        ),
    )
    seed: int = option(0)
    """Of initial factors and simulations, never of privacy noise."""


@dataclass(frozen=True, kw_only=True, eq=False)
class How:
    """Where a fit runs, who adds its noise, and which ledger is charged.

    None of it changes the guarantee, only who must be trusted for it, which the statement
    records."""

    engine: str | None = option(
        None, Spoken("run", "Where it runs: threads unless the method has another.", "NAME")
    )
    noise_from: NoiseFrom | None = option(
        None,
        Spoken(
            "run",
            "Federated: who adds the noise; servers unless said.",
            "servers|devices|both",
            flag="noise",
        ),
    )
    """Of a federation alone: it says who must be honest for the promise to hold."""
    threads: int | None = option(
        None, Spoken("run", "Threads to use; all cores otherwise.", "N", kind=int)
    )
    memory: str | int | None = option(
        None,
        Spoken("run", "Memory to use, such as 4GB: a packed file beyond it is streamed.", "SIZE"),
    )
    population: str = option(
        "default",
        Spoken("ledger", "Whose book is charged: a name for these people.", "NAME", show=True),
    )
    ledger: str | None = option(
        None,
        Spoken(
            "ledger", "The book of what was spent; the default one is in TACIT_HOME.", "FILE|URL"
        ),
    )
    purpose: str = option(
        "",
        Spoken(
            "book",
            "One line for the ledger and for the published statement: what this fit is "
            "for. Name nobody in it.",
        ),
    )
    accept_unbounded: bool = option(
        False, Spoken("book", "Let a `paper` fit be booked on a capped ledger.", kind=bool)
    )
    other_people: bool = option(
        False,
        Spoken(
            "book",
            "These people are in no other population of the ledger, though data or a start "
            "look so; noted in the book.",
            kind=bool,
        ),
    )
    devices: Mapping[str, Any] | None = option(
        None,
        Spoken(
            "run",
            "Local model: drop_out, late, leave, over, cheats, seed (simulated); book, "
            "cap (their ledger).",
            "NAME=VALUE",
            many=True,
        ),
    )
    """Of the local model: how devices behave (`tacit.engine.simulate.Scenario`)."""
    progress: Progress | None = option(None)
    """Called with the progress of each round; True shows a bar (`tacit.rounds.bar`)."""


Options = TypeVar("Options", What, How)


def names(options: type[What] | type[How]) -> tuple[str, ...]:
    """Of the options, in the order in which they are declared."""
    return tuple(option_field.name for option_field in fields(options))


NAMES = {options: names(options) for options in (What, How)}
"""Of all options, computed once."""


def signature(extra: str) -> Signature:
    """All options as keyword arguments, and `extra` for what a method has of its own."""
    keywords = [
        Parameter(option_field.name, Parameter.KEYWORD_ONLY, default=option_field.default)
        for options in (What, How)
        for option_field in fields(options)
    ]
    return Signature([*keywords, Parameter(extra, Parameter.VAR_KEYWORD)])


def collect_options(options: type[Options], holder: object) -> Options:
    """The options as a holder of all their names, such as a method, has them."""
    return options(**{name: getattr(holder, name) for name in names(options)})


def describe_options(options: type[What] | type[How]) -> dict[str, tuple[Spoken, Any]]:
    """Option name -> (its description, its default), for options of the command line."""
    descriptions = {
        option_field.name: (option_field.metadata[DESCRIPTION], option_field.default)
        for option_field in fields(options)
    }
    return {name: pair for name, pair in descriptions.items() if pair[0] is not None}
