"""Makes the pictures of docs/tutorial.md from what its own commands wrote.

    cd FOLDER; run the commands of docs/tutorial.md
    .venv/bin/python scripts/tutorial_pictures.py FOLDER

`cost.svg` is the first figure of `cost.html`; `statement.png` is the head of `statement.html`,
photographed by the browser of the tests (`scripts/chromium`).
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
FIGURE = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
COLOURS = re.compile(r":root \{.*?\}", re.DOTALL)
SIZE = "900,1100"
"""Of the photograph: the part that is read first."""


def figure(report: str) -> str:
    """The first figure of a report, with the colours that its page gives it."""
    found = FIGURE.search(report)
    colours = COLOURS.search(report)
    assert found is not None
    assert colours is not None
    paper = '<rect width="100%" height="100%" fill="#fff"/>'
    style = f"<style>{colours[0]} text {{ font-family: sans-serif }}</style>"
    head, rest = found[0].split(">", 1)
    lines = f"{head}>{style}{paper}{rest}\n".splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"


def photograph(page: Path, picture: Path) -> None:
    """What a reader of the page sees first."""
    tool = subprocess.run(
        [ROOT / "scripts" / "chromium"], capture_output=True, text=True, check=True
    )
    options = ["--headless", "--no-sandbox", "--hide-scrollbars"]
    command = [tool.stdout.split()[0], *options, f"--window-size={SIZE}"]
    subprocess.run(
        [*command, f"--screenshot={picture}", page.resolve().as_uri()],
        check=True,
        capture_output=True,
    )


def main() -> None:
    """Both pictures."""
    folder = Path(sys.argv[1])
    report = (folder / "cost.html").read_text("utf-8")
    (PICTURES / "cost.svg").write_text(figure(report), "utf-8")
    photograph(folder / "statement.html", PICTURES / "statement.png")


if __name__ == "__main__":
    main()
