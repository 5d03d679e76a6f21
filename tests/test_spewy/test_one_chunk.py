"""One chunk of a job, taken apart: CFR and the LP agree on it, and inputs are refused by name."""

import numpy as np
import pytest
from jobs import example

from spewy.errors import InputError
from spewy.look.one_chunk import one_chunk


def test_lp_and_cfr_agree_on_a_river_chunk():
    chunk = one_chunk(example("R1", "rows.river=6"))
    by_lp, by_cfr = chunk.by_lp(), chunk.by_cfr()
    assert by_cfr.value == pytest.approx(by_lp.value, abs=0.05)
    assert chunk.chunk.n_rows == (6, 6)
    assert by_lp.payoffs.shape[-2:] == (6, 6)
    assert np.all(np.isfinite(by_lp.payoffs))


@pytest.mark.parametrize(
    ("line", "board", "said"),
    [
        ("zz", None, "zz"),
        ("", "Td 9d", "cards"),
        ("", "Td 9d 6h Qc Ah", "begin with"),
        ("r20", None, "round starts"),
    ],
)
def test_bad_places(line, board, said):
    with pytest.raises(InputError, match=said):
        one_chunk(example("R1", "rows.river=6"), line, board)
