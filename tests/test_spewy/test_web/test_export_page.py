"""The page that `spewy serve --export` writes: its numbers, its size, and how it opens without a server."""

import json
import math
import re
from collections import Counter
from datetime import date

import numpy as np
import pytest
from cli_runs import KUHN, LEDUC, POLARISED, good, refused, write
from dealt_jobs import DEALT_FLOP
from jobs import parsed_job, solved

from spewy.errors import InputError
from spewy.look.solution import Solution
from spewy.web import export
from spewy.web.bundle import bundle
from spewy.web.export import export_page
from spewy.web.position import _rounded, position

DAY = date(2024, 2, 29)


@pytest.fixture(scope="module")
def river():
    return solved(parsed_job(POLARISED))[1]


@pytest.fixture(scope="module")
def turn_folder(small):
    return small / "turn"


def data(html):
    return json.loads(re.search(r'<script type="application/json" id="solution">(.*?)</script>', html)[1])


def unpacked(page, contents):
    """All positions in a page by line, as the scripts of a page unpack them."""
    page.add_script_tag(content=f"{bundle('unpack.js')}\nwindow.source = packedSource;")
    lines = list(contents["positions"])
    ask = "([contents, lines]) => Promise.all(lines.map((line) => source(contents).position({ line })))"
    return dict(zip(lines, page.evaluate(ask, [contents, lines]), strict=True))


def differences(found, expected, where=""):
    """Places where two JSON values differ by more than rounding; what an exported page adds does not count."""
    if isinstance(expected, dict):
        added = found.keys() - expected.keys() - {"absent"}
        names = [*expected.keys(), *added]
        return [
            each
            for name in names
            for each in differences(found.get(name, "none"), expected.get(name, "none"), f"{where}.{name}")
        ]
    if isinstance(expected, list):
        if len(found) != len(expected):
            return [f"{where}: {len(found)} for {len(expected)}"]
        pairs = enumerate(zip(found, expected, strict=True))
        return [each for i, pair in pairs for each in differences(*pair, f"{where}[{i}]")]
    if isinstance(expected, float) and isinstance(found, (int, float)):
        equal = math.isclose(found, expected, rel_tol=1e-4, abs_tol=1e-5)
    else:
        equal = found == expected
    return [] if equal else [f"{where}: {found} for {expected}"]


def check_numbers(page, solution, line="", board=None):
    """Compare all positions in a page with those of the solution; how many there are of each kind."""
    contents = data(export_page(solution, line, board))
    page.goto("about:blank")
    found = unpacked(page, contents)
    for key, each in found.items():
        assert differences(each, position(solution, key, board, deals=False)) == []
    return Counter(each["kind"] for each in found.values())


def test_numbers_are_rounded_for_what_pages_show():
    """Rounded again to the decimals that a page shows, they are what the exact numbers are when rounded once."""
    exact = np.array([0.4469, 0.4549, -0.4469, 2.0, np.nan])
    np.testing.assert_array_equal(_rounded(exact, 2, 1), [0.44, 0.46, -0.44, 2.0, np.nan])
    values = np.random.default_rng(0).uniform(-500, 500, 10_000)
    np.testing.assert_array_equal(_rounded(values, 2, 1).round(1), values.round(1))


def test_a_river_has_all_its_lines(page, river):
    # Check and check behind, or bet with the answers fold and call.
    assert check_numbers(page, river) == {"decision": 3, "showdown": 2, "fold": 1}


@pytest.mark.parametrize("plain", [10**9, 0], ids=["plain", "compressed"])
def test_a_turn_has_its_own_round_only(page, turn, monkeypatch, plain):
    monkeypatch.setattr(export, "PLAIN_BYTES", plain)
    assert check_numbers(page, turn) == {"decision": 4, "chance": 3, "fold": 2}


def test_a_part_of_a_round_on_a_later_board(page, turn):
    assert check_numbers(page, turn, "cc/", "Qs7h2d3c9h") == {"decision": 4, "showdown": 3, "fold": 2}
    contents = data(export_page(turn, "b50", None))
    assert contents["root"] == {"line": "r50", "board": "Qs7h2d3c"}
    assert [stage["absent"] for stage in contents["path"]] == [True]
    assert {step["absent"] for step in contents["path"][0]["steps"]} == {True}


def test_a_game_without_grids(page):
    assert check_numbers(page, solved(parsed_job(LEDUC))[1])["decision"] == 6
    assert check_numbers(page, solved(parsed_job(KUHN))[1]) == {"decision": 4, "showdown": 3, "fold": 2}


@pytest.mark.slow
def test_a_chart_of_hands_before_the_flop(page, tmp_path):
    good("solve", write(tmp_path, DEALT_FLOP), "--out", tmp_path / "out", "--set", "solve.max_sweeps=5")
    with Solution.open(tmp_path / "out") as solution:
        assert check_numbers(page, solution)["chance"] == 7


@pytest.mark.parametrize(("line", "error"), [("cc", "'cc': expected a line before a decision"), ("zz", "zz")])
def test_lines_that_cannot_begin_a_page(river, line, error):
    with pytest.raises(InputError, match=error):
        export_page(river, line)


def test_a_page_that_would_be_too_large_says_what_to_choose(turn, monkeypatch):
    monkeypatch.setattr(export, "MOST_BYTES", 1500)
    with pytest.raises(InputError, match=r"about 0 MB, and 0 MB are the most; .* --line \"c\""):
        export_page(turn)


def test_progress_counts_positions(river):
    calls = []
    export_page(river, progress=lambda done, total: calls.append((done, total)))
    assert calls == [(done, 6) for done in range(7)]


def test_the_page_says_what_it_shows(turn, turn_folder):
    assert "<h1>turn</h1>" in export_page(turn)
    with Solution.open(turn_folder) as solution:
        html = export_page(solution, day=DAY)
        facts = re.search(r'<span class="note">(.*?)</span>', html)[1]
        told = f"spot, exploitability {solution.checked_pct:.3g} % of the pot, {solution.progress}"
        assert facts == f"{told}, written on 2024-02-29"
    assert data(html)["later"] == "The river is not in this file."


def test_names_cannot_become_html(river):
    job = parsed_job(POLARISED.replace('"polarised"', '"a</script><b>&"'))
    html = export_page(Solution(job, river.store))
    assert "<h1>a&lt;/script&gt;&lt;b&gt;&amp;</h1>" in html
    assert "a</script>" not in html
    assert data(html)["summary"]["name"] == "a</script><b>&"


def test_a_page_opens_without_a_server(page, turn_folder, tmp_path):
    file = tmp_path / "turn.html"
    assert re.fullmatch(rf"{file}: 0\.\d MB\n", good("serve", turn_folder, "--export", file))
    assert file.stat().st_size < 300_000
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(file.as_uri())
    page.wait_for_selector(".grid")
    assert page.title() == "turn – Spewy"
    assert page.locator("#filter").count() == 0
    page.click('.stage.here [data-step="check"]')
    page.wait_for_selector('.stage.here >> text="ip to act"')
    assert page.evaluate("location.hash") == "#look?line=c&board=Qs7h2d3c"
    page.click('[data-seat="ip"] [data-hand="KK"]')
    page.wait_for_selector('tr[data-combo="KhKc"]')
    page.click('.stage.here [data-step="check"]')
    page.wait_for_selector('.stage.here >> text="The river is not in this file."')
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector('.stage.here >> text="ip to act"')
    page.goto(f"{file.as_uri()}#look?line=zz")
    page.wait_for_selector('[role="alert"] >> text="The position after zz is not in this file."')
    page.click('text="back to the first decision"')
    page.wait_for_selector('.stage.here >> text="oop to act"')
    assert {url.split("#")[0] for url in requests} == {file.as_uri()}


def test_steps_outside_of_the_file_cannot_be_clicked(page, turn, tmp_path):
    file = tmp_path / "part.html"
    file.write_text(export_page(turn, "cc/", "Qs7h2d3c9h"), "utf-8")
    page.goto(file.as_uri())
    page.wait_for_selector(".grid")
    before, here = page.locator(".stage:not(.here) button"), page.locator(".stage.here button")
    assert before.count() > 4
    assert all(button.is_disabled() for button in before.all())
    assert all(button.is_enabled() for button in here.all())


def test_the_policy_of_a_page_forbids_other_scripts(chromium, river, tmp_path):
    """An error that the policy causes is expected here, so the page is none of those that must have no error."""
    file = tmp_path / "river.html"
    html = export_page(river)
    file.write_text(html.replace("</body>", "<script>window.foreign = 1</script></body>"), "utf-8")
    with chromium.new_context() as context:
        page = context.new_page()
        page.goto(file.as_uri())
        page.wait_for_selector(".grid")
        assert page.evaluate("window.foreign") is None


def test_a_file_is_replaced_with_force_only(turn_folder, tmp_path):
    file = tmp_path / "turn.html"
    file.write_text("mine")
    assert "exists already; give another name, or --force" in refused("serve", turn_folder, "--export", file)
    assert file.read_text() == "mine"
    good("serve", turn_folder, "--export", file, "--force", "--line", "b50")
    assert data(file.read_text("utf-8"))["root"]["line"] == "r50"


def test_nothing_remains_of_a_page_that_fails(turn_folder, tmp_path):
    refused("serve", turn_folder, "--export", tmp_path / "turn.html", "--line", "zz")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("--export", "{new}.pdf"), "expected a name that ends in .html, found .pdf"),
        (("--export", "{new}/page.html"), "expected a new or existing file in a folder that exists"),
        (("{folder}", "--export", "{new}.html"), "--export needs the folder of one solve, found 2 folders"),
        (("--line", "c"), "--line has no effect without --export"),
        (("--board", "9h"), "--board has no effect without --export"),
        (("--force",), "--force has no effect without --export"),
    ],
)
def test_options_that_do_not_fit(turn_folder, tmp_path, options, error):
    texts = [option.format(new=tmp_path / "new", folder=turn_folder) for option in options]
    assert error in refused("serve", turn_folder, *texts)


def test_a_folder_without_a_solve(tmp_path):
    refused("serve", tmp_path, "--export", tmp_path / "new.html")
    assert not (tmp_path / "new.html").exists()
