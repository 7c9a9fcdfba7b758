"""The measured tables of docs/results: python benchmarks/measured.py run DATA [PAGE...],
or `show [PAGE...]` to write the tables of finished numbers into their pages again.

DATA holds ml-100k/ and ml-1m/. Each table is one `tacit evaluate` with its command, version,
commit and date in PAGE.json, and raw numbers beside it; a run that is ended goes on where it
was (`--kept FOLDER`). NOT PRIVATE: errors are over held-back ratings.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

RESULTS = Path(__file__).parents[1] / "docs" / "results"
HEAD = "## Measured"


class Table(NamedTuple):
    """One command and what is shown of it."""

    title: str
    data: str
    words: str
    """Behind `tacit evaluate DATA`; {data} is the data set's folder."""
    metrics: tuple[str, ...] = ("rmse",)


FACTORS = (
    "bias,als,mf-objective,mf-nonnegative,mf-sgd,mf-langevin,svd-gradient,svdpp-gradient,"
    "svd-objective,svdpp-objective"
)
VALUES = (
    "svd-gradient,svdpp-gradient,svd-objective,svdpp-objective,svd-output,svdpp-output,"
    "mf-input-sgd,mf-input-als"
)
LIKES = "--split people --hold 200 --positive 4 --epsilon 1,5,20 --users 943 --seeds 2 --no-twin"
USUAL = "--epsilon 1,5,20 --users 943 --seeds 2 --no-twin"
SOME = "--epsilon 0.5,1,2,4,8 --users 943 --seeds 2 --no-twin"
LARGE = "--epsilon 1,5,20 --users 6000 --seeds 1 --no-twin"
TABLES = {
    "mf": (
        Table("RMSE, unit `user`, MovieLens 1M", "ml-1m", f"--method bias,als --unit user {LARGE}"),
        Table(
            "RMSE, unit `user`, MovieLens 100K",
            "ml-100k",
            f"--method {FACTORS} --unit user {USUAL}",
        ),
        Table(
            "RMSE, unit `value`, pure epsilon (who rated what is public), MovieLens 100K",
            "ml-100k",
            f"--method {VALUES} --unit value --delta 0 {USUAL}",
        ),
    ),
    "covariance": (
        Table(
            "RMSE with the paper's cleaning, unit `user`, MovieLens 1M",
            "ml-1m",
            f"--method covariance-svd --set cleaning=paper --unit user {LARGE}",
        ),
        Table(
            "RMSE, unit `user`, MovieLens 100K",
            "ml-100k",
            "--method bias,covariance-svd,covariance-knn,knn-pearson,knn-cosine --unit user "
            + USUAL,
        ),
        Table(
            "RMSE, unit `rating`, MovieLens 100K",
            "ml-100k",
            "--method bias,covariance-svd,covariance-knn,knn-pearson,knn-cosine --unit rating "
            + USUAL,
        ),
        Table(
            "RMSE with the paper's cleaning, unit `rating`, MovieLens 100K",
            "ml-100k",
            f"--method covariance-svd --set cleaning=paper --unit rating {USUAL}",
        ),
        Table(
            "Lists of likes, unit `user`, MovieLens 100K",
            "ml-100k",
            f"--method ease,als,popularity --unit user {LIKES}",
            ("recall@20", "ndcg@20"),
        ),
    ),
    "pnbm": (
        Table(
            "RMSE, unit `user`, MovieLens 100K",
            "ml-100k",
            "--method pnbm-sgd,pnbm-langevin,knn-pearson,knn-cosine,mf-sgd,mf-langevin --unit "
            f"user {USUAL}",
        ),
    ),
    "one-bit": (
        Table(
            "RMSE with public features, MovieLens 100K",
            "ml-100k",
            "--method one-bit-projected,one-bit,one-bit-naive --items {data} --unit user " + SOME,
        ),
        Table(
            "RMSE without features, MovieLens 100K",
            "ml-100k",
            f"--method one-bit-projected,one-bit,one-bit-naive --unit user {SOME}",
        ),
        Table(
            "RMSE with public features, MovieLens 1M",
            "ml-1m",
            "--method one-bit-projected,one-bit --items {data} --unit user --epsilon 1,4 "
            "--users 6000 --seeds 2 --no-twin",
        ),
    ),
}


def run(data: Path, page: str, kept: Path) -> None:
    """Every table of a page that its JSON does not hold already."""
    from tacit.papers.machine.record import made_by, today

    file = RESULTS / f"{page}.json"
    told: dict[str, Any] = {"note": "NOT PRIVATE: for the owner only"}
    found = json.loads(file.read_text()) if file.is_file() else {"tables": []}
    done = {each["command"]: each for each in found["tables"]}
    tables = []
    for place, table in enumerate(TABLES[page]):
        shown = table.words.format(data=table.data)
        command = f"tacit evaluate {table.data} {shown}"
        if command not in done:
            place_of = data / table.data
            words = table.words.format(data=place_of).split()
            answer = evaluated(place_of, words, kept / f"{page}-{place}")
            done[command] = {
                "title": table.title,
                "command": command,
                **made_by(),
                "date": today(),
                "people": answer["people"],
                "items": answer["items"],
                "ratings": answer["ratings"],
                "split": answer["split"],
                "seeds": answer["seeds"],
                "rows": list(rows(answer, table.metrics)),
            }
        tables.append(done[command])
        text = json.dumps(told | {"tables": tables}, indent=1)
        file.write_text(text + "\n", encoding="utf-8")


def evaluated(data: Path, words: list[str], kept: Path) -> dict[str, Any]:
    """What `tacit evaluate` prints as JSON."""
    command = [sys.executable, "-m", "tacit", "evaluate", str(data), *words]
    ended = subprocess.run(
        [*command, "--threads", "1", "--out", str(kept), "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        raise SystemExit(ended.stderr)
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def rows(answer: dict[str, Any], metrics: Iterable[str]) -> Iterable[dict[str, Any]]:
    """Of every cell what is shown, and how far seeds differ."""
    for cell in answer["cells"]:
        told = {name: cell[name] for name in ("method", "calibration", "unit", "epsilon", "delta")}
        for metric in metrics:
            told[metric] = _short(cell[metric])
            told[f"{metric}_sd"] = _short(cell.get(f"{metric}_sd"))
        yield told


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.5g}")


def section(told: dict[str, Any], name: str) -> str:
    """The measured part of a page, from its numbers alone."""
    lines = [
        HEAD,
        "",
        (
            "Owner's evaluations of public data, NOT PRIVATE. Each table names its command "
            f"(`python benchmarks/measured.py run DATA {name}` runs all); raw numbers with the "
            f"spread over seeds are in [{name}.json]({name}.json)."
        ),
    ]
    for table in told["tables"]:
        lines += ["", f"{table['title']}: `{table['command']}`,"]
        lines += [f"tacit {table['version']} (commit {table['commit']}), {table['date']}.", ""]
        lines += _table(table["rows"])
    return "\n".join(lines) + "\n"


def _table(found: list[dict[str, Any]]) -> list[str]:
    metrics = [n[: -len("_sd")] for n in found[0] if n.endswith("_sd")]
    budgets = sorted({r["epsilon"] for r in found if r["epsilon"] is not None})
    names = list(dict.fromkeys(row["method"] for row in found))
    head = [f"{each:g}" for each in budgets]
    lines = [f"| {' / '.join(metrics)} | {' | '.join(head)} |", f"|{'---|' * (len(head) + 1)}"]
    for name in names:
        cells = []
        for at in budgets:
            row = next((r for r in found if r["method"] == name and r["epsilon"] == at), None)
            cells.append(_cell(row, metrics))
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return lines


def _cell(row: dict[str, Any] | None, metrics: list[str]) -> str:
    if row is None:
        return ""
    known = (row[each] for each in metrics)
    return " / ".join("" if each is None else f"{each:.3f}" for each in known)


def placed(page: str, part: str) -> str:
    """A page with its measured part replaced; at its end if there is none."""
    if HEAD not in page:
        return page.rstrip() + "\n\n" + part
    before, rest = page.split(HEAD, 1)
    after = rest.find("\n## ")
    return before + part + (rest[after:] if after >= 0 else "")


def show(page: str) -> None:
    """Write the tables of finished numbers into their page."""
    told = json.loads((RESULTS / f"{page}.json").read_text(encoding="utf-8"))
    file = RESULTS / f"{page}.md"
    text = placed(file.read_text(encoding="utf-8"), section(told, page))
    file.write_text(text, encoding="utf-8")


def main() -> None:
    """`run DATA [PAGE...]` or `show [PAGE...]`."""
    asked = argparse.ArgumentParser(description=__doc__)
    ways = asked.add_subparsers(dest="way", required=True)
    running = ways.add_parser("run")
    running.add_argument("data", type=Path)
    running.add_argument("--kept", type=Path, default=Path("measured"))
    for each in (running, ways.add_parser("show")):
        each.add_argument("pages", nargs="*", default=list(TABLES))
    told = asked.parse_args()
    for page in told.pages:
        if told.way == "run":
            run(told.data, page, told.kept)
        show(page)


if __name__ == "__main__":
    main()
