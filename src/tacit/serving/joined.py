"""The page's modules, joined into the few files that a visit fetches.

The sources are plain modules that a browser could load as they are; a server joins them once, when
it reads them. On a cold load eighty small answers take longer than all that the page then does,
and files compress better together. A module becomes a function that runs once, in the order in
which imports would have run it, and gives back what it exports; so names of two modules never
meet. What a script starts with stands last and bare, so its own `export` and `await` stay.

Only the forms that the sources use are understood, and no module may lead back to itself: a test
holds them to both.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

PAGE = ("js/helper.js", "js/app.js", "js/rest.js", "js/device/view.js")
"""Scripts of the page itself, in the order in which they come: a later one takes what an earlier
one has, so that a module exists once."""
ALONE = ("js/worker.js", "js/device/desk.js", "sw.js")
"""Scripts of threads of their own: each has all that it needs."""

_IMPORT = re.compile(r"^import (?:\{(?P<names>[^}]*)\} from )?'(?P<path>\.[^']+)';\n", re.MULTILINE)
_LATER = re.compile(r"\bimport\('(\.[^']+)'\)")
_EXPORT = re.compile(r"^export (?=(?:const|class|function|async function) (\w+))", re.MULTILINE)
_LISTED = re.compile(r"^export \{([\w\s,]*)\};\n", re.MULTILINE)
_STYLE = re.compile(r"^@import '(\.[^']+)';\n", re.MULTILINE)
_HERE = "import.meta.url"


@dataclass(frozen=True)
class _Module:
    """One source: what it takes from where, and what it is."""

    name: str
    source: str
    needs: dict[str, None] = field(default_factory=dict)

    @classmethod
    def read(cls, name: str, source: str) -> _Module:
        paths = [_resolved(name, path) for _, path in _IMPORT.findall(source)]
        return cls(name, source, dict.fromkeys(paths))


def scripts(sources: Mapping[str, str]) -> dict[str, str]:
    """The scripts to be served, by their names; those of other names that are not the page's stay
    as they are."""
    modules = {name: _Module.read(name, text) for name, text in sources.items()}
    if PAGE[1] not in modules:
        return dict(sources)
    joined = dict[str, str]()
    homes = dict[str, str]()
    parts = dict[str, list[str]]()
    for start in PAGE:
        parts[start] = [name for name in _order(modules, start) if name not in homes]
        homes.update(dict.fromkeys(parts[start], start))
    exported = {
        need for name, home in homes.items() for need in modules[name].needs if homes[need] != home
    }
    for start, names in parts.items():
        joined[start] = _joined(modules, start, names, homes, exported)
    for start in ALONE:
        names = _order(modules, start)
        joined[start] = _joined(modules, start, names, dict.fromkeys(names, start), ())
    return joined


def styles(sources: Mapping[str, str]) -> dict[str, str]:
    """The styles to be served: those that import others have them in their places."""
    parts = {
        _resolved(name, path) for name, text in sources.items() for path in _STYLE.findall(text)
    }

    def expand(name: str) -> str:
        return _STYLE.sub(lambda match: expand(_resolved(name, match[1])), sources[name])

    return {name: expand(name) for name in sources if name not in parts}


def _order(modules: Mapping[str, _Module], start: str) -> list[str]:
    """Every module that `start` leads to, each after those that it needs."""
    ordered = dict[str, None]()
    under_way = set[str]()

    def follow(name: str) -> None:
        if name in ordered:
            return
        if name in under_way:
            raise ValueError(f"{name} leads back to itself")
        under_way.add(name)
        for need in modules[name].needs:
            follow(need)
        ordered[name] = None

    follow(start)
    return list(ordered)


def _joined(
    modules: Mapping[str, _Module],
    start: str,
    names: Iterable[str],
    homes: Mapping[str, str],
    exported: Iterable[str],
) -> str:
    """One script of these modules, `start` last; it shows others those of its own they want."""
    inside = list(names)
    beyond = dict[str, None]()
    for name in inside:
        beyond.update(dict.fromkeys(need for need in modules[name].needs if homes[need] != start))
    imports = "".join(_import_line(start, need, homes[need]) for need in beyond)
    bodies = [_wrapped(modules[name], start) for name in inside if name != start]
    export_names = [_name(name) for name in inside if name in set(exported) - {start}]
    shows = f"export {{ {', '.join(export_names)} }};\n" if export_names else ""
    start_body = _placed(modules[start], start)
    return imports + "".join(bodies) + start_body + shows


def _import_line(start: str, need: str, home: str) -> str:
    """How a script gets a module that is in another one."""
    path = _relative(start, home)
    binding = "* as" if need == home else "{"
    end = "" if need == home else " }"
    return f"import {binding} {_name(need)}{end} from '{path}';\n"


def _placed(module: _Module, start: str) -> str:
    """Its source, with what it imports taken from the modules beside it."""

    def take(match: re.Match[str]) -> str:
        if match["names"] is None:
            return ""
        names = match["names"].replace(" as ", ": ")
        return f"const {{{names}}} = {_name(_resolved(module.name, match['path']))};\n"

    def go(match: re.Match[str]) -> str:
        return f"import('{_relative(start, _resolved(module.name, match[1]))}')"

    text = _LATER.sub(go, _IMPORT.sub(take, module.source))
    if module.name == start:
        return text
    address = _relative(start, module.name)
    return text.replace(_HERE, f"new URL('{address}', {_HERE})")


def _wrapped(module: _Module, start: str) -> str:
    """A function that runs at once, and what it exports."""
    text = _placed(module, start)
    names = _EXPORT.findall(text)
    for listed in _LISTED.findall(text):
        names += [name.strip() for name in listed.split(",") if name.strip()]
    body = _LISTED.sub("", _EXPORT.sub("", text))
    odd = any(" as " in listed for listed in _LISTED.findall(text))
    if odd or re.search(r"^(?:import|export)\b(?!\()", body, re.MULTILINE):
        raise ValueError(f"{module.name} imports or exports in a form that is not known")
    exports = ", ".join(names)
    return f"const {_name(module.name)} = (() => {{\n{body}\nreturn {{ {exports} }};\n}})();\n"


def _name(path: str) -> str:
    """Of a module, as a name of the script."""
    return "$" + re.sub(r"\W", "_", path.removeprefix("js/").removesuffix(".js"))


def _resolved(name: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), path))


def _relative(start: str, name: str) -> str:
    path = posixpath.relpath(name, posixpath.dirname(start) or ".")
    return path if path.startswith(".") else f"./{path}"
