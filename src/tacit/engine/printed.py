"""Engines for what papers print and for the non-private twins: sequential epochs, cohorts of
one item, masked answers, and the noise of Hua et al.

Each is registered beside the engine of the same name (`threads-printed`) and runs whatever
that one runs. Nothing that is released here is certified.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.bound.base import Rows
from tacit.engine.answers import Answers
from tacit.engine.federated import Federated
from tacit.engine.local import Local
from tacit.engine.simulate import Simulate
from tacit.engine.threads import Threads
from tacit.errors import Failure
from tacit.ledger.account.event import Event, Unbounded
from tacit.noise import bits
from tacit.noise.printed import handed, masked, whole_pieces
from tacit.noise.release import Charge, Noise, draw_noise
from tacit.rounds.people import People
from tacit.rounds.printed import Epoch
from tacit.rounds.round import Block, Part, Printed, Released, Round
from tacit.rounds.state import State

Kept = Mapping[str, NDArray[np.float64]]
"""Personal state of everybody, by name: for the owner's evaluation of a paper that publishes
it, and for nothing else."""


class PrintedThreads(Threads):
    """Threads that also run a sequential epoch: all people in one block, with draws handed
    to it."""

    printed = True

    @property
    def personal_state(self) -> Kept:
        """What a paper trained of its people."""
        return self._personal

    def run(self, round_: Round, state: State, charge: Charge) -> Mapping[str, Released]:
        """An epoch makes its arrays itself; anything else is summed as usual."""
        epochs = {part.name: part.printed for part in round_.parts if part.printed}
        if not any(part.is_sequential for part in round_.parts):
            return super().run(round_, state, charge)
        if not all(part.is_sequential for part in round_.parts):
            raise Failure(f"the round {round_.name} is part an epoch and part a sum")
        self._make_room(round_)
        draws = {
            part.name: self._handed(round_, part, epochs[part.name], charge)
            for part in round_.parts
        }
        people = self._participants(round_.takes_part)
        block = self._block(slice(0, self.people) if people is None else people, draws)
        contribution = round_.contribute(block, state)
        self._keep(block, round_)
        if self._progress:
            self._progress(1, 1, round_.name)
        released_parts = {}
        for part in round_.parts:
            noised = bool(draws[part.name].any()) or epochs[part.name].bare
            private = noised and not bits.injected()
            released_parts[part.name] = Released(
                _filled(part, contribution[part.name]), 0.0, private
            )
        return released_parts

    def _handed(
        self, round_: Round, part: Part, epoch: Printed, charge: Charge
    ) -> NDArray[np.float64]:
        """The draws of one part: its event is spent on them."""
        path = f"{round_.name}/{part.name}"
        return handed(path, charge, epoch.draws) / part.bound.steps

    def raters(self, item: int) -> People:
        """Rows of the people who rated an item."""
        order = self.ratings.by_item
        return order.user[order.ptr[item] : order.ptr[item + 1]].astype(np.int64)


def _filled(part: Part, rows: Rows) -> NDArray[np.float64]:
    """Whatever the epoch made: nothing bounds it, and nothing is certified."""
    if np.array_equal(rows.index, np.arange(part.size)):
        return np.array(rows.values, np.float64)
    real = np.zeros((part.size, part.width))
    np.add.at(real, rows.index, rows.values)
    return real


class PrintedAnswers(Answers):
    """Answers that may hide which rows a device fills, as Shin et al. print their simple
    solution."""

    def _hear_vectors(self, block: Block, rows: Rows) -> None:
        if not isinstance(self.event, Unbounded):
            super()._hear_vectors(block, rows)
            return
        integers = self.part.bound.apply(rows)
        index = np.asarray(rows.index, np.int64)
        self.total += masked(self.event, rows.ptr, index, integers, self.part.size)

    def _sd(self) -> float:
        return 0.0 if isinstance(self.event, Unbounded) else super()._sd()


class PrintedLocal(Local):
    """Devices that answer as Shin et al. print."""

    printed = True

    def _answers(self, part: Part, event: Event | None) -> Answers:
        return PrintedAnswers(part, event)


class PrintedSimulate(Simulate):
    """The same devices in one process; or those of Hua et al."""

    printed = True

    def _answers(self, part: Part, event: Event | None) -> Answers:
        return PrintedAnswers(part, event)

    def _check_round(self, round_: Round) -> None:
        if not _in_one_piece(round_):
            super()._check_round(round_)

    def run(self, round_: Round, state: State, charge: Charge) -> Mapping[str, Released]:
        """A twin that is trained in one piece has no devices: it runs as on threads."""
        if _in_one_piece(round_):
            threads_engine = PrintedThreads(self.ratings, self.threads, self._progress)
            return threads_engine.run(round_, state, charge)
        return super().run(round_, state, charge)

    def _made_federation(self) -> Federated:
        return PrintedFederated(self.ratings, self.threads, self._progress, noise=self.noise_from)

    @property
    def personal_state(self) -> Kept:
        """What a paper trained of its people."""
        return self._federation()._personal


def _in_one_piece(round_: Round) -> bool:
    """Whether it is the training of a twin: an epoch that no paper claims anything for."""
    return all(
        isinstance(part.printed, Epoch) and part.printed.claim is None for part in round_.parts
    )


class PrintedFederated(Federated):
    """A federation whose noise is divided as Hua et al. print: eta, the same in every round,
    and rho, fresh in each (sections 4.2 and 4.3)."""

    printed = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._eta: dict[str, NDArray[np.int64]] = {}

    @property
    def personal_state(self) -> Kept:
        """What a paper trained of its people."""
        return self._personal

    def _for_all(self, round_: Round, released: Released, state: State) -> Released:
        if round_.takes_part.printed:  # of those who are here, as printed
            return released
        return super()._for_all(round_, released, state)

    def _noise(self, round_: Round, part: Part, event: Event, shape: tuple[int, ...]) -> Noise:
        if isinstance(event, Unbounded):
            return self._printed(round_, part, event, shape)
        return super()._noise(round_, part, event, shape)

    def _printed(
        self, round_: Round, part: Part, event: Unbounded, shape: tuple[int, ...]
    ) -> Noise:
        nothing = Noise(np.zeros(shape, np.int64), 0.0)
        if event.noise == "none":
            return nothing
        scheme = round_.takes_part.printed
        if not scheme:
            return draw_noise(event, shape)
        every = scheme.startswith("S3")
        eta = self._eta_of(part.name, event, shape, everything=every)
        if round_.name == "initialise":
            return nothing
        if scheme == "direct":  # equation 13: every rater adds a whole rho
            return self._direct(event, eta)
        rho = draw_noise(event, shape)
        if scheme.endswith("thin"):
            return self._thin(rho, eta)
        return Noise(rho.steps + eta, rho.sd * 2**0.5)

    def _thin(self, rho: Noise, eta: NDArray[np.int64]) -> Noise:
        """The same of pieces with standard deviation 1/k: the noise of a sum shrinks with
        the root of its raters."""
        root_raters = np.sqrt(np.maximum(self._raters(), 1))[:, None]
        steps = np.round((rho.steps + eta) / root_raters).astype(np.int64)
        return Noise(steps, rho.sd * 2**0.5)

    def _direct(self, event: Unbounded, eta: NDArray[np.int64]) -> Noise:
        raters = self._raters()
        width = eta.shape[1]
        scale = event.scale / width**0.5
        device_steps = np.trunc(whole_pieces(scale, raters, width)).astype(np.int64)
        device_variance = scale**2 * (width + 1) * float(raters.mean())
        return Noise(device_steps + eta, (device_variance + 2 * event.scale**2) ** 0.5)

    def _eta_of(
        self, name: str, event: Unbounded, shape: tuple[int, ...], *, everything: bool
    ) -> NDArray[np.int64]:
        """Drawn once: in S3 for every item (section 4.3), before anybody's ratings enter; in
        S2 by an item's raters."""
        if name not in self._eta:
            eta = draw_noise(event, shape).steps
            if not everything:
                eta = np.where(self._raters()[:, None] > 0, eta, 0)
            self._eta[name] = eta
        return self._eta[name]

    def _raters(self) -> NDArray[np.int64]:
        """How many of those who take part have rated each item: the paper's k."""
        data = self.ratings
        present = np.zeros(data.n_users, bool)
        present[slice(None) if self._present is None else self._present] = True
        return np.bincount(data.item[present[data.user]], minlength=data.n_items)
