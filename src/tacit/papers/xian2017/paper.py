"""Xian, Li, Li & Li 2017: figures 1 to 5 and table 1."""

from __future__ import annotations

from tacit.papers.machine.experiment import Paper
from tacit.papers.xian2017.figures.baselines import BASELINES
from tacit.papers.xian2017.figures.compared import COMPARED, PLUS
from tacit.papers.xian2017.figures.factors import FACTORS
from tacit.papers.xian2017.figures.overlap import OVERLAP
from tacit.papers.xian2017.figures.samples import TABLE

READINGS = (
    (
        "the paper's data are MovieLens-1M and Netflix-1M; verdicts are of MovieLens-1M where it "
        "was run and of MovieLens 100K elsewhere, and say which"
    ),
    (
        "P and Q are published, so every prediction is from both as they were trained; "
        "predictions are kept within 1 to 5 (raw errors are in the numbers)"
    ),
    "line 12 of Algorithm 1 has p alone; lines 11 and 12 are equation 5, from the old factors",
    (
        "k = 20 iterations, all of them; with `stop` they end when the error changes by less than "
        ".0001"
    ),
    "the first P and Q are N(0, .1^2); `uniform` draws them between 0 and .1",
    (
        "b is divided by N, the number of ratings (equations 16 to 19); `over people` by n "
        "(equation 13)"
    ),
    "p_max and q_max are assumed and not enforced; `enforced` cuts noisy vectors to them",
    "items of Algorithms 2 and 3 minimise equation 11; `equation 19` is printed otherwise",
    (
        "PSGD and PALS (Berlioz et al.) are not printed in this paper: their shares of epsilon "
        "(.02, .14, .14) and clamps are ours, each a setting"
    ),
    "which epsilons the figures show is not in the text; factors other than 5 neither",
)
PAPER = Paper(
    "xian2017",
    "Z. Xian, Q. Li, G. Li, L. Li: New Collaborative Filtering Algorithms Based on SVD++ and "
    "Differential Privacy. Mathematical Problems in Engineering 2017",
    (TABLE, BASELINES, PLUS, COMPARED, FACTORS, OVERLAP),
    READINGS,
)
