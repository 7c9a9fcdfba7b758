"""Draws docs/pictures/accuracy.svg, the figure of the README, from the tables of docs/results:
`.venv/bin/python scripts/accuracy.py`. No number stands here."""

from __future__ import annotations

import json
import re
from pathlib import Path

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot as plt

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs" / "results"
COLOURS = ("#0c6b4e", "#63a98f", "#2f5d9b", "#b3541e", "#8d877c")
NUMBER = re.compile(r"\d*\.\d+|\d+")


def measured(page: str, method: str) -> dict[float, float]:
    """RMSE on ML-1M by epsilon, from the numbers beside a results page."""
    told = json.loads((RESULTS / f"{page}.json").read_text("utf-8"))
    return {
        row["epsilon"]: row["rmse"]
        for table in told["tables"]
        if " ml-1m" in table["command"]
        for row in table["rows"]
        if row["method"] == method
    }


def row(begins: str, below: int) -> dict[float, float]:
    """The cells of a row of bayes.md, so many rows below the one that begins so."""
    text = (RESULTS / "bayes.md").read_text("utf-8")
    head = "| data, unit, features | method |"
    top = next(line for line in text.splitlines() if line.startswith(head))
    found = text[text.index(begins) :].splitlines()[below]
    cells = NUMBER.findall(found.removeprefix(begins))
    columns = NUMBER.findall(top[len(head) :])
    return {float(a): float(b) for a, b in zip(columns, cells, strict=True)}


def twin() -> float:
    """RMSE of the twin with genres on ML-1M."""
    text = (RESULTS / "twins.md").read_text("utf-8")
    found = re.search(r"of ML-1M .*: (\d*\.\d+) with genres", text)
    assert found is not None
    return float(found[1])


def lines() -> dict[str, dict[float, float]]:
    """What is drawn: ML-1M, a whole person protected."""
    features = "| ML-1M, user, genres and year | bias |"
    alone = "| ML-1M, user, none | bias |"
    shown = {
        "bayes, with public genres": row(features, 1),
        "bayes": row(alone, 1),
        "DPALS (Chien et al. 2021)": measured("mf", "als"),
        "McSherry & Mironov 2009, sound": measured("covariance", "covariance-svd"),
        "item effects and own levels (bias)": row(alone, 0),
    }
    return {name: {e: r for e, r in each.items() if e >= 0.5} for name, each in shown.items()}


def main() -> None:
    """Draw and write."""
    plt.rcParams |= {"svg.hashsalt": "tacit", "font.size": 9}
    figure, axes = plt.subplots(figsize=(8.6, 3.6))
    for (name, each), colour, mark in zip(lines().items(), COLOURS, "osD^v", strict=True):
        axes.plot(*zip(*each.items(), strict=True), color=colour, marker=mark, label=name)
    axes.axhline(twin(), color="#1d1c1a", linestyle="--", linewidth=1)
    axes.text(0.5, twin() - 0.004, "without privacy (the twin)", va="top")
    axes.set_xscale("log")
    axes.set_xticks([0.5, 1, 2, 5, 10, 20], ["0.5", "1", "2", "5", "10", "20"])
    axes.minorticks_off()
    axes.set_ylim(0.80, 1.04)
    axes.set_xlabel("epsilon, for a whole person (more privacy to the left)")
    axes.set_ylabel("RMSE on held-back ratings, ML-1M")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    figure.tight_layout()
    target = ROOT / "docs" / "pictures" / "accuracy.svg"
    figure.savefig(target, metadata={"Date": None}, facecolor="white")


if __name__ == "__main__":
    main()
