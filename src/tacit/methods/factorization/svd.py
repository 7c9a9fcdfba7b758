"""Xian et al. 2017: SVD and SVD++ with private noise, as one method of two values.

*Where the noise goes*: on the gradients (Algorithm 1: DPSS, DPSS++), in the objective
(Algorithm 2: DPSAObj, DPSAObj++) or on the output (Algorithm 3: DPSAOut, DPSAOut++).
*What is implicit*: nothing (SVD), one number for each person (SVD++ as printed) or factors
learned for each item (SVD++ as Koren 2008 has it).

| noise     | unit `value`                                       | unit `user`              |
|-----------|----------------------------------------------------|--------------------------|
| gradient  | every rating is noised once: k noisy looks at the  | rounds of clipped        |
|           | same rating only imitate that, at a higher price   | gradients                |
| objective | people, then items, are solved with K-norm noise   | noisy statistics, as     |
|           | in the linear term of their objective              | in `als`                 |
| output    | the same with K-norm noise on every solution,      |                          |
|           | sized by the ridge's own bound                     |                          |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.bound import Rows
from tacit.bound.vectors import CellVectors, ridge_gain
from tacit.errors import SettingError
from tacit.methods.base import Form, Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.factorization.base import (
    RULE_FACTORS,
    FactorMethod,
    FactorSettings,
    Forms,
    factor_plan,
    rule_width,
)
from tacit.methods.factorization.noisy import Trainer, factors_from_noisy
from tacit.methods.factorization.printed_options import ImplicitSettings, XianSettings
from tacit.methods.factorization.publish import publish
from tacit.methods.factorization.rounds import Implicit, Learning
from tacit.methods.factorization.state import FactorState, ValueState
from tacit.methods.factorization.value import MOST, input_round, item_sums, pattern_of, people_of
from tacit.methods.first_order.rounds import TINY
from tacit.methods.refine.factors import ItemFactors, item_factors
from tacit.model.person.gaussian import NOISE
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.round import Block, Kind, Part, Released, Round
from tacit.rounds.state import NOT_YET, State
from tacit.units import Unit

Where = Literal["gradient", "objective", "output"]
FIRST_SHARE = 0.15
"""At `value`, for one noisy sum of each item."""
STEPS = {"gradient": 3, "objective": 2}
"""Rounds of factors at `user`."""
PLUS_STATISTICS = 7
"""The most factors by rule, where rows hold both statistics and implicit factors: of 6, 7
and 8 at epsilon 20 (docs/results/mf.md)."""
VALUE_FACTORS = 10
VALUE_EPOCHS = 20
"""Of the training on noisy ratings, unless said."""
SIDE_FACTORS = 5
"""Of noisy solves: as the paper has it."""
MOST_SIDE_FACTORS = 14
"""K-norm noise is exact on the grid up to 15 columns, one of which is a person's level."""
Floats = NDArray[np.float64]
LEVEL_COLUMN = np.sqrt(0.5)
"""Constant column of an item's profile, for a person's level; the rest of the profile has
the same length."""
PRINTED_RIDGE = 0.125
"""lambda of Xian et al., for each rating of a row."""
IMPLICIT_SHRINK = 50.0
"""So many ratings halve what an item's raters say about those who rate it."""


class XianMethod(FactorMethod):
    """A method of Xian et al. 2017, of two values.

    Where the noise goes is `where`. What is implicit is nothing for a class that keeps the
    settings of all factorizations (SVD), and for one that takes the `ImplicitSettings` of this
    module (SVD++) what they say.
    """

    units: ClassVar[tuple[Unit, ...]] = ("value", "user")
    calibrations = ("sound", "paper", "none")
    paper_unit = "value"
    Settings: ClassVar[type[BaseSettings]] = XianSettings
    where: ClassVar[Where]

    @property
    def implicit_side(self) -> Implicit:
        """What is implicit: what having rated says, whatever the ratings are."""
        settings = self.settings
        if not isinstance(settings, ImplicitSettings):
            return "nothing"
        usual: Implicit = "scalar" if self.calibration == "paper" else "learned"
        return settings.implicit or usual


class SoundSVD(Form):
    """The sound forms: one for each cell of the module's table.

    At `user` the plan is that of all factorizations, with the steps that the two values ask
    for. At `value`, where numbers of single ratings and people may be released, it is one of
    two others, and factors are made by `finish`, from released numbers alone.
    """

    method: XianMethod
    settings: FactorSettings

    def plan(self, public: Public) -> Plan:
        """By unit, and by where the noise goes."""
        if public.unit == "user":
            return self.whole_people(public)
        if self.method.where == "gradient":
            return self.noisy_ratings(public)
        return self.noisy_sides(public)

    def whole_people(self, public: Public) -> Plan:
        """Gradients or statistics of whole people, between the rounds of `bias` and its
        choice."""
        rounds = self.settings.epochs or STEPS[self.method.where]
        opening, later = self.steps(public)
        steps = (opening, *(later,) * (rounds - 1))
        if self.method.where == "gradient":
            return factor_plan(public, steps, "gradient", "Clipped gradients.")
        story = "Noisy statistics follow released profiles."
        return factor_plan(public, steps, "factors", story)

    def steps(self, public: Public) -> tuple[Learning, Learning]:
        """How the first round learns, and how all later ones do.

        The first sends right-hand sides against random profiles. Later ones send, against
        released profiles, gradients or whole statistics, and what SVD++ asks for.
        """
        gradient = self.method.where == "gradient"
        plain = self.method.implicit_side == "nothing"
        rule = RULE_FACTORS if gradient or plain else PLUS_STATISTICS
        width = rule_width(public, self.settings.factors, rule)
        later = Learning(
            width,
            self.method.seed,
            gradient=gradient,
            implicit=self.method.implicit_side == "learned",
            scalar=self.method.implicit_side == "scalar",
        )
        if gradient:
            later = replace(later, second=0.0)
        return Learning(width, self.method.seed, second=0.0), later

    def noisy_ratings(self, public: Public) -> Plan:
        """Every rating is noised once, less the noisy effect of its item; `finish` trains on
        the noisy ratings as often as it likes."""
        rounds = (item_sums(public, FIRST_SHARE), input_round(public, 1 - FIRST_SHARE))
        story = "Every rating is noised once; the training sees only noisy ratings."
        return Plan("value", rounds, (story,))

    def noisy_sides(self, public: Public) -> Plan:
        """Noise in every solve of a person or an item, or on its solution.

        Who rated what is public, so implicit factors of SVD++ cost nothing: `finish` takes
        them from the released vectors. The printed scalar would add nothing to them.
        """
        if self.method.implicit_side == "scalar":
            raise SettingError(
                f"{self.method.name} at the unit value takes implicit factors from the released "
                "vectors, which is free",
                remedy="leave --set implicit=scalar out, or use --unit user or --calibration paper",
            )
        width = min(self.settings.factors or SIDE_FACTORS, MOST_SIDE_FACTORS)
        inside = self.method.where == "objective"
        kind = Kind.OBJECTIVE if inside else Kind.OUTPUT
        sides = BothSides(public, kind, width, self.method.seed)
        rounds = (item_sums(public, FIRST_SHARE), *sides.rounds(1 - FIRST_SHARE))
        noise_place = "in the objective" if inside else "on the solution"
        return Plan("value", rounds, (f"Both sides get K-norm noise {noise_place}.",))

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return ValueState() if public.unit == "value" else FactorState()

    def finish(self, public: Public, state: FactorState) -> Shared:
        """Item profiles, and what having rated says, for everybody's own ridge solve."""
        if isinstance(state, ValueState):
            state = self.with_factors(public, state)
        return publish(self.method, public, state, lift=self.lift(state))

    def with_factors(self, public: Public, state: ValueState) -> ValueState:
        """At `value`: factors from noisy ratings; or, where factors were released, implicit
        ones from people's released vectors."""
        if self.method.where == "gradient":
            trainers: dict[Implicit, Trainer] = {
                "nothing": "descent",
                "scalar": "scalar",
                "learned": "svdpp",
            }
            trainer = trainers[self.method.implicit_side]
            width = self.settings.factors or VALUE_FACTORS
            epochs = self.settings.epochs or VALUE_EPOCHS
            return factors_from_noisy(public, state, trainer, width, epochs, self.method.seed)
        if self.method.implicit_side == "learned":
            return replace(state, implicit=implicit_from_people(public, state))
        return state

    def lift(self, state: FactorState) -> NDArray[np.float64] | None:
        """The direction of the printed scalar: all factors alike, as they were trained."""
        if self.method.implicit_side != "scalar" or state.factors is NOT_YET:
            return None
        if isinstance(state, ValueState) and state.lift is not NOT_YET:
            return state.lift
        return np.ones(state.factors.shape[1])


PRINTED: dict[Where, str] = {
    "gradient": "tacit.papers.xian2017.printed.descent:NoisyErrors",
    "objective": "tacit.papers.xian2017.printed.least_squares:NoisyObjective",
    "output": "tacit.papers.xian2017.printed.least_squares:NoisyOutput",
}
"""The three algorithms of the paper."""


def _forms(where: Where, twin: str) -> Forms:
    return {
        "sound": SoundSVD,
        "paper": PRINTED[where],
        "none": f"tacit.methods.factorization.twin:{twin}",
    }


# Both sides of a factorization released at the unit `value`: people's vectors against public
# random profiles, then items' vectors against the released people.
#
# Noise goes into the objective's linear term (right-hand sides are released) or on the
# solution. Left-hand sides are functions of public numbers, so only right-hand sides need
# noise.
#
# Guarantee: a changed value moves one row of each release (`tacit.bound.vectors`). Each side's
# coefficients come from releases before it, which is composition; both sides are noised, none
# is exact (docs/proofs/mf.md).


@dataclass(frozen=True)
class BothSides:
    """The two rounds of one plan: people, then items.

    Both release, for every row, a right-hand side or a solution of its regression on rows of
    the other side, which are public: random ones of the items in the first round, the
    released ones of the people in the second.
    """

    public: Public
    kind: Kind
    """`OBJECTIVE` or `OUTPUT`: where the noise goes."""
    width: int
    """Factors of each item."""
    seed: int
    """Of the random profiles."""

    @property
    def output(self) -> bool:
        """Whether solutions are released, instead of right-hand sides."""
        return self.kind is Kind.OUTPUT

    @cached_property
    def profile(self) -> Floats:
        """Public rows of length 1: a constant, and a random direction."""
        items = self.public.items
        rng = np.random.default_rng(self.seed)
        random = rng.standard_normal((items, self.width))
        random *= LEVEL_COLUMN / np.sqrt((random**2).sum(axis=1))[:, None]
        return np.hstack([np.full((items, 1), LEVEL_COLUMN), random])

    def rounds(self, share: float) -> tuple[Round, Round]:
        """People, then items, each for half of this share."""
        return self.people(share * 0.5), self.items(share * 0.5)

    def people(self, share: float) -> Round:
        """People's levels and vectors, against the random profiles.

        The first column is a person's level; the others are her vector, as far as her
        ratings of random directions tell it.
        """

        def contribute(block: Block, state: ValueState) -> Mapping[str, Rows]:
            residuals = np.clip(block.value - state.baseline[block.item], -MOST, MOST)
            counts = np.diff(block.ptr)
            owner = np.repeat(np.arange(len(block.people)), counts)
            rows = self.profile[block.item]
            # A solution is a sum over ratings as well, of rows that the ridge has turned.
            if self.output:
                left = grams(block.ptr, block.item, self.profile)
                rows = gains(left, counts, rows, owner)
            index = block.people[owner]
            return {"vectors": Rows(block.ptr, index, rows * residuals[:, None])}

        def absorb(state: ValueState, released: Mapping[str, Released]) -> ValueState:
            pattern = pattern_of(self.public)
            count = np.diff(pattern.ptr)
            left = grams(pattern.ptr, pattern.item, self.profile)
            value = released["vectors"].value[: len(count)]
            sd = max(released["vectors"].sd, TINY)
            estimate = posterior(left, count, value, sd, output=self.output)
            # The longest vector gets length 1, which the next round's bound asks for. All are
            # released, so their lengths are public.
            vectors = estimate.mean[:, 1:]
            length = np.sqrt((vectors**2).sum(axis=1))
            vectors = vectors / max(float(length.max(initial=0.0)), TINY)
            return replace(
                state,
                own=estimate.mean[:, 0] * LEVEL_COLUMN,
                vectors=vectors,
                left=self.left_of_items(vectors),
            )

        part = Part(
            "vectors",
            people_of(self.public),
            CellVectors(MOST),
            width=self.width + 1,
            share=share,
            kind=self.kind,
        )
        return Round("people", (part,), contribute, absorb)

    def left_of_items(self, vectors: Floats) -> Floats:
        """Left-hand sides of the items: public, since vectors and pattern are."""
        from tacit.kernels.order import by_item

        pattern = pattern_of(self.public)
        cells = by_item(pattern.ptr, pattern.item, self.public.items)
        return grams(cells.ptr, cells.person, np.ascontiguousarray(vectors))

    def items(self, share: float) -> Round:
        """Items' vectors, against the released people: these become the factors."""
        count = self.public.counts

        def contribute(block: Block, state: ValueState) -> Mapping[str, Rows]:
            counts = np.diff(block.ptr)
            user_bias = np.repeat(state.own[block.people], counts)
            residuals = block.value - state.baseline[block.item] - user_bias
            rows = np.repeat(state.vectors[block.people], counts, axis=0)
            if self.output:
                rows = gains(state.left, count, rows, block.item)
            values = rows * np.clip(residuals, -MOST, MOST)[:, None]
            return {"factors": Rows(block.ptr, block.item, values)}

        def absorb(state: ValueState, released: Mapping[str, Released]) -> ValueState:
            value = released["factors"].value
            sd = max(released["factors"].sd, TINY)
            estimate = posterior(state.left, count, value, sd, output=self.output)
            # People's vectors are given unit second moment, and factors the inverse, so that
            # a fold-in with a prior of N(0, I) suits them.
            moment = state.left.sum(axis=0) / max(float(count.sum()), 1.0)
            root = np.linalg.cholesky(moment + 1e-12 * np.eye(self.width))
            # What is unknown of v'p, for a person of typical length.
            scale = np.trace(moment) / self.width
            return replace(
                state, factors=estimate.mean @ root, unknown=estimate.unknown * scale, root=root
            )

        part = Part(
            "factors",
            self.public.items,
            CellVectors(MOST),
            width=self.width,
            share=share,
            kind=self.kind,
        )
        return Round("items", (part,), contribute, absorb)


def grams(ptr: NDArray[np.int64], index: NDArray[np.uint32], rows: Floats) -> Floats:
    """Sum of xx' over each row's cells: `ptr` and `index` are its cells in compressed rows,
    x is the row of the other side that a cell names."""
    from tacit.kernels.als import gram_rows

    out = np.zeros((len(ptr) - 1, rows.shape[1], rows.shape[1]))
    gram_rows(ptr, index, rows, out)
    return out


def ridges(count: NDArray[np.int64]) -> Floats:
    """The printed ridge, which grows with the ratings of a row."""
    return PRINTED_RIDGE * np.maximum(count, 1).astype(np.float64)


def gains(
    left: Floats, count: NDArray[np.int64], rows: Floats, owner: NDArray[np.integer]
) -> Floats:
    """(G + ridge)^-1 x for each cell's x, over the most that its norm can be: at most 1.

    `left` are the rows' G, `count` their numbers of cells, `owner` says whose cell it is. The
    most is `tacit.bound.vectors.ridge_gain`.
    """
    ridge = ridges(count)
    unit = np.eye(left.shape[1])
    inverse = np.linalg.inv(left + ridge[:, None, None] * unit)
    inverse = inverse / ridge_gain(ridge)[:, None, None]
    gained: Floats = np.einsum("nab,nb->na", inverse[owner], rows)
    return gained


def posterior(
    left: Floats, count: NDArray[np.int64], value: Floats, sd: float, *, output: bool
) -> ItemFactors:
    """Vectors from noisy right-hand sides, or (`output`) from noisy solutions, by empirical
    Bayes with the known noise, whose standard deviation is `sd`."""
    unit = np.eye(left.shape[1])
    if not output:
        return item_factors(value, left, NOISE * left + sd**2 * unit)
    # A noisy solution is (G + c)^-1 G v + (G + c)^-1 X'e + gain x noise: again a regression
    # of known left-hand side and known noise.
    ridge = ridges(count)
    gain = ridge_gain(ridge)[:, None, None]
    system = left + ridge[:, None, None] * unit
    shrink = np.linalg.solve(system, left)  # symmetric: both commute
    noise = NOISE * shrink @ np.linalg.inv(system) + (gain * sd) ** 2 * unit
    even = (shrink + np.swapaxes(shrink, 1, 2)) / 2
    return item_factors(value * gain[:, :, 0], even, noise)


def implicit_from_people(public: Public, state: ValueState) -> Floats:
    """SVD++ is free at this unit: the mean released vector of an item's raters, over the
    root of a typical count.

    Vectors are whitened first, so that they fit the factors, and the mean is shrunk to 0
    where an item has few raters.
    """
    from tacit.kernels.order import by_item

    pattern = pattern_of(public)
    cells = by_item(pattern.ptr, pattern.item, public.items)
    whitened = state.vectors @ np.linalg.inv(state.root).T
    steps = np.cumsum(whitened[cells.person], axis=0)
    total = np.concatenate([np.zeros((1, whitened.shape[1])), steps])
    sums = total[cells.ptr[1:]] - total[cells.ptr[:-1]]
    typical = max(state.level.count, 1.0)
    mean: Floats = sums / (public.counts + IMPLICIT_SHRINK)[:, None] / np.sqrt(typical)
    return mean


class GradientSVD(XianMethod):
    """SVD with noise on the gradients: at `value` every rating is noised once, at `user`
    clipped gradients of whole people are."""

    name = "svd-gradient"
    source = "Xian et al. 2017, Algorithm 1 (DPSS)"
    where = "gradient"
    forms: ClassVar[Forms] = _forms("gradient", "FactorTwin")


class GradientSVDPP(XianMethod):
    """SVD++ with noise on the gradients: as `svd-gradient`, with implicit factors that are
    learned beside the others, or in `paper` with the scalar that is printed."""

    name = "svdpp-gradient"
    source = "Xian et al. 2017, Algorithm 1 (DPSS++)"
    where = "gradient"
    forms: ClassVar[Forms] = _forms("gradient", "ImplicitTwin")
    Settings: ClassVar[type[BaseSettings]] = ImplicitSettings


class ObjectiveSVD(XianMethod):
    """SVD with noise in the objective: at `value` a random linear term in each solve of a
    person or an item, at `user` noisy statistics as in `als`."""

    name = "svd-objective"
    source = "Xian et al. 2017, Algorithm 2 (DPSAObj)"
    where = "objective"
    forms: ClassVar[Forms] = _forms("objective", "FactorTwin")


class ObjectiveSVDPP(XianMethod):
    """SVD++ with noise in the objective: as `svd-objective`, with implicit factors; at
    `value` who rated what is public, so they are free."""

    name = "svdpp-objective"
    source = "Xian et al. 2017, Algorithm 2 (DPSAObj++)"
    where = "objective"
    forms: ClassVar[Forms] = _forms("objective", "ImplicitTwin")
    Settings: ClassVar[type[BaseSettings]] = ImplicitSettings


class OutputSVD(XianMethod):
    """SVD with noise on the output: every solution is released with noise that covers what
    one rating can move it by, which its ridge bounds."""

    name = "svd-output"
    source = "Xian et al. 2017, Algorithm 3 (DPSAOut)"
    units = ("value",)
    where = "output"
    forms: ClassVar[Forms] = _forms("output", "FactorTwin")


class OutputSVDPP(XianMethod):
    """SVD++ with noise on the output: as `svd-output`, with implicit factors, which are free
    because who rated what is public at `value`."""

    name = "svdpp-output"
    source = "Xian et al. 2017, Algorithm 3 (DPSAOut++)"
    units = ("value",)
    where = "output"
    forms: ClassVar[Forms] = _forms("output", "ImplicitTwin")
    Settings: ClassVar[type[BaseSettings]] = ImplicitSettings
