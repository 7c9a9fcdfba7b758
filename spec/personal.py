"""Makes `spec/vectors/personal-*.json`: what a person is told, for every kind of published model.

    python spec/personal.py                      all files
    python spec/personal.py implied-gaussian     these alone
    python spec/personal.py --answers descent    new answers of the models that are in these

Each file holds a small packed model, fitted to part of the embedded sample, and what Python answers
to a few people's ratings. `tests/web` checks that Python still gives these answers from the packed
arrays, and that the page's JavaScript gives them too. Fits draw fresh noise, so making the files
again changes them; nothing but a change of the format asks for that. After a change of the
mathematics `--answers` keeps the models and writes what they answer now.
"""

from __future__ import annotations

import base64
import json
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tacit.data.catalogue import Catalogue, catalogue_facts, catalogue_from
from tacit.data.ratings import Ratings
from tacit.data.sample import sample, sample_catalogue
from tacit.data.schema import Schema
from tacit.fitting.run import fit
from tacit.methods import find
from tacit.model.person.base import Own, personal_model
from tacit.model.person.rank import order_scores, top
from tacit.model.person.results import by_features
from tacit.model.shared import Shared
from tacit.serving.compact import pack, unpack

FOLDER = Path(__file__).parent / "vectors"
ITEMS = 60
PEOPLE = 600
REACH_80 = 1.2815515655446004
"""Standard deviations on each side of an interval that holds 80 %."""
LINEAR = ("gaussian", "factors")
"""Kinds whose tastes for public features follow from one vector."""
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "mean": ("popularity", {"epsilon": 5.0}),
    "gaussian": ("covariance-svd", {"calibration": "none", "rank": 5}),
    "implied-gaussian": ("bayes", {"epsilon": 50.0}),
    "factors": ("svdpp-gradient", {"calibration": "none"}),
    "lifted-factors": ("svdpp-gradient", {"epsilon": 5.0, "calibration": "paper"}),
    "neighbourhood": ("pnbm-langevin", {"epsilon": 200.0}),
    "factor-neighbours": ("covariance-knn", {"calibration": "none", "neighbours": 8}),
    "kept-neighbours": ("covariance-knn", {"calibration": "none", "neighbours": 8, "keep": 12}),
    "centred-plain": (
        "covariance-knn",
        {"epsilon": 500.0, "calibration": "paper", "cleaning": "none"},
    ),
    "centred-factor": ("covariance-svd", {"epsilon": 50.0, "calibration": "paper"}),
    "ease": ("ease", {"calibration": "none", "likes": True}),
    "liked-factors": ("als", {"calibration": "none", "likes": True}),
    "descent": ("one-bit", {"epsilon": 5.0, "calibration": "paper", "rank": 6}),
    "sparse-descent": (
        "one-bit-projected",
        {"epsilon": 5.0, "calibration": "paper", "rank": 6, "projection": 24, "recover": "ratings"},
    ),
}
ASKED = (3, 17, 41)
"""Items whose predictions are taken apart."""


def people(likes: bool) -> list[list[tuple[int, float]]]:
    """Nobody yet, a newcomer, somebody, and one who rates a lot."""
    rng = np.random.default_rng(7)
    found: list[list[tuple[int, float]]] = [[]]
    for count in (1, 5, 30):
        rows = rng.permutation(ITEMS)[:count].tolist()
        values = rng.integers(4 if likes else 1, 6, count).tolist()
        found.append([(int(row), float(value)) for row, value in zip(rows, values, strict=True)])
    return found


def world() -> tuple[Ratings, Catalogue]:
    """The ratings of the most rated films."""
    ratings, whole = sample(PEOPLE), sample_catalogue()
    counts = np.bincount(ratings.item, minlength=len(whole))
    rows = np.sort(np.argsort(-counts, kind="stable")[:ITEMS])
    place = np.full(len(whole), -1, np.int64)
    place[rows] = np.arange(ITEMS)
    assert whole.titles is not None
    assert whole.years is not None
    assert whole.tagged is not None
    part = Catalogue(
        [whole.ids[row] for row in rows],
        [whole.titles[row] for row in rows],
        whole.years[rows],
        whole.tags,
        whole.tagged[rows],
    )
    kept = ratings.take(place[ratings.item] >= 0)
    return replace(kept, items=part.ids, item=place[kept.item].astype(np.uint32)), part


def fitted(name: str, options: Mapping[str, Any], ledger: str) -> Shared:
    """One model of the sample."""
    ratings, catalogue = world()
    told = dict(options)
    if told.pop("likes", False):
        likes = replace(ratings.schema, positive=4.0)
        ratings = replace(ratings.take(ratings.value >= 4), schema=likes)
    method = find(name)(ledger=ledger, population="vectors", accept_unbounded=True, **told)
    return fit(method, ratings, items=catalogue, users=ratings.n_users).shared


def as_read(shared: Shared, packed: bytes) -> Shared:
    """The model as a reader of the packed form sees it."""
    seen = unpack(packed)
    return replace(shared, arrays=seen.arrays, numbers=dict(seen.header["numbers"]))


def answers(shared: Shared, ratings: list[tuple[int, float]]) -> dict[str, Any]:
    """What Python tells a person."""
    schema, personal = shared.schema, personal_model(shared)
    rows = np.array([row for row, _ in ratings], np.int64)
    values = np.array([value for _, value in ratings])
    own = Own(rows, (values - schema.middle) / schema.unit_width)
    mean, sd = personal.predict(own)
    seen = np.ones(len(mean), bool)
    seen[rows] = False

    def outer(inner: Any) -> list[float]:
        return _short(np.clip(schema.middle + schema.unit_width * inner, schema.low, schema.high))

    ways = (
        ("rating", "liked", "explore", "wanted")
        if personal.ranks_by == "rating"
        else (personal.ranks_by,)
    )
    lists = {}
    for by in ways:
        told = None if by == "wanted" else by  # the order unless told
        scores = order_scores(personal, own, told).scores
        lists[by] = [[int(i), *_short([scores[i]])] for i in top(scores, 6, seen)]
    return {
        "ratings": ratings,
        "rating": outer(mean),
        "error": _short(sd * schema.unit_width),
        "low": outer(mean - REACH_80 * sd),
        "high": outer(mean + REACH_80 * sd),
        "lists": lists,
        "explain": [_explained(shared, own, item) for item in ASKED],
    }


def _explained(shared: Shared, own: Own, item: int) -> dict[str, Any]:
    personal = personal_model(shared)
    reason = personal.explain(own, item)
    told = {"item": item, "baseline": _short([reason.baseline])[0], "own": _short(reason.own)}
    if shared.personal in LINEAR and len(own.items):
        nobody = Own(own.items[:0], own.values[:0])
        shift = personal.predict(own)[0] - personal.predict(nobody)[0]
        told["features"] = {
            "year" if name == "its year" else name: _short([points])[0]
            for name, points in by_features(shared.catalogue, shift, item)
        }
    return told


def similar(shared: Shared) -> list[list[Any]]:
    """The items most like the first that is asked about; none where the model knows none."""
    personal = personal_model(shared)
    try:
        closeness = personal.similar(ASKED[0])
    except ValueError:
        return []
    allowed = np.arange(len(closeness)) != ASKED[0]
    return [[int(i), *_short([closeness[i]])] for i in top(closeness, 5, allowed)]


def _short(values: Any) -> list[float]:
    return [float(f"{value:.7g}") for value in np.asarray(values, np.float64)]


def items() -> dict[str, Any]:
    """The catalogue of all the models, as the server gives it but for the digest."""
    facts = catalogue_facts(world()[1])
    return {name: facts[name] for name in ("ids", "titles", "years", "tags", "tagged")}


def main(kinds: Sequence[str] = ()) -> None:
    """Write all files anew, or those of these kinds."""
    warnings.simplefilter("ignore")
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "personal-items.json").write_text(json.dumps(items(), ensure_ascii=False) + "\n")
    with tempfile.TemporaryDirectory() as folder:
        for kind in kinds or KINDS:
            name, options = KINDS[kind]
            shared = fitted(name, options, str(Path(folder) / "ledger.sqlite"))
            packed = pack(shared, kind).data
            write(kind, packed, as_read(shared, packed))


def answer_again(kinds: Sequence[str] = ()) -> None:
    """Write what the models of all files, or of these, answer now."""
    for kind in kinds or KINDS:
        facts = json.loads((FOLDER / f"personal-{kind}.json").read_text())
        write(kind, base64.b64decode(facts["model"]), published(facts))


def published(facts: Mapping[str, Any]) -> Shared:
    """The model of a file, as a reader of the packed form sees it."""
    seen = unpack(base64.b64decode(facts["model"]))
    header = seen.header
    schema = Schema(header["scale"]["low"], header["scale"]["high"], positive=header["positive"])
    listed = json.loads((FOLDER / "personal-items.json").read_text())
    catalogue = catalogue_from({**listed, "numbers": [], "numeric": None})
    return Shared(
        header["method"], header["kind"], seen.arrays, header["numbers"], schema, catalogue
    )


def write(kind: str, packed: bytes, seen: Shared) -> None:
    """The file of one model."""
    facts = {
        "model": base64.b64encode(packed).decode(),
        "similar": {"item": ASKED[0], "found": similar(seen)},
        "cases": [answers(seen, each) for each in people("likes" in KINDS[kind][1])],
    }
    (FOLDER / f"personal-{kind}.json").write_text(json.dumps(facts) + "\n")


if __name__ == "__main__":
    if "--answers" in sys.argv:
        answer_again([each for each in sys.argv[1:] if each != "--answers"])
    else:
        main(sys.argv[1:])
