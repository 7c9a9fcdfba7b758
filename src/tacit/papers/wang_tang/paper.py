"""Wang & Tang, Differentially Private Neighborhood-based Recommender Systems: figures 2 to
6."""

from __future__ import annotations

from tacit.papers.machine.experiment import Paper
from tacit.papers.wang_tang.figures.grid import GRID
from tacit.papers.wang_tang.figures.panels import FIGURE3, FIGURE4, FIGURE5, FIGURE6
from tacit.papers.wang_tang.figures.totals import FIGURE2

READINGS = (
    (
        "All pairs of items are learned; the N most similar (largest s) are kept after "
        "training (5.2: by removing the rest neighbors of each item)."
    ),
    (
        "The first similarities are not printed: uniform in +-.1, times beta, as in the "
        "program that the authors published and name in section 5.1."
    ),
    (
        "Two readings of the steps. Printed: Algorithms 1 and 2 with the exact derivative of "
        "equation 2. Code: those of that program, which differ (symmetric similarities, the "
        "error against the raw rating, no clamp, no derivative of the divisor, Laplace noise "
        "of that standard deviation, whole steps in Algorithm 2)."
    ),
    (
        "Algorithm 2: the drift is multiplied by the number of ratings, as in that program; "
        "with the plain sum the printed steps do nothing. eta_1 is the printed one whatever "
        "epsilon is. A person keeps 200 random ratings."
    ),
    (
        "DPPS-MF is printed as settings alone and read as Algorithm 2 on factors, predicted "
        "from both sides of the chain; whether biases are taken out first is not printed, so "
        "both are shown. Wang & Tang do not print DPSGD-MF either: it is that of Berlioz et "
        "al."
    ),
    (
        "PCC and COS: of ratings less the items' means, over common raters and over all; "
        "neighbours of largest |s|. With those of largest s both are .02 better, and harder to "
        "beat: verdicts say so."
    ),
    (
        "In the figures one set of printed values is used at every epsilon; the paper takes the "
        "best of its grid for each, so its curves may lie below these. The grid at epsilon 1 is "
        "a table of its own."
    ),
)

PAPER = Paper(
    "wang-tang",
    "J. Wang, Q. Tang: Differentially Private Neighborhood-based Recommender Systems",
    (FIGURE2, FIGURE3, FIGURE4, FIGURE5, FIGURE6, GRID),
    READINGS,
)
