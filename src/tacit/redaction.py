"""What may reach a terminal, a statement or a book: one filter for all of them.

Titles, ids, names of files and texts of models come from strangers. An escape sequence in one
of them would move the cursor, repaint what was printed or retitle the window; a line end would
forge a line; a mark of direction would show letters in another order than they are compared in.
So each such character is shown as its escape (`\\x1b`), which nothing acts on. Joiners and soft
hyphens stay: they are part of words and of emoji.

Guarantee: `one_line` gives one line of characters that a terminal shows and never obeys; it
leaves any other text as it is, and what it gave it leaves alone.
"""

from __future__ import annotations

import json
import math
import unicodedata
from typing import Any

KEPT = frozenset("\u00ad\u200c\u200d")
"""Characters of format that are part of words: soft hyphen, non-joiner, joiner."""
ACTING = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
"""Categories of characters that act and are not shown: control, format, lone halves of a
pair, ends of lines and paragraphs."""


def acts(character: str) -> bool:
    """Whether a terminal or an editor may obey a character instead of showing it."""
    return unicodedata.category(character) in ACTING and character not in KEPT


def one_line(text: str) -> str:
    """The text on one line, with escapes for all that is not to be shown."""
    return _escape_except(text, "")


def several_lines(text: str) -> str:
    """The same for a text of our own that has lines."""
    return _escape_except(text, "\n")


def _escape_except(text: str, allowed: str) -> str:
    if text.isprintable():
        return text
    return "".join(_escaped(c) if acts(c) and c not in allowed else c for c in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def json_text(value: object) -> str:
    """Valid JSON, in which such characters are escapes too; a number that is not finite is
    null, because JSON has none."""
    text = json.dumps(finite(value), indent=1, ensure_ascii=False, default=str)
    if text.isprintable():
        return text
    # Controls below 32 are escapes already; what is left stands inside of texts.
    return "".join(_json_escape(c) if acts(c) and c != "\n" else c for c in text)


def _json_escape(character: str) -> str:
    """As JSON writes it: in two halves above 65,535."""
    data = character.encode("utf-16-be", "surrogatepass")
    halves = (data[at : at + 2].hex() for at in range(0, len(data), 2))
    return "".join(f"\\u{half}" for half in halves)


def finite(value: Any) -> Any:
    """The value with null for every number that is not finite."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(name): finite(element) for name, element in value.items()}
    if isinstance(value, list | tuple):
        return [finite(element) for element in value]
    return value
