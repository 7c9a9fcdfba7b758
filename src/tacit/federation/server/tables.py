"""The tables of both servers, from the files of `sql/`. A file that was released is never
changed: what is new is a step of its own (`tacit.federation.server.store`)."""

from __future__ import annotations

from importlib.resources import files


def statements(name: str) -> tuple[str, ...]:
    """The statements of `sql/NAME.sql`, without its comments."""
    text = (files(__package__) / "sql" / f"{name}.sql").read_text(encoding="utf-8")
    code = [line for line in text.splitlines() if not line.lstrip().startswith("--")]
    texts = (" ".join(statement.split()) for statement in "\n".join(code).split(";"))
    return tuple(statement for statement in texts if statement)
