"""A model that is fitted anew takes the old one's place, and no address dies at once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tacit.model.model import load
from tacit.model.shared import Shared
from tacit.serving import shelf as shelf_module
from tacit.serving.app import Options, Server, build

Ask = Callable[..., Any]


@pytest.fixture
def place(folders: list[Path], tmp_path: Path) -> Path:
    return Path(shutil.copytree(folders[0], tmp_path / "stars"))


@pytest.fixture
def server(place: Path, web: Path) -> Server:
    return build([place], Options(web=web, logs=False))


def changed(place: Path, by: float) -> str:
    """Another model of the same items in the same place; gives its digest."""
    model = load(place)
    shared = model.shared
    arrays = {**shared.arrays, "baseline": shared.arrays["baseline"] + np.float32(by)}
    numbers = dict(shared.numbers)
    new = Shared(
        shared.method,
        shared.personal,
        arrays,
        numbers,
        shared.schema,
        shared.catalogue,
        shared.settings,
    )
    new.save(place, model.statement.to_json(), overwrite=True)
    return new.digest()


def served(ask: Ask, server: Server) -> str:
    return str(ask(server.app, "/models").facts["models"][0]["digest"])


def test_a_new_model_is_served_and_the_old_address_still_answers(
    ask: Ask, server: Server, place: Path
) -> None:
    before = ask(server.app, "/models").facts["models"][0]
    first = ask(server.app, "/model")
    assert server.shelf.refresh() == []
    digest = changed(place, 0.25)
    assert served(ask, server) == before["digest"]
    assert server.shelf.refresh() == ["stars: read"]
    assert served(ask, server) == digest
    second = ask(server.app, "/model", if_none_match=first.headers["etag"])
    assert second.status == 200
    assert ask(server.app, "/catalogue").facts["digest"] == digest
    assert ask(server.app, "/" + before["model"]).body == first.body
    assert ask(server.app, "/" + before["catalogue"]).facts["digest"] == before["digest"]


def test_an_old_address_ends_after_its_time(
    ask: Ask, server: Server, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelf_module, "KEPT", -1.0)
    before = ask(server.app, "/models").facts["models"][0]
    changed(place, 0.25)
    server.shelf.refresh()
    changed(place, 0.5)
    server.shelf.refresh()
    assert ask(server.app, "/" + before["model"]).status == 404


def test_a_damaged_model_leaves_the_old_one(
    ask: Ask, server: Server, place: Path, folders: list[Path]
) -> None:
    before = served(ask, server)
    changed(place, 0.25)
    facts = json.loads((place / "model.json").read_text())
    facts["numbers"]["noise"] = 9.0
    (place / "model.json").write_text(json.dumps(facts))
    told = server.shelf.refresh()
    assert "kept as it was" in told[0]
    assert served(ask, server) == before
    assert server.shelf.refresh() == []
    assert server.shelf.failures == 1
    shutil.rmtree(place)
    shutil.copytree(folders[1], place)
    assert server.shelf.refresh() == ["stars: read"]
    assert served(ask, server) == load(folders[1]).shared.digest()


def test_a_folder_that_is_just_being_replaced_is_looked_at_later(
    ask: Ask, server: Server, place: Path
) -> None:
    before = served(ask, server)
    away = place.with_name("away")
    place.rename(away)
    assert server.shelf.refresh() == []
    assert served(ask, server) == before
    away.rename(place)
    assert server.shelf.refresh() == []


def test_a_reload_that_is_asked_for_reads_all(ask: Ask, server: Server, place: Path) -> None:
    digest = changed(place, 1.0)
    server.reload()
    assert served(ask, server) == digest
    assert server.shelf.reloads == 1
