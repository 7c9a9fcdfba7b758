"""`tacit federate`: the two servers, one device, many devices, enrolment."""

from __future__ import annotations

import click

from tacit.cli.federate.join import device, fleet, spent
from tacit.cli.federate.serve import aggregator, identity, recommender
from tacit.cli.federate.ticket import ticket


@click.group()
def federate() -> None:
    """Train without holding ratings: devices, and two servers that must not collude."""


for command in (
    recommender,
    aggregator,
    identity,
    device,
    fleet,
    spent,
    ticket,
):
    federate.add_command(command)
