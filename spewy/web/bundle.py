"""Joins ES modules and style sheets, so that a single file holds a page's script and styles without a build step.

The modules of the pages keep to a few forms, which this module checks: imports by name from files beside them, exports
at the beginning of a declaration, and no name that two modules declare at their top level. So this module only puts
them in order, and removes their imports and the word ``export``.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from pathlib import Path

STATIC = Path(__file__).with_name("static")
IMPORT = re.compile(r'^import (?:\{(?P<names>[^}]*)\} from )?"\./(?P<file>[\w-]+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let)\b)", re.MULTILINE)
OTHER = re.compile(r"^(?:import|export)\b.*|\bimport\(.*", re.MULTILINE)
"""Matches an import or an export in a form that cannot be joined."""
DECLARATION = re.compile(
    r"^(?P<export>export )?(?:async )?(?:function\*?|class|const|let|var) (?P<names>[\w$]+|\{[^}]*\}|\[[^\]]*\])",
    re.MULTILINE,
)
SHEET = re.compile(r'<link rel="stylesheet" href="/static/([\w-]+\.css)"')


def bundle(start: str, folder: Path = STATIC) -> str:
    """Join a module and all modules that it needs into one script without imports and exports.

    Each module stands after those that it imports. The script is to be run as a module, since modules are strict.

    Raises:
        ValueError: a module is missing, imports or exports in another form, or needs itself; a name that it imports
            is not exported; or two modules declare the same name.
    """
    modules = _ordered(start, folder, {}, ())
    _check_names(modules)
    return "\n".join(_joined(name, text) for name, text in modules.items())


def styles(folder: Path = STATIC) -> str:
    """Join the style sheets that the server's page loads, in the order of the page."""
    names = SHEET.findall((folder / "index.html").read_text("utf-8"))
    return "".join((folder / name).read_text("utf-8") for name in names)


def icon(folder: Path = STATIC) -> str:
    """Return the pages' icon as a ``data:`` URL, since browsers ask for a file again after each click."""
    return f"data:image/svg+xml;base64,{base64.b64encode((folder / 'icon.svg').read_bytes()).decode()}"


def top_level_names(text: str) -> dict[str, bool]:
    r"""Return the names that a module declares at its top level, and whether it exports them.

    >>> top_level_names("export const A = 1;\nfunction b() {}\n")
    {'A': True, 'b': False}
    """
    return {
        name: bool(found["export"])
        for found in DECLARATION.finditer(text)
        for name in re.findall(r"[\w$]+", found["names"])
    }


def _ordered(start: str, folder: Path, before: dict[str, str], waiting: tuple[str, ...]) -> dict[str, str]:
    """Return ``before``, texts of modules by file name, with the modules that ``start`` imports and ``start`` itself.

    ``waiting`` has the modules whose imports are being read, to notice a module that imports itself.
    """
    if start in before:
        return before
    if start in waiting:
        raise ValueError(f"module {start}: it imports itself, by {' and '.join(waiting)}")
    try:
        text = (folder / start).read_text("utf-8")
    except FileNotFoundError:
        raise ValueError(f"module {start}: there is no such file in {folder}") from None
    modules = before
    for found in IMPORT.finditer(text):
        modules = _ordered(found["file"], folder, modules, (*waiting, start))
    return modules | {start: text}


def _check_names(modules: dict[str, str]) -> None:
    """Check that no name is declared twice, and that modules export what others import."""
    declared: dict[str, str] = {}
    for module, text in modules.items():
        for name in top_level_names(text):
            if name in declared:
                raise ValueError(
                    f"modules {declared[name]} and {module}: both declare {name} at their top level"
                )
            declared[name] = module
        for name, source in _imported(text):
            if not top_level_names(modules[source]).get(name, False):
                raise ValueError(f"module {module}: imports {name}, which {source} does not export")


def _imported(text: str) -> Iterator[tuple[str, str]]:
    for found in IMPORT.finditer(text):
        for name in filter(None, (part.strip() for part in (found["names"] or "").split(","))):
            yield name, found["file"]


def _joined(name: str, text: str) -> str:
    script = EXPORT.sub("", IMPORT.sub("", text))
    other = OTHER.search(script)
    if other is not None:
        raise ValueError(f"module {name}: cannot be joined: {other[0]}")
    return f"// {name}\n{script.strip()}\n"
