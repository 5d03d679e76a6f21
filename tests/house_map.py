"""The map of the packages and rooms, drawn from import contracts and docstrings: ``python tests/house_map.py``."""

import ast
import configparser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WIDTH = 14
"""Columns of a room's name."""


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
                lines += [
                    f"  {room + '/':{WIDTH}}{summary(f'spewy/{room}')}" for room in rooms if is_room(room)
                ]
    return "\n".join(lines)


def is_room(name):
    """Whether a layer of the house is a folder."""
    return (ROOT / "spewy" / name / "__init__.py").exists()


if __name__ == "__main__":
    print(drawn())  # noqa: T201
