"""One page: Markdown to HTML, with the anchors that readers of Markdown know."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token

_MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
Lead = Callable[[str, bool], str]
"""From an address as written, and whether it is a picture, to the address in the site."""


@dataclass
class Page:
    """A rendered page."""

    title: str = ""
    body: str = ""
    anchors: set[str] = field(default_factory=set)


def slug(text: str) -> str:
    """The anchor of a heading, as the usual hosts of Markdown make it."""
    kept = re.sub(r"[^\w\- ]", "", text.strip().lower())
    return kept.replace(" ", "-")


def render(text: str, lead: Lead) -> Page:
    """The first heading is the title; every heading is an anchor."""
    page = Page()
    tokens = _MARKDOWN.parse(text)
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            _anchor(token, _words(tokens[place + 1].children or ()), page)
        for inner in token.children or ():
            _follow(inner, lead)
    if tokens and tokens[0].tag == "h1":
        page.title = _words(tokens[1].children or ())
        tokens = tokens[3:]
    html = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    html = html.replace("<table>", '<div class="scroll"><table>')
    page.body = html.replace("</table>", "</table></div>")
    return page


def _anchor(token: Token, words: str, page: Page) -> None:
    base = name = slug(words)
    again = 0
    while name in page.anchors:
        again += 1
        name = f"{base}-{again}"
    page.anchors.add(name)
    token.attrSet("id", name)


def _words(children: Sequence[Token]) -> str:
    return "".join(child.content for child in children if child.type in ("text", "code_inline"))


def _follow(token: Token, lead: Lead) -> None:
    if token.type == "link_open":
        token.attrSet("href", lead(str(token.attrGet("href")), False))
    if token.type == "image":
        token.attrSet("src", lead(str(token.attrGet("src")), True))
        token.attrSet("alt", token.content)
