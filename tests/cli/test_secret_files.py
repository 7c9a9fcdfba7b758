"""Files of tokens and identities that hold something else."""

from __future__ import annotations

import pytest

from tacit.cli.federate.secret import secret_in
from tacit.cli.federate.serve import _pin
from tacit.errors import SettingError


@pytest.mark.parametrize("read", [lambda path: secret_in(path, "token"), _pin])
def test_a_file_that_is_no_text_is_words(tmp_path, read):
    path = tmp_path / "file"
    path.write_bytes(b"\x80\xff" * 32)
    with pytest.raises(SettingError, match="is not a text in UTF-8"):
        read(str(path))
