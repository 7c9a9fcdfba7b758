"""A ledger attacked: killed, crowded, cut, edited, shuffled, restored, starved of disk.
Never overspent or corrupt."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tacit.errors import BookError
from tacit.ledger.book.book import open_book
from tacit.ledger.book.entry import canonical, write
from tacit.ledger.book.listing import check_parts, strays_elsewhere
from tacit.testing.book import charge, laplace
from tacit.testing.spend import spender, start

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")


def test_eight_processes_cannot_overspend_one_cap(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    book = open_book(path)
    book.cap(1.0, 0.0, "user")
    crowd = [spender(path, 0.04, 1000) for _ in range(8)]
    for process in crowd:
        start(process)
    numbers = [
        int(line) for process in crowd for line in process.communicate(timeout=300)[0].split()
    ]
    assert all(process.returncode == 0 for process in crowd)
    assert sorted(numbers) == list(range(2, 27))  # 25 charges of .04, each by one process
    assert book.verify().spent["user"].epsilon == pytest.approx(1.0)


def test_processes_killed_at_random_moments_leave_good_books(tmp_path: Path, full: bool) -> None:
    """Some die while they make a new book, most inside a transaction. What a process was
    told is in the book."""
    chance = random.Random(7)
    told = 0
    for run in range(200 if full else 20):
        path = tmp_path / (f"new-{run}.sqlite" if run % 4 == 0 else "ledger.sqlite")
        process = spender(path, 1e-6, 10_000)
        start(process)
        time.sleep(chance.random() * (0.02 if run % 4 == 0 else 0.1))
        process.send_signal(signal.SIGKILL)
        numbers = [
            int(line) for line in process.communicate(timeout=60)[0].split("\n")[:-1]
        ]  # a last line may be cut
        assert open_book(path).verify().entries >= max(numbers, default=0)
        told += len(numbers)
        receipt = charge(open_book(path), laplace(1e-6))
        assert open_book(path).verify().entries == receipt.number
    assert told > 0


def test_a_fork_may_use_the_book_of_its_parent(tmp_path: Path) -> None:
    book = open_book(tmp_path / "ledger.sqlite")
    charge(book, laplace(0.1))
    code = f"""
import os
from tacit.ledger.book.book import open_book
from tacit.testing.book import charge, laplace
from tacit.testing.spend import spender, start
book = open_book({str(tmp_path / "ledger.sqlite")!r})
charge(book, laplace(0.1))
children = []
for _ in range(4):
    child = os.fork()
    if child == 0:
        charge(book, laplace(0.1))
        os._exit(0)
    children.append(child)
charge(book, laplace(0.1))
assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
    assert book.verify().entries == 7


@pytest.mark.parametrize("room", [0, 6_000, 18_000])
def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path, room: int) -> None:
    """A file-size limit stands for a full disk: below the first page, inside the new file,
    or when it must grow."""
    path = tmp_path / "ledger.sqlite"
    code = f"""
import resource, sys
from tacit.errors import StorageError
from tacit.ledger.book.book import open_book
from tacit.testing.book import charge, laplace
from tacit.testing.spend import spender, start
resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room}))
book = open_book({str(path)!r})
try:
    for _ in range(1000):
        charge(book, laplace(0.001))
except StorageError as error:
    assert "nothing was written" in str(error), error
    sys.exit(7)
"""
    ran = subprocess.run([sys.executable, "-c", code], timeout=120, check=False)
    assert ran.returncode == 7
    book = open_book(path)
    before = book.verify().entries
    charge(book, laplace(0.1))  # the disk has room again
    assert book.verify().entries == before + 1
    assert {each.name for each in tmp_path.iterdir()} == {"ledger.sqlite", "ledger.sqlite.key"}


def tamper(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for trigger in ("entry_stays", "entry_keeps"):
        connection.execute(f"DROP TRIGGER IF EXISTS {trigger}")
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def rehash(path: Path, number: int) -> None:
    """Edit an entry and give it the hash of its new text."""
    connection = sqlite3.connect(path)
    [(text,)] = connection.execute("SELECT text FROM entry WHERE number = ?", (number,)).fetchall()
    text = text.replace('"scale":1000.0', '"scale":9000.0')
    digest = hashlib.sha256(text.encode()).hexdigest()
    connection.close()
    tamper(path, f"UPDATE entry SET text = '{text}', hash = '{digest}' WHERE number = {number}")


SWAP = (
    "UPDATE entry SET number = 99 WHERE number = 2",
    "UPDATE entry SET number = 2 WHERE number = 3",
    "UPDATE entry SET number = 3 WHERE number = 99",
)
ATTACKS: dict[str, tuple[Callable[[Path], None], str]] = {
    "an entry edited": (
        lambda path: tamper(
            path, "UPDATE entry SET text = replace(text, '1000.0', '9000.0') WHERE number = 3"
        ),
        "entry 3 was edited",
    ),
    "an entry edited with its hash": (
        lambda path: rehash(path, 3),
        "entry 3 was edited or replaced",
    ),
    "the last entry edited with its hash": (
        lambda path: rehash(path, 5),
        "entry 5 was edited or replaced",
    ),
    "the end cut off": (
        lambda path: tamper(path, "DELETE FROM entry WHERE number > 3"),
        "entry 4 is missing",
    ),
    "an entry removed": (
        lambda path: tamper(path, "DELETE FROM entry WHERE number = 2"),
        "entry 2 is missing",
    ),
    "all entries removed": (lambda path: tamper(path, "DELETE FROM entry"), "entry 1 is missing"),
    "all entries and the seal removed": (
        lambda path: tamper(path, "DELETE FROM entry", "DELETE FROM head"),
        "all of them were removed",
    ),
    "two entries swapped": (lambda path: tamper(path, *SWAP), "entry 2 is out of order"),
    "the seal edited": (
        lambda path: tamper(path, "UPDATE head SET text = replace(text, '[5,', '[4,')"),
        "its seal was edited",
    ),
    "the seal removed": (lambda path: tamper(path, "DELETE FROM head"), "its seal is missing"),
    "an entry taken from another population": (
        lambda path: tamper(
            path, "UPDATE entry SET population = 'default', number = 6 WHERE population = 'other'"
        ),
        "entry 1 is missing",
    ),
    "the file cut to half": (lambda path: os.truncate(path, path.stat().st_size // 2), "damaged"),
    "the file cut to nothing": (lambda path: os.truncate(path, 0), "truncated"),
    "the file removed": (lambda path: path.unlink(), "moved or deleted"),
    "the key removed": (
        lambda path: (path.parent / "ledger.sqlite.key").unlink(),
        "key of the book is missing",
    ),
    "the key replaced": (
        lambda path: _write_key(path, b"x" * 32),
        "its key belongs to another book",
    ),
    "the key cut": (lambda path: _write_key(path, b"x" * 8), "key of the ledger is damaged"),
}


def _write_key(path: Path, key: bytes) -> None:
    (path.parent / "ledger.sqlite.key").write_bytes(key)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A book of five entries, and a neighbour of one."""
    found = tmp_path / "ledger.sqlite"
    for _ in range(5):
        charge(open_book(found), laplace(0.1))
    charge(open_book(found, "other"), laplace(0.1))
    return found


def verify_both(path: Path) -> None:
    for population in ("default", "other"):
        open_book(path, population).verify()


def charge_both(path: Path) -> None:
    for population in ("default", "other"):
        charge(open_book(path, population), laplace(0.1))


@pytest.mark.parametrize("attack", ATTACKS)
def test_damage_is_detected_and_named(path: Path, attack: str) -> None:
    act, words = ATTACKS[attack]
    act(path)
    with pytest.raises(BookError) as caught:
        verify_both(path)
    assert words in str(caught.value)


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_damaged_book_takes_no_charge(path: Path, attack: str) -> None:
    ATTACKS[attack][0](path)
    with pytest.raises(BookError):
        charge_both(path)


@pytest.mark.parametrize("cut", range(1, 8))
def test_a_book_cut_anywhere_never_verifies(path: Path, cut: int) -> None:
    """Every whole page but the last ones, and the middle of pages."""
    size = path.stat().st_size
    os.truncate(path, size * cut // 8)
    with pytest.raises(BookError):
        open_book(path).verify()


def test_flipped_bytes_never_change_what_was_spent(path: Path, full: bool) -> None:
    """A flipped byte is noticed, or it lies where nothing is stored."""
    right = open_book(path).spent()
    good = path.read_bytes()
    chance = random.Random(11)
    for _ in range(400 if full else 60):
        place = chance.randrange(len(good))
        path.write_bytes(
            good[:place] + bytes([good[place] ^ (1 << chance.randrange(8))]) + good[place + 1 :]
        )
        try:
            found = open_book(path).verify().spent
        except BookError:
            continue
        assert found == right


def test_an_old_copy_verifies_but_does_not_know_the_newer_head(path: Path, tmp_path: Path) -> None:
    old = tmp_path / "old"
    shutil.copy(path, old)
    newer = charge(open_book(path), laplace(0.1)).hash
    assert open_book(path).contains(newer)
    shutil.copy(old, path)
    assert open_book(path).verify().entries == 5
    assert not open_book(path).contains(newer)


def put_back(path: Path, text: str, mac: str) -> None:
    tamper(path, f"UPDATE head SET text = '{text}', mac = '{mac}'")


def test_a_seal_that_is_put_back_takes_no_charge_back(path: Path) -> None:
    """The entry beyond an older seal was sealed, and is no stray row."""
    connection = sqlite3.connect(path)
    old = connection.execute("SELECT text, mac FROM head").fetchone()
    connection.close()
    charge(open_book(path), laplace(0.1))
    put_back(path, *old)
    with pytest.raises(BookError, match="entry 6 was sealed, and its seal is of before it"):
        open_book(path).verify()
    with pytest.raises(BookError):
        charge(open_book(path), laplace(0.1))
    tamper(path, "DELETE FROM entry WHERE number = 6")
    with pytest.raises(BookError, match="entry 6 was sealed"):
        open_book(path).spent()


@pytest.mark.parametrize(
    "change", ["DELETE FROM entry WHERE number = 2", "UPDATE entry SET text = 'x'"]
)
def test_what_was_charged_stays_counted_when_its_entry_is_gone(path: Path, change: str) -> None:
    tamper(path, change)
    with pytest.raises(BookError) as caught:
        open_book(path).spent()
    told = "what is under its seal stays spent: user: epsilon 0.5 at delta 1e-06 over 5 releases"
    assert told in str(caught.value)


JUNK: dict[str, str] = {
    "the next number": "'default', 6, 'junk', 'junk'",
    "a number that is taken": "'default', 3, 'junk', 'junk'",
    "a huge number": "'default', 9223372036854775807, '', ''",
    "a negative number": "'default', -1, '', ''",
    "a number that is none": "'default', 'six', '', ''",
    "bytes": "'default', x'ff', x'ff', x'ff'",
    "a hash that fits": "'default', 6, '{}', "
    "'44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'",
    "another population": "'never charged', 1, 'junk', 'junk'",
    "a population of bytes": "x'00ff', 1, 'junk', 'junk'",
}


@pytest.mark.parametrize("row", JUNK)
def test_a_junk_row_is_shown_not_counted_and_stops_nothing(path: Path, row: str) -> None:
    spent = open_book(path).spent()
    connection = sqlite3.connect(path)
    for _ in range(2):
        connection.execute(f"INSERT INTO entry VALUES ({JUNK[row]})")
    connection.execute("INSERT INTO proof VALUES ('default', 6, 'junk', 'junk')")
    connection.execute("INSERT INTO proof VALUES ('default', x'00', x'00', x'00')")
    connection.execute("INSERT INTO fingerprint VALUES (x'00', x'00')")
    connection.commit()
    connection.close()
    assert open_book(path).spent() == spent
    assert open_book(path).fingerprint(b"data") is None
    assert charge(open_book(path), laplace(0.1)).number == 6
    verified = open_book(path).verify()
    assert verified.entries == 6
    assert len([*verified.strays, *strays_elsewhere(open_book(path))]) == 2


def test_a_row_that_follows_the_last_entry_is_junk_without_a_seal(path: Path) -> None:
    """Anybody can write a row with the right hashes; the key is what is missing."""
    [*_, last] = open_book(path).entries()
    text, digest = write(
        last.model_copy(update={"number": 6, "previous": last.hash, "method": "forged"})
    )
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO entry VALUES ('default', 6, ?, ?)", (text, digest))
    connection.commit()
    connection.close()
    assert len(open_book(path).verify().strays) == 1
    assert charge(open_book(path), laplace(0.1)).number == 6
    assert not open_book(path).contains(digest)


def first_format(path: Path) -> None:
    """The file as a version of before left it."""
    key = path.with_name(path.name + ".key").read_bytes()[:32]
    connection = sqlite3.connect(path)
    [(sealed,)] = connection.execute("SELECT text FROM head").fetchall()
    text = canonical({"format": 1, "heads": json.loads(sealed)["heads"]})
    mac = hmac.new(key, b"tacit head\0" + text.encode(), hashlib.sha256).hexdigest()
    connection.executescript(
        """
        CREATE TABLE old (
            population TEXT NOT NULL, number INTEGER NOT NULL, text TEXT NOT NULL,
            hash TEXT NOT NULL, PRIMARY KEY (population, number)) WITHOUT ROWID;
        INSERT INTO old SELECT * FROM entry;
        DROP TABLE entry; DROP TABLE proof; DROP TABLE head;
        ALTER TABLE old RENAME TO entry;
        CREATE TABLE head (
            one INTEGER PRIMARY KEY CHECK (one = 1), text TEXT NOT NULL, mac TEXT NOT NULL);
        CREATE TRIGGER entry_stays BEFORE DELETE ON entry
            BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END;
        CREATE TRIGGER entry_keeps BEFORE UPDATE ON entry
            BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END;
        PRAGMA user_version = 1;
        """
    )
    connection.execute("INSERT INTO head VALUES (1, ?, ?)", (text, mac))
    connection.commit()
    connection.close()


def test_a_book_of_before_is_read_and_brought_up_to_date(path: Path) -> None:
    first_format(path)
    verified = open_book(path).verify()
    check_parts(open_book(path))
    assert (verified.entries, verified.strays) == (5, ())
    assert charge(open_book(path), laplace(0.1)).number == 6
    check_parts(open_book(path))
    charge_both(path)
    verify_both(path)
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT count(*) FROM proof").fetchone() == (9,)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute("DELETE FROM entry")
    connection.close()


def test_junk_in_a_book_of_before_stops_nothing(path: Path) -> None:
    first_format(path)
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO entry VALUES ('default', 6, 'junk', 'junk')")
    connection.commit()
    connection.close()
    assert len(open_book(path).verify().strays) == 1
    assert charge(open_book(path), laplace(0.1)).number == 6


def test_an_older_seal_of_a_book_of_before_takes_no_charge_back(path: Path) -> None:
    """No proof tells yet whether what follows was sealed, so it is held to be."""
    first_format(path)
    connection = sqlite3.connect(path)
    [(text, _)] = connection.execute("SELECT text, mac FROM head").fetchall()
    connection.close()
    heads = json.loads(text)["heads"]
    heads["default"] = [4, open_book(path).entries()[3].hash]
    key = path.with_name(path.name + ".key").read_bytes()[:32]
    old = canonical({"format": 1, "heads": heads})
    put_back(path, old, hmac.new(key, b"tacit head\0" + old.encode(), "sha256").hexdigest())
    with pytest.raises(BookError, match="entry 5 is not under its seal"):
        open_book(path).spent()
    with pytest.raises(BookError, match="entry 5 is not under its seal"):
        charge(open_book(path), laplace(0.1))
