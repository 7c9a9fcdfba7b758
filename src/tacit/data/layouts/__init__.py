"""The layouts that public data sets come in: one file each.

A layout is told by file names and by marks such as a header line, never by ratings, and
implies a scale. Other packages add theirs by the entry point `tacit.layouts`, which names a
`Layout` (docs/adding-a-layout.md).
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points

from tacit.data.layouts import book_crossing, jester, libimseti, movielens, netflix
from tacit.data.layouts.base import Glance, Layout, glance
from tacit.data.reading.files import Bundle, Stream
from tacit.errors import DataError, SettingError

OURS = (
    *movielens.LAYOUTS,
    *netflix.LAYOUTS,
    *jester.LAYOUTS,
    *book_crossing.LAYOUTS,
    *libimseti.LAYOUTS,
)
GROUP = "tacit.layouts"


@cache
def layouts() -> dict[str, Layout]:
    """All layouts by name: ours, then those of other packages that are installed."""
    by_name = {layout.name: layout for layout in OURS}
    for point in entry_points(group=GROUP):
        by_name.setdefault(point.name, point.load())
    return by_name


def named(name: str) -> Layout:
    """The layout of this name."""
    by_name = layouts()
    if name not in by_name:
        raise SettingError(
            f"there is no layout {name}", remedy=f"choose one of {', '.join(by_name)}"
        )
    return by_name[name]


def detect(bundle: Bundle) -> tuple[Layout | None, list[Stream]]:
    """The layout of a file, folder or archive, and the files to read (not told where all
    of them are read in one pass: a tar has no second one)."""
    several: list[Stream] = []
    together: Layout | None = None
    names: set[str] = set()
    match: tuple[Layout, Stream] | None = None
    count, last = 0, None
    for part in bundle.parts():
        names.add(part.name.removesuffix(".gz"))
        # To look into an archive is to read it.
        looked = not (match and not bundle.folder)
        layout = layout_of(part, look=looked)
        if layout is not None and layout.one_pass:
            if match is not None:
                raise ambiguous(bundle, match[1], part)
            return layout, []
        if layout is not None and layout.several:
            several.append(part)
            together = layout
        elif layout is not None and match is None:
            match = layout, part
        elif layout is not None and match is not None:
            raise ambiguous(bundle, match[1], part)
        if not count:
            part.head(1)  # the pass over a tar stands at this part only now
        count, last = count + 1, part
    if match is not None:
        layout, part = match
        return (named(layout.around(part, names)) if layout.around else layout), [part]
    if together is not None:
        return together, several
    if count == 1 and last is not None:
        return None, [last]
    raise DataError(
        "no known layout of ratings is in it",
        place=bundle.label,
        remedy="name the file that holds the ratings",
    )


def ambiguous(bundle: Bundle, first_stream: Stream, second_stream: Stream) -> DataError:
    """Never choose for the owner: a fit on the wrong people is paid for all the same."""
    return DataError(
        f"it holds more than one set of ratings: {first_stream.label} and {second_stream.label}",
        place=bundle.label,
        remedy="name the file or folder that you mean",
    )


def layout_of(part: Stream, *, look: bool = True) -> Layout | None:
    """The layout of one file, by its name and, if we may `look`, its first line."""
    outside = Glance(part.name, "", "")
    for layout in layouts().values():
        if layout.one_pass and layout.told_by(outside):
            return layout
    if not look:
        return None
    preview = glance(part)
    return next((layout for layout in layouts().values() if layout.told_by(preview)), None)
