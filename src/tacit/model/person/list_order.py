"""The order of a list unless it is told otherwise: not the highest expected rating alone.

By expected rating everybody's list begins with the same few items that all people like, and
many of them are items that hardly anybody looks for. So the order takes off a part of each
item's effect, which leaves more of this person's own taste, and adds what many know.
Expected ratings and their errors stay what they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

OTHERS = 0.6
"""Share of an item's own effect that the order of a list leaves out. With all of it in, the
same few best items are on top of every list. Both constants were chosen on splits of ML-1M and
ML-100K that are not reported: docs/results/bayes.md."""
KNOWN = 0.12
"""What one unit of the log of popularity adds, on the inner scale. Where noise has drowned
popularity its released estimates are near each other, and add little."""


def list_order_offset(baseline: Floats, weight: NDArray[Any]) -> Floats:
    """What the order of a list adds to the expected rating of each item, from released
    numbers."""
    familiarity = np.log1p(np.maximum(np.asarray(weight, np.float64), 0.0))
    return np.asarray(KNOWN * familiarity - OTHERS * baseline)
