"""Spots of PioViewer, TexasSolver and WASM Postflop: their trees, there and back, and what is told about bad lines."""

import json
from pathlib import Path

import naive_foreign_trees as naive
import pytest

from spewy.bridges.bets import bets_of
from spewy.bridges.spots import FORMATS, read_spot, write_spot
from spewy.errors import InputError
from spewy.game.ranges import parse_range
from spewy.game.tree import tree_json
from spewy.job.job import Job

FOREIGN = Path(__file__).parents[2] / "data" / "foreign"
EXAMPLES = sorted(path for path in FOREIGN.glob("*/*"))
TREES = {
    "pioviewer": naive.pioviewer_tree,
    "texassolver": naive.texassolver_tree,
    "postflop": naive.postflop_tree,
}
MISSING = {"board": "Qs Jh 2h 8c", "oop": "AA,KK", "ip": "QQ,JJ"}
"""Values of a spot that a file of configurations does not have."""


def content(path):
    return path.read_bytes().decode("utf-8")


def read(path):
    changes = MISSING if path.stem == "02-configurations" else None
    return read_spot(content(path), path.name, changes)


def test_there_are_ten_examples_of_each_format():
    assert {name: sum(path.parent.name == name for path in EXAMPLES) for name in FORMATS} == dict.fromkeys(
        FORMATS, 10
    )


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_tree_of_a_spot_is_that_of_its_program_there_and_back(path):
    spot = read(path)
    job = Job.of(spot.data)
    program = path.parent.name
    tree = tree_json(job.betting_tree)["root"]
    boards = (MISSING["board"].replace(" ", ""),) if path.stem == "02-configurations" else ()
    assert tree == TREES[program](content(path), *boards)
    for other in dict.fromkeys((program, "pioviewer")):
        if other == "texassolver" and job.tree_config.lines:
            with pytest.raises(InputError, match=r"tree\.lines: expected bet sizes"):
                write_spot(job, other)
            continue
        text, _ = write_spot(job, other)
        back = Job.of(read_spot(text, "back").data)
        assert tree_json(back.betting_tree)["root"] == tree
        assert (back.board, back.pot, back.spot.stack) == (job.board, job.pot, job.spot.stack)
        assert [
            (ours.weights == theirs.weights).all()
            for ours, theirs in zip(job.ranges, back.ranges, strict=True)
        ] == [
            True,
            True,
        ]
        assert back.tree_config.rake.of(100.0) == job.tree_config.rake.of(100.0)


def test_piosolvers_own_file_has_the_tree_of_its_boxes():
    """PioSOLVER wrote the lines below the boxes of this file, which comes with the program `pious`."""
    pious = pytest.importorskip("pious")
    file = Path(pious.__file__).parent / "pio" / "resources" / "tree_building" / "25bbHU-2sizes.txt"
    text = file.read_text()
    head = "".join(line for line in text.splitlines(keepends=True) if line.startswith("#"))
    whole, boxes = (Job.of(read_spot(each, "file").data) for each in (text, head))
    assert whole.tree.lines is None
    assert len(bets_of(whole.tree_config)) == 332
    assert tree_json(whole.betting_tree) == tree_json(boxes.betting_tree)


def test_a_raise_of_three_times_is_that_of_piosolver():
    """PioSOLVER: bet 96, raise 2.5x to 240, 456, 780; half of 910 chips is the threshold of 455 chips."""
    text = "#Range0#AA\n#Range1#KK\n#Board#Qs Jh 2h\n#Pot#185\n#EffectiveStacks#910\n"
    text += "".join(
        f"#FlopConfig{seat}.BetSize#52\n#FlopConfig{seat}.RaiseSize#2.5x\n" for seat in ("", "IP")
    )
    bets = bets_of(Job.of(read_spot(text, "text").data).tree_config)
    assert [bets[line] for line in ("", "r96", "r96r240", "r96r240r456")] == [(96,), (240,), (456,), (780,)]
    bets = bets_of(Job.of(read_spot(f"{text}#AllinThreshold#50\n", "text").data).tree_config)
    assert bets["r96r240"] == (910,)


def told(text, **changes):
    return list(read_spot(text, "spot.txt", changes or None).notes)


PIO = "#Range0#AA\n#Range1#KK\n#Board#Qs Jh 2h 8c 3d\n#Pot#100\n#EffectiveStacks#200\n"
TEXAS = "set_pot 100\nset_effective_stack 200\nset_board Qs,Jh,2h,8c,3d\nset_range_oop AA\nset_range_ip KK\n"
QUIET = "set_bet_sizes oop,river,allin\nset_bet_sizes ip,river,allin\n"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "#RiverConfig.BetSize#50 foo 75",
            "line 6: RiverConfig.BetSize: expected a size such as 33, 20c, e or a, found 'foo'; left out",
        ),
        ("#RiverConfig.Be", "line 6: expected #Key#Value, found '#RiverConfig.Be'; left out"),
        ("#Pot#60", "line 6: Pot is 60 here, and 100 on line 4; this line counts"),
        ("#Board#Qs Jx", "line 6: Board: "),
        ("#ForceOOPBet#True", "line 6: ForceOOPBet has no counterpart: oop may check, too"),
        ("#ICM.Enabled#True", "line 6: ICM.Enabled has no counterpart: payoffs are chips"),
        ("#Rake.Fraction#0.05", "Rake.Fraction has no effect without Rake.Enabled#True; the job has no rake"),
        ("#CapPerStreet#3\\n3\\n3", "caps have no effect without CapEnabled#True; the job has none"),
        ("#CapPerStreet#3\\n3", "line 6: CapPerStreet: expected a number for each round"),
        ("#Strange.Key#7", "line 6: Strange.Key has no counterpart; left out"),
        (
            f"set_range OOP {'1 ' * 1325}",
            "line 6: set_range OOP: range: expected 1326 numbers, found 1325; left out",
        ),
        ("set_pot 10 10 60", "line 6: set_pot: expected a spot where nobody has bet yet"),
        (
            "set_eff_stack 20 0",
            "line 6: set_eff_stack: expected a number of at least 0, found '20 0'; left out",
        ),
        ("eliminate_path r:0:b50", "line 6: the command eliminate_path has no counterpart; left out"),
        ("add_line 0 500", "line 6: add_line: place 2: "),
    ],
)
def test_a_bad_line_of_pioviewer_is_told_and_the_rest_is_read(line, words):
    notes = told(f"{PIO}{line}\n#RiverConfigIP.BetSize#75\n")
    assert len(notes) == 1 + ("add_line" in line)
    assert notes[0].startswith(words)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "set_bet_sizes oop,river,bet,50,7x",
            "line 8: set_bet_sizes oop,river,bet: expected a number, found '7x'; left out",
        ),
        (
            "set_bet_sizes oop,riv",
            "line 8: set_bet_sizes: expected a player, a round, bet, raise, donk or allin",
        ),
        (
            "set_bet_sizes oop,river,bet",
            "line 8: set_bet_sizes oop,river,bet: expected sizes in percent of the pot",
        ),
        ("set_pot", "line 8: set_pot: expected a value, found the end of the line; left out"),
        (
            "set_effective_stack 300",
            "line 8: set_effective_stack is 300 here, and 200 on line 2; this line counts",
        ),
        (
            "set_rnge_oop AA",
            "line 8: expected a command of TexasSolver, found 'set_rnge_oop' (nearest: set_range_oop)",
        ),
        ("dump_result x.json", "line 8: dump_result has no counterpart: spewy solve keeps the strategy"),
        ("set_range_oop AA,KQs:2x", "line 8: set_range_oop: range, "),
        (
            f"set_range_ip {'0.5,' * 1325}",
            "line 8: set_range_ip: range: expected 1326 numbers, found 1325; left out",
        ),
    ],
)
def test_a_bad_line_of_texassolver_is_told_and_the_rest_is_read(line, words):
    (note,) = told(f"{TEXAS}{QUIET}{line}\n")
    assert note.startswith(words)


def test_a_console_that_adds_all_ins_is_told():
    (note,) = told(f"{TEXAS}set_bet_sizes oop,river,bet,50\nset_bet_sizes oop,river,allin\n")
    assert note.startswith("no all-in for ip on the river")


def postflop(**changes):
    found = json.loads(content(FOREIGN / "postflop" / "01-desktop.json"))
    return json.dumps({**found, "config": found["config"] | changes}, indent=2)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"oopTurnBet": "50, 7q"},
            "line 12: oopTurnBet: expected a size such as 33, 20c, e or a, found '7q'; left out",
        ),
        ({"oopTurnBet": 50}, "line 12: oopTurnBet: expected a text, found 50; left out"),
        ({"rakePercent": -1}, "line 8: rakePercent: expected a number of at least 0, found -1; left out"),
        ({"mystery": 1}, "line 30: mystery has no counterpart; left out"),
        ({"rakePercent": 5}, "line 9: a cap of 0 chips takes no rake"),
        ({"addedLines": "X-X-B9x"}, "addedLines, 'X-X-B9x': "),
        (
            {"removedLines": "X-X"},
            "removedLines, 'X-X': a tree here always has checks, calls and folds; found 'X'",
        ),
    ],
)
def test_a_bad_key_of_postflop_is_told_and_the_rest_is_read(changes, words):
    text = postflop(**changes)
    notes = told(text)
    assert notes
    assert notes[0].split(": ", 1)[-1].startswith(words.split(": ", 1)[-1])
    if words.startswith("line"):
        number = int(notes[0].split(":")[0].removeprefix("line "))
        assert json.dumps(next(iter(changes)))[1:-1].lower()[:4] in text.splitlines()[number - 1].lower()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "hello",
            "spot.txt: expected a spot of PioViewer, TexasSolver, WASM Postflop or Desktop Postflop, found another",
        ),
        (PIO.replace("#Board#Qs Jh 2h 8c 3d\n", ""), "spot.txt: expected the board, found none"),
        (
            "#Range0#AA\n#Ran",
            "spot.txt: expected the board, the pot, the stack, ip's range, found none (line 2: expected",
        ),
        (
            TEXAS.replace("set_pot 100\n", "set_pot ten\n"),
            "the pot, found none (line 1: set_pot: expected a number",
        ),
        ("#Type#Limit\n" + PIO, "spot.txt: line 1: Type: expected NoLimit, found 'Limit'"),
        (postflop()[:-200], "expected JSON, found: "),
        (
            '{"a": 1}',
            "spot.txt: expected a configuration of WASM Postflop with startingPot, found other JSON",
        ),
        (
            '{"actions": [], "childrens": {}}',
            "found a solve of TexasSolver; `spewy compare FOLDER FILE` reads it",
        ),
        ('{"version": 2, "name": "ranges", "data": []}', "spot.txt: expected a file of configurations"),
        ("{" * 3000, "expected JSON"),
    ],
)
def test_what_no_job_can_be_made_of(text, words):
    with pytest.raises(InputError, match=r"^spot\.txt") as error:
        read_spot(text, "spot.txt")
    assert words in str(error.value)


def test_numbers_of_a_script_that_say_the_range_of_its_box_leave_the_groups():
    spot = read(FOREIGN / "pioviewer" / "10-lines.txt")
    assert (spot.data["spot"]["oop"], spot.data["spot"]["ip"]) == ("AA,KK", "QQ,JTs")
    assert spot.data["tree"]["lines"] == ["cr20", "cr41r112r300", "r300", "r41r112r300"]


def test_decimal_amounts_are_big_blinds():
    spot = read_spot(TEXAS.replace("100", "5.5").replace("200", "97.5") + QUIET, "spot")
    job = Job.of(spot.data)
    assert (job.unit, job.pot, job.tree_config.stack) == ("bb", 550, 9750)
    assert "rounds them in its own way" in spot.notes[-1]


def test_values_of_the_reader_replace_those_of_the_text():
    data = read_spot(PIO, "spot", {"board": "Ks 7h 2d", "oop": "QQ"}, "mine").data
    assert (data["name"], data["spot"]["board"], data["spot"]["oop"]) == ("mine", "Ks 7h 2d", "QQ")
    assert set(data["bets"]) == {"flop", "turn", "river"}


def test_locks_and_foreign_sizes_are_told_when_a_job_is_written():
    data = read_spot(PIO + "#RiverConfig.BetSize#50\n", "spot").data
    data["tree"] = {"force_allin": 0.8}
    data["lock"] = ["x: check"]
    text, notes = write_spot(Job.of(data), "pioviewer")
    assert notes == [
        "lock 1: PioViewer's text has no locks",
        "PioViewer's boxes cannot say this tree; add_line, below them, lists its bets",
    ]
    assert "\nadd_line 200\nbuild_tree\n" in text
    _, notes = write_spot(Job.of(data), "texassolver")
    assert notes[-1] == "the tree of the script differs from that of the job"
    assert parse_range(data["spot"]["oop"]).combos == 6
    with pytest.raises(InputError, match="expected a no-limit spot"):
        write_spot(Job.of({"name": "Kuhn", "game": {"file": "kuhn"}}), "postflop")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_text_that_ends_anywhere_is_read_or_refused_in_a_line(path):
    text = content(path)
    refusals = []
    for part in range(1, 12):
        try:
            Job.of(read_spot(text[: len(text) * part // 12], "cut", MISSING).data)
        except InputError as error:
            refusals.append(str(error))
    assert all("cut" in refusal and "\n" not in refusal for refusal in refusals)


def test_other_pots_and_stacks_keep_the_rules_of_the_program():
    """A threshold of TexasSolver depends on the pot: 0.67 of 100 + 200 chips is 201, half of the pot and 101 of 200."""
    script = f"{TEXAS}set_bet_sizes oop,river,bet,50,51,52\n"
    for pot, stack, bets in (
        (None, None, (50, 51, 52)),
        (200, 200, (100, 200)),
        (200, 1000, (100, 102, 104)),
    ):
        changes = {key: value for key, value in (("pot", pot), ("stack", stack)) if value}
        assert bets_of(Job.of(read_spot(script, "script", changes).data).tree_config)[""] == bets
    with pytest.raises(InputError, match="expected a pot and a stack above 0, found 0 and 200"):
        read_spot(script.replace("set_pot 100", "set_pot 0"), "script")
