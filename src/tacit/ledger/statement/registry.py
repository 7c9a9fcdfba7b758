"""A statement as a record of the OpenDP deployments registry, for publishing what was
deployed. Its schema is that of 2026-07-15; `tests/ledger/test_document.py` restates it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from tacit.errors import SettingError
from tacit.ledger.account.event import Event, Gaussian, Reserve
from tacit.ledger.account.rounded import up
from tacit.ledger.statement import words
from tacit.ledger.statement.composed import read_total
from tacit.ledger.statement.declared import UNSAID, Declared
from tacit.ledger.statement.statement import NOT_CHECKED, Statement, Total
from tacit.ledger.statement.story import bounds, mechanisms
from tacit.redaction import acts, json_text

ASKED = {
    "name": "the product's name",
    "by": "who publishes it",
    "region": "where these people are, or whose law applies",
    "date": "when it was published, as YYYY-MM-DD",
}
"""What the registry requires and only the owner knows."""
SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
"""The registry's own list; the first stands for an owner who declares none."""
MODELS = {"federated": "Federated", "local": "Local"}
TIER = 3
"""Every field of the registry is answered."""


def registry_record(
    statement: Statement,
    declared: Declared,
    *,
    evaluated: str = "",
    current_total: Total | None = None,
) -> dict[str, Any]:
    """Plain data for YAML or JSON. Who deployed what, and when, is the owner's to declare: a
    statement does not know. `evaluated` says whether ratings were looked at before; `current_total`
    is the total of today, where the book was at hand."""
    if statement.certified != "certified":
        raise SettingError(
            "the registry lists what is differentially private, and this model is not "
            f"certified: {statement.reason}",
            remedy="fit with --calibration sound",
        )
    missing = [name for name in ASKED if not getattr(declared, name)]
    if missing:
        raise SettingError(
            "the registry asks for what only you know: "
            + "; ".join(f"{name} ({ASKED[name]})" for name in missing),
            remedy=" ".join(f'--declare {name}="..."' for name in missing),
        )
    if declared.sector and declared.sector not in SECTORS:
        raise SettingError(
            f"the registry knows no sector {declared.sector!r}",
            remedy=f"declare one of {', '.join(SECTORS)}",
        )
    return {
        "url_slug": _slug(declared),
        "status": "Draft",
        "tier": TIER,
        "deployment": {
            "basic": _basic(statement, declared),
            "dp_variant": _variant(statement, declared),
            "privacy_loss": _loss(statement),
            "deployment_model": _model(statement, current_total),
            "accounting": _accounting(statement),
            "implementation": _implementation(statement, declared, evaluated),
            "administrative": {
                "sources": declared.sources or UNSAID,
                "notes": _notes(statement, declared),
                "registry_authors": _listed(declared.authors or declared.by),
            },
        },
    }


def _slug(declared: Declared) -> str:
    text = f"{declared.name} {declared.by} {declared.date[:4]}".lower()
    parts = "".join(c if c.isascii() and c.isalnum() else " " for c in text)
    return "-".join(parts.split())


def _listed(text: str) -> list[str]:
    return [entry.strip() for entry in text.split(",") if entry.strip()]


def _basic(s: Statement, declared: Declared) -> dict[str, Any]:
    noun = "likes" if s.likes else "ratings"
    return {
        "name": declared.name,
        "data_curators": [declared.by],
        "intended_use": declared.use or "recommending items to people",
        "data_product_type": "Machine learning model"
        if s.published == "model"
        else "Summary statistics",
        "data_product_region": declared.region,
        "description": _described(declared)
        or f"A recommender (`{s.method}`) that was trained on people's {noun}.",
        "publication_date": declared.date,
        "data_product_sector": declared.sector or SECTORS[0],
    }


def _notes(s: Statement, declared: Declared) -> str:
    """What the owner says besides, and who says the rest."""
    notes = [declared.notes] if declared.notes else []
    if not declared.sector:
        notes.append(f"no sector was declared: {SECTORS[0]} stands for it")
    notes.append(
        f"parameters, mechanisms and accounting are those of the model's statement (tacit "
        f"{s.software}); names, purpose, data and reasons are as the owner declared them"
    )
    return "; ".join(notes)


def _described(declared: Declared) -> str:
    """All that the owner declared and no other field of the record has."""
    named = ("period", "people", "collected", "deleted", "utility", "contact")
    parts = [declared.data] if declared.data else []
    parts += [f"{name}: {getattr(declared, name)}" for name in named if getattr(declared, name)]
    return "; ".join(parts)


def _variant(s: Statement, declared: Declared) -> dict[str, Any]:
    name = "Custom"
    if s.certified == "certified":
        name = "Pure DP" if s.delta == 0 else "Approximate DP"
    noun = "likes" if s.likes else "ratings"
    return {
        "variant_name": name,
        "data_domain": declared.data or f"any table of people, items and {noun}",
        "unprotected_quantities": "; ".join(
            (*(f"public: {source}" for source in s.public), *s.not_protected)
        ),
    }


def _loss(s: Statement) -> dict[str, Any]:
    parameters = {
        name: value
        for name, value in (("epsilon", s.epsilon), ("delta", s.delta))
        if value is not None
    }
    return {
        "privacy_unit": {"user": "User-level", "rating": "Record-level", "value": "Value-level"}[
            s.unit
        ],
        "privacy_unit_details": (
            f"{words.UNIT_WORDS[s.unit]}. Adjacent data sets: {s.neighbours}."
        ),
        "privacy_parameters": parameters,
        "privacy_parameters_details": _parameters(s),
    }


def _parameters(s: Statement) -> str:
    """What stands, and the whole profile."""
    text = f"status: {s.standing}"
    reason = _reason(s)
    if reason:
        text += f" ({reason})"
    if s.claimed_epsilon is not None:
        text += f"; its authors claim epsilon {s.claimed_epsilon:g}"
    pairs = (f"({up(epsilon)}, {delta:g})" for epsilon, delta in s.profile)
    return f"{text}; (epsilon, delta) that hold at once: {', '.join(pairs) or 'none'}"


def _reason(statement: Statement) -> str | None:
    """Why it is not certified."""
    if statement.standing == NOT_CHECKED:
        return "it says of itself that it is private; not checked against a book or a key"
    return statement.reason


def _model(s: Statement, current_total: Total | None) -> dict[str, Any]:
    total = current_total or s.total
    has_several = s.schedule is not None or (total is not None and total.entries > 1)
    description = "no book adds it up with other releases"
    if total is not None:
        description = _running(s, total, today=current_total is not None)
    if s.schedule is not None:
        description = " ".join((*s.schedule.lines(), f"{description[0].upper()}{description[1:]}."))
    return {
        "model_name": MODELS.get(s.engine, "Central"),
        "model_name_details": " ".join((s.trust, *s.honest)),
        "actors": s.trust,
        "release_type": "Many releases" if has_several else "One release",
        "release_type_details": description,
        "data_source_type": "Dynamic" if s.starts or s.schedule else "Static",
        "access_type": "Non-interactive",
    }


def _running(s: Statement, total: Total, *, today: bool) -> str:
    """What these people have borne in all, and as of when."""
    epsilon, delta = read_total(total)
    covered = total.entries - total.uncovered
    when = f"when it was released, which is entry {s.book_number} of its book"
    if today:
        when = f"by the book on {datetime.now(UTC):%Y-%m-%d}"
    text = (
        f"running total {when}: epsilon {up(epsilon)} at delta {delta:g} over "
        f"{words.count(covered, 'release')}"
    )
    if total.uncovered:
        text += f"; {total.uncovered} more have no bound"
    if total.cap is not None:
        text += f"; cap {total.cap:g}"
    return text


def _accounting(s: Statement) -> dict[str, Any]:
    return {
        "post_processing": "The model is made from the released numbers and public facts "
        "alone; each person's list is computed from it and that person's own "
        f"{'likes' if s.likes else 'ratings'}, on that person's side.",
        "composition": accounting(s),
    }


def _implementation(s: Statement, declared: Declared, evaluated: str) -> dict[str, Any]:
    return {
        "preprocessing_and_hyperparameter_tuning": " ".join(
            (*(s.settings or ("no setting was chosen",)), evaluated)
        ).strip(),
        "mechanisms": "\n".join(
            (
                *(f"- {line}" for line in mechanisms(s)),
                *(f"- at most: {line}" for line in bounds(s)),
                "- floating point: sums and noise are whole numbers, samplers are exact",
                "- generator: AES in counter mode, fresh keys from the system, no seed",
                "- timing and memory: not protected; nothing is answered interactively",
                f"- security of raw data: {declared.secured or UNSAID}",
                f"- software: tacit {s.software}, method {s.method}, calibration {s.calibration}",
                f"- ledger: population {s.population}, entry {s.book_number}, hash {s.book_head}",
            )
        ),
        "justification": declared.decided or UNSAID,
    }


def accounting(statement: Statement) -> str:
    """Which accountant composes the events of a statement, in words."""
    if statement.certified != "certified":
        return "none: " + (statement.reason or "nothing is certified")
    if any(event.kind == "tuning" for event in statement.events):
        return (
            "Renyi accounting of the best of a secret number of trials (Papernot & Steinke "
            "2022); pure trials as one pure release"
        )
    gaussian = any(_is_gaussian(event) for event in statement.events)
    pure = any(not _is_gaussian(event) for event in statement.events)
    if statement.unit == "user" and any(
        event.sampled < 1 and _is_gaussian(event) for event in statement.events
    ):
        return "Renyi accounting of Poisson-sampled Gaussian releases, with pure releases added"
    if gaussian and pure:
        return (
            "exact composition of the Gaussian closed form with randomized responses "
            "that dominate the pure releases"
        )
    if gaussian:
        return (
            "closed form of the Gaussian mechanism over all releases (discrete noise: sigma^2 - 4)"
        )
    return "sum of epsilons at delta 0; exact composition of randomized responses above"


def _is_gaussian(event: Event) -> bool:
    return isinstance(event, Gaussian) or (isinstance(event, Reserve) and event.mu is not None)


# Plain data as YAML: mappings, lists and scalars, every text quoted as JSON quotes it, which
# YAML reads the same.


def to_yaml(value: Mapping[str, Any]) -> str:
    """A document of nested mappings and lists."""
    return "\n".join(_lines(value, 0)) + "\n"


def _lines(value: Mapping[str, Any], depth: int) -> Iterable[str]:
    pad = "  " * depth
    for name, entry in value.items():
        if isinstance(entry, Mapping) and entry:
            yield f"{pad}{name}:"
            yield from _lines(entry, depth + 1)
        elif isinstance(entry, Mapping):
            yield f"{pad}{name}: {{}}"
        elif isinstance(entry, list | tuple):
            yield f"{pad}{name}:" if entry else f"{pad}{name}: []"
            for item in entry:
                yield f"{pad}  - {_scalar(item)}"
        elif isinstance(entry, str) and "\n" in entry and _plain(entry):
            yield f"{pad}{name}: |-"
            for line in entry.split("\n"):
                yield f"{pad}  {line}"
        else:
            yield f"{pad}{name}: {_scalar(entry)}"


def _plain(text: str) -> bool:
    """Whether a block of lines may stand as it is."""
    lines = text.split("\n")
    return all(line == line.strip() and line for line in lines) and not any(
        acts(c) for line in lines for c in line
    )


def _scalar(value: object) -> str:
    if isinstance(value, float):
        # A mantissa with a point: YAML 1.1 reads 1e-06 as a text.
        text = repr(value)
        return text if "." in text else text.replace("e", ".0e")
    return json_text(value) if isinstance(value, str) else json.dumps(value)
