"""The Netflix Prize layout: a file an item (`mv_*.txt`), or items one after the other
(`combined_data_*.txt`)."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.data.catalogue import Catalogue
from tacit.data.layouts.base import Glance, Layout, LayoutRequest
from tacit.data.ratings import Notes, Ratings
from tacit.data.reading.assemble import Duplicates, RowsRead, assemble
from tacit.data.reading.cells import Growing, dense_numbers
from tacit.data.reading.files import Bundle, Stream, text_chunks
from tacit.data.schema import Schema
from tacit.errors import DataError, format_location

if TYPE_CHECKING:
    from tacit.kernels.parse import Parsed

NAMES = re.compile(r"(mv_\d+|combined_data_\d+)\.txt(\.gz)?")
BATCH = 1 << 23
"""Bytes parsed at a time: the 17,770 small files are parsed many at once."""


def is_netflix(preview: Glance) -> bool:
    """By the names of its files."""
    return bool(NAMES.fullmatch(preview.name))


def netflix_parts(bundle: Bundle) -> Iterator[Stream]:
    """The files of the Netflix Prize among those of a bundle."""
    return (part for part in bundle.parts() if NAMES.fullmatch(part.name))


def read(layout: Layout, bundle: Bundle, parts: list[Stream], asked: LayoutRequest) -> Ratings:
    """The ratings of all files; `parts` is empty, because one pass is all there is."""
    schema = asked.schema(layout, True, bundle.label)
    return read_netflix(bundle, schema, asked.items, asked.duplicates)


def read_netflix(
    bundle: Bundle, schema: Schema, catalogue: Catalogue | None, duplicates: Duplicates
) -> Ratings:
    """All ratings of the bundle. Two threads parse while this one reads."""
    from tacit.kernels.parse import netflix  # compiled on first use

    builder = _Builder(bundle, schema, duplicates == "error")
    waiting: deque[tuple[_Batch, Future[Parsed]]] = deque()
    with ThreadPoolExecutor(2) as pool:
        for batch in batches(bundle):
            waiting.append((batch, pool.submit(netflix, batch.data, schema.low, schema.high)))
            if len(waiting) > 4:
                ready, future = waiting.popleft()
                builder.add(ready, future.result())
        while waiting:
            ready, future = waiting.popleft()
            builder.add(ready, future.result())
    return builder.finish(catalogue, duplicates)


class _Begin(NamedTuple):
    """Where a file begins in a batch."""

    byte: int
    label: str
    line: int
    """Of the file, that this byte begins."""


class _Batch:
    """Whole lines of one or more files, and where each file begins in them."""

    def __init__(self) -> None:
        self.blocks: list[bytes] = []
        self.size = 0
        self.files: list[_Begin] = []

    def add(self, label: str, line: int, block: bytes) -> None:
        self.files.append(_Begin(self.size, label, line))
        self.blocks.append(block)
        self.size += len(block)

    def seal(self) -> _Batch:
        self.data = b"".join(self.blocks)
        self.blocks = []
        return self

    def location(self, byte: int) -> str:
        file_start = next(start for start in reversed(self.files) if start.byte <= byte)
        lines_before = self.data.count(b"\n", file_start.byte, byte)
        return format_location(file_start.label, file_start.line + lines_before)


def batches(bundle: Bundle) -> Iterator[_Batch]:
    """The files of a bundle in batches that fill both cores."""
    batch = _Batch()
    for part in netflix_parts(bundle):
        for line, block in _blocks(part):
            batch.add(part.label, line, block)
            if batch.size >= BATCH:
                yield batch.seal()
                batch = _Batch()
    if batch.size:
        yield batch.seal()


def _blocks(part: Stream) -> Iterator[tuple[int, bytes]]:
    line, previous = 1, b""
    with part.open() as stream:
        for block in text_chunks(stream, part.label, BATCH):
            line += previous.count(b"\n")  # most files are one block: theirs are never counted
            if not previous:
                block = block.removeprefix(b"\xef\xbb\xbf")
                head = block[: block.find(b"\n")].rstrip()
                if not (head.endswith(b":") and head[:-1].isdigit()):
                    raise DataError(
                        "the first line is not an item's number and a colon",
                        place=format_location(part.label, 1),
                        remedy="the Netflix layout has lines `item:` and `user,rating,date`",
                    )
            yield line, block
            previous = block


class _Builder:
    def __init__(self, bundle: Bundle, schema: Schema, keep_lines: bool) -> None:
        self.bundle = bundle
        self.schema = schema
        self.keep_lines = keep_lines
        self.user, self.item = Growing(np.uint32), Growing(np.uint32)
        self.value, self.day = Growing(np.uint8), Growing(np.int32)
        self.line = Growing(np.int64)
        """Lines counted through all files, only where a repeated pair is an error."""
        self.current = self.lines = 0

    def add(self, batch: _Batch, parsed: Parsed) -> None:
        if parsed.kind:
            raise fault(parsed.kind, batch.location(parsed.byte), self.schema)
        user, start = parsed.user, parsed.start
        items = np.concatenate([[self.current], parsed.section])  # a batch may begin inside an item
        lengths = np.diff(np.concatenate([[0], start, [user.size]]))
        item = np.repeat(items.astype(np.uint32), lengths)
        line = self.lines + np.flatnonzero(is_row(batch.data)) if self.keep_lines else None
        self.current = int(items[-1])
        self.user.add(user)
        self.item.add(item)
        self.value.add(parsed.value)
        self.day.add(parsed.day)
        if line is not None:
            self.line.add(line)
            self.lines += batch.data.count(b"\n")

    def finish(self, catalogue: Catalogue | None, duplicates: Duplicates) -> Ratings:
        label = self.bundle.label
        if not self.user.size:
            raise DataError(
                "there is no rating in it", place=label, remedy="check that the files are complete"
            )
        item, items = dense_numbers(self.item.finish())
        user, users = dense_numbers(self.user.finish())
        lines = self.line.finish() if self.keep_lines else None
        cells = RowsRead(user, item, self.value.finish(), self.day.finish(), lines, in_days=True)
        del user, item
        notes = Notes(layout="netflix")
        return assemble(
            cells, users, items, self.schema, notes, label, catalogue, duplicates, self.spot
        )

    def spot(self, line: int) -> str:
        """A line counted through all files as a line of one file."""
        for batch in batches(self.bundle):
            count = batch.data.count(b"\n")
            if line < count:
                at = -1
                for _ in range(line):
                    at = batch.data.index(b"\n", at + 1)
                return batch.location(at + 1)
            line -= count
        return "in a file that changed"


def is_row(data: bytes) -> NDArray[np.bool_]:
    """For each line, whether it holds a rating."""
    return np.array([b"," in line for line in data.split(b"\n")[:-1]], np.bool_)


def fault(kind: int, location: str, schema: Schema) -> DataError:
    """What a code of the parser means, in words."""
    from tacit.data.reading.faults import off_scale, time_fault
    from tacit.kernels import parse

    if kind == parse.OFF_SCALE:
        return off_scale(location, schema)
    if kind == parse.NO_DATE:
        return time_fault(location)
    message = {
        parse.TOO_FEW: "too few fields",
        parse.TOO_MANY: "too many fields",
        parse.NO_ITEM: "the item's number is not a plain number",
    }.get(kind, "text where a number belongs")
    return DataError(
        message,
        place=location,
        remedy="the Netflix layout has lines `item:` and `user,rating,date`",
    )


LAYOUTS = (Layout("netflix", "Netflix Prize", 1, 5, is_netflix, one_pass=True, reader=read),)
