"""Xian et al. 2017, Algorithm 3 (DPSAOut, DPSAOut++): output perturbation for SVD and SVD++."""

from __future__ import annotations

from typing import ClassVar

from tacit.ledger.event import Unit
from tacit.methods.mf_twin import TwinKind
from tacit.methods.svd_objective import ObjectiveSVD


class OutputSVD(ObjectiveSVD):
    """K-norm noise on every solution, sized by the ridge's own bound on rows whose length is enforced."""

    name = "svd-output"
    source = "Xian et al. 2017, Algorithm 3 (DPSAOut)"
    units: ClassVar[tuple[Unit, ...]] = ("value",)
    noise = "output"


class OutputSVDPP(OutputSVD):
    """The same with implicit ratings, which are public at `value` and free."""

    name = "svdpp-output"
    source = "Xian et al. 2017, Algorithm 3 (DPSAOut++)"
    twin: ClassVar[TwinKind] = "svdpp"
    plus = True
