"""Jobs that pages set up, start, watch, stop and continue."""

import signal
import subprocess
import time
import tomllib

import httpx
import pytest
from cli_runs import COMMAND, POLARISED
from jobs import ALIKE, EXAMPLES, parsed_job
from web_client import Pages
from web_server import serving

from spewy.game.ranges import parse_range
from spewy.job.job import Job
from spewy.job.shipped import preset
from spewy.look.solution import Solution
from spewy.look.status import progress_of
from spewy.records.status import running
from spewy.run.session import Session
from spewy.web.job_process import JobProcess
from spewy.web.setting_up import problems

ENDLESS = (EXAMPLES / "R1.toml").read_text().replace('target = "0.1%"', 'target = "0%"\nmax_sweeps = 9000000')
"""A river that is never solved."""
PATIENCE = 240
"""Seconds after which a test stops waiting."""


class Server:
    def __init__(self, folder):
        self.folder, self.jobs = folder, JobProcess()
        self.pages = Pages(folder, jobs=self.jobs)
        self.get = self.pages.ask

    def post(self, path, **content):
        answer = self.pages.post(path, **content)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def refused(self, path, **content):
        answer = self.pages.post(path, **content)
        assert 400 <= answer.status_code < 500, answer.text
        return answer.json()["error"]

    def started(self, text, **options):
        found = self.post("/api/jobs/start", text=text, **options)
        assert found["started"], found
        return found["id"]

    def progress(self, name):
        return self.get("/api/jobs/progress", folder=name)

    def wait(self, name, until):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = self.progress(name)
            if until(found):
                return found
            time.sleep(0.1)
        pytest.fail(f"waited in vain: {found}")


@pytest.fixture
def server(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    server = Server(folder)
    yield server
    server.jobs.close()


def ended(found):
    return found["job"]["state"] == "ended"


def saved(found):
    return bool(found.get("solve")) and found["solve"]["saved"] > 0


def test_a_river_from_the_form_to_its_solution(server):
    data = tomllib.loads(POLARISED) | {"name": "Polarised river"}
    checked = server.post("/api/setup/check", data=data, about="value and air")
    assert checked["problems"] == []
    facts = {"name": "Polarised river", "kind": "spot", "boards": 1, "nodes": 6, "all_counted": True}
    facts |= {"rounds": [{"round": "river", "decisions": 3, "nodes": 6}], "quick": False}
    assert checked["facts"] | {"hands": None} == facts | {"hands": None, "unit": "chips"}
    assert tomllib.loads(checked["text"]) == data
    assert server.post("/api/jobs/place", text=checked["text"])["state"] == "new"
    name = server.started(checked["text"])
    assert name == "Polarised river"
    found = server.wait(name, ended)
    assert found["job"]["error"] is None
    solve = found["solve"]
    assert (solve["running"], solve["finished"], solve["unit"]) == (False, True, "%")
    assert solve["target"] == pytest.approx(0.001)
    sweeps, seconds, exploitability = solve["curve"][-1]
    assert sweeps == solve["done"] == solve["saved"]
    assert exploitability <= 0.001
    assert seconds > 0
    assert (server.folder / f"{name}.toml").read_text() == checked["text"]
    with Solution.open(server.folder / name) as solution:
        assert solution.job.spot.oop == "KhKd,JcTc,JhTh,JdTd"
    assert server.get("/api/position", folder=name)["kind"] == "decision"
    assert server.get("/api/setup/solve", folder=name)["text"] == checked["text"]


def test_a_quick_answer_is_followed_by_the_whole_game(server):
    checked = server.post("/api/setup/check", text=ALIKE)
    assert checked["facts"]["quick"]
    name = server.started(checked["text"], quick=True)
    quick = server.wait(name, saved)["solve"]["quick"]
    if quick is not None:  # the whole solve has not replaced it yet
        assert quick["sweeps"] >= 8
    with Solution.open(server.folder / name) as solution:
        assert solution.node().actions[0] == "check"
    found = server.wait(name, ended)
    assert found["job"]["error"] is None
    assert found["solve"]["exploitability"] <= found["solve"]["target"]
    assert (found["solve"]["quick"], found["solve"]["of_quick"]) == (None, False)


def test_a_river_has_no_quick_answer(server):
    assert not server.post("/api/setup/check", text=ENDLESS)["facts"]["quick"]
    assert "river is solved exactly" in server.refused("/api/jobs/start", text=ENDLESS, quick=True)


def test_a_solve_is_stopped_and_goes_on(server):
    name = server.started(ENDLESS)
    server.wait(name, saved)
    assert server.get("/api/jobs")["running"] == [name]
    other = server.refused("/api/jobs/start", text=POLARISED.replace('"polarised"', '"other"'))
    assert "R1 is being solved; stop it first" in other
    assert not (server.folder / "other.toml").exists()
    server.post("/api/jobs/stop")
    found = server.wait(name, ended)
    assert found["job"]["error"] is None
    assert (found["solve"]["ended"], found["solve"]["finished"]) == ("interrupted", False)
    done = found["solve"]["saved"]
    assert done > 0
    assert server.refused("/api/jobs/stop") == "no solve of this server is running"
    again = server.post("/api/jobs/start", text=ENDLESS)
    assert (again["started"], again["state"]) == (False, "same")
    server.started(ENDLESS, **{"continue": True})
    server.wait(name, lambda found: found["solve"]["running"] and found["solve"]["done"] > done)
    server.post("/api/jobs/stop")
    later = server.wait(name, ended)
    assert later["job"]["error"] is None
    assert later["solve"]["saved"] > done
    assert later["solve"]["curve"][0] == found["solve"]["curve"][0]


def test_pasted_ranges_and_boards_are_read_and_percentages_told(server):
    data = tomllib.loads(POLARISED)
    right = server.post("/api/setup/check", data=data)
    data["spot"] |= {"board": data["spot"]["board"].lower().replace(" ", ","), "ip": "AhAd:50"}
    found = server.post("/api/setup/check", data=data)
    assert (right["problems"], right["notes"], found["problems"]) == ([], [], [])
    assert found["notes"] == ["spot.ip: weights above 1 are read as percentages"]
    assert found["facts"]["hands"] == [right["facts"]["hands"][0], right["facts"]["hands"][1] / 2]


def test_a_folder_with_another_job_is_kept(server):
    with Session(parsed_job(POLARISED), server.folder / "polarised") as session:
        session.solve()
    (server.folder / "polarised.toml").write_text(POLARISED)
    other = POLARISED.replace("stack = 100", "stack = 150")
    place = server.post("/api/jobs/place", text=other)
    assert (place["state"], place["free"]) == ("other", "polarised-2")
    message = server.refused("/api/jobs/start", text=other, **{"continue": True})
    assert message == "name: the folder polarised holds another job; choose another name"
    assert (server.folder / "polarised.toml").read_text() == POLARISED
    (server.folder / "notes.toml").write_text("# mine")
    mine = POLARISED.replace('"polarised"', '"notes"')
    assert server.post("/api/jobs/start", text=mine)["state"] == "file"
    assert (server.folder / "notes.toml").read_text() == "# mine"


def test_an_error_of_the_solve_is_shown(server):
    large = POLARISED.replace("[solve]", '[solve]\nmemory = "1 KiB"')
    found = server.wait(server.started(large), ended)
    assert "solve.memory" in found["job"]["error"]
    assert "Traceback" not in found["job"]["error"]


@pytest.mark.parametrize(
    "name",
    ["../x", "..", "a/b", "/tmp/x", ".hidden", "x\\y", "-x", "n" * 101, "x.", "a.toml", "x\n", "Ks7h2d"],
)
def test_names_stay_in_the_folder(server, name):
    data = tomllib.loads(POLARISED) | {"name": name}
    text = server.post("/api/setup/check", data=data)["text"]
    assert server.refused("/api/jobs/start", text=text).startswith("name: ")
    assert list(server.folder.parent.rglob("*")) == [server.folder]


@pytest.mark.parametrize(
    ("number", "error"),
    [
        (signal.SIGKILL, "killed by the signal SIGKILL, perhaps because the machine ran out of memory"),
        pytest.param(signal.SIGSEGV, "killed by the signal SIGSEGV", marks=pytest.mark.slow),
    ],
)
def test_a_killed_solve_says_so_and_goes_on(server, number, error):
    """Its last line, which is progress, is no error."""
    name = server.started(ENDLESS)
    server.wait(name, saved)
    server.jobs._process.send_signal(number)
    job = server.wait(name, ended)["job"]
    assert job["error"] == f"the solve was {error}; what it saved is kept, and starting it again continues it"
    assert server.started(ENDLESS, **{"continue": True}) == name
    server.post("/api/jobs/stop", at_once=True)


def test_a_link_out_of_the_folder_is_refused(server, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (server.folder / "polarised").symlink_to(tmp_path / "elsewhere")
    assert "is a link to another folder" in server.refused("/api/jobs/start", text=POLARISED)


def test_a_server_of_single_solves_has_no_place_for_new_ones(server):
    with Session(parsed_job(POLARISED), server.folder / "polarised") as session:
        session.solve()
    single = Server(server.folder / "polarised")
    message = single.refused("/api/jobs/start", text=POLARISED.replace('"polarised"', '"other"'))
    assert "start spewy serve with a folder for solves" in message
    assert "T1" not in single.get("/api/setup/solve", folder="polarised")["text"]


def test_several_boards_are_a_batch(server):
    boards = ["Ks 9d 6h 3c 2s", "Ks 9d 6h 3c 2c", "Qs 9d 6h 3c 2h"]
    data = tomllib.loads(POLARISED)
    del data["spot"]["board"]
    data["spot"] = {"boards": boards} | data["spot"] | {"oop": "AA,77", "ip": "KK,QQ"}
    data |= {"name": "rivers", "solve": {"target": "0.5%"}}
    checked = server.post("/api/setup/check", data=data)
    assert (checked["problems"], checked["facts"]["boards"]) == ([], 3)
    cost = server.post("/api/setup/cost", text=checked["text"])
    assert cost["first"] == {"board": boards[0], "of": 3}
    assert cost["fits"]
    name = server.started(checked["text"])
    found = server.wait(name, ended)
    assert (found["kind"], found["waiting"], found["job"]["error"]) == ("batch", [], None)
    names = [f"rivers/{board}" for board in ("Ks9d6h3c2c", "Ks9d6h3c2s", "Qs9d6h3c2h")]
    assert [each["id"] for each in found["boards"]] == names
    assert all(each["solve"]["exploitability"] <= 0.5 for each in found["boards"])
    assert server.post("/api/jobs/place", text=checked["text"])["state"] == "same"
    (server.folder / "rivers.toml").unlink()
    data = server.get("/api/setup/solve", folder="rivers")["data"]
    assert {board.replace(" ", "") for board in boards} == set(data["spot"]["boards"])


@pytest.mark.parametrize("how", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)])
def test_the_solve_ends_with_the_server(tmp_path, how):
    (tmp_path / "results").mkdir()
    folder = tmp_path / "results" / "R1"
    with serving(tmp_path / "results") as server:
        with httpx.Client(base_url=server.address) as client:
            assert client.post("/api/jobs/start", json={"text": ENDLESS}).json()["started"]
            found = None
            while not (found and saved(found)):
                found = client.get("/api/jobs/progress", params={"folder": "R1"}).json()
                time.sleep(0.1)
        assert running(folder)
        _, text = server.end(how)
        end = time.monotonic() + (0 if how == signal.SIGINT else PATIENCE)
        while running(folder) and time.monotonic() < end:
            time.sleep(0.1)
    if how == signal.SIGINT:
        assert "R1 is being saved; Ctrl-C again stops it at once" in text
    assert running(folder) is False
    with Solution.open(folder) as solution:
        assert solution.job.name == "R1"


@pytest.mark.slow
def test_a_solve_of_a_terminal_is_watched(server, tmp_path):
    file = tmp_path / "job.toml"
    file.write_text(ENDLESS)
    process = subprocess.Popen(
        [*COMMAND, "solve", str(file), "--out", str(server.folder / "R1")], stderr=subprocess.DEVNULL
    )
    with process:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and server.get("/api/jobs")["running"] != ["R1"]:
            time.sleep(0.1)
        found = server.wait("R1", saved)
        assert (found["job"], found["solve"]["running"]) == (None, True)
        process.send_signal(signal.SIGINT)
    assert server.progress("R1")["solve"]["running"] is False


@pytest.mark.parametrize(
    ("change", "key", "message"),
    [
        ({"spot": {"board": "Ks 9d 6h 3c 3c"}}, "spot.board", "3c"),
        ({"spot": {"board": "Ks 9d"}}, "spot.board", "expected 3, 4 or 5 cards, found 2"),
        ({"spot": {"oop": "KhKd,QX"}}, "spot.oop", "position 5"),
        ({"spot": {"oop": "Ks9d"}}, "spot.oop", "the board blocks every hand of it"),
        ({"spot": {"pot": "much"}}, "spot.pot", "expected a number, found 'much'"),
        ({"spot": {"pot": None}}, "spot.pot", "expected a value, found none"),
        ({"bets": {"river": {"bet": "60 %"}}}, "bets.river.bet", "expected a size such as 60%"),
        ({"bets": {"river": {"raise": "0.5x"}}}, "bets.river.raise", "expected a factor above 1x"),
        ({"solve": {"target": "5"}}, "solve.target", "expected a number of at least 0 and a unit"),
        ({"solve": {"workers": 0}}, "solve.workers", "expected a number of at least 1"),
        ({"spot": {"oop": "@/etc/passwd"}}, "spot.oop", "a page reads no files"),
        ({"spot": {"ip": {"file": "/etc/passwd"}}}, "spot.ip", "a page reads no files"),
        ({"game": {"file": "/etc/passwd"}}, "game.file", "a page reads no files"),
        ({"sopt": {}}, "", "unknown key sopt"),
        ({"unit": "cents"}, "unit", "expected"),
        ({"lock": [{"line": "r7", "strategy": [1]}]}, "lock", "lock 1, line 'r7', position 0: expected"),
        ({"name": ""}, "name", "expected"),
    ],
)
def test_each_error_names_its_key(server, change, key, message):
    data = tomllib.loads(POLARISED)
    for section, values in change.items():
        data[section] = data.get(section, {}) | values if isinstance(values, dict) else values
    found = server.post("/api/setup/check", data=data)
    assert [problem["key"] for problem in found["problems"]] == [key], found["problems"]
    assert message in found["problems"][0]["message"]
    assert found["facts"] is None
    assert server.refused("/api/jobs/start", text=found["text"])


def test_several_errors_are_told_apart():
    data = tomllib.loads(POLARISED)
    data["spot"] |= {"pot": "much", "stack": -1}
    with pytest.raises(Exception, match=r"spot.pot: .*spot.stack: ") as error:
        Job.of(data)
    assert [problem["key"] for problem in problems(error.value)] == ["spot.pot", "spot.stack"]


def test_errors_in_all_texts_are_found_at_once(server):
    data = tomllib.loads(POLARISED)
    data["spot"] |= {"pot": "much", "oop": "QX"}
    data["bets"] = {"river": {"bet": "60 %", "raise": "3x"}}
    found = server.post("/api/setup/check", data=data)["problems"]
    assert [problem["key"] for problem in found] == ["spot.pot", "spot.oop", "bets.river.bet"]


@pytest.mark.parametrize("text", ["name = ", "a = 1979-05-27", "x = nan", "[" * 5000])
def test_texts_that_are_no_job(server, text):
    found = server.post("/api/setup/check", text=text)
    assert (found["text"], found["data"], found["facts"]) == (text, None, None)
    assert found["problems"][0]["message"].startswith("expected ")
    assert server.refused("/api/jobs/start", text=text).startswith("job: expected ")


def test_every_preset_can_be_set_up(server):
    rows = server.get("/api/presets")["presets"]
    assert len(rows) >= 10
    for row in rows:
        found = server.get("/api/setup/preset", name=row["name"], board="Ks7h2d5c")
        assert found["problems"] == []
        assert found["data"]["spot"]["pot"] == row["pot"]
        assert found["data"]["spot"]["oop"].strip() == preset(row["name"]).ranges[0].text
    assert server.get("/api/setup/preset", name="hu-3bet")["problems"] == []
    flops = server.get("/api/setup/preset", name="hu-3bet", subset="25")
    assert (flops["problems"], flops["facts"]["boards"]) == ([], 25)


def test_a_spot_of_another_program_is_pasted(server):
    script = (
        "set_pot 10\nset_effective_stack 20\nset_board Qs,Jh,2h,8c,3d\nset_range_oop AA\nset_range_ip KK\n"
    )
    script += "set_bet_sizes oop,river,bet,50\nset_bet_sizes oop,river,be\ndump_result x.json\n"
    found = server.post("/api/setup/paste", text=script)
    assert (found["problems"], found["data"]["spot"]["pot"]) == ([], 10)
    assert found["data"]["bets"]["river"]["oop"] == {"bet": "50%"}
    assert [note.split(":")[0] for note in found["told"]][:2] == ["line 7", "line 8"]
    numbers = " ".join(["1"] * 1326)
    text = "#Board#Qs Jh 2h 8c 3d\n#Pot#10\n#EffectiveStacks#20\n"
    found = server.post("/api/setup/paste", text=f"{text}set_range OOP {numbers}\nset_range IP {numbers}\n")
    assert found["data"]["spot"]["oop"] == "random"
    again = server.post("/api/setup/paste", text=found["text"])
    assert (again["data"], again["told"]) == (found["data"], [])
    for text, words in (
        ("", "expected the text of a spot, a hand or a job, found none"),
        (script[:60], "the pasted text: expected oop's range, ip's range, found none"),
        ("hello", "expected a spot of another solver, played hands, or a job file"),
        ("pot = ", "job: expected TOML"),
        ("#" * 400_001, "expected at most 400,000 characters"),
    ):
        assert server.refused("/api/setup/paste", text=text).startswith(words)


def test_a_range_as_text_and_as_weights(server):
    text = "QQ+,AKs:0.5,KhQh:0.25"
    found = server.post("/api/range", text=text, board="Kh 7d 2c")
    weights = parse_range(text).weights
    assert sorted(found["hands"].values()) == sorted(weights[weights > 0].tolist())
    assert (found["combos"], found["hands"]["KhQh"]) == (18 + 2 + 0.25, 0.25)
    assert found["live"] == 6 + 3 + 6 + 1.5  # no KhXx
    back = server.post("/api/range", hands=found["hands"], board="")
    assert (back["text"], back["live"]) == (text, found["combos"])
    assert server.post("/api/range", hands={})["text"] == ""
    for wrong, message in (
        ({"text": "QX"}, "position 0: expected a group"),
        ({"hands": {"AsKs": "1"}}, "expected a number from 0 to 1"),
        ({"hands": {"AsKs": 2}}, "weight of 'AsKs': expected a number from 0 to 1, found 2"),
        ({"hands": {"AsKs": 10**4000}}, "expected a number from 0 to 1, found 1000"),
        ({"hands": {"AsKx": 1}}, "hand 'AsKx': "),
        ({"hands": {"As": 1}}, "expected two cards"),
        ({"hands": [1]}, "expected weights by the names of hands"),
    ):
        assert message in server.post("/api/range", **wrong)["error"]


def test_the_tree_is_that_of_the_job(server):
    text = (EXAMPLES / "T1.toml").read_text()
    job = Job.load(EXAMPLES / "T1.toml")
    root = server.post("/api/setup/tree", text=text)["root"]
    labels = [each.label for each in job.betting_tree.root.actions]
    assert [each["label"] for each in root["actions"]] == labels
    assert (root["round"], root["player"], root["pot"]) == ("turn", 0, 200)
    closing = root["actions"][0]["node"]["actions"][0]["node"]
    assert (closing["kind"], closing["following"]) == ("chance", {"line": "cc/", "round": "river"})
    river = server.post("/api/setup/tree", text=text, line="cc/")
    assert (river["root"]["round"], river["words"]) == ("river", "check, check")
    assert "expected one of" in server.refused("/api/setup/tree", text=text, line="r7")


def test_a_large_tree_comes_in_parts(server):
    sizes = ",".join(f"{n}%" for n in range(20, 200, 6))
    text = POLARISED.replace("stack = 100", "stack = 90000").replace(
        'oop = { bet = "a" }', f'bet = "{sizes}"\nraise = "60%"'
    )
    waiting, seen = [server.post("/api/setup/tree", text=text)["root"]], 0
    cut = None
    while waiting:
        node = waiting.pop()
        seen += 1
        cut = node["line"] if node.get("more") else cut
        waiting += [each["node"] for each in node.get("actions", ())]
    assert seen <= 400
    assert cut is not None
    assert server.post("/api/setup/tree", text=text, line=cut)["root"]["actions"]


def test_the_cost_is_that_of_the_command(server):
    found = server.post("/api/setup/cost", text=(EXAMPLES / "T1.toml").read_text())
    assert found["fits"]
    assert found["first"] is None
    assert found["memory_bytes"] > 20e6
    assert found["cuts"] == []
    wrong = server.refused("/api/setup/cost", text=POLARISED.replace("AhAd", "QX"))
    assert "spot.ip: range, position 0" in wrong


def test_a_long_curve_is_thinned(server, monkeypatch):
    monkeypatch.setattr("spewy.web.jobs.MOST_POINTS", 3)
    with Session(parsed_job(POLARISED), server.folder / "polarised") as session:
        session.solve()
    whole = progress_of(server.folder / "polarised").curve
    thinned = server.progress("polarised")["solve"]["curve"]
    assert len(whole) > 3
    assert len(thinned) == 3
    assert (thinned[0], thinned[-1]) == (list(whole[0]), list(whole[-1]))
