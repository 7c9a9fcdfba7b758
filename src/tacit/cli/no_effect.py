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

Options = Mapping[str, Any]


@dataclass(frozen=True)
class NoEffect:
    """Options of a command that have no effect in some use of it."""

    command: str
    where: str
    """The use, in words that follow the name of an option."""
    holds: Callable[[Options], bool]
    """Whether the command line, with its defaults, is such a use."""
    options: tuple[str, ...]
    """Names of parameters, or `*` for all but those that follow."""

    def names(self, command: click.Command) -> set[str]:
        """The parameters that are meant."""
        if self.options[0] != "*":
            return set(self.options)
        every = {param.name for param in command.params if param.name}
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
READ = ("layout", "header", "delimiter", "dates", "decimal", "encoding")
"""What is declared of a file of ratings, without its columns."""
TABLED = ("*", "what", "gauntlet", "claims", "quick", "mistake", "out")
SEEN = ("*", "parties", "epsilon", "delta", "unit", "planted")
LISTS = ("*", "lists", "canaries", "epsilon", "delta", "unit")
ALWAYS = ("mistake", "out", "overwrite")


def _has(name: str) -> Callable[[Options], bool]:
    return lambda options: bool(options[name])


def _lacks(*names: str) -> Callable[[Options], bool]:
    return lambda options: not any(options[name] for name in names)


def _split(options: Options) -> str:
    likes = options["positive"] is not None
    return options["split"] or ("people" if likes else "90/10")


def _is_model(options: Options) -> bool:
    return options["what"] is not None and Path(options["what"]).is_dir()


def _twin(options: Options) -> bool:
    return bool(options["calibration"] == "none")


def _on_cluster(options: Options) -> bool:
    return bool(options["engine"] == "spark")


def _own_people(options: Options) -> bool:
    return options["ratings"] is not None


TABLE = (
    NoEffect(
        "fit",
        "has no effect with --calibration none, which charges nothing",
        _twin,
        (*BOOKED, *NOTES, "delta"),
    ),
    NoEffect(
        "fit", "has no effect with --calibration none, which adds no noise", _twin, ("epsilon",)
    ),
    NoEffect(
        "fit",
        "is for --calibration paper: a sound fit is always counted",
        lambda options: options["calibration"] == "sound",
        ("accept_unbounded",),
    ),
    NoEffect(
        "fit",
        "has no effect with --engine spark, which reads csv and parquet",
        _on_cluster,
        ("layout", "memory"),
    ),
    NoEffect(
        "evaluate",
        "has no effect with --engine spark, which judges on the cluster",
        lambda options: _on_cluster(options) and not options["release"],
        (
            *("layout", "memory", "twin", "reference", "listed", "processes", "out"),
            *("report", "csv", "people", "overwrite", "until", "days"),
        ),
    ),
    *(
        NoEffect(use, "is for --public", _lacks("public"), ("public_items",))
        for use in ("fit", "evaluate")
    ),
    NoEffect(
        "tune",
        "is for private ratings: --public-data charges nothing",
        _has("public_data"),
        (*BOOKED, *NOTES, "trials", "law", "keep_apart", "out", "overwrite"),
    ),
    NoEffect("tune", "is for --public-data", _lacks("public_data"), ("seeds",)),
    NoEffect(
        "tune",
        "is for --calibration paper, which is never tuned",
        lambda options: True,
        ("accept_unbounded",),
    ),
    NoEffect("evaluate", "is for --release", _lacks("release"), RELEASED),
    NoEffect("evaluate", "has no effect with --release", _has("release"), RELEASING),
    NoEffect(
        "evaluate",
        "is for --split people",
        lambda options: not options["release"] and _split(options) != "people",
        ("hold", "fold_in"),
    ),
    NoEffect(
        "evaluate",
        "has no effect with --folds, which says how many parts there are",
        lambda options: options["folds"] is not None and not options["release"],
        ("seeds", "split"),
    ),
    NoEffect(
        "evaluate",
        "is for --report, --csv, --people and --figures",
        _lacks("report", "csv", "people", "figures"),
        ("overwrite",),
    ),
    NoEffect(
        "audit",
        "has no effect with --gauntlet or --claims, which have their own people and claims",
        lambda options: options["gauntlet"] or options["claims"],
        (*TABLED, "overwrite"),
    ),
    NoEffect("audit", "has no effect with --parties", _has("parties"), (*SEEN, "quick", *ALWAYS)),
    NoEffect(
        "audit",
        "has no effect with --lists, which are somebody else's",
        lambda options: bool(options["lists"] or options["canaries"]),
        (*LISTS, *ALWAYS),
    ),
    NoEffect(
        "audit",
        "is the model's own where a model is audited",
        _is_model,
        ("epsilon", "delta", "unit", "calibration"),
    ),
    NoEffect(
        "audit",
        "is for --ratings",
        lambda options: not _own_people(options),
        ("scale", "columns", *READ, "owner_only", *BOOKED),
    ),
    NoEffect("audit", "is for --out", _lacks("out"), ("overwrite",)),
    NoEffect(
        "reproduce",
        "is for --data: the embedded sample is nobody's",
        lambda options: options["data"] is None,
        ("owner_only", *BOOKED),
    ),
    NoEffect("reproduce", "has no effect with --quick, which takes one", _has("quick"), ("seeds",)),
    NoEffect(
        "plan",
        "has no effect with --no-forecast",
        _lacks("forecast"),
        ("row", "plot", "each", "spread", "popular_share"),
    ),
    NoEffect(
        "plan", "is for --plot FILE", lambda options: options["plot"] in (None, "-"), ("overwrite",)
    ),
    NoEffect("choose", "is for --range", _lacks("by_range"), ("runs",)),
    NoEffect(
        "choose",
        "is for --report and --plot FILE",
        lambda options: not options["report"] and options["plot"] in (None, "-"),
        ("overwrite",),
    ),
    NoEffect(
        "choose",
        "is for --ratings",
        lambda options: not _own_people(options),
        ("public_ratings", "owner_only", *READ, *BOOKED),
    ),
    NoEffect("plan", "is for --ratings", lambda options: not _own_people(options), READ),
    NoEffect(
        "choose",
        "has no effect with --public-ratings: nothing is booked",
        _has("public_ratings"),
        ("owner_only", *BOOKED),
    ),
    NoEffect(
        "recommend",
        "has no effect with --explain, which is about one item",
        _has("explain"),
        ("count", "by", "only", "exclude"),
    ),
    NoEffect("statement", "is for --out", _lacks("out"), ("overwrite",)),
    NoEffect("serve", "is for --demo: a model has its own", _lacks("demo"), ("epsilon",)),
    NoEffect(
        "serve",
        "is for --officer-token-file: nobody else sees the book",
        _lacks("officer_token_file"),
        ("ledger",),
    ),
    NoEffect(
        "serve",
        "is for --officer-token-file",
        _lacks("officer_token_file"),
        ("insecure",),
    ),
    NoEffect(
        "serve",
        "is for a server without TLS",
        _has("tls_cert"),
        ("insecure",),
    ),
    NoEffect(
        "serve",
        "is for --metrics-port",
        lambda options: options["metrics_port"] is None,
        ("metrics_host",),
    ),
    NoEffect("key", "is for --out", _lacks("out"), ("overwrite",)),
    NoEffect(
        "refresh", "is for --times 2 and more", lambda options: options["times"] == 1, ("gap",)
    ),
    NoEffect(
        "refresh",
        "is for --calibration paper, which has no calendar",
        lambda options: True,
        ("accept_unbounded",),
    ),
    NoEffect(
        "recommender",
        "has no effect with --calibration none, which charges nothing",
        lambda options: _twin(options) and options["also"] is None,
        (*BOOKED, "purpose", "accept_unbounded", "delta"),
    ),
    NoEffect(
        "recommender",
        "is for --calibration paper: a sound training is always counted",
        lambda options: options["calibration"] == "sound" and options["also"] is None,
        ("accept_unbounded",),
    ),
    *(
        NoEffect(
            server,
            "is for --watch-port",
            lambda options: options["watch_port"] is None,
            ("watch_host",),
        )
        for server in ("recommender", "aggregator")
    ),
    *(
        NoEffect(server, "is for --tls-cert", _lacks("tls_cert"), ("tls_key",))
        for server in ("recommender", "aggregator")
    ),
    *(
        NoEffect(
            joins,
            "is for --accept-noise devices: a server's noise rests on no device",
            lambda options: (
                not options["accept_unbounded"] and "devices" not in options["accept_noise"]
            ),
            ("believe_honest",),
        )
        for joins in ("device", "fleet")
    ),
    NoEffect(
        "device",
        "has no effect with --rounds, after which there is no model yet",
        lambda options: options["rounds"] is not None,
        ("count",),
    ),
    NoEffect("ticket", "is for --count", _lacks("count"), ("days", "out")),
    NoEffect(
        "ticket",
        "is for --count, --most or --revoke",
        lambda options: (
            not options["count"] and options["most"] is None and not options["take_back"]
        ),
        ("label",),
    ),
)
"""Every option of `synthesize` always means something, so that it has no row."""


def refuse_no_effect() -> None:
    """Refuse what the command line of this moment says in vain."""
    context = click.get_current_context()
    options = context.params
    for rule in TABLE:
        if rule.command != context.command.name or not rule.holds(options):
            continue
        for name in sorted(rule.names(context.command)):
            if _typed(context, name):
                raise SettingError(
                    f"{_flag(context.command, name)} {rule.where}",
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
    match = next(param for param in command.params if param.name == name)
    if isinstance(match, click.Argument):
        return match.human_readable_name
    return max(match.opts, key=len)
