"""The personal Gaussian model over shared arrays: `baseline`, `variance`, `loadings`, and the number `noise`."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.model import gaussian
from tacit.model.gaussian import GaussianModel
from tacit.model.personal import Cells, Floats, Own, PersonalModel, Reason


class GaussianPersonal(PersonalModel):
    """One small ridge solve a person; see `tacit.model.gaussian`."""

    @cached_property
    def model(self) -> GaussianModel:
        baseline, variance, loadings = (
            np.ascontiguousarray(self.arrays[name], np.float64) for name in ("baseline", "variance", "loadings")
        )
        return GaussianModel(baseline, variance, loadings, self.numbers["noise"])

    def predict(self, own: Own) -> tuple[Floats, Floats]:
        return gaussian.predict(self.model, gaussian.fold_in(self.model, own.items, own.values))

    def explain(self, own: Own, item: int) -> Reason:
        return Reason(float(self.model.baseline[item]), gaussian.influence(self.model, own.items, own.values, item))

    def similar(self, item: int) -> Floats:
        """Cosine of the loadings without the personal level, which all items share."""
        rows = self.model.loadings[:, 1:]
        length = np.sqrt((rows**2).sum(axis=1))
        closeness: Floats = rows @ rows[item] / np.maximum(length * length[item], 1e-12)
        return closeness

    def predict_cells(self, cells: Cells) -> Floats:
        mean, _ = gaussian.predict_cells(self.model, cells.ptr, cells.item, cells.value, cells.ask_ptr, cells.ask_item)
        return mean

    def score_block(self, ptr: NDArray[np.int64], item: NDArray[np.uint32], value: Floats) -> Floats:
        own = (slice(ptr[row], ptr[row + 1]) for row in range(len(ptr) - 1))
        means = [gaussian.fold_in(self.model, item[cells].astype(np.int64), value[cells]).mean for cells in own]
        return self.model.baseline + np.array(means) @ self.model.loadings.T
