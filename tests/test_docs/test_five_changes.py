"""The page *Five changes, step by step* is right about a variant of CFR and a column of hands."""

import json
import re
import subprocess
import sys

import pytest
from pages import DOCS, ROOT

PAGE = (DOCS / "house/five-changes.md").read_text()
RIVER = ROOT / "examples/R1.toml"
VARIANT = re.search(r'`("dcfr-mild": .*?)`:?\.?\n', PAGE).group(1)
COLUMN = (
    "import numpy as np; from spewy.look import node; "
    'node.FIGURES = (*node.FIGURES, node.Figure("combos", "combos", 1, lambda view: np.full(len(view.hands), 7.5)))'
)


def spewy(change, *arguments):
    """Output of a command of `spewy` in a process that makes a change first."""
    code = f"{change}; import sys; from spewy.cli import main; main({list(map(str, arguments))!r})"
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout


def test_a_variant_is_one_entry(tmp_path):
    change = f"from solvers.discount import VARIANTS, Variant, Discount; VARIANTS.update({{{VARIANT}}})"
    given = ("--set", 'solve.variant="dcfr-mild"', "--set", 'solve.target="2%"', "--out", tmp_path / "mild")
    solved = json.loads(spewy(change, "solve", RIVER, *given, "--json"))
    assert solved["variant"] == "dcfr-mild"
    assert solved["converged"]
    assert '"dcfr-mild"' in spewy(change, "schema")


@pytest.mark.parametrize("form", ["--hands", "--json"])
def test_a_column_is_one_entry(tmp_path, form):
    spewy("pass", "solve", RIVER, "--set", 'solve.target="2%"', "--out", tmp_path / "R1")
    shown = spewy(COLUMN, "show", tmp_path / "R1", form)
    if form == "--json":
        assert {hand["combos"] for hand in json.loads(shown)["hands"].values()} == {7.5}
    else:
        assert re.search(r"equity +combos", shown)
        assert "7.5" in spewy(COLUMN, "show", tmp_path / "R1", "--sort", "combos")
    spewy(COLUMN, "show", tmp_path / "R1", "--csv", tmp_path / "hands.csv")
    assert "combos" in (tmp_path / "hands.csv").read_text().split("\n")[0]
