"""Random ratings in a random dialect come back as they were."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tacit.data.ids import clean
from tacit.data.read import read

NUMBERS = st.integers(0, 5000).map(str)
TEXT = st.text(
    st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1, max_size=8
).map(clean)
"""As ids are compared: a sign that Unicode writes as another is that other one."""
IDS = st.one_of(NUMBERS, st.integers(0, 99).map("{:04d}".format), TEXT)


@st.composite
def tables(draw: st.DrawFn) -> dict[tuple[str, str], tuple[float, int]]:
    users, items = (draw(st.sampled_from([NUMBERS, IDS])), draw(st.sampled_from([NUMBERS, IDS])))
    pairs = draw(st.lists(st.tuples(users, items), min_size=2, max_size=30, unique=True))
    if len({user for user, _ in pairs}) < 2:
        pairs.append((pairs[0][0] + "z", pairs[0][1]))
    rating = st.integers(1, 10).map(lambda half: half / 2)
    return {pair: (draw(rating), draw(st.integers(-(10**9), 2 * 10**9))) for pair in pairs}


def written(value: str, delimiter: str, quoted: bool) -> str:
    if quoted or delimiter in value or '"' in value:
        return '"' + value.replace('"', '""') + '"'
    return value


@given(
    tables(),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["plain", "mark", "gzip"]),
)
def test_any_dialect(
    table: dict[tuple[str, str], tuple[float, int]],
    delimiter: str,
    end: str,
    quoted: bool,
    timed: bool,
    final: bool,
    wrapping: str,
) -> None:
    rows = [["user", "item", "rating", "timestamp"][: 3 + timed]]
    rows += [
        [u, i, f"{rating:g}", str(time)][: 3 + timed] for (u, i), (rating, time) in table.items()
    ]
    text = end.join(
        delimiter.join(written(cell, delimiter, quoted) for cell in row) for row in rows
    )
    data = (text + end * final).encode()
    data = {"plain": data, "mark": b"\xef\xbb\xbf" + data, "gzip": gzip.compress(data)}[wrapping]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "r.csv"
        path.write_bytes(data)
        ratings = read(path, (0.5, 5))
    back = {
        (ratings.users[int(u)], ratings.items[int(i)]): float(v)
        for u, i, v in zip(ratings.user, ratings.item, ratings.value, strict=True)
    }
    assert back == {pair: rating for pair, (rating, _) in table.items()}
    assert (ratings.time is not None) == timed
    if ratings.time is not None:
        times = sorted(ratings.time.tolist())
        assert times == sorted(time for _, time in table.values())
