"""Small models for the page, written byte by byte: what a server would publish, without a fit."""

from __future__ import annotations

import csv
import json
import struct
from collections.abc import Sequence
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

DIGEST = "5f" * 32
NOISE = 0.45

STATEMENT = {
    "format": 1,
    "certified": "certified",
    "method": "bayes",
    "calibration": "sound",
    "engine": "threads",
    "unit": "user",
    "neighbours": "one person, with all of that person's ratings, is added or removed",
    "trust": "A trusted curator holds the ratings on one machine and adds the noise after the sum.",
    "epsilon": 0.2,
    "delta": 1e-9,
    "profile": [[0.2, 1e-9]],
    "public": ["the rating scale"],
    "not_protected": ["how long the computation took"],
    "joint": "",
    "software": "tacit",
}


def published(
    titles: Sequence[tuple[str, str, int, Sequence[str]]], factors: int = 8
) -> dict[str, bytes]:
    """What the server answers for films of (id, title, year, genres); tastes follow genres."""
    tags = sorted({genre for *_, genres in titles for genre in genres})
    tagged = [[tags.index(genre) for genre in genres] for *_, genres in titles]
    catalogue = {
        "digest": DIGEST,
        "ids": [each[0] for each in titles],
        "titles": [each[1] for each in titles],
        "years": [each[2] for each in titles],
        "tags": tags,
        "tagged": tagged,
    }
    listed = {
        "default": "test",
        "models": [{"name": "test", "base": "models/test/", "digest": DIGEST}],
    }
    return {
        "model": gaussian(tagged, len(tags), factors),
        "catalogue": json.dumps(catalogue).encode(),
        "statement": json.dumps(STATEMENT).encode(),
        "statement.txt": b"Privacy statement: CERTIFIED\n",
        "models": json.dumps(listed).encode(),
    }


def films() -> dict[str, bytes]:
    """The films of the embedded sample."""
    text = files("tacit.data").joinpath("films.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    return published(
        [(row["id"], row["title"], int(row["year"]), row["genres"].split("|")) for row in rows]
    )


def many(count: int, factors: int) -> dict[str, bytes]:
    """As many films as a speed is measured at."""
    genres = ["Drama", "Comedy", "Horror", "Action", "Romance"]
    return published(
        [(f"f{row}", f"Film {row}", 1920 + row % 100, [genres[row % 5]]) for row in range(count)],
        factors,
    )


def gaussian(tagged: Sequence[Sequence[int]], tags: int, factors: int) -> bytes:
    """The packed personal Gaussian model: a level that all share, and a taste for each genre."""
    world = np.random.default_rng(7)
    items = len(tagged)
    groups = world.normal(size=(max(tags, 1), factors - 1))
    item_factors = np.empty((items, factors))
    item_factors[:, 0] = 0.4
    for row, genres in enumerate(tagged):
        mean = groups[list(genres)].mean(axis=0) if genres else np.zeros(factors - 1)
        item_factors[row, 1:] = 0.35 * mean + 0.1 * world.normal(size=factors - 1)
    arrays = {
        "baseline": world.normal(0.3, 0.35, items),
        "variance": np.full(items, 0.15),
        "loadings": item_factors / np.sqrt(factors / 8),
        "weight": world.exponential(100.0, items),
    }
    return pack("gaussian", items, arrays)


def pack(kind: str, items: int, arrays: dict[str, NDArray[np.float64]]) -> bytes:
    """The format of `tacit.serving.compact`, all in float32."""
    listed, body = [], b""
    for name, array in arrays.items():
        data = array.astype("<f4").tobytes()
        listed.append(
            {"name": name, "type": "f32", "shape": array.shape, "at": len(body), "error": 0.0}
        )
        body += data + bytes(-len(data) % 8)
    facts = {
        "name": "test",
        "method": "bayes",
        "kind": kind,
        "digest": DIGEST,
        "items": items,
        "scale": {"low": 1, "high": 5},
        "positive": None,
        "numbers": {"noise": NOISE},
        "arrays": listed,
    }
    header = json.dumps(facts).encode()
    header += b" " * (-len(header) % 8)
    return b"TACITWEB" + struct.pack("<II", 1, len(header)) + header + body
