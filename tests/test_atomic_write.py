"""What is said of a file that could not be written."""

from __future__ import annotations

import errno

import pytest

from tacit.atomic_write import open_atomic
from tacit.errors import StorageError


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_on_a_full_disk_the_remedy_is_room(tmp_path, number):
    with (
        pytest.raises(StorageError) as refused,
        open_atomic(tmp_path / "file", remedy="choose another --out"),
    ):
        raise OSError(number, "no room")
    assert refused.value.remedy == "free some space"
    assert not list(tmp_path.iterdir())
