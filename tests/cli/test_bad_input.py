"""Bad use and bad input: a clear message with place and remedy, exit status 2, nothing written."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest


@pytest.fixture
def refused(tacit, tmp_path):
    """Run, and check what every refusal has in common."""

    def run(*args, says, writes=()):
        before = sorted(p for p in tmp_path.rglob("*"))
        seen = tacit(*args)
        assert seen.status == 2, seen
        assert "Traceback" not in seen.err
        for text in (says,) if isinstance(says, str) else says:
            assert text.lower() in seen.err.lower(), seen.err
        after = sorted(p for p in tmp_path.rglob("*"))
        assert [p for p in after if p not in before and "home" not in p.parts] == list(writes)
        return seen

    return run


BAD_FILES = {
    "empty": ("", "empty"),
    "header only": ("user,item,rating\n", ""),
    "missing column": ("user,item,colour\na,b,red\nc,d,blue\n", "rating"),
    "text for a number": ("user,item,rating\na,b,4\nc,d,good\n", "line 3"),
    "not a number": ("user,item,rating\na,b,4\nc,d,NaN\n", "line 3"),
    "outside the scale": ("user,item,rating\na,b,4\nc,d,9\n", "line 3"),
    "one person": ("user,item,rating\na,b,4\na,d,3\n", "one person"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file(refused, tmp_path, name):
    text, says = BAD_FILES[name]
    path = tmp_path / "bad.csv"
    path.write_text(text)
    seen = refused(
        "fit",
        path,
        "--scale",
        "1,5",
        "--epsilon",
        1,
        "--out",
        tmp_path / "m",
        says=["bad.csv", says, "remedy"],
    )
    assert "good" not in seen.err  # never a cell of the file


def test_a_table_without_a_scale(refused, table, tmp_path):
    refused("fit", table, "--epsilon", 1, "--out", tmp_path / "m", says="--scale")


def test_a_file_that_is_not_there(refused, tmp_path):
    refused(
        "fit",
        tmp_path / "no.csv",
        "--scale",
        "1,5",
        "--epsilon",
        1,
        "--out",
        tmp_path / "m",
        says="no.csv",
    )


@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "inf"])
def test_an_impossible_epsilon(refused, table, tmp_path, epsilon):
    refused(
        "fit",
        table,
        "--scale",
        "1,5",
        "--epsilon",
        epsilon,
        "--out",
        tmp_path / "m",
        says="epsilon",
    )


def test_a_missing_epsilon_points_to_plan(refused, table, tmp_path):
    refused("fit", table, "--scale", "1,5", "--out", tmp_path / "m", says="tacit plan")


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--delta", "1", "delta"),
        ("--delta", "2", "delta"),
        ("--delta", "-1", "delta"),
        ("--method", "bais", "did you mean bias"),
        ("--unit", "planet", "unit"),
        ("--set", "no_such=1", "no_such"),
        ("--set", "nonsense", "name=value"),
        ("--engine", "abacus", "abacus"),
        ("--calibration", "loud", "loud"),
        ("--calibration", "paper", "paper"),
        ("--threads", "0", "threads"),
        ("--users", "0", "users"),
        ("--scale", "5,1", "scale"),
        ("--scale", "five", "scale"),
        ("--max-ratings", "0", "max_ratings"),
    ],
)
def test_a_bad_option(refused, table, tmp_path, option, value, says):
    options = {"--scale": "1,5", "--epsilon": "1", "--out": tmp_path / "m"} | {option: value}
    refused("fit", table, *(x for pair in options.items() for x in pair), says=says)


@pytest.mark.parametrize(
    ("people", "delta", "says"),
    [
        (("--users", 1), 0.9, "0.0001, the most"),
        (("--users", 30), 0.1, "0.0001, the most"),
        ((), 2e-4, "0.0001, the most"),
        (("--users", 20_000), 6e-5, "20000 people"),
    ],
)
def test_a_delta_that_people_cannot_bear(refused, tmp_path, people, delta, says):
    """Break 7: at most 1e-4 and one in the people, before a rating is read."""
    missing = tmp_path / "not-read.csv"
    args = ("--scale", "1,5", "--epsilon", 1, "--out", tmp_path / "m")
    refused("fit", missing, *args, *people, "--delta", delta, says=says)


@pytest.mark.parametrize("split", ["100/0", "0/100", "90/20", "most"])
def test_an_impossible_split(refused, table, split):
    refused("evaluate", table, "--scale", "1,5", "--split", split, says="split")


def test_a_spent_cap(tacit, refused, tmp_path, popularity):
    assert tacit("ledger", "cap", "--epsilon", 1).status == 0
    base = (*popularity, "--epsilon", 0.9)
    assert tacit(*base, "--out", tmp_path / "first").status == 0
    refused(*base, "--out", tmp_path / "second", says="cap")
    assert tacit("ledger", "verify").status == 0


def test_an_unwritable_place(refused, tmp_path, popularity):
    (tmp_path / "file").write_text("here")
    base = (*popularity, "--epsilon", 1)
    refused(*base, "--out", tmp_path / "file", says="is a file")
    refused(*base, "--out", "/proc/model", says="written")


def test_a_place_that_holds_something_else(tacit, refused, tmp_path, popularity):
    base = (*popularity, "--epsilon", 1)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter").write_text("dear")
    refused(*base, "--out", tmp_path / "mine", says="other things")
    assert tacit(*base, "--out", tmp_path / "m").status == 0
    refused(*base, "--out", tmp_path / "m", says="--overwrite")
    assert tacit(*base, "--out", tmp_path / "m", "--overwrite").status == 0


@pytest.fixture
def model(tacit, tmp_path, popularity):
    assert tacit(*popularity, "--epsilon", 1, "--out", tmp_path / "m").status == 0
    return tmp_path / "m"


@pytest.mark.parametrize("damage", ["missing", "edited", "truncated", "not json", "edited facts"])
def test_a_damaged_model(refused, model, damage):
    if damage == "missing":
        (model / "items.json").unlink()
    elif damage == "edited":
        data = bytearray((model / "arrays.safetensors").read_bytes())
        data[-1] ^= 1
        (model / "arrays.safetensors").write_bytes(data)
    elif damage == "truncated":
        data = (model / "arrays.safetensors").read_bytes()
        (model / "arrays.safetensors").write_bytes(data[: len(data) // 2])
    elif damage == "not json":
        (model / "model.json").write_text("{")
    else:
        facts = json.loads((model / "model.json").read_text())
        facts["schema"]["high"] = 10
        (model / "model.json").write_text(json.dumps(facts))
    refused("statement", model, says="damaged")


def test_a_model_of_a_newer_version(refused, model):
    facts = json.loads((model / "model.json").read_text())
    (model / "model.json").write_text(json.dumps(facts | {"tacit_model": 99}))
    refused("recommend", model, "--ratings", "x.csv", says="newer version")


def test_no_model_at_all(refused, tmp_path):
    refused("statement", tmp_path, says="not a Tacit model")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("item,rating\nnothing known,4\n", "none of the items"),
        ("item,rating\ni1,4\ni2,7\n", "line 3"),
        ("item,rating\ni1,lovely\n", "line 2"),
        ("", "empty"),
    ],
)
def test_a_bad_personal_file(refused, model, tmp_path, text, says):
    mine = tmp_path / "mine.csv"
    mine.write_text(text)
    refused("recommend", model, "--ratings", mine, says=["mine.csv", says])


def test_a_catalogue_with_repeated_ids(refused, table, tmp_path):
    items = tmp_path / "items.csv"
    items.write_text("id,title\ni1,One\ni2,Two\ni1,Again\n")
    args = ("--scale", "1,5", "--epsilon", 1, "--items", items, "--out", tmp_path / "m")
    refused("fit", table, *args, says=["items.csv", "line 4"])


def test_a_full_disk_leaves_nothing_behind(tmp_path, popularity):
    """A file-size limit stands for a full disk: the model does not fit, the ledger entry does."""
    code = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "import tacit.model.shared as s; real = s.Shared.save\n"
        "def save(self, *a, **k):\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200)); return real(self, *a, **k)\n"
        "s.Shared.save = save\n"
        "from tacit.cli.main import main; main()"
    )
    args = [*popularity, "--epsilon", "1", "--out", tmp_path / "m"]
    seen = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True)
    assert seen.returncode == 2, seen.stderr
    assert "cannot be written" in seen.stderr
    assert not [p for p in tmp_path.iterdir() if p.name.startswith((".m", "m"))]


def test_interrupted_work_leaves_no_model(tmp_path, popularity):
    code = (
        "import tacit.fitting.run as f, os, signal; real = f._Run.go\n"
        "def go(self, **more):\n    os.kill(os.getpid(), signal.SIGINT); return "
        "real(self, **more)\n"
        "f._Run.go = go\n"
        "from tacit.cli.main import main; main()"
    )
    args = [*popularity, "--epsilon", "1", "--out", tmp_path / "m"]
    seen = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True)
    assert seen.returncode == 130
    assert "Traceback" not in seen.stderr
    assert not (tmp_path / "m").exists()


def test_an_unknown_command_suggests_one(refused):
    refused("recomend", says="did you mean recommend")
