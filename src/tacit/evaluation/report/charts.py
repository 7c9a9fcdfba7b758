"""Pictures for pages: matplotlib drawings as inline SVG that take the colours of the page.

A drawing is made twice, for a screen and for a phone, and the style sheet of `tacit.page` shows
one. Colours are names of that style sheet, so one picture serves light, dark and paper. Text
stays text, in the font of the page. Equal numbers give equal bytes: ids come from a fixed salt
and the name of the picture, and no date is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.atomic_write import open_atomic
from tacit.errors import SettingError
from tacit.page import escaped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {
    "ink": "#1d1c1a",
    "soft": "#56524b",
    "faint": "#6d685f",
    "line": "#e5e1d8",
    "edge": "#8d877c",
    "raised": "#ffffff",
    "warn": "#8a3b12",
    "c0": "#0c6b4e",
    "c1": "#b3541e",
    "c2": "#2f5d9b",
    "c3": "#8a4a86",
    "c4": "#7a6a12",
    "c5": "#b03a4b",
}
"""Drawn with these, which are the light colours of `page.css`; written as its names."""
SERIES = tuple(COLOURS[f"c{number}"] for number in range(6))
"""One colour for each line of a chart; they differ in lightness too."""
MARKERS = "osD^vP"
"""And one shape, so that nobody depends on colour."""
WIDE = (7.4, 3.7)
NARROW = (3.7, 3.5)
"""Inches at 72 points: the text area of the page, and of a phone."""
SALT = "tacit"
DPI = 110
"""Of a picture in a notebook: sharp enough on most screens, and about 40 KB."""
NOT_PRIVATE = "NOT PRIVATE · for the owner only"
"""Written inside every picture made from raw ratings, because pictures travel alone."""
Draw = Callable[["Figure", bool], None]
"""Draws on an empty figure; told whether it is the narrow one."""
FORMATS = ("svg", "png", "pdf")


def plotting() -> Any:
    """matplotlib, or how to get it."""
    try:
        import matplotlib
    except ImportError:
        raise SettingError(
            "pictures need matplotlib, which is not installed", remedy="pip install 'tacit[plots]'"
        ) from None
    return matplotlib


def picture(
    name: str,
    draw: Draw,
    *,
    description: str,
    caption: str = "",
    private: bool = False,
    wide: tuple[float, float] = WIDE,
    narrow: tuple[float, float] = NARROW,
) -> str:
    """A `<figure>` with both sizes of a drawing.

    `name` is unique on its page; `description` says in words what is to be seen, for those who
    cannot see it. Unless `private` it carries the mark of the owner's pictures.
    """
    mark = "" if private else NOT_PRIVATE
    drawings = "\n".join(
        f'<div class="{kind}">{svg(f"{name}-{kind}", draw, description, size, mark)}</div>'
        for kind, size in (("wide", wide), ("narrow", narrow))
    )
    caption_html = f"<figcaption>{escaped(caption)}</figcaption>" if caption else ""
    return f"<figure>\n{drawings}\n{caption_html}</figure>"


def svg(
    name: str,
    draw: Draw,
    description: str,
    size: tuple[float, float] = WIDE,
    mark: str = NOT_PRIVATE,
) -> str:
    """One drawing as an inline `<svg>`."""
    figure = render(draw, size, mark)
    out = StringIO()
    with styled():
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return _inline(out.getvalue(), name, description)


def render(draw: Draw, size: tuple[float, float] = WIDE, mark: str = NOT_PRIVATE) -> Figure:
    """One drawing as a matplotlib figure, outside of any window system."""
    plotting()
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    with styled():
        # Room for a font that is wider than the one that is measured here.
        room = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.06)
        figure = _notebook_figure()(figsize=size, layout=room)
        narrow = size[0] < WIDE[0] / 1.5
        draw(figure, narrow)
        if mark:
            figure.suptitle(mark, x=0.015, ha="left", fontsize=8, color=COLOURS["warn"])
    return figure


@cache
def _notebook_figure() -> type[Figure]:
    """A figure that a notebook shows though no window system knows it."""
    from matplotlib.figure import Figure

    class Picture(Figure):
        """A matplotlib figure with a picture of itself."""

        def _repr_png_(self) -> bytes:
            out = BytesIO()
            with styled():
                self.savefig(out, format="png", dpi=DPI)
            return out.getvalue()

    return Picture


def styled() -> AbstractContextManager[None]:
    """The look of every picture, whatever the user's own matplotlib is set to."""
    mpl = plotting()
    ink, soft = COLOURS["ink"], COLOURS["soft"]
    look = dict(mpl.rcParamsDefault) | {
        "svg.hashsalt": SALT,
        "svg.fonttype": "none",
        "font.family": ["DejaVu Sans"],
        "font.size": 10,
        "axes.titlesize": 11,
        "axes.titlelocation": "left",
        "axes.titleweight": "bold",
        "axes.labelsize": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": COLOURS["edge"],
        "axes.labelcolor": soft,
        "axes.titlecolor": ink,
        "axes.facecolor": "none",
        "figure.facecolor": "none",
        "savefig.facecolor": "none",
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": COLOURS["line"],
        "grid.linewidth": 1,
        "text.color": ink,
        "xtick.color": soft,
        "ytick.color": soft,
        "xtick.labelsize": 9,
        "ytick.labelsize": 9,
        "lines.linewidth": 2,
        "lines.markersize": 5.5,
        "legend.frameon": False,
        "legend.fontsize": 9,
        "axes.prop_cycle": mpl.cycler(color=SERIES),
    }
    look.pop("backend", None)
    context: AbstractContextManager[None] = mpl.rc_context(look)
    return context


def bare_log(axes: Axes, epsilons: list[float]) -> None:
    """A logarithmic axis of budgets that names each budget as people write it."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(epsilons))
    axes.xaxis.set_major_formatter(FixedFormatter([f"{e:g}" for e in epsilons]))
    axes.xaxis.set_minor_locator(NullLocator())


def _inline(text: str, name: str, description: str) -> str:
    """Without prologue and fixed size; ids of its own; colours by name."""
    text = text[text.index("<svg") :].strip()
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = text.replace("url(#", f"url(#{name}-")
    text = re.sub(r'href="#', f'href="#{name}-', text)
    for colour, value in COLOURS.items():
        text = text.replace(value, f"var(--{colour})")
    opening = re.match(r"<svg[^>]*>", text)
    assert opening is not None
    box = re.search(r'viewBox="[^"]*"', opening[0])
    assert box is not None
    label = escaped(description)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" '
        f'xmlns:xlink="http://www.w3.org/1999/xlink" {box[0]} role="img" '
        f'aria-label="{label}"><title>{label}</title>'
        f"{text[opening.end() :]}"
    )


# Pictures and pages as files: whole or not at all.


def check_picture(path: str) -> str:
    """The format that a name ends in; refuse any other."""
    ending = Path(path).suffix.lower().lstrip(".")
    if ending not in FORMATS:
        raise SettingError(
            f"{path} does not end in .svg, .png or .pdf",
            remedy="name the picture after its format",
        )
    return ending


def save_figure(figure: Figure, path: str) -> None:
    """In the format that the name ends in."""

    ending = check_picture(path)
    out = BytesIO()
    stamps = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
    with plotting().rc_context({"svg.hashsalt": SALT}):
        figure.savefig(out, format=ending, metadata=stamps[ending], facecolor="white", dpi=160)
    write(path, out.getvalue())


def write(path: str, content: bytes) -> None:
    """Beside, then renamed."""
    remedy = "name a folder that exists and may be written to"
    with open_atomic(path, remedy=remedy) as file:
        file.write(content)
