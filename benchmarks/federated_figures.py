"""Tables and a picture of what `federated_accuracy.py` found: python
benchmarks/federated_figures.py FILE [PICTURE]."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from federated_accuracy import FIT, LEVELS, PLAIN, Cell

Found = dict[Cell, dict[str, Any]]


def load(path: str) -> Found:
    return {
        Cell(**json.loads(key)): line
        for key, line in json.loads(Path(path).read_text()).items()
    }


def row(cell: Cell, line: dict[str, Any], base: dict[str, Any]) -> str:
    """One run beside plain factorization of the same reading."""
    reading = cell.reading.replace(
        "|u| <= 1", "bounded"
    )  # bars would end a cell of the table
    name = f"{cell.scheme}, {reading}" + (
        "" if cell.usual else f", join {cell.join:g}, leave {cell.leave:g}"
    )
    shown = [f"{cell.epsilon:g}" if cell.epsilon else "none"]
    if "diverged" in line:
        return f"| {name} | {shown[0]} | diverged | | | | |"
    for pairs in ("train", "held"):
        shown.append(f"{line[f'kept_{pairs}']:.3f}")
        more = (
            line[f"kept_{pairs}"] - base[f"kept_{pairs}"]
            if base and "diverged" not in base
            else None
        )
        shown.append("" if more is None else f"{more:+.3f}")
    shown.append(" ".join(f"{share:.2f}" for share in line["cdf_train"]))
    return f"| {name} | " + " | ".join(shown) + " |"


def tables(found: Found) -> None:
    """Mean |error| with predictions kept on the scale, its increase, and shares of pairs
    within `LEVELS`."""
    for data in sorted({cell.data for cell in found}):
        within = ", ".join(f"{level:g}" for level in LEVELS)
        print(f"\n{data}: training pairs within {within}\n")
        print(
            "| run | epsilon | train | increase | held | increase | CDF "
            "|\n|---|---|---|---|---|---|---|"
        )
        order = sorted(
            (c for c in found if c.data == data),
            key=lambda c: (
                c.reading,
                c.scheme,
                not c.usual,
                c.join,
                c.leave,
                c.epsilon or 0,
            ),
        )
        for cell in order:
            plain = Cell(
                data, "plain", cell.reading.replace(", pieces of sd 1/k", "")
            )
            print(row(cell, found[cell], found.get(plain, {})))


def picture(found: Found, path: Path) -> None:
    """CDF of |error| on the training pairs, as figures 1 to 6 of the paper."""
    from matplotlib import rc
    from matplotlib.figure import Figure

    rc("svg", fonttype="none")  # text as text
    sets, figure = (
        sorted({c.data for c in found}),
        Figure(figsize=(11, 7), layout="constrained"),
    )
    axes = figure.subplots(
        len(sets), 3, sharex=True, sharey=True, squeeze=False
    )
    for place, data in enumerate(sets):
        for column, scheme in enumerate(("S1", "S2", "S3")):
            axis = axes[place][column]
            for cell, line in sorted(
                found.items(), key=lambda pair: pair[0].epsilon or 0
            ):
                usual = (
                    cell.usual and cell.reading == FIT and cell.scheme == scheme
                )
                if (
                    cell.data == data
                    and "diverged" not in line
                    and (usual or cell == Cell(data, "plain", PLAIN))
                ):
                    name = (
                        f"epsilon {cell.epsilon:g}"
                        if cell.epsilon
                        else f"{cell.scheme}, no noise"
                    )
                    axis.plot(
                        np.arange(0, 4.01, 0.05), line["fine_train"], label=name
                    )
            axis.set(
                title=f"{scheme}, {data}",
                xlabel="|error|, training pairs",
                ylabel="share of pairs",
            )
            axis.legend(fontsize=7)
    figure.savefig(
        path, metadata={"Date": None} if path.suffix == ".svg" else None
    )


if __name__ == "__main__":
    every = load(sys.argv[1])
    tables(every)
    if len(sys.argv) > 2:
        picture(every, Path(sys.argv[2]))
