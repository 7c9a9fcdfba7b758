"""Who rated what, without the values: public at the unit `value` and at no other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Pattern:
    """The cells that hold a rating, by person; not their values."""

    ptr: NDArray[np.int64]
    item: NDArray[np.uint32]
