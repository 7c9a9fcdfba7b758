"""The Tacit that is on the path, whichever that is: all that a comparison may use of it.

Its types are not known here, because another checkout may have others.
"""

from __future__ import annotations

import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

tacit: Any = import_module("tacit")
METHODS: dict[str, str] = import_module("tacit.methods").METHODS
find: Any = import_module("tacit.methods").find
inject_bits: Any = import_module("tacit.testing").inject_bits


def trial(*arguments: Any, **options: Any) -> Any:
    """The fit that no book is charged for, wherever this checkout keeps it."""
    for home in ("tacit.fitting.run", "tacit.fitting"):
        try:
            found = getattr(import_module(home), "trial", None)
        except ModuleNotFoundError:
            continue
        if found is not None:
            return found(*arguments, **options)
    raise RuntimeError("this checkout has no trial")


def main() -> None:
    """The command line, wherever the checkout says that it is."""
    checkout = Path(tacit.__file__).parents[2]
    told = tomllib.loads((checkout / "pyproject.toml").read_text("utf-8"))
    module, function = told["project"]["scripts"]["tacit"].split(":")
    getattr(import_module(module), function)()
