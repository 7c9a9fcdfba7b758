"""Scripts of the page without what only readers need: comments, indentation, spaces beside signs.

The sources stay as they are written; a server slims them once, when it reads them. Strings,
templates and regular expressions are copied letter by letter, and a line break stays wherever it
could end a statement, so a slimmed script means what its source means. That a name is `const` is
checked where the sources are; a browser is told `let`, the same name in fewer bytes.
"""

from __future__ import annotations

import re

_PIECE = re.compile(
    r"""
    (?P<comment>  //[^\n]*|/\*.*?\*/ )
  | (?P<string>   "(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*' )
  | (?P<template> ` )
  | (?P<word>     [\w$#]+ )
  | (?P<space>    [ \t\r\n]+ )
  | (?P<sign>     . )
    """,
    re.VERBOSE | re.DOTALL,
)
_EXPRESSION = re.compile(r"/(?![*/])(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/\w*")
_TIGHT = frozenset("(){}[];,:?=<>!&|")
"""Signs beside which a space says nothing."""
_BETWEEN = frozenset("+-*%")
"""Signs beside which a space says nothing either, unless two of one kind would meet."""
_DOUBLE = frozenset("+-")
"""Signs that mean something else when they stand twice."""
_OPEN = frozenset("({[,;:?=&|")
"""After one of these a line break ends nothing."""
_CLOSING = frozenset(")]}.")
"""Before one of these a line break ends nothing that the sign itself does not."""
_BEFORE_VALUE = frozenset("(,=:[!&|?{};+-*%<>~^\n")
"""After one of these a slash begins a regular expression."""
_JOINED = re.compile(r"(?<=[^\\])'\0\+\0\n\0'(?=(?:[^'\\]|\\.)*'\0[,;)}+])")
"""Between two strings that a line was too short for; the second one ends an expression."""
_WORDS_BEFORE_VALUE = frozenset(
    "return typeof case in of delete void throw new await yield".split()
)


def slim(source: str) -> str:
    """The same script in fewer letters."""
    return _slim(source, 0, None)[0].strip() + "\n"


def _slim(source: str, at: int, end: str | None) -> tuple[str, int]:
    """From `at` to the brace `end` that closes a template's expression, or to the end."""
    out = list[str]()
    depth = 0
    while at < len(source):
        letter = source[at]
        if end and letter == end and depth == 0:
            return _tightened(out), at
        depth += (letter == "{") - (letter == "}")
        if letter == "/" and _begins_value(out):
            match = _EXPRESSION.match(source, at)
            if match:
                out.append(match.group())
                at = match.end()
                continue
        piece = _PIECE.match(source, at)
        assert piece is not None  # the last alternative takes any letter
        kind = piece.lastgroup
        if kind == "template":
            text, at = _template(source, at)
            out.append(text)
            continue
        at = piece.end()
        if kind in ("comment", "space"):
            out.append("\n" if "\n" in piece.group() else " ")
        else:
            declares = piece.group() == "const" and source[at : at + 1] == " "
            named = declares and not (out and out[-1] == ".")
            out.append("let" if named else piece.group())
    return _tightened(out), at


def _template(source: str, at: int) -> tuple[str, int]:
    """A template with the expressions inside it slimmed; its text is copied."""
    out = ["`"]
    at += 1
    while source[at] != "`":
        if source[at] == "\\":
            out.append(source[at : at + 2])
            at += 2
        elif source.startswith("${", at):
            inside, at = _slim(source, at + 2, "}")
            out.append("${" + inside.strip() + "}")
            at += 1
        else:
            out.append(source[at])
            at += 1
    return "".join([*out, "`"]), at + 1


def _begins_value(out: list[str]) -> bool:
    previous = next((piece for piece in reversed(out) if piece not in (" ", "\n")), "\n")
    return previous in _WORDS_BEFORE_VALUE or (previous[-1] in _BEFORE_VALUE and len(previous) == 1)


def _tightened(pieces: list[str]) -> str:
    """Runs of space become one, and none where a sign stands beside it; no comma before an end."""
    out = list[str]()
    for piece in pieces:
        if piece in (" ", "\n"):
            if not out or out[-1] == "\n":
                continue
            if out[-1] == " ":
                out[-1] = piece if piece == "\n" else " "
            elif out[-1] not in (_OPEN if piece == "\n" else _TIGHT):
                out.append(piece)
        else:
            _drop(out, piece)
            out.append(piece)
            _bare(out)
    return _JOINED.sub("", "\0".join(out)).replace("\0", "")


def _bare(out: list[str]) -> None:
    """`(one)=>` becomes `one=>`; after a word, as `return`, the brackets part the two."""
    if out[-2:] != ["=", ">"] or len(out) < 5 or out[-3] != ")":
        return
    name = out[-4]
    if out[-5] != "(" or not re.fullmatch(r"[A-Za-z_$][\w$]*", name):
        return
    if len(out) > 5 and re.fullmatch(r"[\w$]+", out[-6]):
        return
    out[-5:-2] = [name]


def _drop(out: list[str], piece: str) -> None:
    """Take off the end what says nothing before this piece."""
    last = out[-1] if out else ""
    before = out[-2] if len(out) > 1 else ""
    if last == " ":
        between = piece in _BETWEEN or before in _BETWEEN
        meet = piece in _DOUBLE and before in _DOUBLE
        if piece in _TIGHT or (between and not meet):
            out.pop()
    elif (
        (last == "\n" and piece in _CLOSING)
        or (last == "," and piece in ")]}" and before not in "[,(")
        # After a bracket it may be all that a loop has to do.
        or (last == ";" and piece == "}" and before not in ("", ")", ";"))
    ):
        out.pop()
