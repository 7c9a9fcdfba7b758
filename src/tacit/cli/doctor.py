"""`tacit doctor`: is this installation well, and is it fast?"""

from __future__ import annotations

import click

from tacit.cli.grouped import Command
from tacit.cli.options import json_option


@click.command(cls=Command)
@click.option(
    "--ledger", metavar="FILE|URL", help="The book to look at; TACIT_HOME holds the default one."
)
@click.option("--wipe", is_flag=True, help="Delete the caches of private data.")
@click.option(
    "--repair",
    is_flag=True,
    help="Put right what can be: folders, modes of files, compiled kernels.",
)
@json_option
def doctor(ledger: str | None, wipe: bool, repair: bool, as_json: bool) -> None:
    """Versions, threads, BLAS, entropy, ledger health, caches, and what makes this machine
    slow. Exit status 0: well; 1: something is broken; 3: it works, slower than it could."""
    from tacit.cli.diagnostics import BROKEN, SLOW, problems
    from tacit.cli.health import examine, wipe_caches
    from tacit.cli.show import fact, print_json, say

    wiped = {"wiped": f"{wipe_caches()} cached files"} if wipe else {}
    detected = problems(ledger)
    repairs = []
    if repair:
        repairs = [ill.repair() for ill in detected if ill.repair is not None]
        detected = problems(ledger)
    facts = wiped | examine(ledger)
    if as_json:
        summaries = [{"what": i.what, "why": i.why, "remedy": i.remedy} for i in detected]
        print_json({**facts, "ailments": summaries, "repaired": repairs})
    else:
        for name, value in facts.items():
            fact(name, value)
        for line in repairs:
            say(f"\nrepaired: {line}")
        for ill in detected:
            say(f"\n{ill.grade}: {ill.what}\n  why: {ill.why}\n  remedy: {ill.remedy}")
        if not detected:
            say("\nwell: nothing slows this installation down")
    grades = {ill.grade for ill in detected}
    if BROKEN in grades:
        raise SystemExit(1)
    if SLOW in grades:
        raise SystemExit(3)
