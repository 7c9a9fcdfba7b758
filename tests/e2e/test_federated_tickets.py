"""A federation with tickets and real noise, from the first ticket to the statement."""

from __future__ import annotations

from tacit.data.sample import sample
from tacit.federation.device.client import Papers
from tacit.federation.device.policy import Policy
from tacit.federation.server import book, recommender, uploads
from tacit.federation.server.store import ServerStore
from tacit.model.model import load

STEPS = {"recommender": recommender.MIGRATIONS, "aggregator": uploads.MIGRATIONS}


def test_tickets_of_both_servers_and_the_noise_of_both_make_a_model(federation) -> None:
    people = 24
    f = federation(
        sample(people=people, ratings=400, seed=5),
        aggregator=["--tickets"],
        tickets=True,
        calibration="sound",
        epsilon=8,
        delta=1e-4,
        noise="both",
        least=20,
        cohort=people,
    )
    f.start()
    made = {}
    for role, steps in STEPS.items():  # beside servers that run
        store = ServerStore(f.home[role] / f"{role}.sqlite", steps, role)
        made[role] = book.new_tickets(people)
        store.write_blocking(lambda s, role=role: book.keep_tickets(s, made[role], "all", 1))
        store.close()
    papers = [
        Papers(ticket=one, aggregator_ticket=other)
        for one, other in zip(*made.values(), strict=True)
    ]
    f.train(papers=papers, policy=Policy(epsilon=20, delta=1e-4))
    told = load(f.out).statement.honest
    assert sum("one-time ticket" in line for line in told) == 2
    assert any("both servers together" in line for line in told)
    assert "phase_seconds_bucket" in f.get("recommender", "/metrics")
    assert "tacit_aggregator_sum_seconds_count" in f.get("aggregator", "/metrics")
