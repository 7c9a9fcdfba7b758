"""What a page and its things are called: its owner's words, written into the page's files when a
server reads them."""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from tacit.errors import SettingError

TEXTS = "texts/en.js"
"""The file that holds the line of names."""
WORKER = "sw.js"
"""The file that holds the version of the page."""
LONGEST = 60
"""Letters of a title or a word."""
_LINE = re.compile(r"^const named = \{[^\n]*\};$", re.MULTILINE)

_VERSION = re.compile(r"(const VERSION = '[^']*)'")


@dataclass(frozen=True)
class PageNames:
    """The words of a page."""

    title: str = "Tacit"
    """Its name."""
    one: str = "item"
    many: str = "items"
    kind: str = "kind"
    """What a tag of an item is."""
    kinds: str = "kinds"


FILMS = PageNames(one="film", many="films", kind="genre", kinds="genres")
"""The words of the demonstration."""


def names(
    title: str | None, noun: str | None, kind: str | None, usual: PageNames | None = None
) -> PageNames:
    """The owner's words where there are any, else the `usual` ones."""
    base = usual or PageNames()
    singular, plural = _pair("--noun", noun) or (base.one, base.many)
    of, several = _pair("--kind", kind) or (base.kind, base.kinds)
    if title is not None:
        _check("--title", title)
    return PageNames(title or base.title, singular, plural, of, several)


def _pair(option: str, text: str | None) -> tuple[str, str] | None:
    """`product,products`: a word for one and for many."""
    if text is None:
        return None
    words = [word.strip() for word in text.split(",")]
    if len(words) != 2:
        raise SettingError(
            f"{option} {text} is not ONE,MANY",
            remedy=f"give the word for one and for many: {option} product,products",
        )
    for word in words:
        _check(option, word)
    return words[0], words[1]


def _check(option: str, text: str) -> None:
    if not text.strip() or len(text) > LONGEST or not text.isprintable():
        raise SettingError(
            f"{option} needs a name of 1 to {LONGEST} printable letters",
            remedy=f"give another {option}",
        )


def apply_names(files: Mapping[str, str], page_names: PageNames) -> dict[str, str]:
    """The page's texts with these words: in its script, its head and its manifest."""
    texts = dict(files)
    if TEXTS in texts:
        line = f"const named = {json.dumps(asdict(page_names))};"
        texts[TEXTS], count = _LINE.subn(lambda _: line, texts[TEXTS])
        assert count == 1  # the page has one line of names
    if WORKER in texts:
        # A browser that has a copy of the page notices other words as it does other files.
        mark = hashlib.sha256(repr(page_names).encode()).hexdigest()[:8]
        texts[WORKER] = _VERSION.sub(rf"\g<1>-{mark}'", texts[WORKER])
    if "index.html" in texts:
        title = f"<title>{html.escape(page_names.title)}</title>"
        texts["index.html"] = texts["index.html"].replace("<title>Tacit</title>", title)
    if "manifest.webmanifest" in texts:
        facts = json.loads(texts["manifest.webmanifest"])
        facts |= {"name": page_names.title, "short_name": page_names.title}
        texts["manifest.webmanifest"] = json.dumps(facts, indent=2)
    return texts
