"""One fit of what figures 1 to 4 compare, under the paper's names, and its error."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tacit.evaluation.metrics import rmse
from tacit.papers.machine.experiment import Key, Results, Values, Wanted
from tacit.papers.machine.sources import Sources
from tacit.papers.xian2017.figures.samples import ratings_of

if TYPE_CHECKING:
    from tacit.data.splits import Split
    from tacit.model.model import Model

DATA = ("ml-100k", "ml-1m", "netflix", "netflix-100")
EPSILONS = (0.001, 0.005, 0.01, 0.1, 1.0, 5.0, 10.0, 20.0)
QUICK_EPSILONS = (0.001, 0.01, 1.0, 20.0)
FOLDS = 10
SMALL = 300_000
"""Sets of more ratings are split 80/20 alone."""
TENFOLD = "tenfold"
EIGHTY = "80/20"
PRINTED = "printed"


class Run(NamedTuple):
    """A method of Tacit in `paper`, and whether its noise is off."""

    method: str
    noise_off: bool = False


NAMES = {
    "SGDBase++": Run("svdpp-gradient", noise_off=True),
    "ALSBase++": Run("svdpp-objective", noise_off=True),
    "SGDBase": Run("svd-gradient", noise_off=True),
    "ALSBase": Run("svd-objective", noise_off=True),
    "DPSS": Run("svd-gradient"),
    "DPSS++": Run("svdpp-gradient"),
    "DPSAObj": Run("svd-objective"),
    "DPSAObj++": Run("svdpp-objective"),
    "DPSAOut": Run("svd-output"),
    "DPSAOut++": Run("svdpp-output"),
    "PSGD": Run("mf-input-sgd"),
    "PALS": Run("mf-input-als"),
}
"""Those of table 2; SGDBase and ALSBase are the same without the implicit term."""
READINGS: dict[str, dict[str, Any]] = {
    PRINTED: {},
    "uniform": {"first": "uniform"},
    "stop": {"stop": 1e-4},
    "in turn": {"update": "in turn"},
    "lifted": {"lifted": True},
    "over people": {"over": "people"},
    "equation 19": {"solve": "equation 19"},
    "lambda_1": {"item_noise": "lambda_1"},
    "enforced": {"enforce": True},
    "folded": {"people": "folded"},
    "rate .01": {"rate": 0.01},
    "no factors": {"start": 1e-9, "epochs": 1},
}
"""What the text leaves open. `folded`, `rate .01` and `no factors` (mean and biases of formula
4 alone) are not in it: they show where an error comes from."""
OPEN = {
    "DPSS++": ("uniform", "stop", "in turn", "lifted", "folded", "rate .01"),
    "DPSAObj++": ("uniform", "stop", "over people", "equation 19", "folded"),
    "DPSAOut++": ("uniform", "equation 19", "lambda_1", "enforced", "folded"),
}
OPEN_EPSILONS = (0.01, 1.0, 20.0)


def epsilons(request: Wanted) -> tuple[float, ...]:
    """The budgets of a figure."""
    return QUICK_EPSILONS if request.quick else EPSILONS


def halves(request: Wanted, data: str) -> Iterable[Key]:
    """The splits of a data set: 80/20 by seed, and on small sets ten folds."""
    for seed in request.splits:
        yield {"data": data, "split": EIGHTY, "seed": seed}
    if data in ("ml-100k", "sample") and not request.quick:
        for fold in range(FOLDS):
            yield {"data": data, "split": TENFOLD, "seed": fold}


def crossed(request: Wanted, names: Iterable[str]) -> Iterable[Key]:
    """Every name at every epsilon (once where it has no noise) on every split."""
    for data in request.data:
        for half in halves(request, data):
            for name in names:
                budgets: tuple[float, ...] = epsilons(request)
                if NAMES[name].noise_off:
                    budgets = (1.0,)
                for epsilon in budgets:
                    yield half | {"name": name, "epsilon": epsilon, "reading": PRINTED}


def work(sources: Sources, key: Key) -> Values:
    """The error of one fit on held-back ratings, on the scale and as it comes."""
    part = split_of(sources, key["data"], key["split"], key["seed"])
    model = fitted(part, key)
    raw = predictions(model, part)
    schema = part.test.schema
    near = np.clip(raw, schema.low, schema.high)
    errors = {"rmse": rmse(near, part.test.value)}
    unclipped = rmse(raw, part.test.value)
    return errors | {"raw": None if unclipped is None else min(unclipped, 1e9)}


def fitted(part: Split, key: Key) -> Model:
    """The model of a cell, on its training half."""
    from tacit.fitting.run import trial
    from tacit.methods import find

    run = NAMES[key["name"]]
    settings = dict(READINGS[key["reading"]])
    if "factors" in key:
        settings["factors"] = key["factors"]
    method = find(run.method)(
        calibration="paper", epsilon=key["epsilon"], delta=0.0, seed=key["seed"], **settings
    )
    return trial(method, part.train, noise_off=run.noise_off)


def predictions(model: Model, part: Split) -> Any:
    """Of all held-back cells, as they come."""
    from tacit.model.person.base import Cells

    schema = part.train.schema
    user_ratings = part.fold_in.value.astype(np.float64)
    inner = (user_ratings - schema.middle) / schema.unit_width
    test = part.test
    cells = Cells(part.fold_in.ptr, part.fold_in.item, inner, test.ptr, test.item)
    with np.errstate(all="ignore"):
        predicted = model.personal.predict_cells(cells)
    return schema.middle + schema.unit_width * predicted


@lru_cache(maxsize=4)
def _split(name: str, split_name: str, seed: int, held: HeldSources) -> Split:
    from tacit.data.splits import k_fold, per_rating

    data = ratings_of(held.sources, name)
    if split_name == EIGHTY:
        return per_rating(data, 0.2, seed)
    for fold, part in enumerate(k_fold(data, FOLDS)):
        if fold == seed:
            return part
    raise AssertionError("there is no such fold")


class HeldSources:
    """Sources as a key of a cache: one process has one."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources

    def __hash__(self) -> int:
        return id(self.sources)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HeldSources) and other.sources is self.sources


def split_of(sources: Sources, name: str, split_name: str, seed: int) -> Split:
    """The split of a cell; neighbouring cells share it."""
    return _split(name, split_name, seed, HeldSources(sources))


def main_set(results: Results) -> str:
    """The set that verdicts are on: MovieLens-1M as in the paper where it was run."""
    available = results.asked.data
    return "ml-1m" if "ml-1m" in available else available[0]


def on_set(results: Results) -> str:
    """Its name in a verdict, with what the paper has where that is another."""
    data = main_set(results)
    return data if data == "ml-1m" else f"{data} (the paper: MovieLens-1M)"


def error(results: Results, name: str, epsilon: float, **overrides: Any) -> float:
    """Mean error at an epsilon; of a run without noise at any."""
    criteria = {"data": main_set(results), "split": EIGHTY, "reading": PRINTED}
    criteria |= overrides
    at = 1.0 if NAMES[name].noise_off else epsilon
    mean_error = results.mean("rmse", name=name, epsilon=at, **criteria)
    return float("nan") if mean_error is None else mean_error
