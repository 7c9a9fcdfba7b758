"""Whether the parts of a model folder are what they must be, and fit each other.

`tacit.model.folder` reads the parts; here they become a schema, a catalogue and arrays, or an
error. What arrays and numbers a personal model needs is declared beside it (`needs`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.data.catalogue import LONGEST, MOST_FEATURES, Catalogue, catalogue_from
from tacit.data.schema import Schema
from tacit.errors import DataError, SettingError
from tacit.model.folder import DEEPEST, damaged, is_number, is_text, plain_value
from tacit.model.person.base import personal_class
from tacit.model.person.needs import Unfit, check_needs

NUMBERS = 1000
"""Most numbers of a model."""
WIDTH = 1e-6
"""Least distance of the ends of a scale."""
MOST_PEOPLE = 1 << 53


def check_facts(facts: Mapping[str, Any], folder: Path) -> None:
    """The texts, numbers and settings of `model.json`."""
    for name in ("method", "personal", "digest"):
        if not is_text(facts.get(name)):
            raise damaged(folder, f"model.json has no proper {name}")
    numbers, settings = facts.get("numbers"), facts.get("settings")
    if (
        not isinstance(numbers, dict)
        or len(numbers) > NUMBERS
        or not all(is_text(n) and is_number(x) for n, x in numbers.items())
    ):
        raise damaged(folder, "the numbers of model.json are not numbers")
    if not isinstance(settings, dict) or not plain_value(settings, DEEPEST):
        raise damaged(folder, "the settings of model.json are no settings")


def schema_of(content: Any, folder: Path) -> Schema:
    """The schema that `model.json` holds."""
    names = {"low", "high", "users", "max_ratings", "positive", "source"}
    if not isinstance(content, dict) or set(content) != names:
        raise damaged(folder, "model.json has no proper schema")
    fits = (
        is_number(content["low"])
        and is_number(content["high"])
        and content["high"] - content["low"] >= WIDTH
        and (content["positive"] is None or is_number(content["positive"]))
        and is_text(content["source"])
        and all(
            content[name] is None
            or (type(content[name]) is int and 1 <= content[name] <= MOST_PEOPLE)
            for name in ("users", "max_ratings")
        )
    )
    try:
        if fits:
            return Schema(**content)
    except SettingError:
        pass
    raise damaged(folder, "the schema of model.json is out of range")


def catalogue_of(content: Any, folder: Path) -> Catalogue:
    """The catalogue that `items.json` holds."""
    wrong = None
    try:
        wrong = _catalogue_fault(content)
        if wrong is None:
            return catalogue_from(content)
    except DataError as error:
        wrong = error.message
    except (KeyError, TypeError, ValueError, OverflowError):
        wrong = "items.json is no catalogue"
    raise damaged(folder, wrong)


def _catalogue_fault(content: Any) -> str | None:
    """What is wrong with a catalogue, in words."""
    count = len(content["ids"])
    if not _are_texts(content["ids"]) or not count:
        return "the ids of items.json are no list of texts"
    titles, years = content["titles"], content["years"]
    if titles is not None and not (_are_texts(titles) and len(titles) == count):
        return "the titles of items.json do not fit its ids"
    if years is not None and not (_are_integers(years, 1 << 31) and len(years) == count):
        return "the years of items.json do not fit its ids"
    if not _are_texts(content["tags"]) or not _are_texts(content["numbers"]):
        return "the features of items.json have no names"
    features = len(content["tags"]) + len(content["numbers"])
    if count * features > MOST_FEATURES:
        return "items.json has too many features"
    for name in ("tagged", "numeric"):
        rows = content[name]
        if rows is not None and not (
            isinstance(rows, list)
            and len(rows) == count
            and all(isinstance(row, list) for row in rows)
        ):
            return f"the {name} features of items.json do not fit its ids"
    flat = [column for row in content["tagged"] or () for column in row]
    if not _are_integers(flat, len(content["tags"])) or (flat and min(flat) < 0):
        return "items.json tags items with what it does not name"
    width = len(content["numbers"])
    for row in content["numeric"] or ():
        if len(row) != width or not all(x is None or is_number(x) for x in row):
            return "the numeric features of items.json are not numbers"
    return None


def _are_texts(content: Any) -> bool:
    return isinstance(content, list) and all(is_text(x, LONGEST) for x in content)


def _are_integers(content: Any, below: int) -> bool:
    return isinstance(content, list) and all(
        type(x) is int and -below <= x < below for x in content
    )


def check_arrays(
    personal: str,
    arrays: Mapping[str, NDArray[Any]],
    numbers: Mapping[str, float],
    items: int,
    folder: Path,
) -> None:
    """Whether the personal model that is named can use these arrays and numbers."""
    for name, array in arrays.items():
        if not is_text(name):
            raise damaged(folder, "an array has no proper name")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise damaged(folder, f"the array {name} holds numbers that are not finite")
    try:
        check_needs(personal_class(personal), arrays, numbers, items)
    except Unfit as error:
        raise damaged(folder, str(error)) from None
