"""Shin, Kim, Shin & Xiao 2018: figures 2 to 9, tables 2 and 3, section 4.1, and the readings
of the learning rate."""

from __future__ import annotations

from tacit.papers.machine.experiment import Paper
from tacit.papers.shin2018.figures.estimates import FIGURE2, SIMPLE
from tacit.papers.shin2018.figures.panels import FIGURES
from tacit.papers.shin2018.figures.tables import TABLE2, TABLE3

READINGS = (
    (
        "q is a tenth of the items: the paper's 2,700 of 26,744. As an absolute number it "
        "would be 73 % of ML-1M's items and all of ML-100K's, where the pseudo-inverse only "
        "adds noise."
    ),
    (
        "The learning rate is printed as O(1/t): 1/t for the items and .1/t for a person's own "
        "factors, averaged over her own ratings. Other readings are a table of their own."
    ),
    "The loops run while iter <= k from 0: k + 1 rounds at epsilon/k each.",
    (
        "The start is not printed: all products at mid-scale. Predictions are cut to the "
        "scale, and factors to +-1,000."
    ),
    (
        "The paper's data are MovieLens 20M and LibimSeTi (profiles with more than 140 "
        "ratings); they are run if their files are given."
    ),
    (
        "Hua et al. beside it: S2 with d as here, for 10 rounds as the paper's 10 m epsilon "
        "says, and for the 100 that they print."
    ),
)

PAPER = Paper(
    "shin2018",
    "H. Shin, S. Kim, J. Shin, X. Xiao: Privacy Enhanced Matrix Factorization for "
    "Recommendation with Local Differential Privacy. TKDE 2018",
    (TABLE2, FIGURE2, *FIGURES, TABLE3, SIMPLE),
    READINGS,
)
