"""A scale that is none is refused in the words of the side that asked."""

from __future__ import annotations

import pytest

import tacit

BAD = ["1,5", "15", "1", 5, (1,), [1, 5, 6], ("a", "b"), (1, None), (5, 1)]


@pytest.mark.parametrize("scale", BAD, ids=str)
def test_python_is_answered_in_its_own_words(tmp_path, scale):
    """`"15"` is no pair either, though its two letters are numbers."""
    (tmp_path / "mine.csv").write_text("user,item,rating\na,b,3\n")
    with pytest.raises(tacit.TacitError, match="scale") as found:
        tacit.read(tmp_path / "mine.csv", scale=scale)
    told = str(found.value)
    assert "scale=(1, 5)" in told
    assert "LOW" not in told
    assert "--" not in told
