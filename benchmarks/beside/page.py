"""The page and the picture of one run of `benchmarks/run`: what the numbers give, and no more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

HEAD = """# Beside peers

`benchmarks/run` installs the peers into environments of their own, gives both sides the same
seeded ratings in processes that wait for their turn, and lets them run one after the other; the
best of several counts. Below 1 Tacit is faster. The numbers are also in [beside.json](beside.json).
"""


def seconds(value: float | None) -> str:
    """Three digits, or nothing."""
    return "" if value is None else f"{value:.3g}"


def page(told: dict[str, Any]) -> str:
    """The whole page."""
    rows = [{"busy": told["busy"], **row} for row in told["rows"]]
    busy = ""
    if any(row["busy"] for row in rows):
        busy = (
            " (*busy*: others computed on it at the same time, so one thread is told in "
            "processor seconds, and two threads say little)"
        )
    lines = [
        HEAD,
        (
            f"{told['ratings']:,} ratings, {told['people']:,} people, {told['items']:,} items; "
            f"{told['cores']} cores ({told['machine']}){busy}; tacit {told['version']}, commit "
            f"{told['commit']}, {told['date']}."
        ),
        "",
        "![Ratios](../pictures/beside.svg)",
        "",
        "| job | threads | here, s | peer | peer, s | here / peer | at most |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        ratio = seconds(row["ratio"]) or row["said"] or "no peer"
        if row.get("of"):
            ratio += f" ({row['of']})"
        elif row["busy"]:
            ratio += " *busy*"
        lines.append(
            f"| {row['job']} | {row['threads']} | {seconds(row['ours'])} | {row['peer']} | "
            f"{seconds(row['theirs'])} | {ratio} | {seconds(row['wanted'])} |"
        )
    if told.get("threads"):
        lines += ["", "## Two threads beside one", ""]
        lines += ["`benchmarks/beside/threads.py`, on an idle machine.", ""]
        lines += ["| job | one, s | two, s | times as fast |"]
        lines += ["|---|---|---|---|"]
        for job, (one, two) in told["threads"].items():
            lines.append(f"| {job} | {seconds(one)} | {seconds(two)} | {one / two:.2f} |")
    if told["missing"]:
        lines += ["", "Not installed: " + "; ".join(told["missing"]) + "."]
    if told["growth"]:
        lines += ["", "## Growth", ""]
        lines += [
            (
                "One thread, processor seconds, five sizes each twice the last; the exponent is "
                "that of the power that fits best. Where a fit is small, what every fit costs is "
                "most of it, and exponents are low."
            ),
            "",
            "| what grows | job | from | to | s | exponent of time | of memory |",
            "|---|---|---|---|---|---|---|",
        ]
        for row in told["growth"]:
            spent = ", ".join(seconds(each) for each in row["s"])
            lines.append(
                f"| {row['grows']} | `{row['job']}` | {row['sizes'][0]:,.0f} | "
                f"{row['sizes'][-1]:,.0f} | {spent} | {row['exponent']} | {row['memory']} |"
            )
    return "\n".join(lines) + "\n"


def picture(told: dict[str, Any], path: Path) -> None:
    """A bar for each peer, on one thread."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "tacit"
    from matplotlib import pyplot as plt

    rows = [row for row in told["rows"] if row["ratio"] and row["threads"] == 1]
    rows.sort(key=lambda row: -row["ratio"])
    figure, axes = plt.subplots(figsize=(8, 0.36 * len(rows) + 1))
    names = [f"{row['job']} / {row['peer']}" for row in rows]
    axes.barh(names, [row["ratio"] for row in rows], color="#3a6ea5")
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xscale("log")
    axes.set_xlabel("Tacit's seconds / the peer's (left of 1 is faster), one thread")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
