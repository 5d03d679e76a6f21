"""Scripts of `benchmarks`, which is no package."""

import importlib.util
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"


def script(name):
    """The module of a script."""
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
