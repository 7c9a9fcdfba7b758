"""No option is passed over in silence: where it means nothing, it is refused by name."""

from __future__ import annotations

import click
import pytest

from tacit.cli.main import COMMANDS
from tacit.cli.main import tacit as commands
from tacit.cli.no_effect import TABLE, NoEffect

FEDERATE = commands.get_command(None, "federate")
USES = {
    "fit": ["r.csv", "--out", "m", "--epsilon", "1"],
    "tune": ["r.csv", "--epsilon", "1"],
    "evaluate": ["r.csv"],
    "reproduce": ["hua2015"],
    "plan": ["--epsilon", "1", "--users", "9", "--items", "9"],
    "choose": ["--users", "9", "--items", "9"],
    "recommend": ["m"],
    "statement": ["m"],
    "serve": ["m"],
    "key": [],
    "audit": [],
    "refresh": [*("r.csv", "--out", "m", "--horizon", "4", "--epsilon", "1")],
    "recommender": [
        *("--scale", "1,5"),
        *("--method", "bias", "--items", "i.csv", "--users", "9", "--cohort", "9"),
        *("--least", "5", "--aggregator", "u", "--aggregator-pin", "p"),
        *("--out", "m", "--port", "0", "--home", "h"),
    ],
    "aggregator": [*("--recommender-pin", "p", "--least", "5", "--port", "0", "--home", "h")],
    "device": ["--recommender", "u", "--ratings", "r.csv", "--home", "h"],
    "fleet": ["--recommender", "u", "--data", "r.csv"],
    "ticket": ["--server", "recommender", "--home", "h"],
}
"""What each command needs anyway."""
MAKES = {
    "has no effect with --calibration none": ["--calibration", "none"],
    "is for private ratings": ["--public-data"],
    "has no effect with --release": ["--release"],
    "has no effect with --folds": ["--folds", "3"],
    "has no effect with --engine spark": ["--engine", "spark"],
    "has no effect with --gauntlet or --claims": ["--gauntlet"],
    "has no effect with --parties": ["--parties"],
    "has no effect with --lists": ["--lists", "a,b"],
    "is the model's own": ["."],
    "has no effect with --quick": ["--quick"],
    "has no effect with --no-forecast": ["--no-forecast"],
    "has no effect with --public-ratings": [*("--ratings", "r.csv", "--public-ratings")],
    "has no effect with --explain": ["--explain", "Zodiac"],
    "has no effect with --rounds": ["--rounds", "1"],
}
"""What makes the use of a row; a row that is about something missing needs nothing."""
VALUES = {click.FLOAT: "0.5", click.INT: "5", click.STRING: "1"}


def rows() -> list[tuple[NoEffect, str]]:
    """Every option of every row."""
    return [(each, name) for each in TABLE for name in sorted(each.names(command(each.command)))]


def command(name: str) -> click.Command:
    if name == "key":
        return commands.get_command(None, "ledger").get_command(None, "key")
    if name in FEDERATE.commands:
        return FEDERATE.get_command(None, name)
    return commands.get_command(None, name)


def words_of(name: str) -> list[str]:
    """How a command is called."""
    group = {"key": "ledger"} | dict.fromkeys(FEDERATE.commands, "federate")
    return [group[name], name] if name in group else [name]


def written(command: click.Command, name: str) -> list[str]:
    """The option with some value that it takes."""
    option = next(each for each in command.params if each.name == name)
    if isinstance(option, click.Argument):
        return ["bias"]
    flag = max(option.opts, key=len)
    if option.is_flag:
        if option.default is True:
            return [option.secondary_opts[0]]
        return [flag]
    if isinstance(option.type, click.Choice):
        return [flag, str(option.type.choices[0])]
    if isinstance(option.type, click.IntRange | click.FloatRange):
        low = max(option.type.min or 0, 0)
        high = option.type.max or low + 2
        value = (low + high) / 2
        whole = isinstance(option.type, click.IntRange)
        return [flag, str(int(value) if whole else value)]
    return [flag, VALUES.get(option.type, "1")]


def shown(row: tuple[NoEffect, str]) -> str:
    return f"{row[0].command} {row[1]} {row[0].where[:30]}"


@pytest.mark.parametrize("row", rows(), ids=shown)
def test_an_option_that_means_nothing_is_refused(row, tacit):
    moot, name = row
    asked = command(moot.command)
    words = [*words_of(moot.command), *USES[moot.command]]
    for start, more in MAKES.items():
        if moot.where.startswith(start):
            words += more
    typed = written(asked, name)
    outcome = tacit(*words, *typed)
    assert outcome.status == 2, outcome
    flag = "[METHOD|MODEL]" if name == "what" else typed[0]
    assert flag.replace("--no-", "--") in outcome.err
    assert "remedy: leave" in outcome.err


@pytest.mark.parametrize(
    "words",
    [
        ["--noise", "devices"],
        ["--devices", "drop_out=.1"],
        ["--engine", "local"],
        ["--set", "nothing=1"],
        ["--start", "m", "--method", "bias"],
        ["--calibration", "paper"],
    ],
    ids=" ".join,
)
def test_what_a_method_or_an_engine_has_not_is_refused(words, tacit, table):
    used = ("fit", table, "--scale", "1,5", "--epsilon", "1", "--out", "m")
    outcome = tacit(*used, *words)
    assert outcome.status == 2
    assert "remedy:" in outcome.err


def test_the_rows_are_about_commands_and_options_that_there_are():
    for each in TABLE:
        inside = {"key", *FEDERATE.commands}
        assert each.command in COMMANDS or each.command in inside
        known = {param.name for param in command(each.command).params}
        named = {name for name in each.options if name != "*"}
        assert named <= known, each
