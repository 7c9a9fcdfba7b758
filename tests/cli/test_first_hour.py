"""What a new user tries in the first hour: notes that inform, JSON that parses, lists from
likes, tables that align."""

from __future__ import annotations

import json
import os

import pytest


@pytest.fixture
def fitted(tacit, table, tmp_path):
    """A model without titles."""

    def run(name, *more):
        seen = tacit(
            "fit",
            table,
            "--scale",
            "1,5",
            "--users",
            30,
            "--epsilon",
            2,
            "--out",
            tmp_path / name,
            *more,
        )
        assert seen.status == 0, seen.err
        return tmp_path / name

    return run


def test_help_names_the_true_default_methods(tacit):
    from tacit.methods import DEFAULT, DEFAULT_POSITIVE

    for command in ("fit", "evaluate"):
        words = " ".join(tacit(command, "--help").out.split())
        assert f"{DEFAULT} unless said, {DEFAULT_POSITIVE} with --positive" in words


@pytest.mark.parametrize(
    "args",
    [
        ("export", "MODEL", "--to", "npz", "--out", "OUT.npz"),
        ("doctor", "--wipe"),
        ("ledger", "cap", "--epsilon", 9),
        ("recommend", "MODEL", "--people", "TABLE", "--out", "OUT.csv"),
        ("plan", "--epsilon", 1, "--users", 50, "--items", 9, "--calibration", "none"),
    ],
    ids=lambda args: args[0],
)
def test_json_is_all_there_is_on_stdout(tacit, fitted, table, tmp_path, args):
    names = {"MODEL": fitted("m", "--method", "popularity"), "TABLE": table}
    real = [names.get(each, str(each).replace("OUT", f"{tmp_path}/out")) for each in args]
    seen = tacit(*real, "--json")
    assert seen.status == 0, seen.err
    assert json.loads(seen.out)


def test_a_plan_without_noise_says_so(tacit):
    seen = tacit(
        "plan",
        "--epsilon",
        1,
        "--users",
        50,
        "--items",
        9,
        "--calibration",
        "none",
        "--method",
        "bias",
    )
    assert seen.status == 0, seen.err
    assert "NOT PRIVATE" in seen.out


def test_known_people_under_another_name_are_a_note_and_not_a_line_of_source(
    tacit, fitted, table, tmp_path, recwarn
):
    import warnings

    fitted("one", "--method", "popularity")
    warnings.simplefilter("always")
    args = (
        "--scale",
        "1,5",
        "--users",
        30,
        "--epsilon",
        1,
        "--population",
        "other",
        "--method",
        "popularity",
    )
    warned = tacit("fit", table, *args, "--out", tmp_path / "two")
    (line,) = [
        line
        for line in warned.err.splitlines()
        if "one group of people should have one book" in line
    ]
    assert line.startswith("note: ")
    assert ".py:" not in warned.err


def test_an_export_named_as_another_format_is_refused(tacit, fitted, tmp_path):
    seen = tacit(
        "export", fitted("m", "--method", "bias"), "--to", "parquet", "--out", tmp_path / "x.npz"
    )
    assert seen.status == 2
    assert not (tmp_path / "x.npz").exists()


def test_the_owner_is_told_the_layout_and_that_counts_are_private(tacit, tmp_path):
    rows = [f"{u},{i},{1 + (u * i) % 5},{10 + i}" for u in range(1, 30) for i in range(1, 9)]
    (tmp_path / "ratings.csv").write_text(
        "userId,movieId,rating,timestamp\n" + "\n".join([*rows, rows[0]]) + "\n"
    )
    args = ("--positive", 4, "--users", 30, "--epsilon", 1, "--out", tmp_path / "m")
    seen = tacit("fit", tmp_path / "ratings.csv", *args)
    assert "read as MovieLens csv" in seen.err
    assert "ratings from 0.5 to 5" in seen.err
    assert "merged 1 duplicate like (--duplicates last); for the owner only" in seen.err
    assert "below 4; for the owner only" in seen.err


def test_what_is_rated_low_is_no_like_and_is_not_shown_again(tacit, fitted, tmp_path):
    model = fitted("likes", "--positive", 4)
    (tmp_path / "low.csv").write_text("item,rating\ni1,1\ni2,2\n")
    seen = tacit("recommend", model, "--ratings", tmp_path / "low.csv", "-n", 20, "--json")
    assert "none of these ratings is a like (4 or more)" in seen.err
    (tmp_path / "mixed.csv").write_text("item,rating\ni1,1\ni3,5\n")
    (tmp_path / "one.csv").write_text("item,rating\ni3,5\n")
    mixed, one = (
        {line["item"]: line["score"] for line in json.loads(shown.out)["recommendations"]}
        for shown in (
            tacit("recommend", model, "--ratings", tmp_path / f"{f}.csv", "-n", 20, "--json")
            for f in ("mixed", "one")
        )
    )
    assert "i1" not in mixed
    assert mixed == {item: score for item, score in one.items() if item != "i1"}


def test_a_list_of_likes_needs_no_ratings(tacit, fitted, tmp_path):
    model = fitted("likes", "--positive", 4)
    (tmp_path / "liked.csv").write_text("item\ni3\n")
    (tmp_path / "rated.csv").write_text("item,rating\ni3,5\n")
    bare, rated = (
        tacit("recommend", model, "--ratings", tmp_path / f"{f}.csv") for f in ("liked", "rated")
    )
    assert bare.status == 0, bare.err
    assert bare.out == rated.out


def test_everyones_list_from_likes_leaves_out_what_they_rated_low(tacit, fitted, table, tmp_path):
    model = fitted("likes", "--positive", 4)
    assert (
        tacit("recommend", model, "--people", table, "--out", tmp_path / "l.csv", "-n", 20).status
        == 0
    )
    rated = {tuple(line.split(",")[:2]) for line in table.read_text().splitlines()[1:]}
    listed = {
        tuple(line.split(",")[k] for k in (0, 2))
        for line in (tmp_path / "l.csv").read_text().splitlines()[1:]
    }
    assert listed
    assert not rated & listed


def test_items_to_choose_from_must_be_known(tacit, fitted, tmp_path):
    model = fitted("m", "--method", "bias")
    (tmp_path / "mine.csv").write_text("item,rating\ni3,5\n")
    (tmp_path / "some").write_text("i4\nnothing\n")
    (tmp_path / "none").write_text("nothing\n")
    args = ("recommend", model, "--ratings", tmp_path / "mine.csv", "--only")
    seen = tacit(*args, tmp_path / "some")
    assert seen.status == 0
    assert "'nothing' is not in this model" in seen.err
    assert tacit(*args, tmp_path / "none").status == 2


def test_who_knows_titles_only_is_told_that_the_model_has_ids(tacit, fitted, tmp_path):
    (tmp_path / "mine.csv").write_text("item,rating\nBlade Runner,5\n")
    seen = tacit("recommend", fitted("m", "--method", "bias"), "--ratings", tmp_path / "mine.csv")
    assert seen.status == 2
    assert "has no titles" in seen.err


def test_likes_are_evaluated_as_lists(tacit, table):
    args = (
        "--scale",
        "1,5",
        "--positive",
        4,
        "--hold",
        5,
        "--seeds",
        1,
        "--users",
        30,
        "--no-twin",
        "--json",
    )
    seen = tacit("evaluate", table, *args)
    assert seen.status == 0, seen.err
    (cell,) = json.loads(seen.out)["cells"]
    assert "recall@20" in cell


def test_numbers_stand_to_the_right_and_ids_to_the_left(capsys):
    from tacit.cli.show import table

    table(
        ("item", "share", "noise", "expected"),
        [("07", "3.0 %", "4.2e+05", "4.46 ± 1.00"), ("5", "22.5 %", "9", "–")],
    )
    head, first, second = capsys.readouterr().out.splitlines()
    columns = (
        ("share", "3.0 %", "22.5 %"),
        ("noise", "4.2e+05", " 9"),
        ("expected", "4.46 ± 1.00", "–"),
    )
    assert [line[:4] for line in (head, first, second)] == [*("item", "07  ", "5   ")]
    for name, above, below in columns:
        end = head.index(name) + len(name)
        assert first.index(above) + len(above) == end
        assert second.index(below) + len(below) == end


def test_a_folder_with_two_sets_of_ratings_is_refused(tacit, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "u.data").write_text("1\t1\t3\t9\n2\t1\t4\t9\n")
    seen = tacit("fit", tmp_path, "--epsilon", 1, "--out", tmp_path / "m")
    assert seen.status == 2
    assert "more than one set of ratings" in seen.err
    assert "remedy: name the file or folder" in seen.err


def test_a_pipe_is_refused_with_a_remedy(tacit, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    seen = tacit(
        "fit", tmp_path / "pipe", "--scale", "1,5", "--epsilon", 1, "--out", tmp_path / "m"
    )
    assert seen.status == 2
    assert "save the data to a file" in seen.err


def test_part_of_a_title_is_enough_for_a_hint(tacit, table, tmp_path):
    (tmp_path / "items.csv").write_text(
        "id,title\n" + "".join(f"i{i},A Long Story {i} (1999)\n" for i in range(12))
    )
    args = (
        "--items",
        tmp_path / "items.csv",
        "--scale",
        "1,5",
        "--users",
        30,
        "--method",
        "bias",
        "--epsilon",
        1,
    )
    tacit("fit", table, *args, "--out", tmp_path / "m")
    seen = tacit("similar", tmp_path / "m", "story 7")
    assert seen.status == 2
    assert seen.err.count("A Long Story 7 (1999)") == 1
