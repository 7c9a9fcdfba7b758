"""`tacit.pack`: ratings of any table in a compact private file, sorted by person.

Text and parquet are read in blocks and sorted on disk, so they may be larger
than memory. What a layout of its own reads (Netflix, Jester), frames and matrices pass through
memory.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tacit.data.catalogue import Catalogue
from tacit.data.memory import memory_size
from tacit.data.packed import Packed, open_pack
from tacit.data.packed.packed import write_pack
from tacit.data.packing import SUFFIX, PackRequest
from tacit.data.read import answer
from tacit.data.reading.assemble import Duplicates
from tacit.data.reading.columns import Columns
from tacit.data.reading.spooled import Progress
from tacit.data.reading.written import DeclaredText
from tacit.errors import SettingError, StorageError
from tacit.validation import by_name, flag
from tacit.validation import path as asked_path


@by_name
def pack(
    source: Any,
    out: str | Path,
    scale: tuple[float, float] | None = None,
    *,
    items: Catalogue | None = None,
    duplicates: Duplicates = "last",
    positive: float | bool | None = None,
    users: int | None = None,
    layout: str | None = None,
    columns: Columns | None = None,
    memory: str | int | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    dates: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Packed:
    """Write the ratings of `source` to `out`, readable by its owner alone, and open them.

    Arguments are those of `tacit.read`; `memory` ("4GB") is about what it may take. The file
    appears whole or not at all.
    """
    target = asked_path("out", out).expanduser()
    flag("overwrite", overwrite)
    check_target(target, overwrite=overwrite)
    declared_text = DeclaredText(header, delimiter, dates, decimal, encoding)
    likes = None if positive is False else positive
    ask = PackRequest(scale, items, duplicates, likes, users, columns, declared_text)
    ask.into(target, memory_size(memory), progress)
    ratings = answer(source, layout, ask)
    if isinstance(ratings, Packed):
        return ratings
    write_pack(ratings, target)
    return open_pack(target)


def check_target(target: Path, *, overwrite: bool) -> None:
    """Refuse a name that could not be written, before anything is read."""
    if target.suffix != SUFFIX:
        raise SettingError(
            f"{target.name} does not say that it holds private ratings",
            remedy=f"choose a name that ends in {SUFFIX}",
        )
    if not target.parent.is_dir():
        raise StorageError(
            f"there is no folder {target.parent}", remedy="make it, or choose another --out"
        )
    if target.is_dir() or (target.exists() and not overwrite):
        raise StorageError(
            f"{target} exists already", remedy="choose another --out, or add --overwrite"
        )
