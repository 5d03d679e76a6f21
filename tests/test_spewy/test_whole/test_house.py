"""The rooms of the house: no circles among modules, and a map that names all of them."""

import ast
import configparser
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from jobs import EXAMPLES

ROOT = EXAMPLES.parent
WIDTH = 14
"""Columns of a room's name in the map."""
PACKAGES = ("buckets", "compiled", "lockers", "solvers", "spewy")


@cache
def modules():
    """Path and syntax tree of each module, by name."""
    found = {}
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            found[name] = path, ast.parse(path.read_text())
    return found


def imports(path: Path, tree: ast.Module, known):
    """Modules of the distribution that a file imports: anywhere in it, for types only or not."""
    out = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: expected absolute imports, found a relative one"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                out.add(whole if whole in known else node.module)
        elif isinstance(node, ast.Import):
            out.update(alias.name for alias in node.names)
    return out & set(known)


def test_no_module_imports_itself_by_a_detour():
    known = modules()
    graph = {name: imports(*module, known) - {name} for name, module in known.items()}
    lazy = {"lockers", "solvers", "spewy"}  # fronts of packages, which name all that is public
    for name in lazy:
        graph.pop(name)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"expected no circle of imports, found {error.args[1]}")


def layers(contract):
    """Names in the layers of an import contract, the highest first; a layer may hold several."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    lines = setup[f"importlinter:contract:{contract}"]["layers"].split("\n")
    return [line.replace("|", " ").split() for line in lines if line.strip()]


def summary(package):
    """The first line of a package's docstring."""
    tree = ast.parse((ROOT / package / "__init__.py").read_text())
    text = (ast.get_docstring(tree) or "").split("\n")[0].removeprefix("Spewy: ").removesuffix(".")
    return text[:1].upper() + text[1:]


def drawn():
    """The map as text, the highest package and room first."""
    lines = []
    for packages in layers("layers"):
        for package in packages:
            lines.append(f"{package + '/':{WIDTH + 2}}{summary(package)}")
            if package == "spewy":
                rooms = [room for layer in layers("rooms") for room in layer]
                rooms = [room for room in rooms if (ROOT / "spewy" / room / "__init__.py").exists()]
                lines += [f"  {room + '/':{WIDTH}}{summary(f'spewy/{room}')}" for room in rooms]
    return "\n".join(lines)


def test_the_map_in_the_readme_is_that_of_the_code():
    assert drawn() in (ROOT / "README.md").read_text()


STARTS = re.compile(
    r"multiprocessing|joblib\.externals|concurrent\.futures\.(process|ProcessPoolExecutor)"
    r"|subprocess\.(Popen|run|call|check_call|check_output|getoutput)"
    r"|os\.(fork|forkpty|system|popen|posix_spawn|spawn\w+|exec\w+)"
)
MAY_START = {
    "spewy.system.processes": "joblib's pool of processes",
    "spewy.system.children": "our own modules, which compile kernels or work for a cluster; programs of other people",
    "spewy.system.local_cluster": "workers of a Dask cluster on this machine",
    "lockers.audit": "a look at a damaged file, which may crash the process",
}
"""Modules that may start processes."""


def test_joblib_is_what_runs_work():
    """No other module has a pool of its own, forks, or starts processes."""
    found = set()
    for name, (_, tree) in modules().items():
        used = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                used |= {f"{node.module}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Import):
                used |= {alias.name for alias in node.names}
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                used.add(f"{node.value.id}.{node.attr}")
        if any(STARTS.match(each) for each in used):
            found.add(name)
    assert found == set(MAY_START)
