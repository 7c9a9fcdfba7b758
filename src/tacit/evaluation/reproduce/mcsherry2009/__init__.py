"""McSherry & Mironov, KDD 2009: figure 1 (four curves over theta), figure 2 (growth by
date), and the three places for noise of section 4.1."""

from __future__ import annotations

from tacit.evaluation.reproduce.experiment import Paper
from tacit.evaluation.reproduce.mcsherry2009.places import PLACES

PAPER = Paper(
    "mcsherry2009",
    "F. McSherry, I. Mironov: Differentially Private Recommender Systems. KDD 2009",
    (PLACES,),
)
