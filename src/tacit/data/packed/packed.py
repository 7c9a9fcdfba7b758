"""Ratings that stay in their file: what an engine streams, and what loads where it fits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from tacit.data.packed.names import Names, joined, left_of, names_of
from tacit.data.packed.store import Numbered, PackFile, PackWriter, RecordShape, numbers_or_texts
from tacit.data.ratings import ByItem, Notes, Ratings
from tacit.data.schema import Schema
from tacit.errors import DataError, SettingError
from tacit.repr import shapes

FAR_APART = 1 << 22
"""Cells between which what is not asked for is read too: 12 megabytes."""
PIECE = 1 << 22
"""Cells that are handled at a time where a file is read as a whole."""


def too_large() -> SettingError:
    """The error where something needs all ratings at once."""
    return SettingError(
        "these ratings are larger than the memory that may be used, and this needs all of "
        "them at once",
        remedy="raise --memory, or use `tacit fit` with a sound method on --engine threads, "
        "which streams them",
    )


class FileColumn:
    """One column of the file as an array that can be cut and nothing else: whatever needs
    the whole is refused in words."""

    def __init__(self, reader: Reader, role: str) -> None:
        self._reader = reader
        self._role = role

    __repr__ = shapes

    def __len__(self) -> int:
        return self._reader.file.cells

    def __getitem__(self, which: Any) -> NDArray[Any]:
        """Some cells, read now."""
        if not isinstance(which, slice | np.ndarray):
            raise too_large()
        return self._reader.read(which, self._role)

    def max(self) -> int:
        """The latest time, which the header knows."""
        times = self._reader.file.shape.times
        if self._role != "time" or times is None:
            raise too_large()
        return times[1]

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise too_large()

    __array__ = __iter__ = __eq__ = __ne__ = __lt__ = __le__ = _refuse
    __gt__ = __ge__ = __add__ = __sub__ = __mul__ = __rmul__ = _refuse
    __setitem__ = __invert__ = __and__ = __or__ = __truediv__ = _refuse
    __hash__ = None  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise too_large()


class Reader:
    """Reads runs of cells. Each thread keeps the records that it read last, because items,
    values and times of one block are asked for one after the other."""

    def __init__(self, file: PackFile) -> None:
        self.file = file
        self._last = threading.local()

    def read(self, which: slice | NDArray[Any], role: str) -> NDArray[Any]:
        """Items, values or times of some cells."""
        column: NDArray[Any] = getattr(self.file, role)(self._records(which))
        return column

    def _records(self, which: slice | NDArray[Any]) -> NDArray[Any]:
        if isinstance(which, slice):
            first, last, step = which.indices(self.file.cells)
            if step != 1:
                raise too_large()
            return self._run(first, max(first, last))
        if which.dtype.kind not in "iu":
            raise too_large()
        if not len(which):
            return np.empty(0, self.file.record)
        # Ascending cells of people who take part, with gaps where others are.
        cuts = np.flatnonzero(np.diff(which) > FAR_APART) + 1
        return np.concatenate([part for run in np.split(which, cuts) for part in self._runs(run)])

    def _runs(self, run: NDArray[Any]) -> Iterator[NDArray[Any]]:
        start = 0
        while start < len(run):
            low = int(run[start])
            stop = int(np.searchsorted(run, low + 2 * FAR_APART))
            stop = max(stop, start + 1)
            records = self.file.records(low, int(run[stop - 1]) + 1)
            yield records[run[start:stop] - low]
            start = stop

    def _run(self, first: int, last: int) -> NDArray[Any]:
        cached = getattr(self._last, "kept", None)
        if cached is None or cached[:2] != (first, last):
            self._last.kept = cached = (first, last, self.file.records(first, last))
        records: NDArray[Any] = cached[2]
        return records


@dataclass(frozen=True, eq=False)
class Packed(Ratings):
    """Ratings in a file. Rows of people may be cut out; all else is refused in words."""

    reader: Reader | None = field(default=None, repr=False)

    __repr__ = shapes

    @property
    def file(self) -> PackFile:
        """The file that they are in."""
        assert self.reader is not None
        return self.reader.file

    @property
    def user(self) -> NDArray[np.uint32]:
        """Refused: one number for each cell."""
        raise too_large()

    @property
    def by_item(self) -> ByItem:
        """Refused: the other order of all cells."""
        raise too_large()

    def take(self, keep: NDArray[np.bool_], *, drop_empty: bool = True) -> Ratings:
        """Refused: it is asked with one truth value for each cell."""
        raise too_large()

    def people_between(self, first: int, last: int) -> Ratings:
        """Some people one after the other, in memory."""
        start, stop = int(self.ptr[first]), int(self.ptr[last])
        cells = slice(start, stop)
        return Ratings(
            self.schema,
            self.users[first:last],
            self.items,
            self.ptr[first : last + 1] - start,
            self.item[cells],
            self.value[cells],
            None if self.time is None else self.time[cells],
            self.notes,
        )

    def pieces(self) -> Iterator[Ratings]:
        """Everybody, some people at a time."""
        first = 0
        while first < self.n_users:
            room = self.ptr[first] + PIECE
            last = int(np.searchsorted(self.ptr, room, side="right")) - 1
            last = max(last, first + 1)
            yield self.people_between(first, last)
            first = last

    def loaded(self) -> Ratings:
        """All of them in memory, in one array of each kind that is filled piece by piece."""
        size = self.file.cells
        item = np.empty(size, np.uint32)
        value = np.empty(size, np.float32)
        time = None if self.time is None else np.empty(size, np.int64)
        for first in range(0, size, PIECE):
            cells = slice(first, min(first + PIECE, size))
            item[cells] = self.item[cells]
            value[cells] = self.value[cells]
            if time is not None and self.time is not None:
                time[cells] = self.time[cells]
        return Ratings(
            self.schema,
            list(self.users),
            self.items,
            self.ptr,
            item,
            value,
            time,
            self.notes,
            self.everyone,
        )


def open_pack(path: Path) -> Packed:
    """The ratings of a packed file, still in it."""
    return packed_in(PackFile(path))


def packed_in(file: PackFile) -> Packed:
    """The ratings of an open file."""
    counts = np.frombuffer(file.part("counts"), "<u4")
    ptr = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    if len(counts) != file.people or int(ptr[-1]) != file.cells:
        raise file.damaged()
    try:
        facts = dict(file.header["facts"])
        schema = Schema(**facts["schema"])
        notes = _notes(facts["notes"])
        kind = str(file.header["ids"])
    except (KeyError, TypeError):
        raise file.damaged() from None
    users = names_of(kind, file.people, file.part("users"), file.label)
    items = names_of("texts", file.shape.items, file.part("items"), file.label)
    everyone = None
    alive = counts > 0
    if not alive.all():
        everyone, users, ptr = list(users), left_of(users, alive), ptr[np.append(True, alive)]
    reader = Reader(file)
    column: Callable[[str], Any] = partial(FileColumn, reader)
    time = None if file.shape.times is None else column("time")
    cells = (column("item"), column("value"), time)
    return Packed(schema, users, list(items), ptr, *cells, notes, everyone, reader)


def facts_of(schema: Schema, notes: Notes) -> dict[str, Any]:
    """What a header says beside the numbers."""
    return {"schema": asdict(schema), "notes": asdict(notes)}


def _notes(saved: dict[str, Any]) -> Notes:
    field_names = {field.name for field in fields(Notes)}
    recognized = {name: value for name, value in saved.items() if name in field_names}
    for name in ("messages", "columns"):
        recognized[name] = tuple(recognized.get(name, ()))
    return Notes(**recognized)


def shape_of(ratings: Ratings) -> RecordShape:
    """How ratings in memory are written in the least room."""
    distinct = np.unique(ratings.value)
    values = tuple(map(float, distinct)) if len(distinct) <= 256 else None
    times = None
    if ratings.time is not None and len(ratings.time):
        times = int(ratings.time.min()), int(ratings.time.max())
    return RecordShape(ratings.n_items, values, times)


def write_pack(ratings: Ratings, target: Path) -> None:
    """Ratings in memory as a packed file, with people of the table who have none."""
    ratings = ratings.with_everyone()
    with PackWriter(target, shape_of(ratings)) as writer:
        cells = Numbered(ratings.item, ratings.value, ratings.time)
        writer.add(np.diff(ratings.ptr), cells)
        writer.finish(
            numbers_or_texts(ratings.users), ratings.items, facts_of(ratings.schema, ratings.notes)
        )


def rewritten(packed: Packed, change: Callable[[Ratings], Ratings], folder: Path) -> Packed:
    """The ratings that `change` leaves of each piece of people, in a scratch file of their
    own: owner-only, beside the pack, without a name, so that it goes when it is closed."""
    target = folder / f".{packed.file.path.name}.scratch"
    items = packed.items
    users: list[Names] = []
    notes = packed.notes
    writer: PackWriter | None = None
    try:
        for piece in packed.pieces():
            remaining = change(piece)
            if writer is None:
                items = remaining.items
                shape = packed.file.shape._replace(items=len(items))
                writer = PackWriter(target, shape)
            dropped = remaining.notes.dropped_items - packed.notes.dropped_items
            notes = replace(notes, dropped_items=notes.dropped_items + dropped)
            cells = Numbered(remaining.item, remaining.value, remaining.time)
            writer.add(np.diff(remaining.ptr), cells)
            users.append(numbers_or_texts(remaining.users))
        if writer is None:
            raise DataError("there is no rating in it", place=packed.file.label)
        facts = facts_of(packed.schema, notes)
        writer.finish(joined(users), items, facts)
        repacked = packed_in(PackFile(target))
    finally:
        if writer is not None:
            writer.close()
        target.unlink(missing_ok=True)
    return replace(repacked, schema=packed.schema)
