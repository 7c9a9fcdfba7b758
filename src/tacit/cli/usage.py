"""Mistakes in the use of a command, in the same words as any other: what is wrong, and what to
do."""

from __future__ import annotations

import re
import sys

import click

from tacit.cli.grouped import plainly
from tacit.redaction import one_line

SAID = (
    (r"a valid (float|float range)\b", "a number"),
    (r"a valid (integer|integer range)\b", "a whole number"),
    (r"in the range x>=?(\S+)", r"\1 or more"),
    (r"in the range (\S+?)<=?x<=?(\S+)", r"from \1 to \2"),
    (r"got unexpected extra arguments? \((.*)\)", r"nothing takes \1"),
    (r"option '(--[\w-]+)' requires an argument", r"\1 needs a value"),
    (r"no such command", "there is no command"),
)
"""Sentences of the library that parses options, and ours."""

ONE = "everyone's lists: --people RATINGS --out lists.csv; one person's: --ratings FILE"
INSTEAD = {
    ("statement", "--html"): "--out statement.html writes a page",
    ("statement", "--pdf"): "--out statement.html writes a page that prints well",
    ("statement", "--md"): "--out statement.md writes it",
    **{("recommend", f"--{name}"): ONE for name in ("customer", "user", "person", "id", "user-id")},
}
"""What somebody wants who gives an option that a command does not have."""


def as_ours(error: click.UsageError) -> str:
    """The message and the remedy for a line that the command line itself refuses."""
    path = error.ctx.command_path if error.ctx else "tacit"
    all_of_it = f"`{path} --help` shows what it takes"
    message, remedy = _plainly(error.message), all_of_it
    if isinstance(error, click.MissingParameter) and error.param is not None:
        message = f"{path} needs {_named(error.param, error.ctx)}"
        remedy = _about(error.param, error.ctx) or remedy
    elif isinstance(error, click.NoSuchOption):
        message = f"{path} has no option {error.option_name}"
        near = sorted(error.possibilities or ())
        instead = INSTEAD.get((path.split()[-1], error.option_name))
        if instead:
            remedy = f"{instead}; {remedy}"
        elif near:
            remedy = f"did you mean {near[0]}? {remedy}"
    elif isinstance(error, click.BadOptionUsage):
        remedy = f"write it after {error.option_name}, or leave that out"
    elif isinstance(error, click.BadParameter) and error.param is not None:
        message = f"{_flag_name(error.param)}: {message}"
        remedy = _about(error.param, error.ctx) or remedy
        rewritten = _rewritten(message)
        remedy = f"write {rewritten}; {remedy}" if rewritten else remedy
    remedy = _instead(path, error) or remedy
    return f"{one_line(message)}\n  remedy: {one_line(remedy)}"


def _instead(path: str, error: click.UsageError) -> str:
    """The option that a value was meant for which was written without one."""
    extra = re.search(r"unexpected extra argument \((\S+)\)", error.message)
    if extra and path.endswith("recommend"):
        return f"your own ratings: --ratings {extra[1]}"
    command_line = " ".join(sys.argv)
    amount = re.search(r" ledger cap (\d*\.?\d+)(?= |$)", command_line)
    if path.endswith("ledger cap") and amount:
        return f"write --epsilon {amount[1]}"
    return ""


def _rewritten(message: str) -> str:
    """A number of another country as it has to be written; nothing if it is none."""
    comma = re.search(r"'(-?\d*),(\d+)' is not a number", message)
    if comma:
        return f"decimals with a point: {comma[1]}.{comma[2]}"
    parted = re.search(r"'(\d{1,3}(?:[.,' ]\d{3})+)' is not a whole", message)
    if parted:
        digits = re.sub(r"\D", "", parted[1])
        return f"it without separators: {digits}"
    return ""


def _about(param: click.Parameter, ctx: click.Context | None) -> str:
    """What a parameter is, from its help; how a command is called, for an argument."""
    help_text = getattr(param, "help", None)
    if help_text:
        return f"{_named(param, ctx)}: {_small(help_text)}"
    if ctx is None or isinstance(param, click.Option):
        return ""
    pieces = " ".join(ctx.command.collect_usage_pieces(ctx))
    return f"write {ctx.command_path} {pieces}"


def _named(param: click.Parameter, ctx: click.Context | None) -> str:
    """An option with its value, as help writes it; an argument by its name."""
    value = "" if ctx is None else plainly(param.make_metavar(ctx))
    if isinstance(param, click.Option):
        return f"{_flag_name(param)} {value}".rstrip()
    return value


def _flag_name(param: click.Parameter) -> str:
    """An option's or an argument's name."""
    if isinstance(param, click.Option):
        return max(param.opts, key=len)
    return (param.name or "").upper()


def _plainly(text: str) -> str:
    """A sentence of the library in our words."""
    text = _small(text)
    for theirs, ours in SAID:
        text = re.sub(theirs, ours, text)
    return text


def _small(text: str) -> str:
    """A sentence inside of another."""
    text = text.strip().removesuffix(".")
    return text[:1].lower() + text[1:] if text[1:2].islower() else text
