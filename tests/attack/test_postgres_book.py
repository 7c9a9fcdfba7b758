"""A ledger in PostgreSQL attacked: crowded, killed, restarted, edited, cut, restored. Never
overspent or believed."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tacit.errors import BookError, StorageError
from tacit.ledger.book.book import open_book
from tacit.testing.book import charge, laplace
from tacit.testing.spend import spender, start

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


def told(output: str) -> list[int]:
    """Receipts that a process was given; a last line may be cut."""
    return [int(line) for line in output.split("\n")[:-1] if line.isdigit()]


@pytest.fixture(scope="module")
def database(postgres) -> str:
    return postgres.database()


@pytest.fixture
def url(postgres, database: str) -> str:
    postgres.psql(
        database, "SET client_min_messages = warning", "DROP SCHEMA IF EXISTS tacit_ledger CASCADE"
    )
    return database


def test_eight_processes_cannot_overspend_one_cap(url: str) -> None:
    open_book(url).cap(1.0, 0.0, "user")
    crowd = [spender(url, 0.04, 1000) for _ in range(8)]
    for process in crowd:
        start(process)
    numbers = [number for process in crowd for number in told(process.communicate(timeout=300)[0])]
    assert all(process.returncode == 0 for process in crowd)
    assert sorted(numbers) == list(range(2, 27))  # 25 charges of .04, each by one process
    assert open_book(url).verify().spent["user"].epsilon == pytest.approx(1.0)


def test_eight_processes_make_one_book_together(url: str) -> None:
    """Tables, key and first entry: whoever comes first makes them, once."""
    crowd = [spender(url, 0.01, 2) for _ in range(8)]
    for process in crowd:
        start(process)
    numbers = [number for process in crowd for number in told(process.communicate(timeout=300)[0])]
    assert sorted(numbers) == list(range(1, 17))
    assert open_book(url).verify().entries == 16


def test_clients_killed_at_random_moments_leave_a_good_book(url: str, full: bool) -> None:
    chance, heard = random.Random(5), 0
    for _ in range(60 if full else 6):
        process = spender(url, 1e-6, 10_000)
        start(process)
        time.sleep(chance.random() * 0.2)
        process.send_signal(signal.SIGKILL)
        numbers = told(process.communicate(timeout=60)[0])
        heard += len(numbers)
        assert open_book(url).verify().entries >= max(numbers, default=0)
        charge(open_book(url), laplace(1e-6))  # the dead hold no lock
    assert heard > 0


def test_a_server_that_crashes_forgets_nothing_that_was_told(postgres, url: str) -> None:
    with spender(url, 1e-4, 100) as process:
        start(process)
        assert process.stdout is not None
        # Only once receipts were told: how long that takes depends on the machine.
        first = process.stdout.readline() + process.stdout.readline()
        postgres.restart()
        numbers = told(first + process.stdout.read())
    assert process.returncode == 0
    assert told(first)
    verified = open_book(url).verify()
    assert verified.entries >= max(numbers)
    assert len(set(numbers)) == len(numbers)


def test_a_connection_lost_while_committing_is_an_error_and_not_a_receipt(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the entry is there is unknown to the caller, so no noise is drawn for it."""
    import psycopg

    book = open_book(url)
    charge(book, laplace(0.1))
    usual, commits = psycopg.Connection.execute, []

    def execute(self, query, *rest, **more):
        if query == "COMMIT":
            commits.append(query)
            if len(commits) == 1:
                usual(self, query)
                raise psycopg.OperationalError("the answer was lost")
        return usual(self, query, *rest, **more)

    with monkeypatch.context() as patch:
        patch.setattr(psycopg.Connection, "execute", execute)
        with pytest.raises(StorageError, match="may be in the book"):
            charge(book, laplace(0.1))
    assert book.verify().entries == 2  # wasted, and counted


Act = Callable[["Room"], object]


class Room:
    """A database with a book, and who may do anything to it but read its key."""

    def __init__(self, postgres, url: str, home: Path) -> None:
        self.postgres = postgres
        self.url = url
        self.home = home

    def tamper(self, *statements: str) -> None:
        self.postgres.psql(
            self.url, "ALTER TABLE tacit_ledger.entry DISABLE TRIGGER ALL", *statements
        )

    def rehash(self, number: int) -> None:
        """Edit an entry and give it the hash of its new text."""
        where = f"WHERE population = 'default' AND number = {number}"
        text = self.postgres.psql(self.url, f"SELECT text FROM tacit_ledger.entry {where}").rstrip(
            "\n"
        )
        text = text.replace('"scale":1000.0', '"scale":9000.0')
        digest = hashlib.sha256(text.encode()).hexdigest()
        self.tamper(f"UPDATE tacit_ledger.entry SET text = $${text}$$, hash = '{digest}' {where}")

    @property
    def key(self) -> Path:
        [found] = self.home.glob("postgresql-*.key")
        return found


E = "tacit_ledger.entry"
SWAP = [
    f"UPDATE {E} SET number = {b} WHERE population = 'default' AND number = {a}"
    for a, b in ((2, 99), (3, 2), (99, 3))
]
EDIT = f"UPDATE {E} SET text = replace(text, '1000.0', '9000.0') WHERE number = 3"
MOVE = f"UPDATE {E} SET population = 'default', number = 6 WHERE population = 'other'"
ATTACKS: dict[str, tuple[Act, str]] = {
    "an entry edited": (lambda room: room.tamper(EDIT), "entry 3 was edited"),
    "an entry edited with its hash": (
        lambda room: room.rehash(3),
        "entry 3 was edited or replaced",
    ),
    "the last entry edited with its hash": (
        lambda room: room.rehash(5),
        "entry 5 was edited or replaced",
    ),
    "the end cut off": (
        lambda room: room.tamper(f"DELETE FROM {E} WHERE number > 3"),
        "entry 4 is missing",
    ),
    "an entry removed": (
        lambda room: room.tamper(f"DELETE FROM {E} WHERE number = 2"),
        "entry 2 is missing",
    ),
    "all entries removed": (lambda room: room.tamper(f"DELETE FROM {E}"), "entry 1 is missing"),
    "all entries and the seal removed": (
        lambda room: room.tamper(f"DELETE FROM {E}", "DELETE FROM tacit_ledger.head"),
        "all of them were removed",
    ),
    "two entries swapped": (lambda room: room.tamper(*SWAP), "entry 2 is out of order"),
    "the seal edited": (
        lambda room: room.tamper("UPDATE tacit_ledger.head SET text = replace(text, '[5,', '[4,')"),
        "its seal was edited",
    ),
    "the seal removed": (
        lambda room: room.tamper("DELETE FROM tacit_ledger.head"),
        "its seal is missing",
    ),
    "an entry taken from another population": (
        lambda room: room.tamper(MOVE),
        "entry 1 is missing",
    ),
    "a table dropped": (lambda room: room.tamper("DROP TABLE tacit_ledger.head"), "damaged"),
    "all tables dropped": (
        lambda room: room.tamper(
            "SET client_min_messages = warning", "DROP SCHEMA tacit_ledger CASCADE"
        ),
        "its key is there",
    ),
    "the key removed": (lambda room: room.key.unlink(), "key of the book is missing"),
    "the key replaced": (
        lambda room: room.key.write_bytes(b"x" * 32),
        "its key belongs to another book",
    ),
    "the key cut": (lambda room: room.key.write_bytes(b"x" * 8), "key of the ledger is damaged"),
}


@pytest.fixture
def room(postgres, url: str, tacit_home: Path) -> Room:
    """A book of five entries, and a neighbour of one."""
    for _ in range(5):
        charge(open_book(url), laplace(0.1))
    charge(open_book(url, "other"), laplace(0.1))
    return Room(postgres, url, tacit_home)


def verify_both(url: str) -> None:
    for population in ("default", "other"):
        open_book(url, population).verify()


def charge_both(url: str) -> None:
    for population in ("default", "other"):
        charge(open_book(url, population), laplace(0.1))


@pytest.mark.parametrize("attack", ATTACKS)
def test_damage_is_detected_named_and_takes_no_charge(room: Room, attack: str) -> None:
    act, words = ATTACKS[attack]
    act(room)
    with pytest.raises(BookError) as caught:
        verify_both(room.url)
    assert words in str(caught.value)
    with pytest.raises(BookError):
        charge_both(room.url)


def test_an_old_dump_verifies_but_does_not_know_the_newer_head(room: Room) -> None:
    dump = subprocess.run(
        ["pg_dump", "-n", "tacit_ledger", room.url], check=True, capture_output=True
    ).stdout
    newer = charge(open_book(room.url), laplace(0.1)).hash
    assert open_book(room.url).contains(newer)
    room.postgres.psql(
        room.url, "SET client_min_messages = warning", "DROP SCHEMA tacit_ledger CASCADE"
    )
    subprocess.run(["psql", "-qX", room.url], input=dump, check=True, capture_output=True)
    assert open_book(room.url).verify().entries == 5
    assert not open_book(room.url).contains(newer)


def test_a_dump_that_is_up_to_date_goes_on(room: Room) -> None:
    """Backup and restore as docs/operate.md has them, with the key kept apart."""
    head = open_book(room.url).head
    dump = subprocess.run(
        ["pg_dump", "-n", "tacit_ledger", room.url], check=True, capture_output=True
    ).stdout
    room.postgres.psql(
        room.url, "SET client_min_messages = warning", "DROP SCHEMA tacit_ledger CASCADE"
    )
    subprocess.run(["psql", "-qX", room.url], input=dump, check=True, capture_output=True)
    assert open_book(room.url).contains(head)
    assert charge(open_book(room.url), laplace(0.1)).number == 6
    with pytest.raises(subprocess.CalledProcessError):  # the guards came back too
        room.postgres.psql(room.url, f"DELETE FROM {E}")


def test_a_seal_that_is_put_back_takes_no_charge_back(room: Room) -> None:
    rows = room.postgres.psql(room.url, "SELECT text, mac FROM tacit_ledger.head")
    text, mac = rows.rstrip("\n").split("|")
    charge(open_book(room.url), laplace(0.1))
    room.tamper(f"UPDATE tacit_ledger.head SET text = $${text}$$, mac = '{mac}'")
    with pytest.raises(BookError, match="entry 6 was sealed, and its seal is of before it"):
        open_book(room.url).verify()


def test_what_was_charged_stays_counted_when_its_entry_is_gone(room: Room) -> None:
    room.tamper(f"DELETE FROM {E} WHERE number = 2")
    with pytest.raises(BookError, match=r"stays spent: user: epsilon 0\.5 .* over 5 releases"):
        open_book(room.url).spent()
