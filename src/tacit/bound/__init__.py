"""What one person may add: a limit on ratings, clips, and the integer grid. Every bound
knows its sensitivity."""

from tacit.bound.base import Bound, Rows, Sensitivity
from tacit.bound.box import Box, ListedItems
from tacit.bound.centre import CentredCells, LevelCells, OwnMeans
from tacit.bound.clip import STEPS, CellClip, PersonCount, RowClip
from tacit.bound.gram import CountedGram, EntryGram, FactorGram
from tacit.bound.limit import limit_ratings

__all__ = [
    "STEPS",
    "Bound",
    "Box",
    "CellClip",
    "CentredCells",
    "CountedGram",
    "EntryGram",
    "FactorGram",
    "LevelCells",
    "ListedItems",
    "OwnMeans",
    "PersonCount",
    "RowClip",
    "Rows",
    "Sensitivity",
    "limit_ratings",
]
