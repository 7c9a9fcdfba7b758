"""`scripts/site`: write the pages of methods, build the site, say what is broken."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from siting import methods
from siting.build import build

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Exit status 1 if a link leads nowhere."""
    parser = argparse.ArgumentParser(prog="scripts/site", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site")
    parser.add_argument("--pages", action="store_true")
    asked = parser.parse_args()
    for path, text in methods.pages(ROOT).items():
        path.write_text(text, encoding="utf-8")
    if asked.pages:
        return 0
    broken = build(ROOT, asked.out)
    for line in broken:
        sys.stderr.write(line + "\n")
    if not broken:
        sys.stdout.write(f"{asked.out / 'index.html'}\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
