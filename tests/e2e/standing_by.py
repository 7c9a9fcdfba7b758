"""Everything that a server of Tacit imports, for the process that `forked` forks. It starts no
thread: what is forked must be alone."""

from __future__ import annotations

import importlib

from numba.core.registry import cpu_target

for name in (
    "scipy.sparse",
    "tacit.cli.federate",
    "tacit.cli.main",
    "tacit.federation.device.device",
    "tacit.federation.server.aggregator",
    "tacit.federation.server.publish",
    "tacit.federation.server.recommender",
    "tacit.federation.server.remote",
    "tacit.fitting.check",
    "tacit.ledger.statement.statement",
    "tacit.methods.factorization.federated",
    "tacit.methods.first_order.rounds",
    "tacit.methods.refine.factors",
    "tacit.model.model",
    "tacit.serving.http.door",
    "tacit.serving.http.headers",
    "tacit.serving.http.watch",
    "uvicorn.lifespan.on",
):
    importlib.import_module(name)
# What numba would otherwise make ready with the first compiled function.
cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()
