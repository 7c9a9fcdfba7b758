"""The person's side: from the published model and one's own ratings to one's own
predictions. Nothing here is released.

Inside, ratings are on the inner scale (mid-scale 0, ends -2 and 2) and items are rows of
the catalogue.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ModelError, SettingError
from tacit.repr import shapes

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
LARGEST = 3.5e38
"""Single precision holds no more."""
LIMITS = {"width": (1, 2048), "rank": (0, 2048), "rows": (1, 4096)}
"""Sizes in which systems are solved, from and to: columns of a personal model, factors beyond
it, rows of a projection. No method makes half of that; all other sizes are free."""
LEAST_NOISE = 1e-12
"""Of what is divided by."""
MOST_NEIGHBOURS = 5000
"""Own ratings that one prediction may use: a system of that size is solved."""


@dataclass(frozen=True)
class Own:
    """One person's ratings: rows of the catalogue, and normalized values."""

    items: Rows
    values: Floats
    times: NDArray[np.int64] | None = None
    """Time of each rating, in seconds since 1970."""
    asked: int | None = None
    """When the question is asked: with `times` it tells which ratings belong to the same day."""

    __repr__ = shapes


@dataclass(frozen=True)
class Cells:
    """Many people's own ratings and the cells to predict for each, both in compressed rows."""

    ptr: NDArray[np.int64]
    item: NDArray[np.uint32]
    value: Floats
    ask_ptr: NDArray[np.int64]
    ask_item: NDArray[np.uint32]
    time: NDArray[np.int64] | None = None
    ask_time: NDArray[np.int64] | None = None
    """Of every own rating and of every question, where both are to be used."""

    __repr__ = shapes

    def person(self, row: int) -> tuple[Own, Rows]:
        """One person's own ratings, and the items that are asked about."""
        rated = slice(self.ptr[row], self.ptr[row + 1])
        ask = slice(self.ask_ptr[row], self.ask_ptr[row + 1])
        ratings = Own(self.item[rated].astype(np.int64), self.value[rated])
        return ratings, self.ask_item[ask].astype(np.int64)


@dataclass(frozen=True)
class Reason:
    """Why an item: the share of the prediction that each own rating and the item itself
    account for; they add up."""

    baseline: float
    """Prediction for a person without ratings."""
    own: Floats
    """One number for each own rating."""

    __repr__ = shapes


def people_of(ptr: NDArray[np.int64], item: NDArray[np.uint32], value: Floats) -> Iterator[Own]:
    """The people of a block, one after another."""
    for row in range(len(ptr) - 1):
        cells = slice(ptr[row], ptr[row + 1])
        yield Own(item[cells].astype(np.int64), value[cells])


@dataclass(frozen=True)
class Needed:
    """An array: its sizes by name (`items` is the number of items, `ends` one more; equal
    names are equal sizes), its kind and its bounds."""

    shape: tuple[str, ...]
    whole: bool = False
    """Whether it holds integers."""
    low: float = -LARGEST
    high: float = LARGEST
    optional: bool = False


@dataclass(frozen=True)
class Number:
    """Bounds of a number that a personal model reads from a file."""

    low: float = -LARGEST
    high: float = LARGEST
    optional: bool = False


class PersonalModel(ABC):
    """How one person uses the shared arrays. `PERSONAL` names the subclasses."""

    ranks_by = "rating"
    """Default order of `recommend`."""
    arrays_needed: ClassVar[Mapping[str, Needed]] = {}
    numbers_needed: ClassVar[Mapping[str, Number]] = {}

    def __init__(self, arrays: Mapping[str, NDArray[Any]], numbers: Mapping[str, float]) -> None:
        self.arrays = arrays
        self.numbers = numbers

    @classmethod
    def check_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], numbers: Mapping[str, float], items: int
    ) -> None:
        """An `Unfit` for arrays that have the right shapes and are still of no use."""
        if not items:
            raise Unfit("there is no item")

    @abstractmethod
    def predict(self, user_ratings: Own) -> tuple[Floats, Floats]:
        """Expected rating of every item and its standard error (of a new rating, not of the
        mean)."""

    @abstractmethod
    def explain(self, user_ratings: Own, item: int) -> Reason:
        """The prediction for one item, taken apart."""

    def lean(self) -> Floats | None:
        """What the order of a list adds to the expected rating of each item, the same for
        everybody; None where lists go by the expected rating alone."""
        return None

    def scores(self, user_ratings: Own) -> Floats:
        """Scores that `recommend` orders by, one an item, unless options ask for another order."""
        return leaning(self.predict(user_ratings)[0], self.lean())

    def similar(self, item: int) -> Floats:
        """Closeness of every item to this one."""
        raise SettingError(
            "this model knows no similar items",
            remedy="fit one that does: --method bayes for ratings, als for likes",
        )

    def predict_cells(self, cells: Cells) -> Floats:
        """Expected ratings for many people; one at a time unless a subclass is faster."""
        out = np.empty(len(cells.ask_item))
        for row in range(len(cells.ptr) - 1):
            user_ratings, ask = cells.person(row)
            if len(ask):
                mean, _ = self.predict(user_ratings)
                out[cells.ask_ptr[row] : cells.ask_ptr[row + 1]] = mean[ask]
        return out

    def predict_cells_error(self, cells: Cells) -> tuple[Floats, Floats | None]:
        """`predict_cells`, and the standard errors where they come with it at no cost."""
        return self.predict_cells(cells), None

    def score_block(
        self, ptr: NDArray[np.int64], item: NDArray[np.uint32], value: Floats
    ) -> Floats:
        """What `recommend` orders by, for a block of people: one row each."""
        return np.stack([self.scores(user_ratings) for user_ratings in people_of(ptr, item, value)])

    def vectors(self) -> Mapping[str, NDArray[Any]]:
        """Arrays that `tacit export` writes."""
        return self.arrays


def leaning(mean: Floats, lean: Floats | None) -> Floats:
    """Expected ratings, one row or many, with what the order of a list adds to them."""
    return mean if lean is None else np.asarray(mean + lean)


class Published(Protocol):
    """What a personal model needs of a shared one."""

    @property
    def personal(self) -> str:
        """Name of the class that answers from these arrays."""

    @property
    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """Released arrays by name."""

    @property
    def numbers(self) -> Mapping[str, float]:
        """Released numbers by name."""


@contextmanager
def answering() -> Iterator[None]:
    """Around every answer: a model may have the right shapes and numbers that make no sense,
    which show as a system without a solution."""
    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            yield
    except (np.linalg.LinAlgError, ArithmeticError):
        raise senseless() from None


def sensible(*answers: Floats) -> None:
    """Raise if any answer is not finite: the model's numbers are damaged."""
    if not all(np.isfinite(answer).all() for answer in answers):
        raise senseless()


def senseless() -> ModelError:
    """The error for a model whose numbers give no answer."""
    return ModelError(
        "the numbers of this model make no sense: they give no answer",
        remedy="fetch it again, or fit again",
    )


PERSONAL = {
    "mean": "mean:OwnMean",
    "gaussian": "gaussian:GaussianPersonal",
    "ease": "ease:EasePersonal",
    "centred": "centred:CentredNeighbours",
    "factor-neighbours": "staged_neighbours:FactorNeighbours",
    "kept-neighbours": "staged_neighbours:StoredNeighbours",
    "neighbourhood": "neighbours:Neighbourhood",
    "factors": "factors:FactorPersonal",
    "liked factors": "factors:LikedFactors",
    "descent": "descent:Descent",
    "sparse-descent": "descent:SparseDescent",
}
"""The name that a `Shared` carries, and the module and class that it stands for, imported
when it is needed."""


def personal_class(name: str) -> type[PersonalModel]:
    """Class of personal models by its published name."""
    if name not in PERSONAL:
        raise ModelError(
            f"this version of Tacit has no personal model {name!r}",
            remedy="upgrade Tacit, or fit again",
        )
    module, kind = PERSONAL[name].split(":")
    model_class: type[PersonalModel] = getattr(import_module(f"tacit.model.person.{module}"), kind)
    return model_class


def personal_model(shared: Published) -> PersonalModel:
    """The personal model that a shared model names."""
    return personal_class(shared.personal)(shared.arrays, shared.numbers)


# What a personal model needs of the arrays and numbers that it is given.
#
# Each personal model declares its arrays (`arrays_needed`) and numbers (`numbers_needed`), and
# checks what no shape can say (`check_arrays`): so a folder made by a stranger is refused before
# it is computed with.


class Unfit(Exception):
    """Arrays or numbers that a personal model cannot use, in words."""


def check_needs(
    model: type[PersonalModel],
    arrays: Mapping[str, NDArray[Any]],
    numbers: Mapping[str, float],
    items: int,
) -> None:
    """Refuse arrays or numbers that are missing or unlike what the model declares."""
    sizes = {"items": items, "ends": items + 1}
    for name, need in model.arrays_needed.items():
        if name in arrays:
            _check_array(name, arrays[name], need, sizes)
        elif not need.optional:
            raise Unfit(f"the array {name} is missing")
    for name, bounds in model.numbers_needed.items():
        if name not in numbers:
            if bounds.optional:
                continue
            raise Unfit(f"the number {name} is missing")
        if not bounds.low <= numbers[name] <= bounds.high:
            raise Unfit(f"the number {name} is out of range")
    model.check_arrays(arrays, numbers, items)


def _check_array(name: str, array: NDArray[Any], need: Needed, sizes: dict[str, int]) -> None:
    if array.ndim != len(need.shape):
        raise Unfit(f"the array {name} has {array.ndim} dimensions")
    for size, size_name in zip(array.shape, need.shape, strict=True):
        if sizes.setdefault(size_name, size) != size:
            raise Unfit(f"the array {name} does not fit the others")
        minimum, maximum = LIMITS.get(size_name, (0, size))
        if not minimum <= size <= maximum:
            raise Unfit(f"the array {name} is too wide or too narrow")
    if array.dtype.kind not in ("iu" if need.whole else "f"):
        raise Unfit(f"the array {name} is of another type")
    if not array.size:
        return
    if not (need.low <= float(array.min()) <= float(array.max()) <= need.high):
        raise Unfit(f"the array {name} is out of range")


def check_lists(start: NDArray[Any], index: NDArray[Any], among: int) -> None:
    """Rows of a compressed list: ends that ascend over all of it, and indices of items."""
    ends = start.astype(np.int64)  # differences of unsigned numbers wrap around
    if ends[0] != 0 or ends[-1] != len(index) or (np.diff(ends) < 0).any():
        raise Unfit("the array start does not divide the array neighbour")
    if len(index) and not (index.min() >= 0 and index.max() < among):
        raise Unfit("the array neighbour names items that there are not")
