"""A random sample of the texts that people read, to be judged by somebody who has not written them.

``python tests/word_sample.py --seed 31`` prints 100 docstrings, 50 option helps and 40 paragraphs of the pages;
``--docstrings``, ``--helps`` and ``--paragraphs`` choose other numbers.
"""

import ast
import random
import re
from pathlib import Path

import click

from spewy.cli import main as spewy

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("spewy", "buckets", "lockers", "solvers", "compiled", "benchmarks")


def docstrings():
    """(where, text) of each docstring of a module, a class or a function, which is named with its signature."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            tree = ast.parse(path.read_text())
            where = path.relative_to(ROOT)
            for node in ast.walk(tree):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                    text = ast.get_docstring(node)
                    if text:
                        yield f"{where}: {name(node)}", text


def name(node):
    """Name of a class or function, a function's with its parameters and result; "module" for a module."""
    if isinstance(node, ast.Module):
        return "module"
    if isinstance(node, ast.ClassDef):
        return node.name
    result = "" if node.returns is None else f" -> {ast.unparse(node.returns)}"
    return f"{node.name}({ast.unparse(node.args)}){result}"


def option_helps():
    """(where, text) of each option of each command."""

    def walk(command, name):
        if isinstance(command, click.Group):
            with command.make_context(name, [], resilient_parsing=True) as context:
                for child in command.list_commands(context):
                    yield from walk(command.get_command(context, child), f"{name} {child}")
            return
        for option in command.params:
            if getattr(option, "help", None):
                yield f"{name} {' '.join(option.opts)}", option.help

    return walk(spewy, "spewy")


def paragraphs():
    """(where, text) of each paragraph of prose in the README, the changelog, CONTRIBUTING and docs."""
    for path in [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]:
        text = re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)
        for paragraph in re.split(r"\n\s*\n", text):
            if len(paragraph.split()) > 12 and not paragraph.lstrip().startswith(("|", "#", "!")):
                yield str(path.relative_to(ROOT)), paragraph.strip()


@click.command()
@click.option("--seed", type=int, default=31, help="Seed of the random choice.")
@click.option("--docstrings", "docstring_count", type=int, default=100, help="Number of docstrings.")
@click.option("--helps", "help_count", type=int, default=50, help="Number of option helps.")
@click.option("--paragraphs", "paragraph_count", type=int, default=40, help="Number of paragraphs.")
def main(seed, docstring_count, help_count, paragraph_count):
    """Print the sample."""
    draw = random.Random(seed)
    for title, texts, size in (
        ("Docstrings", docstrings(), docstring_count),
        ("Option helps", option_helps(), help_count),
        ("Paragraphs", paragraphs(), paragraph_count),
    ):
        if size == 0:
            continue
        texts = list(texts)
        click.echo(f"# {title}: {size} of {len(texts)}, seed {seed}\n")
        for number, (where, text) in enumerate(draw.sample(texts, size), 1):
            click.echo(f"{number}. [{where}] {text}\n")


if __name__ == "__main__":
    main()
