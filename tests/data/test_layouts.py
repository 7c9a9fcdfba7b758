"""The layouts of public data sets, as small files of the same make."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from tacit.data.ratings import Ratings
from tacit.data.read import read
from tacit.errors import DataError


def cells(ratings: Ratings) -> dict[tuple[str, str], float]:
    return {
        (ratings.users[int(u)], ratings.items[int(i)]): float(v)
        for u, i, v in zip(ratings.user, ratings.item, ratings.value, strict=True)
    }


def implied(ratings: Ratings) -> tuple[str, float, float]:
    return ratings.schema.source, ratings.schema.low, ratings.schema.high


ML = {("1", "1193"): 5.0, ("2", "661"): 3.0}


def make(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def test_movielens_100k(tmp_path: Path) -> None:
    make(tmp_path, {"x/u.data": "1\t1193\t5\t881250949\n2\t661\t3\t891717742\n", "x/u.item": "a"})
    for source in (tmp_path / "x", tmp_path / "x" / "u.data"):
        ratings = read(source)
        assert cells(ratings) == ML
        assert implied(ratings) == ("ml-100k", 1, 5)


def test_movielens_1m(tmp_path: Path) -> None:
    make(
        tmp_path,
        {"x/ratings.dat": "1::1193::5::978300760\n2::661::3::978302109\n", "x/movies.dat": "a"},
    )
    for source in (tmp_path, tmp_path / "x", tmp_path / "x" / "ratings.dat"):
        ratings = read(source)
        assert cells(ratings) == ML
        assert implied(ratings) == ("ml-1m", 1, 5)


@pytest.mark.parametrize("names", [["ml-10M100K/ratings.dat"], ["x/ratings.dat", "x/tags.dat"]])
def test_movielens_10m_has_half_stars(tmp_path: Path, names: list[str]) -> None:
    make(tmp_path, dict.fromkeys(names, "1::1193::0.5::978300760\n2::661::3.5::978302109\n"))
    for source in (tmp_path / names[0]).parent, tmp_path / names[0]:
        ratings = read(source)
        assert cells(ratings) == {("1", "1193"): 0.5, ("2", "661"): 3.5}
        assert implied(ratings) == ("ml-10m", 0.5, 5)


def test_movielens_csv(tmp_path: Path) -> None:
    content = "userId,movieId,rating,timestamp\r\n1,1193,5.0,1112486027\r\n2,661,3.0,1112484676\r\n"
    make(
        tmp_path,
        {"ml-latest/ratings.csv": content, "ml-latest/movies.csv": "movieId,title,genres\n1,A,B\n"},
    )
    for source in (tmp_path / "ml-latest", tmp_path / "ml-latest" / "ratings.csv"):
        ratings = read(source)
        assert cells(ratings) == ML
        assert implied(ratings) == ("ml-csv", 0.5, 5)


def test_a_zip_of_a_folder(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "ml-1m.zip", "w") as archive:
        archive.writestr("ml-1m/README", "words")
        archive.writestr("ml-1m/ratings.dat", "1::1193::5::978300760\n2::661::3::978302109\n")
        archive.writestr("ml-1m/movies.dat", "1::A (1990)::B\n")
    assert cells(read(tmp_path / "ml-1m.zip")) == ML


def test_a_tar_of_a_folder(tmp_path: Path) -> None:
    tar(
        tmp_path / "ml.tar.gz",
        {"ml-1m/ratings.dat": "1::1193::5::978300760\n2::661::3::978302109\n"},
        "w:gz",
    )
    assert cells(read(tmp_path / "ml.tar.gz")) == ML


def test_the_scale_that_is_given_overrides_the_layout(tmp_path: Path) -> None:
    make(tmp_path, {"u.data": "1\t1193\t5\t881250949\n2\t661\t3\t891717742\n"})
    assert implied(read(tmp_path / "u.data", (0, 10))) == ("given", 0, 10)


NETFLIX = {
    "mv_0000001.txt": "1:\n1488844,3,2005-09-06\n822109,5,2005-05-13\n",
    "mv_0000002.txt": "2:\n822109,4,1999-12-31\n",
}
NETFLIX_CELLS = {("1488844", "1"): 3.0, ("822109", "1"): 5.0, ("822109", "2"): 4.0}


def tar(path: Path, files: dict[str, str | bytes], mode: str) -> bytes:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path.read_bytes()


def check_netflix(ratings: Ratings) -> None:
    assert cells(ratings) == NETFLIX_CELLS
    assert implied(ratings) == ("netflix", 1, 5)
    assert ratings.time is not None
    assert ratings.time.tolist() == [1115942400, 946598400, 1125964800]


def test_netflix_folder(tmp_path: Path) -> None:
    make(tmp_path, {f"download/training_set/{name}": content for name, content in NETFLIX.items()})
    check_netflix(read(tmp_path / "download"))
    check_netflix(read(tmp_path / "download" / "training_set"))


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_netflix_tar(tmp_path: Path, mode: str) -> None:
    tar(
        tmp_path / "t.tar",
        {f"training_set/{name}": content for name, content in NETFLIX.items()},
        mode,
    )
    check_netflix(read(tmp_path / "t.tar"))


def test_netflix_tar_in_a_tar(tmp_path: Path) -> None:
    inner = tar(
        tmp_path / "i.tar", {f"training_set/{name}": text for name, text in NETFLIX.items()}, "w"
    )
    tar(
        tmp_path / "nf.tar.gz",
        {"download/README": "words", "download/training_set.tar": inner},
        "w:gz",
    )
    check_netflix(read(tmp_path / "nf.tar.gz"))


def test_netflix_combined(tmp_path: Path) -> None:
    make(tmp_path, {"combined_data_1.txt": "".join(NETFLIX.values())})
    check_netflix(read(tmp_path / "combined_data_1.txt"))


def test_netflix_combined_in_several_files(tmp_path: Path) -> None:
    one, two = NETFLIX.values()
    make(tmp_path, {"combined_data_1.txt": one, "combined_data_2.txt": two.replace("\n", "\r\n")})
    check_netflix(read(tmp_path))
    check_netflix(read([tmp_path / "combined_data_1.txt", tmp_path / "combined_data_2.txt"]))


def test_netflix_an_item_may_span_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tacit.data.layouts import netflix

    monkeypatch.setattr(netflix, "BATCH", 10)
    make(tmp_path, {"combined_data_1.txt": "".join(NETFLIX.values())})
    check_netflix(read(tmp_path / "combined_data_1.txt"))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1488844,3", "too few fields"),
        ("1488844,x,2005-01-01", "text where a number belongs"),
        ("x,3,2005-01-01", "text where a number belongs"),
        ("77,9,2005-01-01", "outside the scale"),
        ("77,3,2005-13-01", "time"),
        ("77,3,", "time"),
        ("77,3,2005-01-01,9", "too many fields"),
    ],
)
def test_netflix_bad_row(tmp_path: Path, row: str, message: str) -> None:
    make(tmp_path, {**NETFLIX, "mv_0000003.txt": f"3:\n5,1,2000-01-01\n{row}\n"})
    with pytest.raises(DataError, match=message) as caught:
        read(tmp_path)
    assert str(caught.value.place).endswith("mv_0000003.txt, line 3")


def test_netflix_without_its_first_line(tmp_path: Path) -> None:
    make(tmp_path, {"mv_0000001.txt": "1488844,3,2005-09-06\n"})
    with pytest.raises(DataError, match="line 1: the first line is not"):
        read(tmp_path)


def test_netflix_duplicates_are_named_by_file_and_line(tmp_path: Path) -> None:
    make(
        tmp_path,
        {**NETFLIX, "mv_0000003.txt": "3:\n5,1,2000-01-01\n6,1,2000-01-01\n5,2,2000-01-01\n"},
    )
    with pytest.raises(DataError, match=r"mv_0000003.txt, line 2 and .*mv_0000003.txt, line 4"):
        read(tmp_path, duplicates="error")
    assert read(tmp_path).notes.duplicates == 1


def test_netflix_likes(tmp_path: Path) -> None:
    make(tmp_path, {**NETFLIX, "mv_0000003.txt": "3:\n7,5,2000-01-01\n"})
    assert cells(read(tmp_path, positive=4)) == {
        ("822109", "1"): 5.0,
        ("822109", "2"): 4.0,
        ("7", "3"): 5.0,
    }


def jester_row(delimiter: str, *ratings: float) -> str:
    row = [len(ratings), *ratings, *[99] * (100 - len(ratings))]
    return delimiter.join(map(str, row))


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
@pytest.mark.parametrize("name", ["jester-data-1.csv", "saved.csv"])
def test_jester(tmp_path: Path, delimiter: str, name: str) -> None:
    rows = [jester_row(delimiter, -7.82, 8.79), jester_row(delimiter, 0, 99, -10)]
    make(tmp_path, {name: "\n".join(rows)})
    ratings = read(tmp_path / name)
    found = {key: round(value, 4) for key, value in cells(ratings).items()}
    assert found == {("1", "1"): -7.82, ("1", "2"): 8.79, ("2", "1"): 0.0, ("2", "3"): -10.0}
    assert implied(ratings) == ("jester", -10, 10)


def test_jester_in_several_files(tmp_path: Path) -> None:
    make(tmp_path, {f"j/jester-data-{k}.csv": jester_row(",", k) + "\n" for k in (1, 2, 3)})
    assert cells(read(tmp_path / "j")) == {("1", "1"): 1.0, ("2", "1"): 2.0, ("3", "1"): 3.0}


@pytest.mark.parametrize(
    ("bad", "message"), [("x", "number belongs"), ("55", "outside the scale"), ("nan", "NaN")]
)
def test_jester_bad_cell(tmp_path: Path, bad: str, message: str) -> None:
    rows = [jester_row(",", 1, 2), jester_row(",", 1, 2).replace("2,1,2,", f"2,1,{bad},")]
    make(tmp_path, {"jester.csv": "\n".join(rows)})
    with pytest.raises(DataError, match=f"line 2, column 3: .*{message}"):
        read(tmp_path / "jester.csv")


def test_book_crossing(tmp_path: Path) -> None:
    rows = [
        '"User-ID";"ISBN";"Book-Rating"',
        '"276725";"034545104X";"0"',
        '"276726";"0155061224";"5"',
        '"276729";"052165615X";"10"',
        '"276729";"caf\xe9;\\"9";"6"',
    ]
    make(tmp_path, {"BX-Book-Ratings.csv": "\r\n".join(rows).encode("latin-1")})
    ratings = read(tmp_path / "BX-Book-Ratings.csv")
    assert cells(ratings) == {
        ("276726", "0155061224"): 5.0,
        ("276729", "052165615X"): 10.0,
        ("276729", 'caf\xe9;\\"9'): 6.0,
    }
    assert implied(ratings) == ("book-crossing", 1, 10)
    assert ratings.notes.messages == ("dropped 1 row without an explicit rating",)


@pytest.mark.parametrize("name", ["ratings.dat", "libimseti.csv", "libimseti/anything.csv"])
def test_libimseti(tmp_path: Path, name: str) -> None:
    make(tmp_path, {name: "1,133,8\n2,720,10\n"})
    ratings = read(tmp_path / name)
    assert cells(ratings) == {("1", "133"): 8.0, ("2", "720"): 10.0}
    assert implied(ratings) == ("libimseti", 1, 10)


def test_libimseti_by_word_of_the_caller(tmp_path: Path) -> None:
    make(tmp_path, {"a.csv": "1,133,8\n2,720,10\n"})
    assert implied(read(tmp_path / "a.csv", layout="libimseti")) == ("libimseti", 1, 10)
    with pytest.raises(DataError, match="missing column"):
        read(tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("name", "people", "items", "count"),
    [("ml-100k", 943, 1682, 100_000), ("ml-1m", 6040, 3706, 1_000_209)],
)
def test_real_data(public_data: Path, name: str, people: int, items: int, count: int) -> None:
    if not (public_data / name).is_dir():
        pytest.skip(f"there is no {name} in TACIT_DATA")
    ratings = read(public_data / name)
    assert (ratings.n_users, ratings.n_items, len(ratings)) == (people, items, count)
