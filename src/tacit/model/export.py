"""The published arrays as files that other systems read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import StorageError

if TYPE_CHECKING:
    from tacit.model.model import Model


def export_arrays(model: Model, out: str, kind: str) -> None:
    """Every per-item array with ids and titles; written beside its place and moved there."""
    catalogue = model.shared.catalogue
    items = len(catalogue)
    arrays = {n: np.asarray(a) for n, a in model.personal.vectors().items()}
    target = Path(out)
    staging = target.with_name(f".{target.name}.part")
    try:
        if kind == "npz":
            with open(staging, "wb") as file:
                named: dict[str, Any] = {"ids": np.array(list(catalogue.ids)), **arrays}
                np.savez_compressed(file, **named)
        else:
            import polars as pl

            columns: dict[str, object] = {"item": list(catalogue.ids)}
            if catalogue.titles is not None:
                columns["title"] = list(catalogue.titles)
            columns |= {n: a if a.ndim == 1 else a.tolist() for n, a in arrays.items() if a.shape[:1] == (items,)}
            pl.DataFrame(columns).write_parquet(staging)
        os.replace(staging, target)
    except OSError as error:
        raise StorageError(f"{out} cannot be written: {error.strerror}", remedy="choose another --out") from None
    finally:
        staging.unlink(missing_ok=True)
