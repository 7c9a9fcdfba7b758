"""A server that was told to stop and did so has not failed."""

from __future__ import annotations

import subprocess
import sys

import pytest

RAISED = "import signal; {} signal.raise_signal(signal.SIGTERM)"
WELL = "from tacit.serving.http.door import end_well; end_well();"


@pytest.mark.parametrize(("first", "status"), [(WELL, 0), ("", -15)])
def test_a_stop_that_was_obeyed_is_no_failure(first: str, status: int) -> None:
    command = [sys.executable, "-c", RAISED.format(first)]
    assert subprocess.run(command, check=False).returncode == status
