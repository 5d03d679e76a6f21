"""Files above 400 lines and functions above ten arguments are exceptions, listed with a reason in CONTRIBUTING.md."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
PACKAGES = ("compiled", "lockers", "buckets", "solvers", "spewy", "benchmarks")
MOST_LINES = 400
MOST_ARGUMENTS = 10


def test_every_exception_has_a_reason_and_every_reason_an_exception():
    assert reasons((ROOT / "CONTRIBUTING.md").read_text()).keys() == exceptions(ROOT, PACKAGES)


def test_a_reason_is_a_sentence():
    assert not [
        name for name, reason in reasons((ROOT / "CONTRIBUTING.md").read_text()).items() if len(reason) < 10
    ]


def test_exceptions_are_found(tmp_path):
    (tmp_path / "some").mkdir()
    arguments = ", ".join("abcdefghijk")
    (tmp_path / "some" / "wide.py").write_text(
        f"def wide({arguments}): ...\n"
        f"def enough({arguments[3:]}): ...\n"
        f"class A:\n    def enough(self, {arguments[3:]}): ...\n"
        f"@click.command()\ndef command({arguments}): ...\n"
    )
    (tmp_path / "some" / "long.py").write_text("x = 1\n" * 401)
    assert exceptions(tmp_path, ["some"]) == {"some/long.py", "some/wide.py: wide"}


def reasons(page):
    """Reason by exception: rows ``| `file.py` | reason |`` and ``| `file.py: function` | reason |``."""
    section = page.split("## What is long, and why\n")[1].split("\n## ")[0]
    return dict(re.findall(r"^\| `([^`]+)` \| (.*?) \|$", section, re.MULTILINE))


def exceptions(root, packages):
    """Files with too many lines, functions with too many arguments.

    The arguments ``self`` and ``cls`` do not count, nor do functions of commands: click passes an argument for each
    option.
    """
    found = set()
    for package in packages:
        for path in (root / package).rglob("*.py"):
            name, text = path.relative_to(root).as_posix(), path.read_text()
            if len(text.splitlines()) > MOST_LINES:
                found.add(name)
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not is_command(node):
                    own = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                    if sum(argument.arg not in ("self", "cls") for argument in own) > MOST_ARGUMENTS:
                        found.add(f"{name}: {node.name}")
    return found


def is_command(function):
    """Whether a decorator ``@click.command(...)`` or ``@group.command(...)`` stands above a function."""
    return any(re.match(r"\w+\.command\(", ast.unparse(each)) for each in function.decorator_list)
