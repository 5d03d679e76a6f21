"""The page that sets up jobs, solves them and watches them, in a browser."""

import re
import tomllib

import pytest
from playwright.sync_api import expect
from test_hands_page import FOLD, HAND, KINGS
from web_server import serving

from spewy.game.ranges import parse_range
from spewy.job.job import Job
from spewy.job.shipped import shipped_ranges
from spewy.look.solution import Solution

RIVER = "Ks 7h 2d 5c 9s"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("results")


@pytest.fixture(scope="module")
def server(folder):
    with serving(folder) as server:
        yield server


@pytest.fixture(scope="module")
def address(server):
    return server.address


@pytest.fixture(scope="module")
def cost(server):
    """The cost of the form's job; a process of its own counts each cost."""
    text = server.ask("api/setup/preset", name="srp-btn-bb", board=RIVER)["text"]
    return server.send("api/setup/cost", text=text, page="cost")[1]


@pytest.fixture
def form(page, address, cost):
    """The page with the job of a river that is solved at once; each job has the cost of that river."""
    page.route("**/api/setup/cost", lambda route: route.fulfill(json=cost))
    return opened(page, address)


@pytest.fixture
def form_that_counts(page, address):
    return opened(page, address)


def opened(page, address):
    page.goto(f"{address}#solve")
    expect(page.locator("#job-name")).to_have_value("srp-btn-bb-Ks7h2d")
    page.fill("#board-text", RIVER)
    expect(page.locator("#job-name")).to_have_value("srp-btn-bb-Ks7h2d5c9s")
    return page


def job_text(page):
    return page.locator(".job-text").input_value()


def wait_for_job(page, condition):
    """The data of the job's text once it fulfils a condition."""
    for _ in range(200):
        data = tomllib.loads(job_text(page))
        if condition(data):
            return data
        page.wait_for_timeout(100)
    pytest.fail(f"waited in vain: {job_text(page)}")


def test_a_river_is_set_up_solved_and_looked_at(form_that_counts, folder):
    form = form_that_counts
    form.fill("#sizes-river-oop-bet", "50%, a")
    form.fill("#job-solve-target", "0.2%")
    wait_for_job(form, lambda data: data["bets"]["river"] == {"bet": "50%, a", "raise": "60%"})
    expect(form.locator(".cost-rows")).to_contain_text("information sets")
    text = job_text(form)
    form.get_by_role("button", name="Start", exact=True).click()
    expect(form.locator(".state")).to_have_text("target reached")
    expect(form.locator(".convergence")).to_be_visible()
    saved = folder / "srp-btn-bb-Ks7h2d5c9s.toml"
    assert saved.read_text() == text
    form.get_by_text("Look at the solution").click()
    expect(form.locator(".decision .cell").first).to_be_visible()
    with Solution.open(saved.with_suffix("")) as solution:
        assert solution.checked_pct <= 0.2
        labels = [action.label for action in solution.job.betting_tree.root.actions]
        assert labels == ["check", "bet 2.75", "all-in 97.5"]
    form.reload()
    form.goto(re.sub("#.*", "#solve?job=srp-btn-bb-Ks7h2d5c9s", form.url))
    expect(form.locator(".state")).to_have_text("target reached")


def test_a_board_is_typed_in_any_spelling(form):
    form.fill("#board-text", "ts, 3♥ 2H")
    expect(form.locator("#job-name")).to_have_value("srp-btn-bb-Ts3h2h")
    expect(form.locator("#board-error")).to_be_empty()
    expect(form.locator('[data-card="3h"]')).to_have_attribute("aria-pressed", "true")
    # The card table is as wide as the cards.
    cards, group = form.locator(".card-table"), form.get_by_role("group", name="Board", exact=True)
    last = form.locator('[data-card="2c"]').bounding_box()
    assert group.bounding_box()["width"] < 1.1 * (last["x"] + last["width"] - cards.bounding_box()["x"])


def test_a_range_is_painted(form):
    before = parse_range(tomllib.loads(job_text(form))["spot"]["oop"])
    form.locator("#weight-oop").fill("50")
    grid = form.get_by_role("grid", name="oop, first to act: weights of hands")
    grid.scroll_into_view_if_needed()
    first, last = (grid.locator(f'[data-class="{name}"]').bounding_box() for name in ("AA", "AQs"))
    form.mouse.move(first["x"] + 9, first["y"] + 9)
    form.mouse.down()
    form.mouse.move(last["x"] + 9, last["y"] + 9, steps=6)
    form.mouse.up()
    painted = wait_for_job(form, lambda data: "AA:0.5" in data["spot"]["oop"])["spot"]["oop"]
    groups = parse_range("AA:0.5,AKs:0.5,AQs:0.5").weights
    expected = parse_range("random").weights * 0
    expected[:] = before.weights
    expected[groups > 0] = 0.5
    assert parse_range(painted).weights.tolist() == expected.tolist()
    grid.locator('[data-class="AA"]').focus()
    form.keyboard.press("ArrowDown")
    form.keyboard.press("3")
    wait_for_job(form, lambda data: "AKo:0.3" in data["spot"]["oop"])
    form.locator('[data-combo="AsKh"]').first.click()
    oop = wait_for_job(form, lambda data: "AsKh:0.5" in data["spot"]["oop"])["spot"]["oop"]
    assert "AhKc:0.3" in oop
    assert form.locator("#range-oop").input_value() == oop


def test_an_error_stands_beside_its_field_and_the_draft_survives_a_reload(form):
    form.fill("#job-spot-pot", "much")
    form.fill("#range-ip", "22+,QX")
    expect(form.locator("#job-spot-pot-error")).to_have_text("expected a number, found 'much'")
    expect(form.locator("#range-ip-error")).to_contain_text("position 4: expected a group")
    expect(form.get_by_role("button", name="Start", exact=True)).to_be_disabled()
    form.reload()
    expect(form.locator("#job-spot-pot")).to_have_value("much")
    form.fill("#job-name", "after errors")
    form.fill("#job-spot-pot", "6")
    form.fill("#range-ip", "22+")
    expect(form.get_by_role("button", name="Start", exact=True)).to_be_enabled()


def test_the_cost_is_counted_anew_once_the_errors_are_corrected(form_that_counts):
    form = form_that_counts
    start, cost = (form.get_by_role("region", name=name) for name in ("start", "cost"))
    form.fill("#sizes-river-oop-bet", "50")
    expect(form.locator("#sizes-river-error")).to_have_text(
        "expected a size such as 60%, 2.5bb, e or a (\"50%\" is 50 % of the pot), found '50'",
    )
    expect(start).to_contain_text("One field has an error, shown beside it.")
    form.fill("#job-spot-pot", "much")
    expect(start).to_contain_text("2 fields have errors, shown beside them.")
    expect(cost).to_contain_text("The job has errors")
    form.fill("#job-name", "after corrections")
    form.fill("#job-spot-pot", "5.5")
    form.fill("#sizes-river-oop-bet", "50%")
    expect(form.get_by_role("button", name="Start", exact=True)).to_be_enabled()
    expect(cost).not_to_contain_text("errors")


def test_a_solve_that_has_made_no_sweep_is_being_prepared(page, address):
    solve = {"running": True, "finished": False, "ended": None, "done": 0, "saved": 0, "counted": "sweeps"}
    unknown = ("target", "exploitability", "stderr", "per_second", "seconds", "seconds_left", "value")
    solve |= dict.fromkeys((*unknown, "checking", "measured_at")) | {"curve": [], "unit": "%"}
    job = {"state": "running", "error": None, "line": "compiling the kernels", "seconds": 12.0}
    found = {"id": "new", "job": job, "kind": "solve", "solve": solve}
    page.route("**/api/jobs/progress*", lambda route: route.fulfill(json=found))
    page.goto(f"{address}#solve?job=new")
    expect(page.locator(".solve-progress")).to_contain_text("The solve is being prepared.")
    expect(page.locator(".solve-progress")).to_contain_text("after 12 s: compiling the kernels")
    expect(page.locator(".solve-progress .facts")).to_have_count(0)
    solve |= {"done": 10, "target": 0.5}
    expect(page.locator(".solve-progress")).to_contain_text("target0.5 % of the pot")


def test_figures_of_a_quick_answer_and_of_the_whole_solve_stand_apart(page, address):
    unknown = ("exploitability", "stderr", "value", "checking", "measured_at", "seconds_left", "ended")
    solve = dict.fromkeys(unknown) | {"curve": [], "unit": "%", "counted": "sweeps", "target": 0.3}
    solve |= {"running": True, "finished": False, "saving": False, "of_quick": True, "quick": None}
    solve |= {"done": 20, "saved": 0, "seconds": 2.0, "per_second": 10.0}
    found = {"id": "new", "job": None, "kind": "solve", "solve": solve}
    page.route("**/api/jobs/progress*", lambda route: route.fulfill(json=found))
    page.goto(f"{address}#solve?job=new")
    facts = page.locator(".solve-progress .facts")
    expect(facts).to_have_text(
        [
            "exploitabilitynot measuredsweeps20time2.0 sleft…",
            "target0.3 % of the potstatenot begun",
        ]
    )
    expect(page.locator(".solve-progress h2")).to_have_text(["quick answer", "whole solve"])
    quick = {"sweeps": 43, "loss": "on two flops"}
    solve |= {"of_quick": False, "quick": quick, "saved": 43, "done": 10, "exploitability": 9.0}
    expect(facts.first).to_have_text("exploitabilitynot measuredsweeps43")
    expect(facts.last).to_contain_text("exploitability9 % of the pot")
    expect(facts.last).to_contain_text("sweeps10, of them saved 0")
    expect(page.locator(".solve-progress .note").first).to_contain_text("Measured: on two flops.")
    expect(page.get_by_role("link", name="Look at the quick answer")).to_be_visible()
    solve |= {"quick": None, "saved": 10, "seconds_left": 75.0}
    expect(facts).to_have_count(1)
    expect(facts).to_contain_text("sweeps10, of them saved 10")
    expect(facts).to_contain_text("leftabout 1:15 min")


def test_a_lock_is_set_in_the_tree_and_in_the_text(form):
    form.locator(".job-tree").get_by_role("button", name="lock").first.click()
    check = form.get_by_label("frequency of check in %")
    check.fill("100")
    form.get_by_label("frequency of bet 3.63 in %").fill("0")
    lock = [{"line": "", "strategy": {"check": 1, "bet 3.63": 0}}]
    data = wait_for_job(form, lambda data: data.get("lock") == lock)
    assert Job.of(data).problem.locks
    form.locator("summary", has_text="Job file as text").click()
    form.locator(".job-text").fill(
        job_text(form).replace("check = 1,", "check = 0.25,").replace('63" = 0', '63" = 0.75')
    )
    expect(check).to_have_value("25")


def test_the_page_begins_with_presets(form):
    group, preset = form.locator("#begin-with-group"), form.locator("#begin-with")
    expect(group).to_have_value("six players, 100 big blinds")
    expect(preset).to_have_value("preset:srp-btn-bb")
    preset.select_option("preset:4bet-btn-bb")
    data = wait_for_job(form, lambda data: data["spot"]["pot"] == 50.5)
    assert data["spot"]["board"].replace(" ", "") == RIVER.replace(" ", "")
    expect(preset).to_have_value("preset:4bet-btn-bb")
    form.get_by_role("button", name="undo").click()
    wait_for_job(form, lambda data: data["spot"]["pot"] == 5.5)
    expect(preset).to_have_value("preset:srp-btn-bb")
    group.select_option("heads-up, 50 big blinds, solved")
    expect(preset).to_have_value("")
    preset.select_option(label="the button raises to 2.5, the big blind calls")
    wait_for_job(form, lambda data: (data["spot"]["pot"], data["spot"]["stack"]) == (5, 47.5))
    form.fill("#job-spot-pot", "6")
    expect(form.locator(".begun")).to_contain_text("changed since")
    wait_for_job(form, lambda data: data["spot"]["pot"] == 6)
    form.reload()
    expect(preset).to_have_value("preset:hu-50bb-srp")
    form.get_by_role("button", name="begin again").click()
    wait_for_job(form, lambda data: data["spot"]["pot"] == 5)
    expect(form.locator(".begun")).not_to_contain_text("changed since")
    form.get_by_text("flops for all").click()
    form.fill("#board-subset", "3")
    data = wait_for_job(form, lambda data: data["spot"].get("boards") == {"subset": 3})
    assert (data["save"], data["solve"]["workers"]) == ({"rounds": "flop"}, 1)


def test_a_pasted_spot_fills_the_form(form):
    form.fill(
        "#pasted-spot",
        "#Range0#AA\n#Range1#KK\n#Board#Qs Jh 2h 8c 3d\n#Pot#30\n#EffectiveStacks#70\n#Strange#1\n",
    )
    form.get_by_role("button", name="fill in the form").click()
    data = wait_for_job(form, lambda data: data["spot"]["pot"] == 30)
    assert data["spot"]["oop"] == "AA"
    expect(form.get_by_text("line 6: Strange has no counterpart; left out")).to_be_visible()
    expect(form.locator("#job-name")).to_have_value("spot-QsJh2h8c3d")
    expect(form.locator("#begin-with option").first).to_have_text("a pasted text")


def test_a_pasted_hand_fills_the_form(form):
    form.fill("#pasted-spot", KINGS)
    form.get_by_role("button", name="fill in the form").click()
    data = wait_for_job(form, lambda data: data["spot"]["pot"] == 20)
    assert (data["spot"]["board"].replace(" ", ""), data["spot"]["stack"]) == ("Qs7h2d", 40)
    other = HAND.format(number=4, hole="Kh Kc").replace("$50 in", "$70 in")
    form.fill("#pasted-spot", "\n\n".join((FOLD, KINGS, other)))
    form.get_by_role("button", name="fill in the form").click()
    expect(form.get_by_text("2 hands have a spot; choose one:")).to_be_visible()
    form.get_by_role("button", name="4", exact=True).click()
    wait_for_job(form, lambda data: data["spot"]["stack"] == 60)


def test_ranges_are_chosen_by_stacks_and_position(form):
    group, preset = form.locator("#choice-oop-group"), form.locator("#choice-oop")
    expect(preset.locator("option:checked")).to_have_text(
        "the big blind calls a raise to 2.5 from the button"
    )
    group.select_option("heads-up, 20 big blinds, solved")
    assert preset.locator("optgroup").evaluate_all("all => all.map(each => each.label)") == [
        "button",
        "big blind",
    ]
    preset.select_option(label="the button raises to 2")
    wanted = shipped_ranges()["hu-20bb-btn-raises"].text
    wait_for_job(form, lambda data: data["spot"]["oop"].split() == wanted.split())
    expect(preset.locator("option:checked")).to_have_text("the button raises to 2")
    form.fill("#range-oop", "AA")
    expect(preset.locator("option:checked")).to_have_text("choose a range …")


def places(page):
    """Return the vertical positions of the form's groups in pixels, from top to bottom."""
    return page.locator(".setup-form > :not([hidden])").evaluate_all(
        "all => all.map(each => Math.round(each.getBoundingClientRect().top + scrollY))"
    )


def test_unfinished_entries_are_no_errors_and_move_nothing(form):
    start = form.get_by_role("region", name="start")
    expect(form.locator(".cost-rows")).to_be_visible()
    form.fill("#board-text", "Ks 7h 2d 5")
    expect(form.locator(".begun")).to_contain_text("changed since")
    before = places(form)
    for board in ("Ks 7", "Ks", "K", ""):
        form.fill("#board-text", board)
        expect(start).to_contain_text("Still to fill in: the board.")
        expect(form.locator(".field-error:not(:empty)")).to_have_count(0)
        assert places(form) == before
    form.fill("#job-spot-pot", "")
    form.fill("#range-ip", "")
    expect(start).to_contain_text("Still to fill in: the board, the pot, the range of ip.")
    expect(start.get_by_role("button", name="Start")).to_be_disabled()
    expect(form.locator("[aria-invalid=true]")).to_have_count(0)
    form.fill("#job-spot-pot", "much")
    expect(form.locator("#job-spot-pot-error")).to_be_visible()
    assert places(form) == before
    form.fill("#job-spot-pot", "5.5")
    form.fill("#range-ip", "AA")
    form.fill("#board-text", "Ks Ks")
    expect(form.locator("#board-error")).to_contain_text("Ks")


def test_a_rake_is_typed_in_percent_or_as_a_share(form):
    for typed, kept, percent in (("5", "5%", 5), ("0.05", 0.05, 5), ("5 %", "5%", 5), ("0.5%", "0.5%", 0.5)):
        form.fill("#job-spot-rake-rate", typed)
        data = wait_for_job(form, lambda data, kept=kept: data["spot"].get("rake") == {"rate": kept})
        expect(form.locator("output[for=job-spot-rake-rate]")).to_have_text(f"= {percent} %")
        assert Job.of(data).spot.rake.rate == pytest.approx(percent / 100)


def test_counts_of_a_range_are_those_of_its_text(form):
    editor = form.get_by_role("region", name="oop, first to act")
    share = 100 * parse_range(tomllib.loads(job_text(form))["spot"]["oop"]).combos / 1326
    expect(form.locator("output[for=top-oop]")).to_have_text(f"{share:.1f} %")
    form.fill("#range-oop", "AKs, 77")
    expect(editor.locator("h2")).to_contain_text("10.0 hands, 0.8 % of all, 6.0 on this board")
    form.fill("#range-oop", "AKs, 77, Q")
    expect(editor.locator("h2")).not_to_contain_text("hands")
    expect(editor.locator(".range-grid")).to_have_class(re.compile("stale"))
    form.fill("#range-oop", "AKs, 77")
    expect(editor.locator("h2")).to_contain_text("10.0 hands")
    expect(editor.locator(".range-grid")).not_to_have_class(re.compile("stale"))


def test_the_tree_beside_the_form_is_that_of_the_job(form):
    tree = form.get_by_role("region", name="betting tree")
    form.fill("#sizes-river-oop-bet", "50%")
    form.fill("#sizes-river-oop-raise", "")
    # Check or bet, after each of them the other player; after check and bet the first player again.
    expect(tree).to_contain_text("Decisions: river 4; with ends 9.")
    actions = tree.locator(".job-tree > .tree-node > ul > li")
    expect(actions).to_have_count(2)
    expect(actions.nth(1)).to_contain_text("bet 50 % (2.75)")
    expect(actions.nth(1).locator("li")).to_have_text(["fold", "call showdown, pot 11"])


def test_the_curve_has_round_ticks_around_it(page, address):
    curve = [[sweeps, 0.07 * sweeps, 300 / sweeps**1.5] for sweeps in range(5, 205, 5)]
    solve = dict.fromkeys(("stderr", "per_second", "seconds_left", "value", "checking"))
    solve |= {"running": False, "finished": True, "ended": "target reached", "done": 200, "saved": 200}
    solve |= {"counted": "sweeps", "target": 0.3, "exploitability": 0.106, "seconds": 14.0}
    solve |= {"measured_at": 200, "curve": curve, "unit": "%"}
    found = {"id": "old", "job": None, "kind": "solve", "solve": solve}
    page.route("**/api/jobs/progress*", lambda route: route.fulfill(json=found))
    page.goto(f"{address}#solve?job=old")
    expect(page.locator(".chart-time")).to_have_text(
        ["0", "2 s", "4 s", "6 s", "8 s", "10 s", "12 s", "14 s"]
    )
    levels = page.locator(".convergence > text:not([class])")
    expect(levels).to_have_text(["0.1", "0.3", "1", "3", "10", "30"])
    chart, place = page.locator(".convergence").bounding_box(), page.locator(".solve-progress").bounding_box()
    assert chart["width"] == pytest.approx(place["width"], abs=2)
