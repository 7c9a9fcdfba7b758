"""A csv that somebody opens: no spreadsheet runs its cells and no terminal obeys them."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path

import polars as pl
import pytest

from tacit.exports import csv_text, harmless, write_csv, write_parquet
from tacit.redaction import acts

HOSTILE = [
    '=HYPERLINK("http://x.example";"film")',
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "  =1+1",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    "＝1+1",
    "\ufeff=1+1",
    "\u00a0=1+1",
    "Solaris;=1+1",
    'Solaris; "@SUM(A1)"',
    "Solaris;;＝1+1",
    "\x1b[2J\x1b]0;gone\x07",
    "a\x9b31m",
    "a\u202eb",
    "a\nCERTIFIED",
]
FORMULAS = tuple("=+-@＝")
PLAIN = ["Amélie", "12", "a=b", "3-5", "", "' quoted", "🎬 film", "Ocean's Eleven, 2001", "a; b;"]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_cell_is_disarmed(text):
    cell = harmless(text)
    assert not any(map(acts, cell))
    # Where a comma is the decimal mark, a spreadsheet cuts a line at semicolons.
    assert not any(part.lstrip(' "')[:1] in FORMULAS for part in cell.split(";") if part)
    assert harmless(cell) == cell


@pytest.mark.parametrize("value", [*PLAIN, None, -1, -0.5, True])
def test_other_cells_stay(value):
    assert harmless(value) == value


def test_both_forms_of_a_table_go_through_the_door():
    out = io.BytesIO()
    frame = pl.DataFrame({"item": [*HOSTILE, *PLAIN, None], "expected": -0.5})
    write_csv(frame, out, digits=3)
    found = pl.read_csv(out.getvalue(), schema_overrides={"item": pl.String})
    assert found["item"].to_list() == [harmless(each) for each in [*HOSTILE, *PLAIN]] + [None]
    assert found["expected"][0] == -0.5
    rows = [{"item": each, "expected": -0.5} for each in frame["item"]]
    again = pl.read_csv(csv_text(["item", "expected"], rows).encode())
    assert again["item"].to_list()[: len(HOSTILE)] == found["item"].to_list()[: len(HOSTILE)]


def test_nothing_else_writes_tables():
    """One door: a frame or the module `csv` elsewhere would go around it."""
    source = Path(__file__).parents[1] / "src" / "tacit"
    line = ["grep", "-rlE", r"\.(write_csv|write_parquet)\(|csv\.(writer|DictWriter)", str(source)]
    found = subprocess.run([*line, "--include=*.py"], capture_output=True, text=True, check=True)
    names = {str(Path(name).relative_to(source)) for name in found.stdout.split()}
    # Evaluation.write_csv is called by the command; reading quotes a field again in memory.
    assert names == {"exports.py", "cli/evaluate.py", "data/reading/delimited.py"}


@pytest.mark.parametrize("name", ["lists.csv", "lists.parquet"])
def test_a_full_disk_is_an_error_of_the_disk(name):
    frame = pl.DataFrame({"item": [f"film {n}" for n in range(100)]})
    write = write_csv if name.endswith("csv") else write_parquet
    with open("/dev/full", "wb", buffering=0) as full, pytest.raises(OSError, match="No space"):
        write(frame, full)
