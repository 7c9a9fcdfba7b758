"""What was paid for is not lost: whatever the disk refuses after the charge, the model is whole
somewhere, and the error says where and that it stays charged."""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.fitting.calendars import Owner

import tacit
from tacit import publication
from tacit.cli.main import main
from tacit.errors import StorageError
from tacit.fitting import run as conductor
from tacit.ledger.book.book import open_book
from tacit.publication import reserved

CALLS = {
    publication: ("write_files", "sync_folder", "exchange"),
    os: ("rename", "fsync"),
    tempfile: ("mkdtemp",),
}
"""What writes a model, and what may fail of it."""
WAYS = ("python", "command")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TACIT_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    monkeypatch.chdir(tmp_path)
    rows = [f"u{u},i{i},{1 + (u * i) % 5}" for u in range(30) for i in range(12) if (u + i) % 3]
    (tmp_path / "r.csv").write_text("user,item,rating\n" + "\n".join(rows) + "\n")
    return tmp_path


def fitted(way: str, monkeypatch: pytest.MonkeyPatch, capsys, *, overwrite: bool) -> str:
    """Fit and save a model in `m`: the error, or nothing."""
    if way == "python":
        model = tacit.Popularity(epsilon=1).fit("r.csv", scale=(1, 5), users=30)
        try:
            model.save("m", overwrite=overwrite)
        except StorageError as error:
            return str(error)
        return ""
    line = "tacit fit r.csv --scale 1,5 --method popularity --epsilon 1 --users 30 --out m"
    monkeypatch.setattr(sys, "argv", line.split() + ["--overwrite"] * overwrite)
    with pytest.raises(SystemExit) as stop:
        main()
    told = capsys.readouterr().err
    assert "Traceback" not in told
    return told if stop.value.code else ""


def unpaid() -> tacit.Popularity:
    return tacit.Popularity(calibration="none").fit("r.csv", scale=(1, 5))


def failing(patch: pytest.MonkeyPatch, at: int, number: int, *, ever: bool) -> Callable[[], int]:
    """Refuse the call `at` after the charge, or that one and all later ones."""
    charged = False
    calls = 0

    def pay(*given: object, **named: object) -> object:
        nonlocal charged
        found = paying(*given, **named)
        charged = True
        return found

    def refusing(call: Callable) -> Callable:
        def tried(*given: object, **named: object) -> object:
            nonlocal calls
            calls += charged
            if charged and (calls == at or (ever and calls > at)):
                raise OSError(number, os.strerror(number))
            return call(*given, **named)

        return tried

    paying = conductor.pay
    patch.setattr(conductor, "pay", pay)
    for module, names in CALLS.items():
        for name in names:
            patch.setattr(module, name, refusing(getattr(module, name)))
    return lambda: calls


STEPS = 13
"""Calls that a replaced model takes; one in a free place takes one less."""


@pytest.mark.parametrize("way", WAYS)
def test_a_model_takes_as_many_steps_as_are_tried(desk, monkeypatch, capsys, way):
    assert fitted(way, monkeypatch, capsys, overwrite=False) == ""
    with monkeypatch.context() as patch:
        steps = failing(patch, 0, 0, ever=False)
        assert fitted(way, monkeypatch, capsys, overwrite=True) == ""
    assert steps() <= STEPS
    assert [each.name for each in desk.iterdir() if each.name.startswith(".")] == []


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("at", range(1, STEPS + 1))
def test_a_fault_after_the_charge_loses_no_model(desk, monkeypatch, capsys, at, overwrite):
    for way, number in zip(WAYS, (errno.EIO, errno.ENOSPC), strict=True):
        if overwrite:
            tacit.Popularity(calibration="none").fit("r.csv", scale=(1, 5)).save(
                "m", overwrite=True
            )
        with monkeypatch.context() as patch:
            failing(patch, at, number, ever=False)
            told = fitted(way, monkeypatch, capsys, overwrite=overwrite)
        last = open_book().entries()[-1]
        assert last.kind == "commit", "charged, and the book knows of what"
        assert "left behind" not in told
        place = Path("m")
        if told:
            assert f"entry {last.of} of 'default' stays charged" in told
            named = re.search(r"the model is whole in (\S+), and", told)
            assert named, told
            place = Path(named[1])
        found = tacit.load(place)
        assert found.shared.digest() == last.artefact
        assert tacit.verify(found).holds
        if overwrite and place.name != "m":
            assert tacit.load("m").statement.calibration == "none", "the old one is whole"
        subprocess.run(["rm", "-rf", "m"], check=True)


@pytest.mark.parametrize("way", WAYS)
def test_if_no_disk_takes_it_the_words_are_true(desk, monkeypatch, capsys, way):
    with monkeypatch.context() as patch:
        failing(patch, 1, errno.ENOSPC, ever=True)
        told = fitted(way, monkeypatch, capsys, overwrite=False)
    assert "entry 1 of 'default' stays charged" in told
    assert "no other place could be written" in told
    assert "left behind" not in told
    assert not list(desk.glob("**/tacit-model-*"))


def test_in_python_the_model_can_be_saved_again(desk, monkeypatch):
    model = tacit.Popularity(epsilon=1).fit("r.csv", scale=(1, 5), users=30)
    with monkeypatch.context() as patch:
        patch.setattr(publication, "write_files", broken)
        with pytest.raises(StorageError, match="no other place"):
            model.save("m")
    model.save("m")
    assert tacit.verify(tacit.load("m")).holds


def broken(*_: object, **__: object) -> None:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_a_place_that_was_taken_meanwhile_costs_no_model(desk, monkeypatch, capsys):
    paying = conductor.pay

    def pay(*given: object, **named: object) -> object:
        Path("m").mkdir()
        Path("m/mine").write_text("x")
        return paying(*given, **named)

    monkeypatch.setattr(conductor, "pay", pay)
    told = fitted("command", monkeypatch, capsys, overwrite=True)
    named = re.search(r"the model is whole in (\S+), and entry 1", told)
    assert named, told
    assert tacit.verify(tacit.load(named[1])).holds
    assert Path("m/mine").read_text() == "x"


def test_a_fit_that_breaks_after_the_charge_says_that_it_was_charged(desk, monkeypatch, capsys):
    from tacit.engine.threads import Threads

    monkeypatch.setattr(Threads, "run", broken)
    told = fitted("command", monkeypatch, capsys, overwrite=False)
    assert "Input/output error; entry 1 of 'default' stays charged" in told
    assert open_book().entries()[-1].kind == "reserve"


@pytest.mark.filterwarnings("always")
def test_an_interrupt_after_the_charge_says_that_it_was_charged(desk, monkeypatch, capsys):
    from tacit.engine.threads import Threads

    monkeypatch.setattr(Threads, "run", interrupted)
    told = fitted("command", monkeypatch, capsys, overwrite=False)
    assert "note: entry 1 of 'default' stays charged" in told
    assert "interrupted" in told


def test_a_book_that_fails_after_the_charge_costs_no_model(desk, monkeypatch, capsys):
    from tacit.ledger.book.book import Book

    def refused(*_: object) -> None:
        raise StorageError("the ledger cannot be written (disk I/O error)")

    monkeypatch.setattr(Book, "commit", refused)
    with pytest.warns(UserWarning, match="entry 1 of 'default' stays charged"):
        model = tacit.Popularity(epsilon=1).fit("r.csv", scale=(1, 5), users=30)
    model.save("m")
    assert tacit.load("m").shared.digest() == model.model_.shared.digest()


def test_an_unpaid_model_leaves_nothing(desk, monkeypatch):
    model = unpaid()
    for name in ("write_files", "sync_folder"):
        with monkeypatch.context() as patch:
            patch.setattr(publication, name, broken)
            with pytest.raises(StorageError, match="cannot be written"):
                model.save("m")
    assert {each.name for each in desk.iterdir()} <= {"r.csv", "home", "temporary"}


# ------------------------------------------------------------------------------ two at once


def test_the_second_of_two_fits_is_refused_before_it_pays(desk, monkeypatch, capsys):
    with reserved("m"):
        told = fitted("command", monkeypatch, capsys, overwrite=True)
    assert "another process is writing" in told
    assert open_book().entries() == []
    assert fitted("command", monkeypatch, capsys, overwrite=False) == ""


def test_a_reservation_ends_with_its_process(desk):
    code = "import sys; from tacit.publication import reserved\nwith reserved('m'):\n"
    code += " print('held', flush=True)\n sys.stdin.read()"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout.readline() == b"held\n"
    with pytest.raises(StorageError, match="another process is writing"), reserved("m"):
        pass
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()
    assert Path(".m.lock").exists()
    with reserved("m"):
        pass
    assert not Path(".m.lock").exists()


def test_a_refused_reservation_leaves_no_folders(desk):
    with pytest.raises(ZeroDivisionError), reserved("a/b/m"):
        raise ZeroDivisionError
    assert not Path("a").exists()


def test_a_file_system_without_locks_is_told(desk, monkeypatch):
    def unsupported(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(publication.fcntl, "flock", unsupported)
    with pytest.warns(UserWarning, match="has no locks"), reserved("m"):
        pass


# ------------------------------------------------------------------------- killed in between


def publish_dying(at: int, exchanges: bool) -> None:
    """Replace the model `m`; the process is killed at the step `at`."""
    steps = 0

    def dying(call: Callable) -> Callable:
        def tried(*given: object, **named: object) -> object:
            nonlocal steps
            steps += 1
            if steps == at:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*given, **named)

        return tried

    if not exchanges:
        publication.exchange = lambda *_: False
    for module, names in {
        os: ("rename", "fsync", "unlink", "rmdir"),
        publication: ("exchange", "write_files", "remove", "sync_folder"),
    }.items():
        for name in names:
            setattr(module, name, dying(getattr(module, name)))
    with reserved("m") as held:
        held.put(held.stage({"a": b"new", "model.json": b"new"}))


def contents(folder: Path) -> set[str]:
    return {(folder / name).read_text() for name in ("a", "model.json")}


@pytest.mark.parametrize("exchanges", [True, False])
def test_a_kill_leaves_the_old_model_or_the_new_one(tmp_path, monkeypatch, exchanges):
    killed = []
    for at in range(1, 40):
        desk = tmp_path / str(at)
        (desk / "m").mkdir(parents=True)
        for name in ("a", "model.json"):
            (desk / "m" / name).write_text("old")
        status = forked(at, exchanges, desk)
        monkeypatch.chdir(desk)
        if status == 0:
            break
        killed.append(at)
        left = [Path("m")] if Path("m").exists() else publication.remains(Path("m"))
        assert exchanges <= Path("m").exists()
        assert left
        assert all(contents(each) in ({"old"}, {"new"}) for each in left)
        assert all(contents(each) in ({"old"}, {"new"}) for each in publication.remains(Path("m")))
        with reserved("m") as held:  # and the next one goes on
            held.put(held.stage({"a": b"next", "model.json": b"next"}))
        assert contents(Path("m")) == {"next"}
    assert len(killed) > 8
    assert sorted(os.listdir()) == ["m"], "nothing is left by the run that was not killed"
    assert contents(Path("m")) == {"new"}


def forked(at: int, exchanges: bool, desk: Path) -> int:
    """In a child: 0, or the signal that ended it."""
    child = os.fork()
    if child == 0:
        try:
            os.chdir(desk)
            publish_dying(at, exchanges)
            os._exit(0)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WTERMSIG(status)


def test_a_model_that_a_kill_moved_aside_is_named(desk):
    unpaid().save("m")
    os.rename("m", ".m.old-abc")
    with pytest.raises(tacit.errors.ModelError) as refused:
        tacit.load("m")
    assert ".m.old-abc" in str(refused.value)


# -------------------------------------------------------------- a calendar, and paid figures


def test_a_release_that_cannot_be_written_is_made_again_without_a_charge(tmp_path, monkeypatch):
    owner = Owner(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(publication, "write_files", broken)
        with pytest.raises(StorageError) as refused:
            owner.next()
    assert "entry 1 of 'default' stays charged" in str(refused.value)
    assert "without another charge" in str(refused.value)
    assert owner.next().week == 1
    assert owner.charges() == 1


def test_a_calendar_that_is_interrupted_says_that_it_goes_on(tmp_path, monkeypatch):
    owner = Owner(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(publication, "write_files", interrupted)
        with (
            pytest.warns(UserWarning, match="entry 1 of 'default' stays charged; run the same"),
            pytest.raises(KeyboardInterrupt),
        ):
            owner.next()
    assert owner.next().week == 1
    assert owner.charges() == 1


def test_paid_figures_that_cannot_be_written_are_printed(desk, monkeypatch, capsys):
    from tacit.evaluation.release import Release

    def refused(*_: object) -> None:
        raise StorageError("f.json cannot be written: No space left on device")

    fit = "fit r.csv --scale 1,5 --users 30 --method bias --epsilon 9 --keep-apart 30% --out m"
    release = "evaluate r.csv --release --model m --epsilon 9 --figures f.json"
    monkeypatch.setattr(Release, "save", refused)
    for line in (fit, release):
        monkeypatch.setattr(sys, "argv", ["tacit", *line.split()])
        with pytest.raises(SystemExit) as stop:
            main()
    shown = capsys.readouterr()
    assert stop.value.code
    assert "stays charged" in shown.err
    assert '"figures"' in shown.out
