"""What a line says depends on that line and on declared facts, never on other lines: nobody's
rows delete, rename or re-read the rows of others.

`reference` is a second reader, written from docs/reading.md alone. Hostile tables are read by
it and by ours, with one person and without her.
"""

from __future__ import annotations

import gzip
import math
import os
import random
import re
import unicodedata
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import tacit
from tacit.data.ratings import Ratings
from tacit.data.reading import delimited, files
from tacit.errors import TacitError, UsageError

MANY = 2000 if os.environ.get("TACIT_FULL") else 60
"""Hostile tables of each kind."""
Cell = tuple[float, int | None]
Rows = dict[tuple[str, str], Cell]

WORDS = {
    "user": {"user", "userid", "customerid", "member"},
    "item": {"item", "movieid", "book", "title"},
    "rating": {"rating", "stars", "score"},
    "time": {"timestamp", "time", "date"},
}
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
BLANK = re.compile(r"^[\s\u200b\u2060\ufeff]+|[\s\u200b\u2060\ufeff]+$")


class Refused(Exception):
    """The reference refuses a table."""


def need(held: bool) -> None:
    if not held:
        raise Refused


def split(line: str, mark: str) -> list[str]:
    """The fields of a line, letter by letter."""
    fields, text, state = [], "", "start"
    line = line.removeprefix("\ufeff")
    for letter in [*line, ""]:
        if state == "quoted":
            need(letter != "")
            state = "closing" if letter == '"' else "quoted"
            text += "" if letter == '"' else letter
        elif letter in ("", mark):
            fields.append(text.strip(" \t"))
            text, state = "", "start"
        elif state == "closing" and letter == '"':
            text, state = text + '"', "quoted"
        elif state in ("closing", "closed"):
            need(letter in " \t")
            state = "closed"
        elif state == "start" and letter == '"':
            text, state = "", "quoted"
        else:
            text += letter
            state = "start" if state == "start" and letter in " \t" else "plain"
    return fields


def number(text: str, decimal: str) -> float:
    if decimal == ",":
        need("." not in text)
        text = text.replace(",", ".")
    need(NUMBER.fullmatch(text) is not None)
    return float(text)


def moment(text: str, dates: str) -> int:
    """Seconds since 1970."""
    try:
        if dates != "iso":
            form = r"(\d{1,2})[./-](\d{1,2})[./-]([1-9]\d{3})"
            form += r"(?:[ T]+(\d{1,2}):(\d\d)(?::(\d\d)(?:\.\d+)?)?)?"
            found = re.fullmatch(form, text, re.ASCII)
            need(found is not None)
            assert found is not None
            one, other, year, hour, minute, second = (int(each or 0) for each in found.groups())
            day, month = (one, other) if dates == "dmy" else (other, one)
            when = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
        elif NUMBER.fullmatch(text):
            seconds = int(text) if re.fullmatch(r"[+-]?\d+", text) else math.floor(float(text))
            need(-(2**63) <= seconds <= 100_000_000_000)
            return seconds
        else:
            when = datetime.fromisoformat(text)
            when = when if when.tzinfo else when.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise Refused from None
    return (when - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)


def name(text: str) -> str:
    """An id is its text."""
    need(not re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", text.strip(" \t")))
    text = BLANK.sub("", unicodedata.normalize("NFC", text))
    need(text != "")
    return text


def reference(data: bytes, said: dict[str, Any]) -> Rows:
    """The ratings of a table; one of a person and an item, the latest."""
    try:
        text = data.decode(said.get("encoding", "utf-8"))
    except UnicodeDecodeError:
        raise Refused from None
    lines = re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff"))
    lines = [line for line in lines if line.strip(" \t")]
    need(bool(lines))
    mark = said["delimiter"]
    first = split(lines[0], mark)
    columns = dict(said.get("columns") or {})
    if said["header"]:
        lines = lines[1:]
        for role, words in WORDS.items():
            plain = ["".join(c for c in cell.casefold() if c.isalnum()) for cell in first]
            at = next((k for k, cell in enumerate(plain) if cell in words), None)
            if at is not None:
                columns[role] = at + 1
    need({"user", "item", "rating"} <= columns.keys())
    found: Rows = {}
    for line in lines:
        cells = split(line, mark)
        need(not any(cells[len(first) :]) and len(cells) >= max(columns.values()))
        user, item, rating = (cells[columns[role] - 1] for role in ("user", "item", "rating"))
        value = number(rating, said.get("decimal", "."))
        need(1 <= value <= 5)
        time = None
        if "time" in columns:
            time = moment(cells[columns["time"] - 1], said.get("dates", "iso"))
        who, what = name(user), name(item)
        known = found.get((who, what))
        if known is None or time is None or known[1] is None or time >= known[1]:
            found[who, what] = value, time
    need(len({who for who, _ in found}) > 1)
    return found


def cells_of(ratings: Ratings) -> Rows:
    times = [None] * len(ratings) if ratings.time is None else ratings.time.tolist()
    return {
        (ratings.users[int(u)], ratings.items[int(i)]): (float(v), t)
        for u, i, v, t in zip(ratings.user, ratings.item, ratings.value, times, strict=True)
    }


def narrow(rows: Rows) -> Rows:
    """Ratings are kept as 32-bit numbers."""
    kind = pl.Float32
    values = pl.Series([value for value, _ in rows.values()], dtype=pl.Float64).cast(kind).to_list()
    times = [time for _, time in rows.values()]
    return dict(zip(rows, zip(values, times, strict=True), strict=True))


SHE = "eve"
MARKS = [",", ";", "\t", "|"]
NASTY = [
    *('"', '""', '"""', '"a', 'a"', '"a"b', ' "a" ', '5" disc', '"a""b"', '"a,b;c"', '"', "'"),
    *("007", "7", "7.0", "+7", "0e268977", "1e3", "0x1F", "\u0663", "-0", "99999999999999999999"),
    *("user", "item", "rating", "user,item,rating", "timestamp", "book", "member"),
    *("4", "4.", ".5e1", "3,5", "3.5", "nan", "inf", "-1", "1e400", "five", "1_0", "true"),
    *("2005-09-06", "2005-9-6", "2005-09-06T00:21:00Z", "2005-13-01", "2005-02-30 10:00:00"),
    *("01.02.2025", "01.02.2025 00:21", "1/2/2025 7:05:09", "31.12.99", "1735689600000"),
    *("2024-12-31 23:59:60", "2024-12-31 24:00:00", "0000-01-01", "-62135596801"),
    *("", " ", "a b", "\u00a0x\u00a0", "e\u0301", "\u00e9", "\ufeff", "#", "--", "NULL", "None"),
    *("a\x00b", "a\x1fb", "a\x85b", "a\u2028b", "a\x0bb", "\u200b", "::", "\ud7ff", "a\x7f"),
]
"""Cells that were made to look like quotes, numbers, headers and dates."""


def quoted(text: str, mark: str) -> str:
    if any(each in text for each in (mark, '"', "\n", "\r")) or text != text.strip():
        return '"' + text.replace('"', '""') + '"'
    return text


class Table:
    """A hostile table: lines of several people and of her, and what is declared of it."""

    def __init__(self, seed: int) -> None:
        dice = self.dice = random.Random(seed)
        self.mark = dice.choice(MARKS)
        self.dates = dice.choice(["iso", "iso", "dmy", "mdy"])
        self.decimal = dice.choice([".", ".", ","])
        self.timed = dice.random() < 0.6
        self.header = dice.random() < 0.6
        self.ids = dice.choice([self._digits, self._hexadecimal, self._words])
        mild = dice.random() < 0.5
        lines = [(False, self._line(f"{self.ids()}", None)) for _ in range(dice.randint(3, 12))]
        hers = [self._line(SHE, dice if not mild else None) for _ in range(dice.randint(1, 5))]
        hers += [self._mild_but_odd() for _ in range(dice.randint(0, 3))]
        for line in hers:
            lines.insert(dice.randint(0, len(lines)), (True, line))
        self.lines = [(own, line + dice.choice(["\n", "\n", "\r\n", "\r"])) for own, line in lines]
        if not self.header and lines[0][0]:
            # She is the first: line 1 may have more fields than all others, and no less.
            self.lines.sort(key=lambda line: line[0])

    def _digits(self) -> str:
        return str(self.dice.randint(0, 30))

    def _hexadecimal(self) -> str:
        return f"{self.dice.randint(0, 9)}e{self.dice.randint(0, 99):06d}"

    def _words(self) -> str:
        return self.dice.choice(["ann", "bob", "Zoë", "007", "7", "a b", "x-1", "1.0"])

    def _cells(self, user: str) -> list[str]:
        rating = self.dice.choice(["1", "4", f"2{self.decimal}5"])
        day, month = self.dice.randint(1, 12), self.dice.randint(1, 12)
        time = f"{day:02d}.{month:02d}.2024 10:{day:02d}"
        if self.dates == "iso":
            time = self.dice.choice([f"2024-{month:02d}-{day:02d}", str(10**9 + day)])
        return [user, self.ids(), rating, *([time] if self.timed else [])]

    def _line(self, user: str, nasty: random.Random | None) -> str:
        cells = self._cells(user)
        if nasty is None:
            return self.mark.join(quoted(cell, self.mark) for cell in cells)
        # Hers are written without quotes where she likes, and some of them are too few.
        for at in range(len(cells)):
            if at and nasty.random() < 0.3:
                cells[at] = nasty.choice(NASTY)
        if nasty.random() < 0.1:
            cells = cells[: nasty.randint(1, len(cells))]
        if nasty.random() < 0.1:
            cells.append(nasty.choice(NASTY))
        join = nasty.random() < 0.6
        return self.mark.join(quoted(cell, self.mark) if join else cell for cell in cells)

    def _mild_but_odd(self) -> str:
        """A line of hers that can be read, with an id of any look."""
        cells = self._cells(SHE)
        cells[1] = self.dice.choice([text for text in NASTY if text.strip() and text.isprintable()])
        return self.mark.join(quoted(cell, self.mark) for cell in cells)

    def text(self, *, with_her: bool) -> bytes:
        head = ["user", "item", "rating", "timestamp"][: 3 + self.timed]
        lines = [self.mark.join(head) + "\n"] if self.header else []
        lines += [line for own, line in self.lines if with_her or not own]
        return "".join(lines).encode()

    @property
    def said(self) -> dict[str, Any]:
        columns = {"user": 1, "item": 2, "rating": 3, "time": 4}
        if not self.timed:
            del columns["time"]
        return {
            "header": self.header,
            "delimiter": self.mark,
            "dates": self.dates,
            "decimal": self.decimal,
            "columns": None if self.header else columns,
        }


def expected(data: bytes, said: dict[str, Any]) -> Rows | None:
    try:
        return narrow(reference(data, said))
    except Refused:
        return None


def ours(source: Any, said: dict[str, Any], **more: Any) -> Ratings | None:
    """The ratings, or None where they are refused; anything else is a failure."""
    try:
        return tacit.read(source, scale=(1, 5), **said, **more)
    except UsageError:
        return None


def agree(whole: Ratings | None, without: Ratings | None, her: str) -> None:
    """Wherever both are read they differ by her rows alone, in rows and in order."""
    if whole is None or without is None:
        return
    left = {key: cell for key, cell in cells_of(whole).items() if key[0] != her}
    assert cells_of(without) == left
    assert [user for user in whole.users if user != her] == list(without.users)
    rated = {item for _, item in left}
    assert [item for item in whole.items if item in rated] == list(without.items)


@pytest.fixture(params=["whole", "in blocks"])
def blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table in one block, or in many small ones, of which most take the byte parser."""
    if request.param == "in blocks":
        monkeypatch.setattr(files.text_chunks, "__defaults__", (48,))
        monkeypatch.setattr(delimited, "PATIENCE", 0)


@pytest.mark.usefixtures("blocks")
def test_hostile_tables_are_refused_or_read_line_by_line(tmp_path: Path) -> None:
    read = 0
    for seed in range(MANY):
        table = Table(seed)
        found = []
        for with_her in (True, False):
            data = table.text(with_her=with_her)
            packed = seed % 3 == 0
            path = tmp_path / ("r.csv.gz" if packed else "r.csv")
            path.write_bytes(gzip.compress(data) if packed else data)
            ratings = ours(path, table.said)
            wanted = expected(data, table.said)
            assert (None if ratings is None else cells_of(ratings)) == wanted, (seed, with_her)
            found.append(ratings)
        agree(found[0], found[1], SHE)
        read += found[0] is not None
    assert MANY / 5 < read < MANY


@pytest.mark.parametrize("size", [1 << 20, 1])
def test_where_a_block_ends_decides_nothing(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mark of byte order before a line (files put behind each other), and a control character
    in a column that is not read."""
    monkeypatch.setattr(files.text_chunks, "__defaults__", (size,))
    monkeypatch.setattr(delimited, "PATIENCE", 0)
    path = tmp_path / "r.csv"
    path.write_text("rating,user,item\n3,a,b\n4,b,c\n\ufeff5,c,d\n2,d,b\n")
    assert tacit.read(path, scale=(1, 5)).n_users == 4
    path.write_text("user::item::rating::note\n1::2::3::x\n2::2::3::y\n3::2::3::\x1f\n")
    with pytest.raises(UsageError, match="line 4: a control character"):
        tacit.read(path, scale=(1, 5))


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_line_of_any_end_ends_a_block(
    end: str, packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest of a file of `\r` is no line that is too long."""
    monkeypatch.setattr(files, "LONGEST_LINE", 50)
    lines = ["user,item,rating"] + [f"{k},{k % 3},4" for k in range(40)]
    data = (end.join(lines) + end).encode()
    path = tmp_path / "r.csv"
    path.write_bytes(gzip.compress(data) if packed else data)
    for size in (1, 2, *range(16, 27)):
        monkeypatch.setattr(files.text_chunks, "__defaults__", (size,))
        assert tacit.read(path, scale=(1, 5)).n_users == 40


def test_a_refusal_names_its_line(tmp_path: Path) -> None:
    """Of the tables above, those in which she is to blame."""
    for seed in range(MANY):
        table = Table(seed)
        path = tmp_path / "r.csv"
        path.write_bytes(table.text(with_her=True))
        try:
            tacit.read(path, scale=(1, 5), **table.said)
        except TacitError as error:
            told = str(error)
            assert ", line " in told or "one person only" in told, (seed, told)


def test_packed_tables_say_what_tables_say(tmp_path: Path) -> None:
    for seed in range(0, MANY, 6):
        table = Table(seed)
        found = []
        for with_her in (True, False):
            path = tmp_path / "r.csv"
            path.write_bytes(table.text(with_her=with_her))
            plain = ours(path, table.said)
            if plain is None:
                with pytest.raises(UsageError):
                    tacit.pack(path, tmp_path / "r.tacit", (1, 5), overwrite=True, **table.said)
                continue
            tacit.pack(path, tmp_path / "r.tacit", (1, 5), overwrite=True, **table.said)
            packed = tacit.read(tmp_path / "r.tacit")
            assert cells_of(packed) == cells_of(plain)
            assert (list(packed.users), list(packed.items)) == (plain.users, plain.items)
            found.append(packed)
        if len(found) == 2:
            agree(found[0], found[1], SHE)


def lines_on_a_cluster(table: Table, *, with_her: bool) -> Rows | None:
    """The rows that executors make of the lines that Spark hands them."""
    pa = pytest.importorskip("pyarrow")
    from tacit.data.reading.columns import Roles
    from tacit.data.reading.dialect import Dialect
    from tacit.engine.spark.code import Code, LineRows

    lines = re.split(b"\r\n|\r|\n", table.text(with_her=with_her).removesuffix(b"\n"))
    width = len(split(lines[0].decode(), table.mark))
    roles = Roles(0, 1, 2, 3 if table.timed else None)
    head = lines[0].decode() if table.header else ""
    read = LineRows(Dialect(table.mark, width), roles, head)
    batches = [pa.RecordBatch.from_pydict({"value": lines[k : k + 4]}) for k in range(0, 40, 4)]
    rows = list(read(iter(batches)))
    names = {BLANK.sub("", str(name)) for each in rows for name in each["item"].to_pylist()}
    items = tuple({unicodedata.normalize("NFC", name) for name in names})
    code = Code(items, 1.0, 5.0, True, table.timed, table.dates, table.decimal)
    found: Rows = {}
    for each in code(iter(rows)):
        for row in each.to_pylist():
            if row["item"] < -1:
                return None
            assert row["item"] >= 0
            found[row["user"], items[row["item"]]] = (
                row["value"],
                row["time"] if table.timed else None,
            )
    return found


def test_lines_on_a_cluster_are_read_alone() -> None:
    read = 0
    for seed in range(MANY):
        table = Table(seed)
        whole = lines_on_a_cluster(table, with_her=True)
        without = lines_on_a_cluster(table, with_her=False)
        wanted = expected(table.text(with_her=True), table.said)
        if wanted is not None:
            assert whole is not None
            assert {user for user, _ in whole} == {user for user, _ in wanted}
        if whole is not None and without is not None:
            assert {key: cell for key, cell in whole.items() if key[0] != SHE} == without
            read += 1
    assert read > MANY / 5


OBJECTS = [
    *(7, 7.0, "7", "007", 7.5, "7.0", "0e268977", "1e3", 2**70, -3, True, None, math.nan),
    *("user", "é", " a ", "a\nb", "a\x00", "2005-09-06", datetime(2005, 9, 6, tzinfo=UTC)),
]
MILD = [1, 2, 30, "4", "x", "0e1", "07"]
"""What other people's ids are, in a column of objects."""


@pytest.mark.parametrize("library", ["pandas", "polars", "parquet"])
@pytest.mark.parametrize("kind", ["objects", "texts", "numbers"])
def test_frames_are_read_row_by_row(library: str, kind: str, tmp_path: Path) -> None:
    read = 0
    for seed in range(MANY // 4):
        dice = random.Random(seed)
        mild = {"objects": MILD, "texts": list(map(str, MILD)), "numbers": [1, 2, 30]}[kind]
        hers = {"objects": OBJECTS, "texts": NASTY, "numbers": [7, 2**40, -1, 5.0]}[kind]
        rows = [(dice.choice(mild), dice.choice(mild), dice.choice([1, 4, 2.5])) for _ in range(9)]
        rows = [(False, row) for row in rows]
        who = dice.choice([row for _, row in rows])[0] if kind == "numbers" else SHE
        who = 99 if kind == "numbers" else who
        for _ in range(3):
            rating = dice.choice([3, 5.0]) if dice.random() < 0.9 else 9
            rows.insert(dice.randint(0, 9), (True, (who, dice.choice(hers), rating)))
        found = []
        for with_her in (True, False):
            some = [row for own, row in rows if with_her or not own]
            found.append(ours(framed(some, library, kind, tmp_path), {}))
        agree(found[0], found[1], str(who))
        read += found[0] is not None and found[1] is not None
    assert read > 3


def framed(rows: list[Any], library: str, kind: str, folder: Path) -> Any:
    """Rows as a table of some library, whose columns have the type that these rows give."""
    columns = {
        name: [row[at] for row in rows] for at, name in enumerate(("user", "item", "rating"))
    }
    if library == "pandas":
        return pd.DataFrame(columns)
    if kind == "objects":  # a column has one type there
        texts = {name: list(map(str, columns[name])) for name in ("user", "item")}
        columns = {**columns, **texts}
    frame = pl.DataFrame(columns, strict=False)
    if library == "polars":
        return frame
    frame.write_parquet(folder / "r.parquet")
    return folder / "r.parquet"
