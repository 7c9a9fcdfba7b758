"""Programs of Tacit in processes of their own, without importing everything anew.

A server imports for about a second, and these tests start some two hundred of them. So one
process imports once and stands by (the fork server of `multiprocessing`), and each server is
a fork of it: with its own memory, signals, files and environment, and as mortal as any other.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from multiprocessing import get_context
from pathlib import Path

import pytest

MAIN = "from tacit.cli.main import main; main()"
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
_FORK = get_context("forkserver")
_FORK.set_forkserver_preload(["standing_by"])
_PROGRAM = """
import os, sys
os.environ.clear()
os.environ.update(environment)
for place, number in ((log, 1), (errors, 2)):
    with open(place, "ab") as file:
        os.dup2(file.fileno(), number)
sys.argv = ["-c", *arguments]
exec(program, {"__name__": "__main__"})
"""


class Forked:
    """What these tests use of `subprocess.Popen`."""

    def __init__(
        self, arguments: Sequence[str], log: Path, program: str = MAIN, errors: Path | None = None
    ) -> None:
        """`log` takes its output, and its errors too if they have no file."""
        for place in (log, errors or log):
            place.touch()  # it may be read before the process has opened it
        known = {
            "arguments": list(arguments),
            "environment": os.environ | ONE_THREAD,
            "errors": str(errors or log),
            "log": str(log),
            "program": program,
        }
        # A function of Python itself: nothing of the tests is imported there.
        self._process = _FORK.Process(target=exec, args=(_PROGRAM, known), daemon=True)
        with pytest.MonkeyPatch.context() as patch:
            # The process that stands by is started with the first of them.
            patch.setenv("OPENBLAS_NUM_THREADS", "1")
            here = str(Path(__file__).parent)
            patch.setenv("PYTHONPATH", here, prepend=os.pathsep)
            self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        status = self._process.exitcode
        if status is None:
            raise subprocess.TimeoutExpired("a server", timeout or 0)
        return status

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)
