"""One known privacy bug as a textual patch, and who should catch it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


class Rotten(Exception):
    """A patch that no longer applies: the code that it would spoil has changed."""


@dataclass(frozen=True)
class Bug:
    """A patch of one place in one file."""

    name: str
    words: str
    """What goes wrong, for a reader of the table."""
    file: str
    """Under `src/tacit`."""
    old: str
    new: str
    caught_by: tuple[str, ...]
    """Tests, as pytest names them, under `tests`; at least one of them must fail."""

    def apply(self, tree: Path) -> str:
        """Plant it in a tree; the text that stood there."""
        path = tree / "src" / "tacit" / self.file
        before = path.read_text()
        if before.count(self.old) != 1:
            raise Rotten(
                f"{self.name}: its text stands {before.count(self.old)} times in {self.file}"
            )
        path.write_text(before.replace(self.old, self.new))
        return before

    @property
    def is_compiled(self) -> bool:
        """Whether it is in a file of compiled loops: nothing that was compiled before may be
        used then, because callers in other files have it inside them."""
        return "kernels" in self.file
