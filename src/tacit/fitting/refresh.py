"""A calendar of releases: what is refused before a rating is read, one charge, and one release
a run from the people who are counted that week."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.data.catalogue import Catalogue
from tacit.data.inputs import as_catalogue, as_ratings
from tacit.data.packed import Packed
from tacit.data.packed.packed import too_large
from tacit.data.ratings import Ratings, aligned
from tacit.engine.blocks import fingerprint
from tacit.engine.threads import ExactSums
from tacit.errors import BookError, BudgetError, Failure, ModelError, SettingError, StorageError
from tacit.fitting.charge import CHARGED, ONE_BOOK, Payment, pay, running_total, stays_charged
from tacit.fitting.check import check
from tacit.fitting.counted import Counted, Turn, calendar_key, names_of, need_ids, sealed
from tacit.fitting.diary import CALENDAR, BegunWeek, CountedPeople, Diary, damaged
from tacit.fitting.fixed import Periods, check_same, fixed_facts, fresh_token, schedule_of
from tacit.fitting.order import Order
from tacit.fitting.price import check_cost, facts
from tacit.fitting.publish import StatementInputs
from tacit.fitting.rehearse import rehearse
from tacit.fitting.totals import Totals, stationary_now
from tacit.kernels.pools import one_blas_thread
from tacit.ledger.account.event import Event
from tacit.ledger.book.book import Book
from tacit.ledger.book.receipts import Receipt
from tacit.ledger.book.weeks import Week, begin_week, end_week, weeks
from tacit.methods.base import Method, Public
from tacit.methods.streamed import on_a_calendar
from tacit.noise.continual import Weeks
from tacit.notices import warn
from tacit.rounds.calendar import Calendar, acts_like, calendar_events
from tacit.rounds.loop import Loop
from tacit.rounds.plan import Plan
from tacit.rounds.round import AnyState, Released, Round, Stationary
from tacit.rounds.state import State
from tacit.validation import by_name, count, function
from tacit.validation import path as asked_path

if TYPE_CHECKING:
    from tacit.ledger.statement.statement import Statement
    from tacit.model.model import Model
    from tacit.model.shared import Shared
    from tacit.rounds.options import Progress

INJECTED = "injected.json"
"""Marks a week some of whose noise came from bits that a test injected: it, and every later
release, is NOT PRIVATE."""
Whole = NDArray[np.int64]
OLDER_FOLDER = (
    "the calendar's folder is older than the book: it knows nothing of release {}, in which "
    "people were counted"
)
OTHER_FOLDER = (
    "release {} was made from another copy of the calendar's folder: what this one has drawn for "
    "it was never released, and nothing may build on it"
)
RESTORE = "bring back the latest copy of the folder; nothing was released"


def check_calendar(method: Method, people: int | None) -> Order:
    """The order of a calendar, before a rating is read."""
    if people is None:
        raise SettingError(
            "how many people are expected in the whole calendar must be declared: plans are "
            "made before they come",
            remedy="give --users N; a wrong number costs accuracy, never privacy",
        )
    calendar_method = on_a_calendar(method)
    if calendar_method.calibration != "sound":
        raise SettingError("a calendar is sound or nothing", remedy="leave --calibration out")
    order = check(calendar_method, people=people)
    if order.unit != "user":
        raise SettingError(
            f"a calendar promises nothing for each {order.unit}: one rating more may move "
            "its person to another release",
            remedy="use --unit user",
        )
    if order.engine != "threads":
        raise SettingError(
            f"a calendar does not run on {order.engine}", remedy="leave --engine out"
        )
    if order.budget is None or order.budget.delta == 0:
        raise SettingError(
            "a calendar has Gaussian noise, which is not pure",
            remedy="give a positive --delta, or leave it out",
        )
    return order


@by_name
def refresh(
    method: Method,
    ratings: Any,
    *,
    out: str | Path,
    horizon: int,
    items: Any,
    users: int | None = None,
    times: int = 1,
    gap: int = 1,
    periods: Periods | tuple[str, int] | None = None,
    week: int | None = None,
    progress: Progress | None = None,
    order: Order | None = None,
) -> Refreshed:
    """The next release of the calendar in `out`, which is begun and paid for if there is none
    yet. `ratings` and `items` are what `tacit.read` and `tacit.read_items` give or take.

    `horizon` releases are made in all. Each person is counted at most `times` in them, `gap`
    releases apart. `periods` says which days belong to which release, as ("2026-01-05", 7):
    the first day, and days of each; without it each table is a period. `week` says which
    release is expected: one that was made is given again.
    """
    if items is None:
        raise SettingError(
            "a calendar needs a public catalogue: the items of later releases are not in "
            "the first table",
            remedy="give --items FILE",
        )
    _check_kinds(method, out, horizon, users, times, gap, week, progress)
    if periods is not None:
        periods = _periods(periods)
    items = as_catalogue(items)
    ratings = as_ratings(ratings, items=items)
    diary = Diary(out)
    _check_offered(ratings, diary, periods, week)
    schema = ratings.schema.declare(users)
    order = order or check_calendar(method, schema.users)
    ratings = replace(aligned(ratings, items), schema=schema)
    with diary.held():
        run = Releases(order, diary, Calendar(horizon, times, gap), periods, items, ratings)
        run.open(progress)
        with stays_charged(run.receipt, resumes=True, faults=StorageError):
            return run.release(week)


def _check_kinds(
    method: object,
    out: object,
    horizon: object,
    users: object,
    times: object,
    gap: object,
    week: object,
    progress: object,
) -> None:
    """Refuse arguments of the wrong type, which Python callers can pass."""
    if not isinstance(method, Method):
        raise SettingError(
            "a calendar is of an estimator, which comes first",
            remedy="for example tacit.refresh(tacit.Bias(epsilon=1), ratings, ...)",
        )
    asked_path("out", out)
    integers = {"horizon": horizon, "times": times, "gap": gap}
    integers |= {"users": users, "week": week}
    for name, value in integers.items():
        if value is not None:
            count(name, value)
    function("progress", progress)


def _periods(source: object) -> Periods:
    """The first day, and days of each."""
    if isinstance(source, Periods):
        return source
    if not isinstance(source, tuple | list) or len(source) != 2:
        raise SettingError(
            "periods are not a first day and days of each",
            remedy='for example periods=("2026-01-05", 7)',
        )
    return Periods.of(str(source[0]), count("days of a period", source[1]))


def _check_offered(
    ratings: Ratings, diary: Diary, periods: Periods | None, week: int | None
) -> None:
    """Refuse, before a calendar is paid for, what no release could be made of."""
    if isinstance(ratings, Packed):
        raise too_large()
    need_ids(ratings)
    if (diary.folder / CALENDAR).exists():
        return
    if week not in (None, 1):
        raise not_next(week, 0)
    if periods is not None:
        periods.check_over(1, datetime.now(UTC))


# The conductor of a calendar: one charge, then one release a week from the people who are
# counted that week.
#
# A week goes through these steps, each durable before the next: the keyed list of its people in
# the folder; the week's beginning in the book; for every part its exact sums, then what was
# released of them; the state; the week's end in the book; the model. Guarantee: whenever a
# process dies, the next run goes on from there. What was stored is never drawn again, what was
# drawn and not stored has been seen by nobody, and nothing is charged but once.


@dataclass(frozen=True)
class Refreshed:
    """One release of a calendar, as `tacit.refresh` returns it."""

    week: int
    model: Model
    place: Path
    """Where it was published."""
    growth: float
    """How many times the noise of one release at the whole budget stands on it."""


def not_next(requested: int, completed: int) -> SettingError:
    """The error for a release out of order."""
    return SettingError(
        f"release {requested} is not the next one: {completed} were made",
        remedy=f"releases come in order: leave --release out, or say {completed + 1}",
    )


class Releases:
    """One run over a calendar's folder: begins or resumes a week, charges it, and publishes its
    model."""

    def __init__(
        self,
        order: Order,
        diary: Diary,
        calendar: Calendar,
        periods: Periods | None,
        items: Catalogue,
        ratings: Ratings,
    ) -> None:
        assert order.budget is not None
        if periods is not None and ratings.time is None:
            raise SettingError(
                "these ratings have no times, so no days belong to a release",
                remedy="name the column of times, or leave --begins and --days out and give "
                "each release its own table",
            )
        self.order, self.diary = order, diary
        self.calendar, self.periods = calendar, periods
        self.ratings = ratings
        self.fixed = fixed_facts(order, calendar, periods, ratings.schema, items, ratings)
        self.public: Public = facts(order, ratings.schema, items, None)
        rule = replace(self.public, budget=acts_like(order.budget, calendar))
        self.rule = rule
        plan = order.method.plan(rule)
        self.plan: Plan = replace(plan, limited=ratings.schema.max_ratings)
        self.events: Mapping[str, Event] = calendar_events(self.plan, order.budget, calendar)
        check_cost(self.events.values(), order)
        self.progress: Progress | None = None

    def open(self, progress: Progress | None) -> None:
        """Find the calendar in the folder, or begin and pay for it."""
        self.progress = progress
        path = self.diary.folder / CALENDAR
        stored = self.diary.read(path, dict[str, Any])
        receipt_path = self.diary.private / "receipt.json"
        receipt = self.diary.read(receipt_path, Receipt)
        if stored is None:
            rehearse(self.order, self.rule, with_draws=False)
            ExactSums(self.ratings, 1).check(self.plan)
            stored = {**self.fixed, "request": fresh_token()}
            self.diary.write(path, stored)
            path.chmod(0o644)
        check_same(stored, self.fixed)
        if receipt is None:
            try:
                receipt = self._pay(_request(stored, path))
            except (BudgetError, SettingError):
                path.unlink()  # refused: nothing was begun
                raise
            with stays_charged(receipt, resumes=True):
                self.diary.write(receipt_path, asdict(receipt))
        self.receipt = receipt
        self.key = key_of(self.order.book, self.receipt)
        self.standing: CalendarStanding = calendar_standing(
            self.diary, self.order.book, self.receipt, self.calendar
        )

    def _pay(self, token: str) -> Receipt:
        payment = pay(
            self.order,
            fingerprint(self.ratings),
            tuple(self.events.values()),
            self.ratings.schema.max_ratings,
            self.order.how.purpose
            or f"refresh {self.order.method.name}, {self.calendar.horizon} releases",
            token,
        )
        return payment.receipt

    # ------------------------------------------------------------------ one week

    def release(self, requested: int | None) -> Refreshed:
        """The release that is next, or one that was made before."""
        completed = self.standing.completed_weeks
        if completed and not self.diary.release(completed).exists():
            self._announce(completed)  # killed between the book and the folder
            if requested in (None, completed):
                return self._announced_release(completed)
        if requested is not None and 1 <= requested <= completed:
            return self._announced_release(requested)
        week = completed + 1
        if week > self.calendar.horizon:
            raise SettingError(
                f"all {self.calendar.horizon} releases of this calendar were made",
                remedy="begin another one (--out), which is charged by itself",
            )
        if requested is not None and requested != week:
            raise not_next(requested, completed)
        self._check_clock(week)
        counted_people = self._admit_people(week)
        self._begin_week(week, counted_people)
        self._run(week, counted_people)
        self._end(week, self._shared(week))
        self._announce(week)
        return self._announced_release(week)

    def _check_clock(self, week: int) -> None:
        """Time that runs backwards, or a period that is not over, is the owner's error."""
        now = datetime.now(UTC)
        if self.standing.book:
            last_week = self.standing.book[-1]
            entry = last_week.ended or last_week.begun
            if now < datetime.fromisoformat(entry.time):
                raise SettingError(
                    "the clock is behind the last entry of the book",
                    remedy="set the clock of this machine",
                )
        if self.periods is not None:
            self.periods.check_over(week, now)

    def _admit_people(self, week: int) -> Turn:
        """Who is counted this week. A week that was begun is resumed with its people."""
        names = names_of(self.ratings.users, self.key)
        ends = None if self.periods is None else self.periods.ends(week)
        return self.standing.counted.admit(self.ratings, names, ends)

    def _begin_week(self, week: int, counted_people: Turn) -> None:
        folder = self.diary.week(week)
        listed = CountedPeople(
            names=list(counted_people.names), cells=counted_people.digest(self.key)
        )
        if self.standing.open is not None:
            if self.diary.read(folder / "people.json", CountedPeople) != listed:
                raise SettingError(
                    f"release {week} was begun with other ratings",
                    remedy="give the table that it was begun with",
                )
        else:
            self._mark(counted_people)
            self.diary.write(folder / "people.json", listed.model_dump())
        digests: dict[str, str] = {}
        if week > 1:
            earlier = self.diary.week(week - 1) / "digests.json"
            digests = self.diary.read(earlier, dict[str, str]) or {}
        seal = sealed(self.standing.seal, counted_people.names, digests)
        entry = begin_week(self.order.book, self.receipt, week, seal, self.calendar.horizon)
        self.diary.write(folder / "begun.json", {"entry": entry.hash})

    def _mark(self, counted_people: Turn) -> None:
        """The book warns, or refuses, where these people are known under another name."""
        warning = self.order.book.fingerprint(
            fingerprint(counted_people.ratings), other_people=self.order.how.other_people
        )
        if warning:
            warn(f"{warning}: {ONE_BOOK}")

    def _run(self, week: int, counted_people: Turn) -> None:
        """The rounds of the plan, over the people of this week."""
        check_arrays(self.diary, week)
        execution = self.order.how
        engine = ExactSums(counted_people.ratings, execution.threads, self.progress)
        if counted_people.ratings.schema.max_ratings is not None:
            engine.limit(counted_people.ratings.schema.max_ratings)
        totals = Totals(Weeks(self.events, self.calendar, week))
        with one_blas_thread():
            loop = Loop(self.plan, self._state_before(week))
            loop.run(lambda round_, state: self._ask(engine, totals, round_, state))
        folder = self.diary.week(week)
        self.diary.put_arrays(folder / "state.npz", loop.state.packed())
        self.diary.write(folder / "digests.json", self.diary.digests(week))

    def _ask(
        self, engine: ExactSums, totals: Totals, round_: Round, state: AnyState
    ) -> dict[str, Released]:
        """Running sums of a round: from what is stored of this week, or summed, noised and
        stored."""
        diary, weeks = self.diary, totals.weeks
        week = weeks.week
        sums: Mapping[str, Any] | None = None
        released = dict[str, Released]()
        for part in round_.parts:
            name = f"{round_.name}/{part.name}"
            stem = name.replace("/", ".").replace(" ", "-")
            noisy_path = diary.week(week) / f"{stem}.noisy.npy"
            noisy = diary.array(noisy_path)
            sums_path = diary.week(week) / f"{stem}.sums.npy"
            if noisy is not None:
                exact = diary.array(sums_path)
                if exact is None or exact.shape != noisy.shape:
                    raise damaged(noisy_path)
            else:
                if sums is None:
                    sums = engine.sums(round_, state)
                diary.put_array(sums_path, sums[part.name])
                if not weeks.private:
                    diary.write(diary.week(week) / INJECTED, True)
                past = past_arrays(diary, week, stem, "sums")
                noisy = weeks.noised(name, [*past, sums[part.name]])
                diary.put_array(noisy_path, noisy)
            past_noisy = past_arrays(diary, week, stem, "noisy")
            same = self._steady(week, stem, stationary_now(round_, part, state))
            released[part.name] = totals.released(round_, part, state, [*past_noisy, noisy], same)
        return released

    def _steady(self, week: int, stem: str, current: Stationary | None) -> list[Stationary]:
        """What was the same in earlier weeks. That of this one is kept, if it is not known
        beforehand: public numbers, made from what was released."""
        if current is None or isinstance(current.scale, float):
            return [Stationary()] * (week - 1)
        name = f"{stem}.steady.npz"
        arrays = {"scale": current.scale, "taken": np.asarray(current.taken)}
        self.diary.put_arrays(self.diary.week(week) / name, arrays)
        return [
            Stationary(**self.diary.arrays(self.diary.week(number) / name))
            for number in range(1, week)
        ]

    def _state_before(self, week: int) -> State:
        """What is public before a week: the state that the last one has left."""
        first_state = self.order.method.first_state(self.rule)
        over = {"elapsed": week / self.calendar.horizon}
        if week == 1:
            return first_state.after(**over)
        stored = self.diary.arrays(self.diary.week(week - 1) / "state.npz")
        last_state = type(first_state).unpacked(stored)
        return last_state.after(**over, before=last_state.people)

    # ---------------------------------------------------------------- its model

    def _shared(self, week: int) -> Shared:
        """The model of a week that has run, from its stored state."""
        check_arrays(self.diary, week + 1)
        method = self.order.method
        kind = type(method.first_state(self.rule))
        stored = self.diary.arrays(self.diary.week(week) / "state.npz")
        shared = method.finish(self.rule, kind.unpacked(stored))
        return replace(shared, schema=self.public.schema)

    def _end(self, week: int, shared: Shared) -> None:
        """The book knows what was made, once."""
        digest = keyed_digest(self.diary, week, self.key)
        end_week(self.order.book, self.receipt, week, shared.digest(), digest)

    def _announce(self, week: int) -> None:
        """Publish the model that the book knows, and no other."""
        from tacit.ledger.statement.sign import signed
        from tacit.model.model import Model

        shared, book = self._shared(week), self.order.book
        self._end(week, shared)
        promise = signed(
            self._statement(week), shared.digest(), book.sign, book.signer, checked=CHARGED
        )
        Model(shared, promise).save(self.diary.release(week))

    def _statement(self, week: int) -> Statement:
        order, budget = self.order, self.order.budget
        assert budget is not None
        total_spent = running_total(order.book, self.receipt, order.unit, budget.delta)
        injected = any(
            (self.diary.week(number) / INJECTED).exists() for number in range(1, week + 1)
        )
        inputs = StatementInputs(
            order,
            self.public,
            self.plan,
            tuple(self.events.values()),
            used=order.method.used(self.rule),
            declared_items=True,
            schedule=schedule_of(self.calendar, self.periods, week),
        )
        return inputs.statement(
            ExactSums(self.ratings, 1),
            Payment(self.receipt, total_spent),
            private=not injected,
            charged=self.events.values(),
        )

    def _announced_release(self, week: int) -> Refreshed:
        """What was announced, if it is what the book knows."""
        from tacit.model.model import Model, load
        from tacit.model.verify import verify_with_book

        folder = self.diary.release(week)
        announced = load(folder)
        verdict = verify_with_book(announced, self.order.book)
        if not verdict.holds:
            raise SettingError(
                f"the model of release {week} is not what was released: {verdict.words}",
                remedy="remove its folder: it is made again, as it was",
            )
        model = Model(announced.shared, verdict.statement)
        return Refreshed(week, model, folder, self.calendar.growth(week))


def _request(public_facts: Mapping[str, Any], folder: Path) -> str:
    """The name of the request that pays: without it a calendar might be paid for twice."""
    token = public_facts.get("request")
    if not isinstance(token, str) or not token:
        raise damaged(folder)
    return token


# Standing of a calendar: the weeks in its folder, checked against the ledger.
#
# Guarantee: a folder that is older than the book (restored from a backup), a book that is older
# than the folder, a list of people that was changed, and arrays that were changed are each
# refused before anything is drawn. So is a copy of the folder that has drawn noise of its own
# for a week that another copy has released.
@dataclass(frozen=True)
class CalendarStanding:
    """Which weeks of a calendar have begun and ended, by the ledger and the folder."""

    book: list[Week]
    counted: Counted
    """Everybody of the weeks that are over."""
    seal: str
    """Of the lists of these weeks."""

    @property
    def completed_weeks(self) -> int:
        """Weeks that have ended in the book."""
        return sum(week.ended is not None for week in self.book)

    @property
    def open(self) -> Week | None:
        """A week that has begun and not ended."""
        return self.book[-1] if len(self.book) > self.completed_weeks else None


def calendar_standing(
    diary: Diary, book: Book, receipt: Receipt, calendar: Calendar
) -> CalendarStanding:
    """Where the calendar is, if folder and book agree."""
    recorded = weeks(book, receipt)
    key = key_of(book, receipt)
    _check_book(diary, book, recorded)
    participation, seal = Counted(calendar), ""
    for week in recorded:
        listed = diary.read(diary.week(week.number) / "people.json", CountedPeople)
        if listed is None:
            raise BookError(OLDER_FOLDER.format(week.number), place=book.place, remedy=RESTORE)
        names = tuple(listed.names)
        digests = _left_behind(diary, week.number - 1)
        if sealed(seal, names, digests) != week.counted_digest:
            raise BookError(
                f"the list of people of release {week.number} is not the one that the book "
                "has sealed",
                place=book.place,
                remedy=RESTORE,
            )
        if week.ended is not None:
            seal = week.counted_digest
            participation.count(names)
            if not _left_behind(diary, week.number):
                raise BookError(OLDER_FOLDER.format(week.number), place=book.place, remedy=RESTORE)
            if week.ended.left not in (None, keyed_digest(diary, week.number, key)):
                raise BookError(
                    OTHER_FOLDER.format(week.number),
                    place=book.place,
                    remedy="go on with the copy that made it",
                )
    return CalendarStanding(recorded, participation, seal)


def key_of(book: Book, receipt: Receipt) -> bytes:
    """The key of a calendar's lists, derived from the ledger's secret and the calendar's entry."""
    secret = book.store.key(create=False)
    if secret is None:
        raise Failure("the book has lost its key")
    return calendar_key(secret, receipt.hash)


def keyed_digest(diary: Diary, number: int, key: bytes) -> str:
    """Keyed digest of what a week has left behind, for the book. Keyed, because exact sums are
    among it."""
    mac = hmac.new(key, b"kept\0", "sha256")
    for name, digest in sorted(_left_behind(diary, number).items()):
        mac.update(f"{name} {digest}\n".encode())
    return mac.hexdigest()


def _check_book(diary: Diary, book: Book, recorded: list[Week]) -> None:
    """Every entry that the folder names must be in the book."""
    hashes = {week.begun.hash for week in recorded}
    number = 1
    while (beginning := diary.read(diary.week(number) / "begun.json", BegunWeek)) is not None:
        if beginning.entry not in hashes:
            raise BookError(
                f"the book is older than the calendar's folder: it does not know that "
                f"release {number} has begun",
                place=book.place,
                remedy="bring back the latest copy of the book; nothing was released",
            )
        number += 1


def _left_behind(diary: Diary, number: int) -> dict[str, str]:
    """The digests of a week's arrays, as they were when it ended; nothing before the first."""
    if number < 1:
        return {}
    return diary.read(diary.week(number) / "digests.json", dict[str, str]) or {}


def past_arrays(diary: Diary, week: int, stem: str, kind: str) -> list[Whole]:
    """One part in all weeks before this one: its `sums` or its `noisy` numbers, each as it
    was when its week ended."""
    arrays = []
    for number in range(1, week):
        path = diary.week(number) / f"{stem}.{kind}.npy"
        array = diary.array(path)
        if array is None:
            raise damaged(path)
        arrays.append(array)
    return arrays


def check_arrays(diary: Diary, week: int) -> None:
    """Refuse arrays of earlier weeks that are not what they were."""
    for number in range(1, week):
        digests = _left_behind(diary, number)
        if diary.digests(number) != digests:
            raise ModelError(
                f"the sums of release {number} were changed after it was made", remedy=RESTORE
            )
