"""The published arrays as files that other systems read."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tacit.atomic_write import open_atomic
from tacit.errors import ArgumentError, SettingError
from tacit.exports import write_parquet
from tacit.model.folder import check_asked
from tacit.model.shared import Paid, RescuedError, Shared
from tacit.validation import Suggesting, by_name, flag
from tacit.validation import path as asked_path

if TYPE_CHECKING:
    from tacit.ledger.statement.statement import Statement
    from tacit.model.model import Model
    from tacit.publication import Reservation

KINDS = ("npz", "parquet")
"""Formats, which are how names of files end too."""


class Written(Suggesting):
    """What a model can be written to."""

    shared: Shared
    kept: bool
    fresh: bool
    _statement: Statement | str

    def save(self, path: str | Path = "", *, overwrite: bool = False) -> None:
        """Write the model as arrays and JSON, whole or not at all."""
        if path == "":
            raise ArgumentError("save lacks path", remedy="give path=...")
        check_asked(path, overwrite)
        self._save(path, overwrite, None)

    def save_reserved(self, reservation: Reservation, *, overwrite: bool = False) -> None:
        """The same, into a folder that was reserved before the fit was charged."""
        self._save(reservation.target, overwrite, reservation)

    def _save(self, path: str | Path, overwrite: bool, reservation: Reservation | None) -> None:
        self._check_kept()
        text = self._statement
        if not isinstance(text, str):
            text = text.to_json()
        try:
            self.shared.save(
                path, text, overwrite=overwrite, reservation=reservation, paid=self._charged_entry()
            )
        except RescuedError:
            self.fresh = False
            raise
        self.fresh = False

    def _charged_entry(self) -> Paid | None:
        """Which entry of a book would be lost with this model, if any."""
        from tacit.ledger.book.store import home

        if not self.fresh or isinstance(self._statement, str):
            return None
        number = self._statement.book_number
        if number is None:
            return None
        return Paid(
            f"entry {number} of {self._statement.population!r}",
            (home() / "rescued", Path(tempfile.gettempdir())),
        )

    def _check_kept(self) -> None:
        if not self.kept:
            raise SettingError(
                "noise off: this model was made for comparison only", remedy="fit it with its noise"
            )

    @by_name
    def export(
        self, path: str | Path, *, similarities: bool = False, overwrite: bool = False
    ) -> None:
        """Write the item arrays for other systems, one row an item with its id and title, as
        .npz or .parquet by the name; with `similarities`, pairs of items and how alike they
        are. They are public already."""
        self._check_kept()
        target = asked_path("path", path)
        flag("similarities", similarities)
        kind = target.suffix.lower().removeprefix(".")
        if kind not in KINDS:
            raise SettingError(
                f"{target} is neither .npz nor .parquet", remedy="name it after one of the two"
            )
        if target.exists() and not flag("overwrite", overwrite):
            raise SettingError(
                f"{target} exists", remedy="choose another --out, or give --overwrite to replace it"
            )
        write = export_pairs if similarities else export_arrays
        write(cast("Model", self), str(target), kind)


def export_arrays(model: Model, out: str, kind: str) -> None:
    """Every per-item array with ids and titles."""
    catalogue = model.shared.catalogue
    items = len(catalogue)
    arrays = {n: np.asarray(a) for n, a in model.personal.vectors().items()}
    needs = model.personal.arrays_needed
    if kind == "npz":
        _write(out, kind, {"ids": np.array(list(catalogue.ids)), **arrays})
        return
    columns: dict[str, Any] = {"item": list(catalogue.ids)}
    if catalogue.titles is not None:
        columns["title"] = list(catalogue.titles)
    columns |= {
        n: a if a.ndim == 1 else a.tolist()
        for n, a in arrays.items()
        if a.shape[:1] == (items,) and (n not in needs or needs[n].shape[0] == "items")
    }
    _write(out, kind, columns)


def export_pairs(model: Model, out: str, kind: str) -> int:
    """One row a pair: an item, one of its neighbours, and how alike they are. Gives the
    number of pairs."""
    shared = model.shared
    if not {"start", "neighbour", "similarity"} <= set(shared.arrays):
        raise SettingError(
            f"a model of {shared.method} holds no similarities of items",
            remedy="export a model of knn-pearson, knn-cosine, pnbm-sgd or pnbm-langevin",
        )
    ids = np.array(list(shared.catalogue.ids))
    start = shared.arrays["start"]
    item = ids[np.repeat(np.arange(len(ids)), np.diff(start))]
    neighbour = ids[shared.arrays["neighbour"]]
    # Divided by the floor, so that a floor of 1 fits them.
    floor = np.float32(shared.numbers.get("floor", 1.0))  # covariances have none
    similarity = np.asarray(shared.arrays["similarity"]) / floor
    columns = {"item": item, "neighbour": neighbour, "similarity": similarity}
    _write(
        out,
        kind,
        columns if kind == "npz" else {name: column.tolist() for name, column in columns.items()},
    )
    return len(similarity)


def _write(out: str, kind: str, columns: dict[str, Any]) -> None:
    """Written beside its place and moved there."""
    with open_atomic(out, remedy="choose another --out") as file:
        if kind == "npz":
            np.savez_compressed(file, **columns)
        else:
            import polars as pl

            write_parquet(pl.DataFrame(columns), file)
