"""Moving and reworking modules changes no result: traces and folders from before, to the last bit where it can be."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import moved
import pytest
from cli_runs import good_json

RECORD = json.loads(moved.RECORD.read_text())
FOLDERS = moved.HERE / "data/moves/folders.tar.xz"
TOLD = json.loads((moved.HERE / "data/moves/folders.json").read_text())
SAME_MACHINE = RECORD["processor"] == moved.processor()
"""Elsewhere vectors are longer or shorter, and sums are rounded in another order."""
CLOSE = 1e-2
"""There; rounding decides ties, and iterations part from then on."""


CLOSER = 1e-9
"""Relative tolerance for folders from before, whose numbers were added up in another order than now."""


def _require_same(found: Any, expected: Any, close: float | None = None) -> None:
    """The same data, with new keys or without, and the same floats: by bits, unless told how close; close on another
    kind of processor.
    """
    if isinstance(expected, dict):
        assert found.keys() >= expected.keys()
        for key, value in expected.items():
            _require_same(found[key], value, close)
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for mine, theirs in zip(found, expected, strict=True):
            _require_same(mine, theirs, close)
    elif isinstance(expected, float) and not SAME_MACHINE:
        assert found == pytest.approx(expected, rel=CLOSE, abs=1e-6)
    elif isinstance(expected, float) and close is not None:
        assert found == pytest.approx(expected, rel=close, abs=close)
    else:
        assert found == expected


def _numbers(run: dict[str, Any]) -> dict[str, Any]:
    return {
        "trace": [[sweep, float.fromhex(found)] for sweep, found in run["trace"]],
        "told": [None if x is None else float.fromhex(x) for x in run["told"]],
    }


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if run.slow else ()) for name, run in moved.RUNS.items()],
)
def test_solves_give_what_they_gave(name: str) -> None:
    _require_same(_numbers(moved.RUNS[name].solve()), _numbers(RECORD["runs"][name]))


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders that were written when the traces were recorded, with manifests of today."""
    folder = tmp_path_factory.mktemp("before")
    with tarfile.open(FOLDERS) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.mark.parametrize("name", list(TOLD))
def test_folders_from_before_are_read(before: Path, name: str) -> None:
    for look in TOLD[name]:
        command, folder, *arguments = look["command"]
        _require_same(good_json(command, before / folder, *arguments), look["told"], CLOSER)


def test_a_folder_from_before_goes_on(before: Path) -> None:
    job = moved.EXAMPLES / "leduc.toml"
    settings = ("--set", "solve.max_sweeps=30", "--set", "solve.check_every=10")
    told = good_json("solve", job, *settings, "--out", before / "leduc")
    straight = moved.Run("leduc", ("solve.max_sweeps=30", "solve.check_every=10")).solve()
    found = {"trace": [[sweep, float(e).hex()] for sweep, _, e in told["trace"]]}
    _require_same(_numbers(found | {"told": []})["trace"], _numbers(straight)["trace"], CLOSER)
