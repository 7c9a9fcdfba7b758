"""Versions with a known privacy-relevant defect: a packaged list, so that a book can say
which entries it concerns.

`advisories.json` holds `{"format": 1, "advisories": [{"id", "versions", "methods",
"text", "early", "weeks"}]}`. `versions` are ranges such as `">=0.1,<0.3"` or exact versions;
`methods` are names, or `["*"]` for all, `["*", "!bayes"]` for all but one; `early` is true
where only builds are concerned
that did not yet write into an entry what its neighbours differ in (`relation`), which all
builds of the released 0.1.0 do; `weeks` where only calendars are concerned that ended a week
without a digest of what was kept of it (`left`).
"""

from __future__ import annotations

import operator
import re
from collections.abc import Container, Iterable
from importlib import resources

from pydantic import BaseModel, ConfigDict

from tacit.ledger.book.entry import Entry

_COMPARE = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}


class Advisory(BaseModel):
    """A defect that touched promises already made: which versions, which methods."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    versions: tuple[str, ...]
    methods: tuple[str, ...]
    text: str
    early: bool = False
    """Only entries without a relation."""
    weeks: bool = False
    """Only calendars that ended a week without a digest of what was kept of it."""

    def touches(self, entry: Entry, loose: Container[int | None] = ()) -> bool:
        """Whether an entry is touched; `loose` are the numbers of such calendars."""
        if self.early and entry.relation is not None:
            return False
        if self.weeks and entry.number not in loose:
            return False
        return self.concerns(entry.version, entry.method)

    def concerns(self, version: str, method: str) -> bool:
        """Whether entries of this version and method are touched."""
        named = "*" in self.methods or method in self.methods
        named = named and f"!{method}" not in self.methods
        return named and any(
            all(_matches(version, part) for part in version_range.split(","))
            for version_range in self.versions
        )


class Advisories(BaseModel):
    """The file of advisories, parsed."""

    model_config = ConfigDict(frozen=True)

    format: int
    advisories: tuple[Advisory, ...]


def load() -> tuple[Advisory, ...]:
    """The advisories that came with this version."""
    text = (
        resources.files("tacit.ledger.book").joinpath("advisories.json").read_text(encoding="utf-8")
    )
    return Advisories.model_validate_json(text).advisories


def affected(entries: Iterable[Entry], version: str | None = None) -> list[tuple[Entry, str]]:
    """Reservations that a known defect touches, each with the advisory's words; with
    `version`, all that this version made."""
    entries = list(entries)
    loose = {
        entry.of
        for entry in entries
        if entry.kind == "week" and entry.artefact and entry.left is None
    }
    reservations = [entry for entry in entries if entry.kind == "reserve" and not entry.evaluation]
    if version is not None:
        reason = f"made by version {version}"
        return [(entry, reason) for entry in reservations if entry.version == version]
    advisories = load()
    return [
        (entry, f"{advisory.id}: {advisory.text}")
        for entry in reservations
        for advisory in advisories
        if advisory.touches(entry, loose)
    ]


def _matches(version: str, condition: str) -> bool:
    match = re.fullmatch(r"\s*(>=|<=|==|>|<)?\s*(\S+)\s*", condition)
    if match is None:
        raise ValueError(f"not a range of versions: {condition}")
    return bool(_COMPARE[match[1] or "=="](_numbers(version), _numbers(match[2])))


def _numbers(version: str) -> tuple[int, ...]:
    """Release numbers alone: a pre-release counts as its release, which errs on the side of
    telling."""
    parts = [int(part) for part in re.findall(r"\d+", re.split(r"[a-zA-Z+-]", version)[0])]
    return tuple(parts + [0] * (4 - len(parts)))
