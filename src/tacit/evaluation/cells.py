"""Many small computations, each done once: in parallel processes, and not again after a kill.

A *cell* is one fit and what was measured of it. It is named by its key: a small JSON object
that holds everything its answer depends on (digests of the data and of Tacit's
source among it), because a cell that is found by its key is not computed again.

What a cell holds was compared with raw ratings, so its file is the owner's alone.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

from tacit.atomic_write import open_atomic
from tacit.errors import Failure, StorageError, TacitError, reason

if TYPE_CHECKING:
    from concurrent.futures import Future

Key = Mapping[str, Any]
Answer = dict[str, Any]
"""Plain JSON, or objects that have it (`to_json`); from a file it comes back as JSON."""
Work = Callable[[Any, Key], Answer]
"""From what all cells share and one key to that cell's answer; a function of a module, so
that another process finds it."""

Report = Callable[[int, int, float | None], None]
"""Cells done, cells in all, seconds left (None while nothing is known)."""

DIGITS = 20
"""Of a digest in a file's name: 80 bits, far beyond any number of cells."""


def run_cells(
    keys: Iterable[Key],
    work: Work,
    common: Any,
    *,
    folder: Path | None = None,
    processes: int = 1,
    progress: Report | None = None,
    finished: Callable[[Answer], bool] = bool,
) -> list[Answer]:
    """The answer of every key, in their order; those that `folder` holds are read, not
    computed, and each new one is kept there as soon as it is known, unless it is not
    `finished`: the next run tries again.

    With more than one process `common` is sent to each once: it must be picklable.
    """
    plain_keys = [dict(key) for key in keys]
    stored = StoredCells(folder)
    answers = {
        index: answer
        for index, key in enumerate(plain_keys)
        if (answer := stored.find(key)) is not None
    }
    missing = [index for index in range(len(plain_keys)) if index not in answers]
    clock = _Clock(len(answers), len(plain_keys), progress)
    clock.report_progress()
    for index, answer in _answers(missing, plain_keys, work, common, processes):
        if finished(answer):
            stored.keep(plain_keys[index], answer)
        answers[index] = answer
        clock.one_more()
    return [answers[index] for index in range(len(plain_keys))]


class StoredCells:
    """A folder with one small file a cell, or nothing at all."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        try:
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise StorageError(
                f"{folder} is no folder: {reason(fault)}", remedy="choose another --out"
            ) from None

    def find(self, key: Key) -> Answer | None:
        """What was kept of this key. A file that is not whole counts as none."""
        if self.folder is None:
            return None
        try:
            text = (self.folder / name_of(key)).read_text(encoding="utf-8")
            stored = json.loads(text)
        except (FileNotFoundError, ValueError, RecursionError):
            return None
        if not isinstance(stored, dict) or stored.get("key") != _plain(key):
            return None
        answer = stored.get("answer")
        return answer if isinstance(answer, dict) else None

    def keep(self, key: Key, answer: Answer) -> None:
        """Written beside and renamed: a kill leaves a whole file or none."""
        if self.folder is None:
            return
        target = self.folder / name_of(key)
        text = json.dumps({"key": _plain(key), "answer": answer}, indent=1, default=_to_json)
        remedy = "make room there, and start again: kept cells are not repeated"
        with open_atomic(target, private=True, durable=True, remedy=remedy) as file:
            file.write(text.encode() + b"\n")


def name_of(key: Key) -> str:
    """A file's name from everything that the key says."""
    text = json.dumps(_plain(key), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS] + ".json"


def _to_json(part: Any) -> Any:
    """A part of an answer that is no plain JSON says itself how it is told."""
    return part.to_json()


def _plain(key: Key) -> Any:
    """As JSON gives it back: tuples are lists, and an object must be plain."""
    return json.loads(json.dumps(dict(key), allow_nan=False))


def _answers(
    missing: list[int], keys: list[dict[str, Any]], work: Work, common: Any, processes: int
) -> Iterator[tuple[int, Answer]]:
    workers = min(processes, len(missing))
    if workers <= 1:
        for index in missing:
            yield index, work(common, keys[index])
        return
    yield from _from_processes(missing, keys, work, common, workers)


def _from_processes(
    missing: list[int], keys: list[dict[str, Any]], work: Work, common: Any, workers: int
) -> Iterator[tuple[int, Answer]]:
    # Loaded here: one process needs none of it, and an evaluation is to add little to a fit.
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    pool = ProcessPoolExecutor(workers, get_context("spawn"), _enter, (work, common))
    try:
        waiting: dict[Future[Answer | _Fault], int] = {
            pool.submit(_run_key, keys[index]): index for index in missing
        }
        for future in as_completed(waiting):
            answer = future.result()
            if isinstance(answer, _Fault):
                raise answer.error()
            yield waiting[future], answer
    except BrokenProcessPool:
        raise Failure(
            "a process of this run was ended from outside",
            remedy="often memory ran out: use fewer processes; kept cells are not repeated",
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


class _Fault:
    """One of our errors on its way between processes, in words."""

    def __init__(self, fault: TacitError) -> None:
        self.kind = type(fault)
        self.message = fault.message
        self.place = fault.place
        self.remedy = fault.remedy

    def error(self) -> TacitError:
        """As it was raised."""
        return self.kind(self.message, place=self.place, remedy=self.remedy)


_entered: tuple[Work, Any] | None = None
"""What this process was started for."""


def _enter(work: Work, common: Any) -> None:
    global _entered
    _entered = (work, common)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A parent that was killed takes nothing back: end too, in the middle of a fit."""
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _run_key(key: Key) -> Answer | _Fault:
    assert _entered is not None
    work, common = _entered
    try:
        return work(common, key)
    except TacitError as fault:
        return _Fault(fault)


class _Clock:
    """Tells how far a run is, and from the pace of this run how long it may take."""

    def __init__(self, done: int, total: int, report: Report | None) -> None:
        self.before = done
        self.done = done
        self.total = total
        self.report = report
        self.began = monotonic()

    def one_more(self) -> None:
        self.done += 1
        self.report_progress()

    def report_progress(self) -> None:
        if self.report is None:
            return
        computed = self.done - self.before
        remaining = None
        if computed:
            pace = (monotonic() - self.began) / computed
            remaining = pace * (self.total - self.done)
        self.report(self.done, self.total, remaining)
