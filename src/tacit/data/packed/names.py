"""Ids of people in few bytes: numbers as numbers, texts as one long text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError
from tacit.repr import shapes


class Names(Sequence[str]):
    """Ids that are made when they are asked for."""

    kind = ""
    """How they are stored."""

    __repr__ = shapes

    def stored(self) -> bytes:
        """The bytes that `names_of` reads."""
        raise NotImplementedError

    def id_at(self, index: int) -> str:
        """The id of one person."""
        raise NotImplementedError

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        """One id, or a list of some."""
        if isinstance(index, slice):
            return [self.id_at(k) for k in range(*index.indices(len(self)))]
        size = len(self)
        if not -size <= index < size:
            raise IndexError(index)
        return self.id_at(index % size)


class Numbers(Names):
    """Ids that are whole numbers in their shortest form."""

    kind = "numbers"

    def __init__(self, numbers: NDArray[np.uint32]) -> None:
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def id_at(self, index: int) -> str:
        """As it is written."""
        return str(int(self.numbers[index]))

    def stored(self) -> bytes:
        """The bytes that `names_of` reads."""
        return self.numbers.astype("<u4").tobytes()


class Texts(Names):
    """Ids of any form, one after the other."""

    kind = "texts"

    def __init__(self, ends: NDArray[np.int64], data: bytes) -> None:
        self.ends = ends
        self.data = data

    @classmethod
    def of(cls, names: Sequence[str]) -> Texts:
        """Some ids."""
        encoded = [name.encode() for name in names]
        ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
        return cls(ends, b"".join(encoded))

    def __len__(self) -> int:
        return len(self.ends)

    def id_at(self, index: int) -> str:
        """As it is written."""
        start = int(self.ends[index - 1]) if index else 0
        return self.data[start : int(self.ends[index])].decode()

    def stored(self) -> bytes:
        """The bytes that `names_of` reads."""
        return self.ends.astype("<i8").tobytes() + self.data


def left_of(names: Names, alive: NDArray[np.bool_]) -> Names:
    """The ids of the people who are `alive`."""
    if isinstance(names, Numbers):
        return Numbers(names.numbers[alive])
    return Texts.of([names[int(k)] for k in np.flatnonzero(alive)])


def joined(parts: Sequence[Names]) -> Names:
    """The ids of several runs of people, one after the other."""
    numbers = [part.numbers for part in parts if isinstance(part, Numbers)]
    if len(numbers) == len(parts):
        return Numbers(np.concatenate([np.zeros(0, np.uint32), *numbers]))
    return Texts.of([name for part in parts for name in part])


def names_of(kind: str, count: int, stored: bytes, label: str) -> Names:
    """What `stored` wrote."""
    names: Any
    if kind == Numbers.kind and len(stored) == 4 * count:
        return Numbers(np.frombuffer(stored, "<u4"))
    if kind == Texts.kind and len(stored) >= 8 * count:
        ends = np.frombuffer(stored, "<i8", count)
        names = Texts(ends.astype(np.int64), stored[8 * count :])
        steps = np.diff(ends, prepend=0)
        if (steps >= 0).all() and (not count or ends[-1] == len(names.data)):
            return names  # type: ignore[no-any-return]
    raise DataError("its ids are damaged", place=label, remedy="pack the ratings again")
