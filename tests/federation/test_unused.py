"""A new training is not charged where its model could not be written."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from tacit.errors import StorageError
from tacit.federation.server.publish import Charged
from tacit.federation.server.training import Training


def training(out, book, receipt: str) -> Training:
    """One whose store holds this receipt, and whose rounds are never reached."""

    async def run() -> None:
        raise InterruptedError

    rounds = SimpleNamespace(
        receipt=lambda: receipt,
        made=SimpleNamespace(task=None, public=SimpleNamespace(budget=None)),
    )
    conductor = SimpleNamespace(rounds=rounds, run=run)
    how = SimpleNamespace(out=out, book=Charged(str(book), "default"))
    return Training(None, conductor, how, None)


def test_the_model_of_another_training_is_in_the_way(tmp_path):
    (tmp_path / "model.json").write_text("{}")
    book = tmp_path / "ledger.sqlite"
    with pytest.raises(StorageError, match="model of another training"):
        asyncio.run(training(tmp_path, book, "")._train())
    assert not book.exists()


def test_a_training_that_was_charged_goes_on(tmp_path):
    (tmp_path / "model.json").write_text("{}")
    with pytest.raises(InterruptedError):
        asyncio.run(training(tmp_path, tmp_path / "b", '{"token": "t"}')._train())
