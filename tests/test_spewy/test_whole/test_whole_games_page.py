"""Two pages on whole games in ``docs/research``, and the benchmark that its figures come from."""

import json
import shutil
from pathlib import Path

import pytest

from benchmarks.studies import whole_games
from spewy.errors import InputError


def test_the_tables_of_the_page_are_those_of_the_data(tmp_path):
    pages = [Path(shutil.copy(page, tmp_path)) for page in whole_games.PAGES]
    whole_games.main(["tables", "--pages", *map(str, pages)])
    assert [page.read_text() for page in pages] == [page.read_text() for page in whole_games.PAGES]


def test_a_page_without_a_place_for_a_table_is_told(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Whole games\n")
    with pytest.raises(InputError, match="expected the lines <!-- curves: begin -->"):
        whole_games.main(["tables", "--pages", str(page)])


def test_the_picture_has_all_curves(tmp_path):
    whole_games.main(["plot", "--out", str(tmp_path / "curves.svg")])
    drawn = (tmp_path / "curves.svg").read_text()
    for name, curve in json.loads(whole_games.DATA.read_text())["curves"].items():
        assert f"<!-- {curve['job']} -->" in drawn
        label = f"{name.removeprefix(curve['job']).lstrip(', ') or 'deals'}, "
        assert f"<!-- {label}" in drawn
