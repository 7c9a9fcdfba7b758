"""A recipe that is often called user-level private and is not: DP-SGD that clips and noises
every *rating*, whose budget is then stated for a *person*.

An item-effect model is trained by full gradient steps. Each rating's gradient is clipped, and
Gaussian noise covers one rating at (epsilon, delta). Who has rated eighty items moves eighty
numbers, and is covered eighty times less than the label says. Writes the three files that
`tacit audit --lists` reads.

    python per_sample.py OUT
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl

from tacit.ledger.account.calibrate import gaussian_mu

EPSILON, DELTA = 1.0, 1e-6
STEPS, CLIP, RATE = 10, 1.0, 0.05
CANARIES, EACH = 1000, 80
"""People in or out by a coin, and ratings of each, all of items of her own."""
OTHERS, ITEMS = 2000, 500


def train(item: np.ndarray, value: np.ndarray, items: int, rng: np.random.Generator) -> np.ndarray:
    """Item effects by DP-SGD, one rating at a time: what the label calls user-level."""
    noise = CLIP * np.sqrt(STEPS) / gaussian_mu(EPSILON, DELTA)
    item_bias = np.zeros(items)
    for _ in range(STEPS):
        gradient = np.clip(value - item_bias[item], -CLIP, CLIP)
        summed = np.bincount(item, gradient, items)
        item_bias += RATE * (summed + rng.normal(0, noise, items))
    return item_bias


def main(out: Path) -> None:
    """Two trainings, and the coins of the canaries."""
    rng = np.random.default_rng()
    base_item = rng.integers(0, ITEMS, OTHERS * 30)
    base_value = rng.normal(0, 1, len(base_item))
    own = ITEMS + np.arange(CANARIES * EACH)
    canary = np.repeat(np.arange(CANARIES), EACH)
    sign = np.where(np.arange(len(own)) % 2 == 0, 1, -1)
    coin = rng.integers(0, 2, CANARIES)
    there = coin[canary] == 1
    items = ITEMS + len(own)
    before = train(base_item, base_value, items, rng)
    after = train(
        np.concatenate([base_item, own[there]]),
        np.concatenate([base_value, 2.0 * sign[there]]),
        items,
        rng,
    )
    out.mkdir(parents=True, exist_ok=True)
    for name, item_bias in (("before", before), ("after", after)):
        shown = pl.DataFrame({"item": np.arange(items), "score": item_bias})
        shown.write_parquet(out / f"{name}.parquet")
    pl.DataFrame({"canary": canary, "item": own, "coin": coin[canary], "sign": sign}).write_csv(
        out / "canaries.csv"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "lists"))
