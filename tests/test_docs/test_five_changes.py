"""The page *Five changes, step by step* is right about a variant of CFR and a column of hands."""

import json
import re
import subprocess
import sys

from cli_runs import good
from pages import DOCS, ROOT

PAGE = (DOCS / "house/five-changes.md").read_text()
RIVER = ROOT / "examples/R1.toml"
VARIANT = re.search(r'`("dcfr-own": .*?)`:?\.?\n', PAGE).group(1)
COLUMN = (
    "import numpy as np; from spewy.look import node; "
    'node.FIGURES = (*node.FIGURES, node.Figure("combos", "combos", 1, lambda view: np.full(len(view.hands), 7.5)))'
)


def spewy(change, *arguments):
    code = f"{change}; import sys; from spewy.cli import main; main({list(map(str, arguments))!r})"
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout


def test_a_variant_is_one_entry(tmp_path):
    change = f"from solvers.discount import VARIANTS, Variant, Discount; VARIANTS.update({{{VARIANT}}})"
    given = ("--set", 'solve.variant="dcfr-own"', "--set", 'solve.target="2%"', "--out", tmp_path / "own")
    solved = json.loads(spewy(change, "solve", RIVER, *given, "--json"))
    assert solved["variant"] == "dcfr-own"
    assert solved["converged"]
    assert '"dcfr-own"' in spewy(change, "schema")


def test_a_column_is_one_entry(tmp_path):
    folder, table = tmp_path / "R1", tmp_path / "hands.csv"
    good("solve", RIVER, "--set", 'solve.target="2%"', "--out", folder)
    shown = json.loads(spewy(COLUMN, "show", folder, "--json", "--csv", table))
    assert {hand["combos"] for hand in shown["hands"].values()} == {7.5}
    assert "combos" in table.read_text().split("\n")[0]
    shown = spewy(COLUMN, "show", folder, "--sort", "combos")
    assert re.search(r"equity +combos", shown)
    assert "7.5" in shown
