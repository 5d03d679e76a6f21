"""Tables in a pipe: laid out by ourselves as rich lays them out."""

import numpy as np
import pytest

from spewy.cli import tables

CELLS = ["a", "AsKs", "héllo", "漢字", "x[b]", "-1.25", "", "12,345.678", " lead", "trail ", "two\nlines"]


@pytest.mark.parametrize("seed", range(60))
def test_a_pipe_gets_the_table_of_rich(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    titles = [f"{rng.choice(['name', 'v', 'long title'])}{i}" for i in range(rng.integers(1, 6))]
    rows = [[str(rng.choice(CELLS)) for _ in titles] for _ in range(rng.integers(0, 6))]
    left = None if rng.random() < 0.5 else set(titles[:2])
    ours = tables.table_text(titles, rows, left)
    monkeypatch.setattr(tables, "_plain", lambda *_: None)
    assert ours == tables.table_text(titles, rows, left)


def test_what_is_too_wide_is_cut_as_rich_cuts_it():
    cut = tables.table_text(["a", "b"], [["x" * 150, "y" * 150]])
    assert max(map(len, cut.splitlines())) <= tables.PIPE_WIDTH
    assert "…" in cut
