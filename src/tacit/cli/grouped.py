"""Help that can be read: options under headings where there are many, metavars in plain words.

A command with few options has one list. An option is known by its name, so a heading holds the
same options in every command that has them.
"""

from __future__ import annotations

import re
from math import isinf, isnan

import click

FEW = 14
"""Options that are read in one list."""
OWN = "Options"
"""The heading of what is a command's own."""
HEADINGS = {
    "The promise": "method epsilon delta unit calibration budgets max_ratings settings trials law",
    "The table": "scale items users positive duplicates columns layout header delimiter "
    "dates decimal encoding without public public_are public_items "
    "keep_apart start each spread popular_share",
    "Publish figures": "release model only places most liked figures",
    "Where it is written": "out overwrite report csv people plot",
    "The ledger": "population ledger purpose accept_unbounded other_people owner_only",
    "Where it runs": "engine noise_from noise threads memory devices processes seed",
    "Who may enrol": "token token_file tickets attest most_devices enrol_rate origins "
    "ticket_file aggregator_ticket_file evidence_file",
    "The machine": "host port watch_port watch_host home store store_file insecure tls_cert "
    "tls_key rate body_limit rotate_key ca pin aggregator_pin",
    "What may be spent": "cap cap_delta cap_unit own_epsilon smallest_cohort believe_honest "
    "accept_noise",
}
"""Headings in the order in which they are shown, and the names of their options."""
LAST = "And"
"""The heading of what every command has."""
WIDEST = 30
"""Of the column of options; a longer one has a line of its own."""
HYPHEN = "\N{NON-BREAKING HYPHEN}"
"""Keeps names such as `one-bit` on one line while help is wrapped."""
PLAINER = ((r"INTEGER( RANGE)?", "N"), (r"FLOAT( RANGE)?", "X"))
RANGES = (
    (r"(?<=[\[ ])x>=([\d.e-]+)", r"\1 or more"),
    (r"(?<=[\[ ])x>([\d.e-]+)", r"more than \1"),
    (r"(?<=[\[ ])([\d.e-]+)<=?x<=([\d.e-]+)", r"\1 to \2"),
)


def plainly(metavar: str) -> str:
    """What stands for a value, without the names of types."""
    for theirs, ours in PLAINER:
        metavar = re.sub(rf"\b{theirs}\b", ours, metavar)
    return metavar


def record(param: click.Parameter, ctx: click.Context) -> tuple[str, str] | None:
    """One line of help."""
    help_record = param.get_help_record(ctx)
    if help_record is None:
        return None
    option, about = help_record
    for theirs, ours in RANGES:
        about = re.sub(theirs, ours, about)
    return plainly(option), re.sub(r"(?<=\w)-(?=\w)", HYPHEN, about)


def heading(param: click.Option, is_short: bool) -> tuple[str, int]:
    """Under which heading an option stands, and where."""
    if is_short:
        return OWN, 0
    if {"--help", "--json"} & set(param.opts):
        return LAST, 0
    for title, names in HEADINGS.items():
        if param.name in names.split():
            return title, names.split().index(param.name)
    return OWN, 0


def refuse_nothing(ctx: click.Context, param: click.Parameter) -> None:
    """Refuse a value that says nothing: an empty text, or a number that is none."""
    value = ctx.params.get(param.name or "")
    values = value if isinstance(value, tuple) else (value,)
    if "" in values:
        raise click.BadParameter("is empty", ctx=ctx, param=param)
    for number in values:
        if isinstance(number, float) and isnan(number):
            raise click.BadParameter("nan is no number", ctx=ctx, param=param)
        if isinstance(number, float) and isinf(number) and param.name != "epsilon":
            raise click.BadParameter("inf is no number", ctx=ctx, param=param)


class Command(click.Command):
    """A command whose options stand under headings, and none of which is empty."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The options; an empty one is a shell's variable that was not set."""
        remaining = super().parse_args(ctx, args)
        for param in self.params:
            source = ctx.get_parameter_source(param.name or "")
            if source is click.core.ParameterSource.COMMANDLINE:
                refuse_nothing(ctx, param)
        return remaining

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Options by heading; what is a command's own comes first."""
        params = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        lists: dict[str, list[tuple[int, str, str]]] = {
            title: [] for title in (OWN, *HEADINGS, LAST)
        }
        for param in params:
            line = record(param, ctx)
            if line is not None:
                title, position = heading(param, len(params) <= FEW)
                lists[title].append((position, *line))
        every = [line for lines in lists.values() for line in lines]
        wide = min(WIDEST, max(len(option) for _, option, _ in every))
        for title, lines in lists.items():
            lines.sort(key=lambda line: line[0])
            if lines:
                with formatter.section(title):
                    # One width for all lists, so that they align.
                    formatter.write_dl([(option.ljust(wide), about) for _, option, about in lines])
        formatter.buffer = [text.replace(HYPHEN, "-") for text in formatter.buffer]


class GroupedCommands(click.Group):
    """Commands of a command, each with its whole first sentence."""

    command_class = Command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Names, and what each does."""
        lines = [
            (name, command.get_short_help_str(limit=400))
            for name in self.list_commands(ctx)
            if (command := self.get_command(ctx, name)) is not None
        ]
        with formatter.section("Commands"):
            formatter.write_dl(lines)
