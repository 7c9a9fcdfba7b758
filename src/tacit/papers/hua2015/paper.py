"""Hua, Xia & Zhong 2015: figures 1 to 10, film samples, bytes and seconds, the difference
attack of equation 11, and the future work of section 6."""

from __future__ import annotations

from tacit.papers.hua2015.figures.attack import ATTACK
from tacit.papers.hua2015.figures.cost import COST
from tacit.papers.hua2015.figures.curves import CURVES
from tacit.papers.hua2015.figures.future import FUTURE
from tacit.papers.hua2015.figures.increase import INCREASES
from tacit.papers.hua2015.figures.joining import JOINING
from tacit.papers.hua2015.figures.samples import SAMPLES
from tacit.papers.machine.experiment import Paper

READINGS = (
    (
        "what the gain 2^-5 multiplies is not printed: equations 2 to 5 to the letter (`sum`) "
        "run away on both data sets; `mean` takes the mean gradient over a person's items and "
        "an item's raters; `equation 1` divides by all ratings, as equation 6 does, and by the "
        "curvature (`scaled`) or solves (`solved`)"
    ),
    (
        "the proof of Theorem 1 has |u| <= 1; it is kept so where noise is added (`bounded`) "
        "and in the baseline that such a run is compared with"
    ),
    (
        "errors are |r - u'v| over the training pairs with the profiles that the training "
        "left; means are of products kept within 1 to 5, which is kinder than raw ones (in "
        "the numbers); those of a held-back tenth are told beside"
    ),
    (
        "the pieces of equation 12 have the variance 1/k; `pieces of sd 1/k` takes N(0, 1/k) "
        "for a standard deviation, which divides the noise of a sum by the root of its raters"
    ),
    "S1 takes as many steps for equation 6 as for equation 1, from the items that it left",
    (
        "in S3 every eta is made before the first iteration; as many people are online at "
        "first as take part in a round"
    ),
    (
        "from 100 Netflix films other samples are 50 of them; from the whole Prize each is "
        "100 films at random, as in the paper"
    ),
)
PAPER = Paper(
    "hua2015",
    "J. Hua, C. Xia, S. Zhong: Differentially Private Matrix Factorization. IJCAI 2015",
    (*CURVES, *INCREASES, *JOINING, SAMPLES, COST, ATTACK, FUTURE),
    READINGS,
)
