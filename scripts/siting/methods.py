"""One page a method: what its class says, and what `docs/methods/facts.toml` adds.

A page is made, never written, so that it cannot say what the code does not.
"""

from __future__ import annotations

import inspect
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

from siting.settings import Setting, settings
from tacit.methods import DEFAULT, DEFAULT_POSITIVE, METHODS, find

UNITS = {
    "user": "all ratings of one person",
    "rating": "one rating: that it was given, and its value",
    "value": "the value of one rating; who rated what is public",
}
CALIBRATIONS = {
    "sound": "a theorem whose conditions are enforced in code",
    "paper": "as printed: claimed, booked as unbounded, never called private",
    "none": "the non-private twin, for the owner's comparison",
}


def pages(root: Path) -> dict[Path, str]:
    """The file and the text of every page."""
    folder = root / "docs" / "methods"
    facts = tomllib.loads((folder / "facts.toml").read_text("utf-8"))
    families = {name: family for family in facts["families"].values() for name in family["methods"]}
    return {
        folder / f"{name}.md": page(name, {**families[name], **facts["methods"][name]})
        for name in METHODS
    }


def page(name: str, facts: dict[str, Any]) -> str:
    """The page of one method."""
    method = find(name)
    parts = [
        f"# `{name}`",
        (
            f"`tacit fit --method {name}`, or `tacit.{method.__name__}` in Python."
            f"{_default(name)} [All methods](../methods.md)."
        ),
        f"**Idea.** {_sentence(inspect.getdoc(method) or '')}",
        f"**Paper.** {facts['paper']} {_as_named(method.source)}",
        "**Promise.** " + _promise(method),
        f"**What was wrong.** {_wrong(method, facts)}",
        f"**When to use it.** {facts['when']}",
        f"**Verdict.** {facts['verdict']}",
        *([f"**Lists.** {_sentence(method.better_list)}"] if method.better_list else []),
        (
            f"**More.** Results: {_links(facts['results'])}. "
            f"Proofs: {_links(facts['proofs'])}. [Audit](../results/audit.md)."
        ),
        "## Settings",
        _table(settings(method.Settings)),
    ]
    return "\n\n".join(parts) + "\n"


def _default(name: str) -> str:
    kinds = {DEFAULT: "ratings", DEFAULT_POSITIVE: "likes"}
    return f" The default for {kinds[name]}." if name in kinds else ""


def _as_named(source: str) -> str:
    return f"In statements: *{source}*." if source else ""


def _promise(method: Any) -> str:
    units = "; ".join(f"`{unit}` ({UNITS[unit]})" for unit in method.units)
    engines = ", ".join(f"`{engine}`" for engine in method.engines)
    lines = [f"What is protected, as one chooses: {units}."]
    lines += [f"`{each}`: {CALIBRATIONS[each]}." for each in method.calibrations]
    if method.local:
        lines.append("Noise is drawn on every device: nobody is trusted.")
    return " ".join([*lines, f"Engines: {engines}."])


def _wrong(method: Any, facts: dict[str, Any]) -> str:
    """As the printed form itself says, where there is one."""
    if "wrong" in facts:
        return str(facts["wrong"])
    named = [
        getattr(import_module(home), constant)
        for home, _, constant in (each.partition(":") for each in facts.get("reason", ()))
    ]
    if not named:
        home, _, form = method.forms["paper"].partition(":")
        named = [getattr(import_module(home), form).reason]
    return " ".join(_sentence(each) for each in named)


def _sentence(text: str) -> str:
    """Text on one line, as a sentence."""
    line = " ".join(text.split())
    if line[1:2].isalpha():  # not a letter of a formula
        line = line[0].upper() + line[1:]
    return line if line.endswith(".") else line + "."


def _links(names: list[str]) -> str:
    return ", ".join(f"[{Path(name).stem}](../{name})" for name in names)


def _table(found: list[Setting]) -> str:
    if not found:
        return "None: public rules choose everything."
    rows = [
        f"| `{each.name}` | {_cell(each.default)} | {_cell(each.kind)} | {_cell(each.told)} |"
        for each in found
    ]
    head = "| `--set` | unless given | may be | is |\n|---|---|---|---|"
    return "\n".join([head, *rows])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
