"""What a page and its things are called: its owner's words, put into the page's files when a server
reads them."""

from __future__ import annotations

import hashlib
import html
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from tacit.errors import SettingError

FRONT = "index.html"
MANIFEST = "manifest.webmanifest"
WORKER = "sw.js"
"""The service worker: a browser that has a copy of the page looks here for a change."""
TITLE = "<title>Tacit</title>"
"""The title of the page as it was built."""
LONGEST = 60
"""Letters of a title or a word."""


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
    nouns = [word.strip() for word in text.split(",")]
    if len(nouns) != 2:
        raise SettingError(
            f"{option} {text} is not ONE,MANY",
            remedy=f"give the word for one and for many: {option} product,products",
        )
    for word in nouns:
        _check(option, word)
    return nouns[0], nouns[1]


def _check(option: str, text: str) -> None:
    if not text.strip() or len(text) > LONGEST or not text.isprintable():
        raise SettingError(
            f"{option} needs a name of 1 to {LONGEST} printable letters",
            remedy=f"give another {option}",
        )


def with_names(files: Mapping[str, bytes], names: PageNames) -> dict[str, bytes]:
    """The page's files with these words, in the page's head and its manifest."""
    changed = dict(files)
    names_json = json.dumps(asdict(names))
    if FRONT in files:
        title = f"<title>{html.escape(names.title)}</title>"
        head = f'{title}\n<meta name="names" content="{html.escape(names_json)}">'
        changed[FRONT] = files[FRONT].replace(TITLE.encode(), head.encode())
    if MANIFEST in files:
        manifest = json.loads(files[MANIFEST])
        manifest |= {"name": names.title, "short_name": names.title}
        changed[MANIFEST] = json.dumps(manifest, indent=2).encode()
    if WORKER in files:
        # A browser that has a copy of the page notices other words as it does other files.
        digest = hashlib.sha256(names_json.encode()).hexdigest()[:8]
        changed[WORKER] = f"globalThis.NAMES='-{digest}';\n".encode() + files[WORKER]
    return changed
