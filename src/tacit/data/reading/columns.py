"""Which column is which: the names of a header, or what the caller says.

Line 1 of a table is its header, nobody's row, unless `--header no` or a layout says otherwise:
what it looks like is never asked. Its names are of a closed list (`NAMES`), or `--columns` names
them; else the table is refused, and no word of that line is quoted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tacit.errors import DataError, SettingError, format_location


def split_words(text: str) -> list[str]:
    """A list of words, written as words."""
    return text.split()


NAMES = {
    "user": split_words(
        "user userid userhash uid person personid people member memberid customer "
        "customerid customerno customernumber client clientid reviewer "
        "reviewerid visitor visitorid account accountid viewer viewerid reader readerid "
        "rater raterid username userno usernumber"
    ),
    "item": split_words(
        "item itemid iid movie movieid film filmid isbn book bookid product productid "
        "asin sku song songid track "
        "trackid artist artistid business businessid joke jokeid game gameid anime "
        "animeid profile profileid article "
        "articleid articleno itemno productno productcode recipe recipeid title movietitle"
    ),
    "rating": split_words(
        "rating ratings score scores star stars value vote votes bookrating overall grade "
        "preference"
    ),
    "time": split_words(
        "timestamp time unixtime unixreviewtime datetime date ratedat createdat created ts when day"
    ),
}
"""Header names by role, plainest first, without case and marks: `User-ID` is `userid`."""

OF_ITEMS = ("title", "tags")
"""Roles of the catalogue alone."""
OUTRIGHT = ("rating", "ratings", "bookrating")
"""Names that leave no doubt which column holds the ratings."""
NONE = "none"
"""How the command line says that a column is not to be read."""

Columns = Mapping[str, str | int | None]
"""The caller's own say: role (`user`, `item`, `rating`, `time`) to header name, number
counted from 1, or None."""


@dataclass(frozen=True)
class Roles:
    """Positions (from 0) of what is read."""

    user: int
    item: int
    rating: int | None
    time: int | None

    def used(self) -> dict[str, int]:
        """The column of each role that the table has."""
        every = {"user": self.user, "item": self.item, "rating": self.rating, "time": self.time}
        return {role: position for role, position in every.items() if position is not None}


MOST_QUOTED = 8
"""Columns that are named as not read."""
TITLES = ("title", "movietitle")
"""Usual beside the id of an item: no rival of it."""


def describe_columns(
    roles: Roles, header: Sequence[str] | None, columns: Columns | None = None
) -> tuple[str, ...]:
    """Which column was read as what, and which others might have been meant where nobody has
    chosen. A name is quoted where it is of the list or the caller's own word."""
    used = roles.used()
    sure = header is not None and all(is_word(header[at], columns) for at in used.values())
    names = header if header is not None and sure else ()

    def name(position: int) -> str:
        if header is None or not is_word(header[position], columns):
            return f"column {position + 1}"
        return f"`{header[position]}`"

    lines = [f"{role} from {name(at)}" for role, at in used.items()]
    messages = [f"read {', '.join(lines)}"]
    for role, at in used.items():
        if role in (columns or {}):
            continue
        for column, text in enumerate(names):
            rival = plain(text) in NAMES[role] and plain(text) not in TITLES
            if rival and column not in used.values():
                messages.append(
                    f"`{text}` could be the {role} too; {name(at)} was read "
                    f"(--columns {role}={text} takes the other)"
                )
    unread = [f"`{text}`" for at, text in enumerate(names) if at not in used.values() and text]
    if unread:
        when = "" if roles.time is not None else "; --columns time=NAME says when"
        messages.append(f"not read: {', '.join(unread[:MOST_QUOTED])}{when}")
    return tuple(messages)


def plain(name: str) -> str:
    """A column's name as it is compared: letters and digits only."""
    return "".join(c for c in name.casefold() if c.isalnum())


def is_word(name: str, columns: Columns | None) -> bool:
    """Whether a name is one of the list, or the caller's own word."""
    return name in set((columns or {}).values()) or any(
        plain(name) in names for names in NAMES.values()
    )


def of_ratings(columns: Columns | None) -> Columns | None:
    """Of the roles that a caller names, those of a table of ratings."""
    if not isinstance(columns, Mapping):
        return columns
    rating_roles = {role: at for role, at in columns.items() if role not in OF_ITEMS}
    return rating_roles or None


def of_rows(columns: Columns | None, catalogue: object) -> Columns | None:
    """Of those, what ratings without a header cannot have: `item` may be the column of a
    catalogue that is given beside them."""
    named = set(columns) if isinstance(columns, Mapping) else set()
    return None if catalogue is not None and named == {"item"} else columns


def check_roles(columns: Columns) -> None:
    """Refuse what is no role of a table of ratings."""
    for role, name in columns.items():
        if role not in NAMES and name in NAMES:
            raise SettingError(
                f"columns: {role} is no role, and {name} is one: they are swapped",
                remedy=f"the role comes first: --columns {name}={role}",
            )
        if role not in NAMES:
            raise SettingError(
                f"columns: {role} is no role",
                remedy=f"use {', '.join(NAMES)}; of a catalogue also {' and '.join(OF_ITEMS)}",
            )


def find_roles(
    header: Sequence[str] | None,
    width: int,
    columns: Columns | None,
    label: str,
    line: int = 1,
    *,
    likes: bool = False,
    named: bool = False,
) -> Roles:
    """The roles of the columns. `header` None: there is none, and `columns` has their numbers.
    `likes`: a table without ratings is allowed. `named`: these are names of columns for
    certain, and no line of a file: they may be quoted."""
    requested = dict(columns or {})
    check_roles(requested)
    quotable = header if named else None
    positions: dict[str, int | None] = {}
    for role in NAMES:
        if role in requested:
            positions[role] = resolve_column(
                requested[role], role, header, width, label, quoted=named
            )
        else:
            positions[role] = None if header is None else _named(header, role)
    required = ("user", "item") if likes else ("user", "item", "rating")
    lacking = [role for role in required if positions[role] is None]
    if lacking and header is None:
        raise unnumbered(lacking, label, likes=likes)
    if lacking:
        raise missing(lacking, label, line, quotable)
    _refuse_twice(positions, requested, header, label)
    _refuse_rivals(positions, requested, header, label)
    user, item = positions["user"], positions["item"]
    assert user is not None
    assert item is not None
    return Roles(user, item, positions["rating"], positions["time"])


def refuse_threshold(
    roles: Roles,
    header: Sequence[str] | None,
    columns: Columns | None,
    positive: float | bool | None,
    label: str,
) -> None:
    """Refuse the least rating of a like where no column is read as the rating: every row would
    be a like, however low."""
    if roles.rating is not None or positive is None or isinstance(positive, bool):
        return
    used = roles.used().values()
    sure = header is not None and all(is_word(header[at], columns) for at in used)
    unread_names = [
        f"`{name}`" for at, name in enumerate(header or ()) if sure and at not in used and name
    ]
    unread = f" (not read: {', '.join(unread_names[:MOST_QUOTED])})" if unread_names else ""
    raise SettingError(
        f"no column is read as the rating{unread}, so --positive {positive:g} would make "
        "every row a like",
        place=label,
        remedy="say which it is: --columns rating=NAME --scale LOW,HIGH; if every row is a "
        "like, give --positive alone",
    )


def _named(header: Sequence[str], role: str) -> int | None:
    plainly = [plain(name) for name in header]
    return next((plainly.index(name) for name in NAMES[role] if name in plainly), None)


def resolve_column(
    column: str | int | None,
    role: str,
    header: Sequence[str] | None,
    width: int,
    label: str,
    *,
    quoted: bool,
) -> int | None:
    """The column that the caller names for a role; None where none is to be read. `quoted`:
    the names of the header may be told."""
    if column is None:
        return None
    if isinstance(column, int) and 1 <= column <= width:
        return column - 1
    if isinstance(column, str) and header is not None and column in header:
        return list(header).index(column)
    if header is None and isinstance(column, int) and column > width:
        raise DataError(
            f"the first line has {width} column{'s' if width > 1 else ''}, and column {column} "
            f"is to be the {role}",
            place=label,
            remedy="check the delimiter (--delimiter) and the columns (--columns)",
        )
    if header is None:
        raise SettingError(
            f"columns: there is no column {column!r} for {role} where no header names them",
            place=label,
            remedy=f"give its number, counted from 1: --columns {role}=1",
        )
    names = ""
    if quoted and header is not None:
        names = f" ({', '.join(f'`{name}`' for name in header[:MOST_QUOTED])})"
    raise SettingError(
        f"columns: there is no column {column!r} for {role}",
        place=label,
        remedy=f"give a name of the header{names}, or a number counted from 1",
    )


def _refuse_twice(
    positions: Mapping[str, int | None], columns: Columns, header: Sequence[str] | None, label: str
) -> None:
    """One column cannot be two things."""
    roles = dict[int, str]()
    for role, at in positions.items():
        if at is None:
            continue
        first_role = roles.setdefault(at, role)
        if first_role == role:
            continue
        quoted = header is not None and is_word(header[at], columns)
        name = f"`{header[at]}`" if header is not None and quoted else f"{at + 1}"
        named_role = role if role in columns else first_role
        unnamed_role = first_role if named_role == role else role
        raise SettingError(
            f"columns: column {name} is the {first_role} and the {role}",
            place=label,
            remedy=f"give {named_role} a column of its own, or say which is the {unnamed_role}: "
            f"--columns {unnamed_role}=NAME",
        )


def _refuse_rivals(
    positions: Mapping[str, int | None], columns: Columns, header: Sequence[str] | None, label: str
) -> None:
    """Which of two columns holds the ratings is not guessed: a fit would charge for the guess.
    One that is called a rating outright has no rival."""
    at = positions["rating"]
    if at is None or header is None or "rating" in columns:
        return
    if plain(header[at]) in OUTRIGHT:
        return
    used = {position for position in positions.values() if position is not None}
    rivals = [
        name
        for position, name in enumerate(header)
        if position not in used and plain(name) in NAMES["rating"]
    ]
    if rivals:
        raise DataError(
            f"`{header[at]}` and `{rivals[0]}` could both be the rating",
            place=label,
            remedy=f"say which it is: --columns rating={header[at]} or rating={rivals[0]}",
        )


EXAMPLE = {"user": 1, "item": 2, "rating": 3}


def unnumbered(roles: Sequence[str], label: str, *, likes: bool) -> SettingError:
    """The error for a table without a header, of which nobody says which column is which."""
    example = [f"{role}={at}" for role, at in EXAMPLE.items() if role != "rating" or not likes]
    return SettingError(
        f"without a header nothing says which column is the {' and which the '.join(roles)}",
        place=label,
        remedy=f"number them from 1: --header no --columns {','.join(example)}",
    )


def missing(
    roles: Sequence[str], label: str, line: int, quotable: Sequence[str] | None
) -> DataError:
    """The error for a header without columns of these roles: all at once. The names are
    `quotable` where they are no line of a file, which may be somebody's row."""
    assignments = ",".join(f"{role}=NAME" for role in roles)
    remedy = f"say which is which: --columns {assignments}"
    if list(roles) == ["rating"]:
        remedy = "say which it is (--columns rating=NAME), or use --positive for a table of likes"
    kind = "the header, which is line 1, names"
    if quotable is not None:
        names = ", ".join(f"`{name}`" for name in quotable[:MOST_QUOTED])
        suffix = " and others" if len(quotable) > MOST_QUOTED else ""
        kind = f"the header ({names}{suffix}) names"
    else:
        remedy += (
            "; where line 1 is a row and no header: --header no --columns user=1,item=2,rating=3"
        )
    return DataError(
        f"missing column: {kind} no {_either(roles)}",
        place=format_location(label, line),
        remedy=remedy,
    )


def _either(roles: Sequence[str]) -> str:
    """As a list that ends in `or`."""
    if len(roles) == 1:
        return roles[0]
    return f"{', no '.join(roles[:-1])} and no {roles[-1]}"
