"""Options that mean nothing beside others: said together, they are refused.

An option that is silently passed over lets its writer believe in what was not done. One table
says where each of them has no effect; what depends on a method or an engine is refused by
`tacit.fitting.check`. `tests/cli/test_moot.py` walks both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from tacit.errors import SettingError

Said = Mapping[str, Any]


@dataclass(frozen=True)
class Moot:
    """Options of a command that have no effect in some use of it."""

    command: str
    where: str
    """The use, in words that follow the name of an option."""
    holds: Callable[[Said], bool]
    """Whether the command line, with its defaults, is such a use."""
    options: tuple[str, ...]
    """Names of parameters, or `*` for all but those that follow."""

    def names(self, command: click.Command) -> set[str]:
        """The parameters that are meant."""
        if self.options[0] != "*":
            return set(self.options)
        every = {each.name for each in command.params if each.name}
        return every - set(self.options) - {"as_json"}


BOOKED = ("population", "ledger")
NOTES = ("purpose", "accept_unbounded", "other_people")
"""What the book keeps beside a charge."""
RELEASED = ("model", "only", "places", "most", "liked", "figures")
RELEASING = (
    *("*", "release", *RELEASED, *BOOKED),
    *("ratings", "epsilons", "units", "delta", "users"),
    *("duplicates", "layout", "threads", "overwrite"),
    *("columns", "header", "delimiter", "dates", "decimal", "encoding"),
)
TABLED = ("*", "what", "gauntlet", "claims", "quick", "mistake", "out")
SEEN = ("*", "parties", "epsilon", "delta", "unit", "planted")
LISTS = ("*", "lists", "canaries", "epsilon", "delta", "unit")
ALWAYS = ("mistake", "out", "overwrite")


def _given(name: str) -> Callable[[Said], bool]:
    return lambda said: bool(said[name])


def _lacks(*names: str) -> Callable[[Said], bool]:
    return lambda said: not any(said[name] for name in names)


def _split(said: Said) -> str:
    likes = said["positive"] is not None
    return said["split"] or ("people" if likes else "90/10")


def _is_model(said: Said) -> bool:
    return said["what"] is not None and Path(said["what"]).is_dir()


def _twin(said: Said) -> bool:
    return bool(said["calibration"] == "none")


def _on_cluster(said: Said) -> bool:
    return bool(said["engine"] == "spark")


def _own_people(said: Said) -> bool:
    return said["ratings"] is not None


TABLE = (
    Moot(
        "fit",
        "has no effect with --calibration none, which charges nothing",
        _twin,
        (*BOOKED, *NOTES, "delta"),
    ),
    Moot("fit", "has no effect with --calibration none, which adds no noise", _twin, ("epsilon",)),
    Moot(
        "fit",
        "is for --calibration paper: a sound fit is always counted",
        lambda said: said["calibration"] == "sound",
        ("accept_unbounded",),
    ),
    Moot(
        "fit",
        "has no effect with --engine spark, which reads csv and parquet",
        _on_cluster,
        ("layout", "memory"),
    ),
    Moot(
        "evaluate",
        "has no effect with --engine spark, which judges on the cluster",
        lambda said: _on_cluster(said) and not said["release"],
        (
            *("layout", "memory", "twin", "reference", "listed", "processes", "out"),
            *("report", "csv", "people", "overwrite", "until", "days"),
        ),
    ),
    *(
        Moot(use, "is for --public", _lacks("public"), ("public_items",))
        for use in ("fit", "evaluate")
    ),
    Moot(
        "tune",
        "is for private ratings: --public-data charges nothing",
        _given("public_data"),
        (*BOOKED, *NOTES, "trials", "law", "keep_apart", "out", "overwrite"),
    ),
    Moot("tune", "is for --public-data", _lacks("public_data"), ("seeds",)),
    Moot(
        "tune",
        "is for --calibration paper, which is never tuned",
        lambda said: True,
        ("accept_unbounded",),
    ),
    Moot("evaluate", "is for --release", _lacks("release"), RELEASED),
    Moot("evaluate", "has no effect with --release", _given("release"), RELEASING),
    Moot(
        "evaluate",
        "is for --split people",
        lambda said: not said["release"] and _split(said) != "people",
        ("hold", "fold_in"),
    ),
    Moot(
        "evaluate",
        "has no effect with --folds, which says how many parts there are",
        lambda said: said["folds"] is not None and not said["release"],
        ("seeds", "split"),
    ),
    Moot(
        "evaluate",
        "is for --report, --csv, --people and --figures",
        _lacks("report", "csv", "people", "figures"),
        ("overwrite",),
    ),
    Moot(
        "audit",
        "has no effect with --gauntlet or --claims, which have their own people and claims",
        lambda said: said["gauntlet"] or said["claims"],
        (*TABLED, "overwrite"),
    ),
    Moot("audit", "has no effect with --parties", _given("parties"), (*SEEN, "quick", *ALWAYS)),
    Moot(
        "audit",
        "has no effect with --lists, which are somebody else's",
        lambda said: bool(said["lists"] or said["canaries"]),
        (*LISTS, *ALWAYS),
    ),
    Moot(
        "audit",
        "is the model's own where a model is audited",
        _is_model,
        ("epsilon", "delta", "unit", "calibration"),
    ),
    Moot(
        "audit",
        "is for --ratings",
        lambda said: not _own_people(said),
        ("scale", "owner_only", *BOOKED),
    ),
    Moot("audit", "is for --out", _lacks("out"), ("overwrite",)),
    Moot(
        "reproduce",
        "is for --data: the embedded sample is nobody's",
        lambda said: said["data"] is None,
        ("owner_only", *BOOKED),
    ),
    Moot("reproduce", "has no effect with --quick, which takes one", _given("quick"), ("seeds",)),
    Moot(
        "plan",
        "has no effect with --no-forecast",
        _lacks("forecast"),
        ("row", "plot", "each", "spread", "popular_share"),
    ),
    Moot("plan", "is for --plot FILE", lambda said: said["plot"] in (None, "-"), ("overwrite",)),
    Moot("choose", "is for --range", _lacks("by_range"), ("runs",)),
    Moot(
        "choose",
        "is for --report and --plot FILE",
        lambda said: not said["report"] and said["plot"] in (None, "-"),
        ("overwrite",),
    ),
    Moot(
        "choose",
        "is for --ratings",
        lambda said: not _own_people(said),
        ("public_ratings", "owner_only", *BOOKED),
    ),
    Moot(
        "choose",
        "has no effect with --public-ratings: nothing is booked",
        _given("public_ratings"),
        ("owner_only", *BOOKED),
    ),
    Moot(
        "recommend",
        "has no effect with --explain, which is about one item",
        _given("explain"),
        ("count", "by", "only", "exclude"),
    ),
    Moot("statement", "is for --out", _lacks("out"), ("overwrite",)),
    Moot("serve", "is for --demo: a model has its own", _lacks("demo"), ("epsilon",)),
    Moot(
        "serve",
        "is for --officer-token-file: nobody else sees the book",
        _lacks("officer_token_file"),
        ("ledger",),
    ),
    Moot(
        "serve",
        "is for --officer-token-file",
        _lacks("officer_token_file"),
        ("insecure",),
    ),
    Moot(
        "serve",
        "is for a server without TLS",
        _given("tls_cert"),
        ("insecure",),
    ),
    Moot(
        "serve",
        "is for --metrics-port",
        lambda said: said["metrics_port"] is None,
        ("metrics_host",),
    ),
    Moot("key", "is for --out", _lacks("out"), ("overwrite",)),
    Moot("refresh", "is for --times 2 and more", lambda said: said["times"] == 1, ("gap",)),
    Moot(
        "refresh",
        "is for --calibration paper, which has no calendar",
        lambda said: True,
        ("accept_unbounded",),
    ),
    Moot(
        "recommender",
        "has no effect with --calibration none, which charges nothing",
        lambda said: _twin(said) and said["also"] is None,
        (*BOOKED, "purpose", "accept_unbounded", "delta"),
    ),
    Moot(
        "recommender",
        "is for --calibration paper: a sound training is always counted",
        lambda said: said["calibration"] == "sound" and said["also"] is None,
        ("accept_unbounded",),
    ),
    *(
        Moot(
            server, "is for --watch-port", lambda said: said["watch_port"] is None, ("watch_host",)
        )
        for server in ("recommender", "aggregator")
    ),
    *(
        Moot(server, "is for --tls-cert", _lacks("tls_cert"), ("tls_key",))
        for server in ("recommender", "aggregator")
    ),
    *(
        Moot(
            joins,
            "is for --accept-noise devices: a server's noise rests on no device",
            lambda said: not said["accept_unbounded"] and "devices" not in said["accept_noise"],
            ("believe_honest",),
        )
        for joins in ("device", "fleet")
    ),
    Moot(
        "device",
        "has no effect with --rounds, after which there is no model yet",
        lambda said: said["rounds"] is not None,
        ("count",),
    ),
    Moot("ticket", "is for --count", _lacks("count"), ("days", "out")),
    Moot(
        "ticket",
        "is for --count, --most or --revoke",
        lambda said: not said["count"] and said["most"] is None and not said["take_back"],
        ("label",),
    ),
)
"""Every option of `synthesize` always means something, so that it has no row."""


def refuse_moot() -> None:
    """Refuse what the command line of this moment says in vain."""
    context = click.get_current_context()
    said = context.params
    for each in TABLE:
        if each.command != context.command.name or not each.holds(said):
            continue
        for name in sorted(each.names(context.command)):
            if _typed(context, name):
                raise SettingError(
                    f"{_flag(context.command, name)} {each.where}",
                    remedy=f"leave {_flag(context.command, name)} out",
                )


def _typed(context: click.Context, name: str) -> bool:
    """Whether somebody wrote it, and it is not a default."""
    source = context.get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE and (
        context.params.get(name) not in (None, ())
    )


def _flag(command: click.Command, name: str) -> str:
    """As the command line spells it."""
    found = next(each for each in command.params if each.name == name)
    if isinstance(found, click.Argument):
        return found.human_readable_name
    return max(found.opts, key=len)
