"""How much memory may be used: as somebody said, else what the machine has."""

from __future__ import annotations

import os
import re

from tacit.errors import SettingError

UNITS = {"": 1, "K": 1000, "M": 1000**2, "G": 1000**3, "T": 1000**4}
SIZE = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([KMGT]?)(I?)B?\s*", re.IGNORECASE)
LEAST = 500_000_000
"""An interpreter with its compiled kernels takes about half of it."""
MOST = 0.8
"""Of the machine, where nobody says."""


def memory_size(memory: str | int | None) -> int:
    """Bytes: of `4GB`, `1.5 GiB` or a number; of nothing, most of this machine."""
    if memory is None:
        pages = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return int(MOST * pages)
    if isinstance(memory, int) and not isinstance(memory, bool):
        size = memory
    else:
        match = SIZE.fullmatch(memory) if isinstance(memory, str) else None
        if match is None:
            raise SettingError(
                f"memory is {memory!r}, which is no size", remedy="give a size such as 4GB"
            )
        unit = UNITS[match[2].upper()]
        if match[3]:
            unit = round(1024 ** (len(str(unit)) // 3))
        size = int(float(match[1]) * unit)
    if size < LEAST:
        raise SettingError(
            f"memory is {size:,} bytes, and a fit takes at least {LEAST:,}",
            remedy="give a size such as 4GB",
        )
    return size
