"""Ratings in a private file, sorted by person: for data larger than memory.

`store` is the file, `cells` its numbers as if they were arrays, `packed` the ratings that an
engine streams block by block. `tacit.data.pack` writes one from any table.
"""

from __future__ import annotations

from tacit.data.packed.packed import Packed, open_pack, rewritten
from tacit.data.packed.store import PackWriter, is_pack

__all__ = ["PackWriter", "Packed", "is_pack", "open_pack", "rewritten"]
