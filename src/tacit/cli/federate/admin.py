"""`tacit federate admin`: what an operator orders, through the store of the server itself.

There is no port for orders: whoever can write to a server's store is its operator.
"""

from __future__ import annotations

from typing import Any

import click

from tacit.cli.federate.ticket import open_store, store_options
from tacit.cli.grouped import GroupedCommands
from tacit.cli.options import json_option, note
from tacit.cli.show import print_json, say


@click.group(cls=GroupedCommands)
def admin() -> None:
    """List, pause, retry, abort or expire a training; ban devices."""


task_option = click.option(
    "--task",
    metavar="HEX",
    help="Which training, if the store holds several: the beginning of its name.",
)


@admin.command(name="list")
@store_options
@json_option
def listed(as_json: bool, **o: Any) -> None:
    """The trainings of a recommender, or the rounds of an aggregator."""
    from tacit.federation.server.training import trainings
    from tacit.federation.server.uploads import standing

    store = open_store(o)
    try:
        if o["role"] == "recommender":
            records = store.write_blocking(trainings)
            facts = [{**record._asdict(), "orders": record.orders._asdict()} for record in records]
        else:
            facts = [record._asdict() for record in store.write_blocking(standing)]
    finally:
        store.close()
    if as_json:
        print_json({"trainings": facts})
        return
    for record in facts:
        orders = record.pop("orders", {})
        fields = [f"{name.replace('_', ' ')} {value}" for name, value in record.items()]
        fields += [f"{n}: {v}" for n, v in orders.items() if v]
        say(", ".join(fields))


def _order(o: dict[str, Any], name: str, value: str) -> None:
    """Give a recommender an order for a training."""
    from tacit.errors import SettingError
    from tacit.federation.server import training

    if o["role"] != "recommender":
        raise SettingError(
            "only the recommender conducts a training", remedy="--server recommender"
        )
    store = open_store(o)
    try:
        task = store.write_blocking(lambda s: training.find_training(s, o["task"]))
        if name == "retries":
            store.write_blocking(lambda s: training.retry_round(s, task))
        else:
            store.write_blocking(lambda s: training.place_order(s, task, name, value))
    finally:
        store.close()
    note(f"ordered for the training {task[:12]}; obeyed within a second or two")


@admin.command()
@store_options
@task_option
def pause(**o: Any) -> None:
    """Begin no further attempt at a round; the one under way is finished."""
    _order(o, "paused", "yes")


@admin.command()
@store_options
@task_option
def resume(**o: Any) -> None:
    """Go on after a pause."""
    _order(o, "paused", "no")


@admin.command()
@store_options
@task_option
def retry(**o: Any) -> None:
    """Give up the attempt that is under way and run its round again.

    Devices that have answered send the same words again and pay nothing.
    """
    _order(o, "retries", "")


@admin.command()
@store_options
@task_option
@click.option("--reason", required=True, help="One line, which every device is told.")
def abort(reason: str, **o: Any) -> None:
    """End a training for good. What was charged stays charged."""
    _order(o, "aborted", " ".join(reason.split())[:200])


@admin.command()
@store_options
@task_option
@click.option("--hours", type=float, required=True, help="From now.")
def expire(hours: float, **o: Any) -> None:
    """Let a training end by itself after so many hours."""
    import time

    _order(o, "expires", str(time.time() + 3600 * hours))


@admin.command(name="give-up")
@store_options
def give_up(**o: Any) -> None:
    """Give up every open round of an aggregator whose store came back from an older copy."""
    from tacit.errors import SettingError
    from tacit.federation.server.uploads import give_up_open

    if o["role"] != "aggregator":
        raise SettingError("a recommender gives up by `retry`", remedy="--server aggregator")
    store = open_store(o)
    try:
        count = store.write_blocking(give_up_open)
    finally:
        store.close()
    note(f"{count} open attempts are given up, and never revealed")


@admin.command()
@store_options
@click.argument("devices", nargs=-1)
@click.option("--label", help="All that enrolled with the tickets of this label.")
@click.option("--undo", is_flag=True, help="Serve them again.")
def ban(devices: tuple[str, ...], label: str | None, undo: bool, **o: Any) -> None:
    """Serve devices no more, at this server; the other has its own list."""
    from tacit.errors import SettingError
    from tacit.federation.server import book
    from tacit.federation.server.gate import is_name

    if not all(is_name(device) for device in devices):
        raise SettingError("a device's id is 32 hexadecimal digits")
    store = open_store(o)
    try:
        targets = list(devices)
        if label is not None:
            targets += store.write_blocking(lambda s: book.of_label(s, label))
        if not targets:
            raise SettingError("no device is named", remedy="ids, or --label")
        change = book.unban if undo else book.ban
        store.write_blocking(lambda s: change(s, targets))
    finally:
        store.close()
    note(f"{len(targets):,} devices are {'served again' if undo else 'banned'}")
