"""`tacit federate`: the two servers, one device, many devices, enrolment, operation."""

from __future__ import annotations

import click

from tacit.cli.federate.admin import admin
from tacit.cli.federate.join import device, fleet, spent
from tacit.cli.federate.serve import aggregator, identity, recommender
from tacit.cli.federate.ticket import ticket
from tacit.cli.grouped import GroupedCommands


@click.group(cls=GroupedCommands)
def federate() -> None:
    """Train without holding ratings: devices, and two servers that must not collude."""


COMMANDS = (recommender, aggregator, identity, device, fleet, spent, ticket, admin)
for command in COMMANDS:
    federate.add_command(command)
