"""The command that is running, as it is typed again: for pages that tell how they were made."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import click


def repeat(left_out: Collection[str]) -> str:
    """The command that is running, with all options that were given but those left out."""
    import shlex

    from click.core import ParameterSource

    context = click.get_current_context()
    arguments = ["tacit", str(context.info_name)]
    for option in context.command.params:
        name = option.name or ""
        value = context.params.get(name)
        source = context.get_parameter_source(name)
        if isinstance(option, click.Argument):
            arguments.append(str(value))
        elif source is ParameterSource.COMMANDLINE and name not in left_out:
            arguments += _format_option(option, value)
    return shlex.join(arguments)


def _format_option(option: click.Parameter, value: Any) -> list[str]:
    """One option as it is typed."""
    if value is True:
        return [option.opts[0]]
    if value is False:
        return [option.secondary_opts[0]] if option.secondary_opts else []
    if isinstance(value, tuple):
        return [word for element in value for word in (option.opts[0], str(element))]
    if isinstance(value, float):
        return [option.opts[0], f"{value:g}"]
    return [option.opts[0], str(value)]
