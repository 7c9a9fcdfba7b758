"""`tacit statement`: the promise."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.grouped import Command
from tacit.cli.lines import columns
from tacit.cli.no_effect import refuse_no_effect
from tacit.cli.options import json_option, note, parse_texts
from tacit.cli.overwrite import may_write
from tacit.cli.promise import check_options
from tacit.cli.show import print_json, say

if TYPE_CHECKING:
    from tacit.ledger.statement.declared import Declared
    from tacit.ledger.statement.statement import Statement
    from tacit.model.verify import ModelVerdict

ENDINGS = (".html", ".md")


@click.command(cls=Command)
@click.argument("model")
@click.option(
    "--out", metavar="FILE", help="Write a document to forward: .html (prints well) or .md."
)
@click.option("--overwrite", is_flag=True, help="Replace the file in --out.")
@click.option(
    "--about",
    metavar="FILE",
    help="What you declare about the release, in TOML: by, data, period, contact, …",
)
@click.option("--declare", multiple=True, metavar="NAME=TEXT", help="The same, one by one.")
@click.option(
    "--audit",
    metavar="FILE",
    help="What `tacit audit` found; audit.json beside the model unless said.",
)
@click.option(
    "--registry", is_flag=True, help="As a record of the OpenDP deployments registry, in YAML."
)
@check_options
@json_option
def statement(model: str, as_json: bool, **o: Any) -> None:
    """Say what MODEL promises, to whom, by which mechanism.

    It is checked against the ledger or the key; a promise that could not be checked is
    told as what the folder says of itself.
    """
    from tacit.cli.promise import ask, ask_quietly
    from tacit.ledger.statement.story import render_story
    from tacit.model.model import load

    refuse_no_effect()
    _check_use(o, as_json)
    declared = _declared(o)
    fitted = load(model)
    explicit = o["key"] is not None or o["ledger"] is not None
    verdict = ask(fitted, o["ledger"], o["key"]) if explicit else ask_quietly(fitted)
    promise = verdict.statement
    if o["registry"]:
        _registry(verdict, declared, as_json)
    elif o["out"] is not None:
        write_document(
            verdict, declared.model_dump(), Path(o["out"]), _audit(model, o["audit"], promise)
        )
        say(f"statement written to {o['out']}")
    elif as_json:
        print_json(promise.to_facts())
    else:
        say(render_story(promise, columns(sys.stdout)))
    if promise.certified != "not private" and not verdict.holds:
        note(f"not checked: {verdict.words}")
        if explicit:
            raise SystemExit(1)


def _check_use(o: dict[str, Any], as_json: bool) -> None:
    """Options that would be passed over are refused."""
    from tacit.errors import SettingError

    out = o["out"]
    used = out is not None or o["registry"]
    if out is not None and (as_json or o["registry"]):
        raise SettingError(
            "--out writes a document, --json and --registry print", remedy="give one of them"
        )
    for name in ("about", "declare"):
        if o[name] and not used:
            raise SettingError(
                f"--{name} is for --out and --registry", remedy="add --out statement.html"
            )
    if o["audit"] and out is None:
        raise SettingError("--audit is for --out", remedy="add --out statement.html")
    if out is None:
        return
    if Path(out).suffix.lower() not in ENDINGS:
        raise SettingError(
            f"{out} does not end in .html or .md", remedy="name the document after its format"
        )
    may_write(out, o["overwrite"])


def _declared(o: dict[str, Any]) -> Declared:
    from tacit.ledger.statement.declared import declare, read_declared

    facts = read_declared(o["about"]) if o["about"] else {}
    declared = declare(facts, parse_texts(o["declare"], "--declare"))
    if any(letter.isdigit() for letter in declared.utility):
        note(
            "`utility` has figures: those of `tacit evaluate` are not private and not to be "
            "published; `tacit evaluate --release` makes some that are"
        )
    return declared


def _registry(verdict: ModelVerdict, declared: Declared, as_json: bool) -> None:
    from tacit.ledger.statement.composed import evaluated
    from tacit.ledger.statement.registry import registry_record, to_yaml

    record = registry_record(
        verdict.statement,
        declared,
        evaluated=evaluated(verdict.evaluations, verdict.later),
        current_total=verdict.now,
    )
    if as_json:
        print_json(record)
    else:
        say(to_yaml(record).rstrip("\n"))


def write_document(
    verdict: ModelVerdict,
    declared: Mapping[str, str],
    target: Path,
    audit: Sequence[Mapping[str, Any]] = (),
) -> None:
    """The document of a promise that was checked, whole or not at all."""
    from tacit.evaluation.report.charts import write

    markdown = target.suffix.lower() == ".md"
    text = verdict.page(audit=audit, markdown=markdown, **declared)
    write(str(target), text.encode())


def _audit(model: str, path: str | None, promise: Statement) -> list[dict[str, Any]]:
    """What an audit found, from the file that was named or that lies beside the model. One
    that is about other claims alone is refused, or told and left out."""
    import json

    from tacit.errors import DataError
    from tacit.ledger.statement.document import findings_about

    candidates = [Path(model).parent / "audit.json", Path(model) / "audit.json"]
    if path is not None:
        candidates = [Path(path)]
    audit_file = next((entry for entry in candidates if entry.is_file()), None)
    if audit_file is None:
        if path is None:
            return []
        raise DataError(
            "there is no such file",
            place=path,
            remedy="write it with `tacit audit METHOD --out audit.json`",
        )
    try:
        facts = json.loads(audit_file.read_text(encoding="utf-8"))
        listed = facts
        if isinstance(facts, dict):
            listed = facts.get("findings") or facts["best"]
        if not all(isinstance(entry, dict) for entry in listed):
            raise TypeError
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise DataError(
            "this is no audit",
            place=str(audit_file),
            remedy="write it with `tacit audit METHOD --out audit.json`",
        ) from None
    if listed and not findings_about(promise, listed):
        whose = f"`{promise.method}`, unit {promise.unit}, {promise.calibration}"
        message = f"this audit is about other claims than {whose}"
        if path is not None:
            raise DataError(
                message,
                place=str(audit_file),
                remedy=f"run `tacit audit {promise.method} --out audit.json`",
            )
        note(f"{audit_file}: {message}, and is left out")
    return list(listed)
