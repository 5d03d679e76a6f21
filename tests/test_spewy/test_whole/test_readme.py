"""The README: short, and its Python runs."""

import re

from jobs import EXAMPLES

README = (EXAMPLES.parent / "README.md").read_text()
MOST_WORDS = 1200


def test_the_readme_is_short():
    assert len(README.split()) <= MOST_WORDS


def test_the_python_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    (tmp_path / "examples").symlink_to(EXAMPLES)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len(blocks) == 2
    names = {}
    for block in blocks:
        exec(block, names)
    printed = capsys.readouterr().out
    assert names["solution"].result.exploitability_pct < 0.3
    assert "'Check': 0." in printed
    assert "[49 rows x" in printed  # a report has a row for every next card and one for the average
