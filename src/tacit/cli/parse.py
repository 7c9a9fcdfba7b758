"""Texts of options as values, with our own errors. Imports nothing heavy."""

from __future__ import annotations

import json
from typing import Any

from tacit.errors import SettingError


def parse_scale(text: str | None) -> tuple[float, float] | None:
    """`LOW,HIGH` as two numbers."""
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.replace(":", ",").split(","))
    except ValueError:
        raise SettingError(
            f"--scale {text} is not LOW,HIGH", remedy="for stars from 1 to 5: --scale 1,5"
        ) from None
    return low, high


def parse_settings(pairs: tuple[str, ...], option: str = "--set") -> dict[str, Any]:
    """`--set name=value`: numbers where they look like numbers."""
    settings: dict[str, Any] = {}
    for pair in pairs:
        name, value = pair.split("=", 1) if "=" in pair else ("", "")
        if not name.strip():
            raise SettingError(
                f"{option} {pair} is not NAME=VALUE", remedy="for example: --set even=30"
            )
        if name.strip() in settings:
            raise SettingError(f"{option} says {name.strip()} twice", remedy="say it once")
        try:
            settings[name.strip()] = json.loads(value)
        except json.JSONDecodeError:
            settings[name.strip()] = value.strip()
    return settings


def parse_texts(pairs: tuple[str, ...], option: str) -> dict[str, str]:
    """`NAME=TEXT`, as it is written."""
    texts = {}
    for pair in pairs:
        name, mark, text = pair.partition("=")
        if not mark or not name.strip():
            raise SettingError(
                f"{option} {pair} is not NAME=TEXT", remedy=f'for example: {option} by="A library"'
            )
        texts[name.strip()] = text.strip()
    return texts


def parse_columns(pairs: tuple[str, ...]) -> dict[str, str | int | None] | None:
    """`--columns user=customer,rating=4`: names, or numbers counted from 1; `time=none` for
    a column that is not to be read."""
    columns: dict[str, str | int | None] = {}
    for pair in (part for text in pairs for part in text.split(",")):
        role, mark, name = pair.partition("=")
        if not mark or not role.strip() or not name.strip():
            raise SettingError(
                f"--columns {pair} is not ROLE=NAME",
                remedy="for example: --columns user=customer,rating=stars",
            )
        role, name = role.strip(), name.strip()
        if role in columns:
            raise SettingError(
                f"--columns names two columns for {role}",
                remedy="name one; tags of a catalogue are joined: tags=style+region",
            )
        if role == "time" and name.lower() == "none":
            columns[role] = None
        else:
            columns[role] = int(name) if name.isdigit() else name
    return columns or None
