"""What the owner says about a release and no program can know: who promises it, on which
data, for what.

Guarantee: nothing here is read from ratings. It is no part of the signed statement, and a
document says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date as day
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tacit.errors import SettingError
from tacit.redaction import one_line
from tacit.typed_file import read_toml

UNSAID = "not declared"


class Declared(BaseModel):
    """Each is a short text, as its owner writes it; empty where nothing was said."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field("", description="of the deployment or product")
    by: str = Field("", description="who promises: the organisation that holds the ratings")
    contact: str = Field("", description="whom to ask")
    date: str = Field("", description="of publication, YYYY-MM-DD")
    data: str = Field("", description="what the ratings are, and whence")
    period: str = Field("", description="of collection")
    people: str = Field("", description="whose ratings they are")
    use: str = Field("", description="what the model is for")
    region: str = Field("", description="where these people are, or whose law applies")
    sector: str = Field("", description="industry that the data describe, as the registry has it")
    sources: str = Field("", description="addresses of the product, and of papers about it")
    notes: str = Field("", description="what a reader of the registry record should know besides")
    collected: str = Field("", description="how ratings are collected, on which legal ground")
    secured: str = Field("", description="how raw ratings are stored and who may read them")
    deleted: str = Field("", description="when raw ratings are deleted, and how to ask for it")
    decided: str = Field("", description="who chose epsilon and delta, and why these")
    utility: str = Field(
        "",
        description="how good the model is, and for whom it is worse; figures only of "
        "`tacit evaluate --release`, the others are not private",
    )
    authors: str = Field("", description="who fills in the registry record, with commas")


def as_declared(text: str) -> str:
    """What the owner declared, marked as that."""
    return f"{text} (as declared)" if text else UNSAID


def check_date(text: str) -> None:
    """A day is a day that every reader reads alike."""
    try:
        day.fromisoformat(text)
    except ValueError:
        raise SettingError(
            f"the date {text!r} is not YYYY-MM-DD", remedy="for example: --declare date=2030-01-31"
        ) from None


def declare(*declarations: Mapping[str, Any]) -> Declared:
    """What was declared; the last word holds."""
    merged = {
        str(name): one_line(str(value)).strip()
        for declaration in declarations
        for name, value in declaration.items()
    }
    if merged.get("date"):
        check_date(merged["date"])
    try:
        return Declared(**merged)
    except ValidationError as error:
        name = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise SettingError(
            f"{name!r} is nothing that a statement asks its owner",
            remedy=f"declare one of {', '.join(Declared.model_fields)}",
        ) from None


def read_declared(path: str) -> dict[str, Any]:
    """A TOML file of `name = "text"`."""
    remedy = 'write lines such as by = "A library" into it'
    declared = read_toml(Path(path), dict[str, Any], SettingError, remedy)
    for name, value in declared.items():
        if name not in Declared.model_fields:
            raise SettingError(
                f"{name!r} is nothing that a statement asks its owner",
                place=path,
                remedy=f"declare one of {', '.join(Declared.model_fields)}",
            )
        if not isinstance(value, str | day):
            raise SettingError(
                f"{name!r} is not a text", place=path, remedy=f'write: {name} = "..."'
            )
    return declared
