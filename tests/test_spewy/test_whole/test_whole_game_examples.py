"""The example jobs of whole games: how large their trees are, and that they are as their comments say."""

import re

import pytest
from jobs import EXAMPLES, example

from solvers.sampled.batches import line_batches
from spewy.chunks.rounds import betting_rounds
from spewy.job.texts import parse_memory

LINES = {
    "limit-holdem": (1, 7, 63, 567),
    "flop-holdem": (1, 7),
    "nolimit-200bb": (1, 19, 101, 359),
    "nolimit-100bb": (1, 15, 65, 191),
    "doyle-2007": (1, 23, 145, 607),
}


@pytest.mark.parametrize("name", LINES)
def test_lines_by_round(name):
    job = example(name)
    assert job.name == name
    assert job.sampled
    assert tuple(one.lines for one in job.tree_count.rounds) == LINES[name]


@pytest.mark.parametrize("name", LINES)
def test_the_comment_tells_the_lines(name):
    comment = (EXAMPLES / f"{name}.toml").read_text().split("name =")[0]
    told = re.search(r"([0-9, and]+) lines enter", comment).group(1)
    assert tuple(int(n.replace(",", "")) for n in re.findall(r"\d[\d,]*\b", told)) == LINES[name][1:]


def test_a_player_has_sizes_at_every_depth():
    tree = example("nolimit-200bb").betting_tree
    for line, actions in {
        "": ["fold", "call", "raise to 300", "all-in 20000"],
        "r300": ["fold", "call", "raise to 900", "all-in 20000"],
        "r300r900r2700": ["fold", "call", "raise to 8100", "all-in 20000"],
        "r300c/": ["check", "bet 600", "all-in 19700"],
        "r300c/r900": ["fold", "call", "raise to 2400", "all-in 19700"],
        "r300c/cc/": ["check", "bet 600", "all-in 19700"],
        "r300c/cc/r900": ["fold", "call", "raise to 2400", "all-in 19700"],
        "r300c/cc/cc/": ["check", "bet 600", "all-in 19700"],
        "r300c/cc/cc/r900": ["fold", "call", "raise to 2400", "all-in 19700"],
    }.items():
        assert [action.label for action in tree.alone(line).actions] == actions


@pytest.mark.parametrize("name", LINES)
def test_tables_fit_the_memory_and_are_what_the_comment_tells(name):
    """Regrets and sums of both players, of every class; nobody needs more than half a GiB beside them."""
    job = example(name)
    batches = line_batches([bets.forest for bets in betting_rounds(job.betting_tree)])
    total = 0
    for mine, board_buckets, rows in zip(batches, job.dealing.board_buckets, job.dealing.rows, strict=True):
        total += 2 * 4 * (board_buckets or 1) * sum(int(mine.first(p, rows)[-1]) for p in (0, 1))
    assert total + 2**29 <= parse_memory(job.solve.memory)
    told = re.search(r"the tables take ([0-9.]+) GiB", (EXAMPLES / f"{name}.toml").read_text())
    if told is not None:
        assert round(total / 2**30, 1) == float(told.group(1))
