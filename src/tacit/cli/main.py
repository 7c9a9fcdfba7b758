"""`tacit`: one file per command, imported when it is called, so that help is instant."""

from __future__ import annotations

import io
import os
import sys
from contextlib import ExitStack, suppress
from importlib import import_module

import click

from tacit.cli.lines import fitted
from tacit.redaction import one_line, several_lines

SECTIONS = {
    "Begin here": {
        "demo": "the one-minute tour: fit on invented people, recommend to three",
        "plan": "what a budget buys, before it is spent",
        "fit": "train a private model from ratings",
        "recommend": "a person's own list, from a model and that person's own ratings",
        "statement": "what a model promises, to whom: words, or a page to forward",
        "evaluate": "what privacy costs in accuracy, as a table or a picture (for the owner)",
    },
    "More from a model, free": {
        "serve": "a page on which people recommend to themselves",
        "similar": "items like this one",
        "add-items": "extend a model with new items from their public features",
        "synthesize": "invented people, drawn from a model, who may be published",
        "export": "item vectors for other systems",
    },
    "Choices, time and size": {
        "choose": "the epsilon for an accuracy, with what it means for somebody",
        "tune": "a method or settings chosen on private ratings, by a charged selection",
        "refresh": "the next release of a calendar that was paid for once",
        "pack": "ratings in a compact private file: for data larger than memory",
        "federate": "train without holding ratings: two servers, and everybody's device",
    },
    "Answer for it": {
        "ledger": "the book of what was spent, its cap, its key",
        "verify": "is this model the one in the book?",
        "audit": "try to break a claim: claimed, proven and measured epsilon",
        "reproduce": "a paper's experiments, its figures beside ours, a verdict each",
        "doctor": "versions, threads, entropy, ledger health, caches",
    },
}
"""The commands, by what somebody wants, in the order in which a newcomer needs them."""
COMMANDS = {name: about for section in SECTIONS.values() for name, about in section.items()}


class Commands(click.Group):
    """Lists the commands without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, whose module is imported now."""
        if cmd_name not in COMMANDS:
            return None
        module = cmd_name.replace("-", "_")
        command: click.Command = getattr(import_module(f"tacit.cli.{module}"), module)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of this name; one that is nearly right is suggested."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise click.UsageError(f"there is no command {args[0]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table of commands, without importing any of them."""
        wide = max(map(len, COMMANDS))
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(wide), about) for name, about in commands.items()])


@click.command(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Start with `tacit demo`. `tacit COMMAND --help` explains a command.",
)
@click.version_option(package_name="tacit", prog_name="tacit")
def tacit() -> None:
    """Recommenders that learn from people and tell very little about any one of them: as much
    as you set."""


def main() -> None:
    """Run a command; bad use or input exits 2, a failure exits 1, and neither shows a traceback."""
    from tacit.notices import on_the_command_line

    with on_the_command_line(_note), ExitStack() as opened:
        for name in ("stdout", "stderr"):
            if getattr(sys, name) is None:  # closed by whoever started this: nobody reads it
                setattr(sys, name, opened.enter_context(open(os.devnull, "w")))
        _main()


def _note(text: str) -> None:
    from tacit.cli.options import note

    note(text)


def _main() -> None:
    import warnings

    from tacit.errors import TacitError

    showwarning, warnings.showwarning = warnings.showwarning, _say
    if isinstance(sys.stdout, io.TextIOWrapper):  # a terminal may lack letters
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        status = tacit.main(prog_name="tacit", standalone_mode=False)
        sys.stdout.flush()  # here an error can still be told
        sys.exit(status if isinstance(status, int) else 0)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(error.exit_code)
    except click.UsageError as error:
        from tacit.cli.usage import as_ours

        _fail(as_ours(error))
        sys.exit(error.exit_code)
    except click.ClickException as error:
        message = one_line(error.format_message())
        _fail(f"{message}\n  remedy: `tacit --help`, or --help after the command")
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo(
            "interrupted; nothing half written was left, and what the ledger was charged stays "
            "charged",
            err=True,
        )
        sys.exit(130)
    except TacitError as error:
        _fail(str(error))
        sys.exit(error.exit_status)
    except BrokenPipeError:  # the reader of a pipe went away
        _close_output()
        sys.exit(0)
    except OSError as error:
        _close_output()
        _fail(_refused(error))
        sys.exit(1)
    except MemoryError:
        click.echo(
            "error: out of memory\n  remedy: use a smaller catalogue (--items), or a "
            "larger machine",
            err=True,
        )
        sys.exit(1)
    finally:
        warnings.showwarning = showwarning
        try:
            sys.stdout.flush()
        except OSError:  # told already
            _close_output()


def _refused(error: OSError) -> str:
    """What the system refused: a file of this name, else the output."""
    from tacit.errors import reason

    if error.filename is not None:
        return f"{error.filename}: {reason(error)}\n  remedy: check this file and its disk"
    return (
        f"the output cannot be written: {reason(error)}\n"
        "  remedy: make room, or send the output elsewhere"
    )


def _close_output() -> None:
    """What could not be written is not tried again when Python ends."""
    with suppress(OSError, ValueError):  # a stream that is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    """Tacit's own warnings as notes, without a line of source; those of libraries are not
    for users."""
    if category is UserWarning:
        line = fitted(f"note: {one_line(str(message))}", sys.stderr)
        click.echo(line, err=True)


def _fail(message: str) -> None:
    """What is wrong, and the remedy."""
    with suppress(OSError):  # nobody reads it: the status says it
        click.echo(fitted(f"error: {several_lines(message)}", sys.stderr), err=True)
