"""Two pages on whole games in ``docs/research``, and the benchmark that its figures come from."""

import json
import shutil
from pathlib import Path

import pytest
from dealt_jobs import DEALT_LEDUC

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


@pytest.mark.slow
def test_a_curve_goes_on_in_its_folder(tmp_path):
    job, folder, data = tmp_path / "job.toml", tmp_path / "leduc", tmp_path / "data.json"
    job.write_text(DEALT_LEDUC.replace("max_sweeps = 3000", ""))

    def points(*minutes):
        told = ["curve", str(job), str(folder), "--minutes", ",".join(minutes), "--data", str(data)]
        assert whole_games.main(told) == 0
        return json.loads(data.read_text())["curves"]["leduc"]["points"]

    (first,) = points("0.005")
    later = first["core_minutes"] + 0.04  # a step of deals may take 0.01, and compile kernels before
    again, second = points("0.005", str(later))
    assert again == first
    assert second["deals"] > first["deals"]
    assert second["core_minutes"] >= later
    assert sum(second[action] for action in ("fold", "limp", "raise")) == pytest.approx(1)

    data.unlink()  # what the folder has learnt is counted, though nobody has judged it
    (third,) = points("0.005")
    assert third["deals"] >= second["deals"]
    assert third["core_minutes"] >= 0.005


def test_the_picture_has_all_curves(tmp_path):
    whole_games.main(["plot", "--out", str(tmp_path / "curves.svg")])
    drawn = (tmp_path / "curves.svg").read_text()
    for name, curve in json.loads(whole_games.DATA.read_text())["curves"].items():
        assert f"<!-- {curve['job']} -->" in drawn
        label = f"{name.removeprefix(curve['job']).lstrip(', ') or 'deals'}, "
        assert f"<!-- {label}" in drawn
