"""`tacit verify`: is this model the one in the book?"""

from __future__ import annotations

from pathlib import Path

import click

from tacit.cli.documents import check_document, document_options, write_document
from tacit.cli.grouped import Command
from tacit.cli.options import json_option
from tacit.cli.promise import check_options
from tacit.cli.release import verify_figures
from tacit.cli.show import say
from tacit.errors import SettingError


@click.command(cls=Command)
@click.argument("model")
@check_options
@document_options
@json_option
def verify(
    model: str, key: str | None, ledger: str | None, out: str | None, overwrite: bool, as_json: bool
) -> None:
    """Check MODEL: whole, unchanged, signed, paid for, and the book not older than the
    model's statement. With --key no book is needed. A file of released figures is checked
    against the book too."""
    check_document(out, overwrite, as_json)
    if Path(model).is_file():
        if out is not None:
            raise SettingError(
                "--out writes the verdict on a model, and this is a file",
                remedy="leave --out out: the verdict is printed",
            )
        verify_figures(model, key, ledger, as_json=as_json)
        return
    from tacit.cli.promise import ask
    from tacit.cli.show import print_json
    from tacit.model.model import load

    fitted = load(model)  # which checks every digest
    verdict = ask(fitted, ledger, key)
    if as_json:
        print_json(
            {
                "verified": verdict.holds,
                "words": verdict.words,
                "checked": verdict.statement.checked,
                "certified": verdict.statement.standing,
                "extended": verdict.extended,
            }
        )
    else:
        verdict_text = "verified" if verdict.holds else "NOT VERIFIED"
        say(f"{verdict_text}: {verdict.words}")
    if out is not None:
        from tacit.ledger.statement.verdict import verdict_document

        document = verdict_document(
            verdict.statement,
            verdict.holds,
            verdict.words,
            digest=fitted.shared.digest(),
            current_total=verdict.now,
        )
        write_document(document, out)
        say(f"the verdict was written to {out}")
    if not verdict.holds:
        raise SystemExit(1)
