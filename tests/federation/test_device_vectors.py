"""`spec/vectors/device.json`: Python's own device still adds these integers, from these states."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import pytest

from tacit.federation.agreed.assembled import assemble
from tacit.federation.protocol.arrays import unpack_state
from tacit.federation.protocol.task import Task

sys.path.insert(0, str(Path(__file__).parents[2] / "spec"))
maker = importlib.import_module("device")
VECTORS = json.loads(maker.FILE.read_text())


@pytest.mark.parametrize("name", maker.TASKS)
def test_the_program_still_adds_them(name: str) -> None:
    facts = VECTORS["tasks"][name]
    document = json.loads(facts["document"])
    made = assemble(Task.model_validate(document["task"]))
    assert made.task.name == document["name"]
    assert json.loads(made.events_text()) == document["events"]
    crowd = maker._crowd(made)
    for index, told in enumerate(facts["rounds"]):
        arrays = unpack_state(bytes.fromhex(told["state"]))
        found = maker._round(made, index, made.state(arrays), crowd)
        # A single number travels as an array of one, so states are compared by what follows.
        for member in ("name", "print", "layouts", "given"):
            assert found[member] == told[member], member
