"""One BLAS thread, for as long as it takes.

A product of public numbers by two threads has other last bits than by one, and the sums of the
next round would follow it. And many small products only wait on a pool of threads.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


def one_blas_thread() -> Any:
    """A context in which every BLAS of this process keeps to one thread."""
    return pools(len(sys.modules)).limit(limits=1)


@lru_cache(maxsize=1)
def pools(loaded: int) -> ThreadpoolController:
    """The pools of threads. To look for them takes two milliseconds, longer than a small round,
    so it is done again only where modules were `loaded` since, which may have brought a pool."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
