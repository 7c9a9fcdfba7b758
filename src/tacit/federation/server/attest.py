"""The operator's own question to a device that wants to enrol: a program that says yes or no.

It gets one JSON object on its standard input (`role`, `device`, `public`, `evidence`: what
the device sent, unread by Tacit) and answers with its exit status; 0 admits. So a check of a
phone's platform, of an account or of a payment is a script of the operator's, in whatever
language.
"""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import Mapping

from tacit.errors import SettingError
from tacit.federation.server.store import Refusal

SECONDS = 10.0
"""For the program to answer; silence is a no."""
AT_ONCE = 4
"""Programs that run at a time."""


class Attest:
    """See the module. `command` is split as a shell would, and no shell runs it."""

    def __init__(self, command: str, seconds: float = SECONDS) -> None:
        self._words = shlex.split(command)
        if not self._words:
            raise SettingError("--attest is empty")
        self._seconds = seconds
        self._gate = asyncio.Semaphore(AT_ONCE)

    async def check(self, facts: Mapping[str, str]) -> None:
        """Refuse a device that the program does not admit."""
        async with self._gate:
            if not await self._admits(json.dumps(facts).encode()):
                raise Refusal(403, "the operator's check did not admit this device")

    async def _admits(self, message: bytes) -> bool:
        try:
            running = await asyncio.create_subprocess_exec(
                *self._words,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
            )
        except OSError:
            raise Refusal(503, "the operator's check cannot be run") from None
        try:
            async with asyncio.timeout(self._seconds):
                await running.communicate(message)
        except TimeoutError:
            running.kill()
            await running.wait()
            return False
        return running.returncode == 0
