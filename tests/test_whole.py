"""A file is whole or it is not there, whatever happens while it is written."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tacit.atomic_write import open_atomic
from tacit.errors import StorageError


def test_a_block_that_fails_leaves_the_old_file_and_nothing_beside(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("old")

    def written() -> None:
        with open_atomic(place) as file:
            file.write(b"new")
            raise ValueError

    with pytest.raises(ValueError):
        written()
    assert place.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("durable", [False, True])
def test_a_private_file_is_its_owners_alone(tmp_path: Path, durable: bool) -> None:
    place = tmp_path / "file"
    place.write_text("old")  # readable by others, as most files are
    with open_atomic(place, private=True, durable=durable) as file:
        file.write(b"new")
    assert place.read_text() == "new"
    assert stat.S_IMODE(place.stat().st_mode) == 0o600


def test_a_folder_that_is_a_file_is_our_error_with_its_remedy(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with (
        pytest.raises(StorageError, match="cannot be written") as refused,
        open_atomic(tmp_path / "taken" / "file", remedy="name another"),
    ):
        raise AssertionError("nothing can be written there")
    assert refused.value.remedy == "name another"
