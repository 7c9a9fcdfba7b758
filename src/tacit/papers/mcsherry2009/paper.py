"""McSherry & Mironov, KDD 2009: figure 1 (four curves over theta), figure 2 (growth by
date), and the three places for noise of section 4.1."""

from __future__ import annotations

from tacit.papers.machine.experiment import Paper
from tacit.papers.mcsherry2009.figures.curve_points import PLACES
from tacit.papers.mcsherry2009.figures.figure1 import FIGURE1
from tacit.papers.mcsherry2009.figures.figure2 import FIGURE2

READINGS = (
    (
        "A person's level is removed first, with beta_p = 20 fictitious ratings (4.3), "
        "for kNN and SVD alike; neighbours and factors see what it leaves, not clamped "
        "(residuals=plain): the text clamps to lower the sensitivity of a measurement."
    ),
    (
        "kNN: ridge weights over the 20 own ratings of largest Wgt (5.2). Without "
        "cleaning on the plain average Cov/Wgt; with it on the rank-20 matrix."
    ),
    "SVD: a ridge regression on 20 dimensions of the cleaned, or the plain, matrix.",
    (
        "Shrinking to the average: (Cov + b mean Cov)/(Wgt + b mean Wgt), one b for the "
        "diagonal and one for the rest; the formula is garbled in the text at hand."
    ),
    "A pair of items has one draw of noise (matrix_noise=triangle).",
    (
        "A divisor of noisy counts is at least one, of noisy weights a thousandth of "
        "their mean (least_weight)."
    ),
    (
        "The descent on the probe error is not described: here parameters are multiplied "
        "and divided by 4, 2 and 1.4 in turn while that helps."
    ),
    (
        "The split of theta (.02, .19, .79) is from memory of the literature: the numbers "
        "are missing in the text at hand."
    ),
)

PAPER = Paper(
    "mcsherry2009",
    "F. McSherry, I. Mironov: Differentially Private Recommender Systems. KDD 2009",
    (FIGURE1, FIGURE2, PLACES),
    READINGS,
)
