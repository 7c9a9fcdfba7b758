"""The data sets that papers were tried on: where they lie under `--data`, and how they are
told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.errors import DataError

if TYPE_CHECKING:
    from tacit.data.ratings import Ratings

SAMPLE = "sample"
"""The embedded sample: real films, invented people."""
SAMPLE_SIZE = (600, 30_000)
"""People and ratings of it."""
QUICK_SIZE = (100, 3_000)
"""In a quick run, which draws and does not judge."""


@dataclass(frozen=True)
class KnownData:
    """A public data set."""

    title: str
    marks: tuple[str, ...]
    """Files or folders, one of which a folder of it holds."""
    files: str
    """What to put there, in words."""
    layout: str | None = None
    largest: int = 0
    """Where several sets are written alike: this one has no more bytes of ratings."""


MEGABYTE = 1_000_000
SETS = {
    "ml-100k": KnownData("MovieLens 100K", ("u.data",), "u.data", "ml-100k"),
    "ml-1m": KnownData("MovieLens 1M", ("ratings.dat",), "ratings.dat", "ml-1m", 100 * MEGABYTE),
    "ml-10m": KnownData("MovieLens 10M", ("ratings.dat",), "ratings.dat", "ml-10m"),
    "ml-20m": KnownData("MovieLens 20M", ("ratings.csv",), "ratings.csv", "ml-csv"),
    "netflix-100": KnownData(
        "100 films of the Netflix Prize", ("training_set",), "training_set/mv_*.txt"
    ),
    "netflix": KnownData(
        "Netflix Prize",
        ("training_set", "combined_data_1.txt"),
        "training_set/mv_*.txt of all films, or combined_data_*.txt",
    ),
    "libimseti": KnownData("LibimSeTi", ("ratings.dat",), "ratings.dat", "libimseti"),
}
SOME_FILMS = 1000
"""A folder of fewer Netflix files is a choice of films, not the whole Prize."""


@dataclass
class Sources:
    """What is there. A process reads each set once, when its first cell asks for it."""

    folders: dict[str, Path]
    """By the name of the data set."""
    sample: tuple[int, int] = SAMPLE_SIZE
    """People and ratings of the embedded sample."""
    _read: dict[str, Ratings] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, object]:
        """Ratings stay where they were read."""
        return {"folders": self.folders, "sample": self.sample, "_read": {}}

    def ratings(self, name: str) -> Ratings:
        """The ratings of a data set, or of the embedded sample."""
        if name not in self._read:
            self._read[name] = self._fetched(name)
        return self._read[name]

    def _fetched(self, name: str) -> Ratings:
        if name == SAMPLE:
            from tacit.data.sample import sample

            people, ratings = self.sample
            return sample(people=people, ratings=ratings)
        if name not in self.folders:
            raise DataError(f"the data set {name} is not here")
        from tacit.data.read import read

        folder = self.folders[name]
        file = folder / SETS[name].files
        source = file if file.is_file() else folder
        return read(str(source), layout=SETS[name].layout)

    def available(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of the wanted sets that are there; the sample if no folder was given."""
        if not self.folders:
            return (SAMPLE,)
        return tuple(name for name in names if name in self.folders)


def look(folder: Path | None, *, quick: bool = False) -> Sources:
    """The data sets under a folder: the folder itself, or folders in it that bear the names
    of `SETS`. Without a folder the embedded sample, a small one for a quick run."""
    if folder is None:
        return Sources({}, QUICK_SIZE if quick else SAMPLE_SIZE)
    if not folder.is_dir():
        raise DataError(
            "there is no such folder",
            place=str(folder),
            remedy="give a folder that holds " + where_to_put(("ml-100k",)),
        )
    folders = {
        name: folder / name
        for name in SETS
        if (folder / name).is_dir() and _is(name, folder / name, named=True)
    }
    recognized = [name for name in SETS if _is(name, folder, named=False)]
    if recognized and recognized[0] not in folders:
        folders[recognized[0]] = folder
    if not folders:
        raise DataError(
            "no data set of the papers is in it",
            place=str(folder),
            remedy="put there " + where_to_put(SETS),
        )
    return Sources(folders)


def where_to_put(names: Iterable[str]) -> str:
    """`ml-100k/u.data (MovieLens 100K), …`, below the folder that `--data` names."""
    return ", ".join(f"{name}/{SETS[name].files} ({SETS[name].title})" for name in names)


def _is(name: str, folder: Path, *, named: bool) -> bool:
    """Whether a folder holds this data set; where its name does not tell, by size."""
    data_set = SETS[name]
    mark = next((folder / m for m in data_set.marks if (folder / m).exists()), None)
    if mark is None:
        return False
    if named or folder.name == name:
        return True
    if name in ("ml-10m", "libimseti"):  # written as ml-1m is: told by name alone
        return False
    if name == "netflix-100":
        return _films(mark) < SOME_FILMS
    if name == "netflix":
        return mark.is_file() or _films(mark) >= SOME_FILMS
    return not data_set.largest or mark.stat().st_size <= data_set.largest


def _films(folder: Path) -> int:
    return sum(1 for _ in folder.glob("mv_*.txt*"))
