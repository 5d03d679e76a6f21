"""The kinds of cases: what each one runs."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import cli_runs

from spewy.batch.batch import Batch
from spewy.errors import SpewyError
from spewy.game.gamefile import format_game, load_game
from spewy.game.nodes import Node
from spewy.job.job import Job
from spewy.run.sampled_plan import SampledPlan
from spewy.run.walked_cost import lower_bounds
from spewy.run.walked_plan import WalkedPlan

from . import damage as damages
from . import truth
from .case import Case
from .foreign import foreign
from .histories import histories
from .judge import MOST_OF_ERROR, NOT_FORESEEN, Answer, answer_faults
from .mutate import GAMES as GAME_NAMES
from .mutate import odd_job, override
from .pasted import pasted, unordered
from .slumbot import slumbot
from .spots import Data, random_dealt, random_job, random_river, random_toy, random_turn, renamed, scaled
from .tables import HostileDealer
from .templates import GAMES, TEMPLATES, Template
from .text import ODD_NUMBERS, ODD_TEXTS, TOKENS, odd_text, some_text
from .toml import toml

SMALL_BYTES, SMALL_SETS = 64 << 20, 30_000
"""Memory and information sets of a job that is solved; larger ones are estimated and printed only."""


def odd_jobs(case: Case) -> None:
    """A job that may be wrong, through what takes jobs."""
    rng = case.rng
    base = rng.choice((random_river, random_river, random_river, random_turn, random_toy, _known_job))(rng)
    job = case.write("job.toml", odd_job(rng, base))
    overrides = [override(rng) for _ in range(rng.choice((0, 0, 0, 1, 2)))]
    _try_job(case, job, overrides)


def dealt_jobs(case: Case) -> None:
    """A whole game whose boards are dealt, by a job that is right or may be wrong; what is in its folder, then."""
    rng = case.rng
    data = random_dealt(rng)
    right = rng.random() < 0.4
    job = case.write("job.toml", toml(data) if right else odd_job(rng, data))
    overrides = [] if right else [override(rng) for _ in range(rng.choice((0, 0, 1)))]
    _try_job(case, job, overrides)
    if not right or case.faults:
        return
    if not Path("out").exists():
        solved = case.spewy("solve", job, "--out", "out")
        case.expect(solved.code == 0, "expected a job that is right to be solved")
    fewer, smaller = {"boards": {"flop": 2}, "rows": {"flop": 2}}, {"game": {"file": "kuhn"}, "rows": {}}
    other = data | rng.choice((fewer, smaller))
    found = case.spewy("solve", case.write("other.toml", toml(other)), "--out", "out")
    case.expect(found.code == 2, "expected a folder of another job to be refused")
    _damage_dealt(case, job)


def _damage_dealt(case: Case, job: str) -> None:
    """Return the commands that look at a damaged folder, and go on with it."""
    rng, folder = case.rng, Path("out")
    others = [case.templates / other.name for other in TEMPLATES]
    for inside in rng.sample((folder, folder / "play"), rng.choice((0, 1, 2))):
        case.note(f"{inside}: {damages.damage(rng, inside, others)}")
    commands = (["show"], ["status"], ["check"], ["exploit", "--workers", "1"], ["drop", "--regrets"])
    for name, *rest in rng.sample(commands, 2):
        case.spewy(name, folder, *rest, *(() if name == "check" else rng.choice(((), ("--json",)))))
    case.spewy("solve", job, "--out", folder, "--set", "solve.max_sweeps=250", *rng.choice(([], ["--again"])))


def odd_games(case: Case) -> None:
    """A job with a ``.game`` file that may be wrong."""
    rng = case.rng
    name = rng.choice(GAME_NAMES[:6])
    lines = format_game(load_game(name)).splitlines()
    for _ in range(rng.choice((1, 1, 2, 3))):
        place = rng.randrange(len(lines))
        change = rng.choice((_odd_line, _odd_line, _odd_line, _odd_number, _odd_number, _no_line))
        lines[place] = change(rng, lines[place])
    case.write("odd.game", "\n".join(lines))
    data = random_river(rng) if name in ("doyle", "upac") and rng.random() < 0.7 else random_toy(rng)
    data["game"] = {"file": "odd.game"}
    if rng.random() < 0.1:
        data["bets"] = {"preflop": {"bet": some_text(rng, "sizes")}}
    _try_job(case, case.write("job.toml", toml(data)), [])


def right_jobs(case: Case) -> None:
    """A job that is right is solved, and what comes out is true; now and then of a twin too."""
    data = random_job(case.rng)
    found = _solve_right(case, data, "one")
    if found is None:
        return
    job = Job.of(data)
    if case.rng.random() < 0.5:
        _look_at(case, job, "one", found)
    if job.spot is None or case.rng.random() > 0.5:
        return
    change = case.rng.choice((_in_double, _in_double, renamed, lambda rng, data: scaled(data), _stored))
    twin = change(case.rng, data)
    other = _solve_right(case, twin, "other")
    if other is not None:
        case.faults += truth.same_value(job, found, other)


def odd_arguments(case: Case) -> None:
    """Odd lines, boards, options and files for what looks at a folder."""
    rng = case.rng
    template = rng.choice(TEMPLATES)
    command = rng.choice(("show",) * 6 + ("report",) * 3 + ("exploit", "check", "export", "drop", "solve"))
    folder: object = case.templates / template.name
    if command in ("drop", "solve"):
        folder = case.copy(template.name)
    case.spewy(*_shuffled(rng, _arguments(rng, command, folder, template)))


def spelled_lines(case: Case) -> None:
    """Lines and locks in words; and with *bet* as the last word where a raise is meant, or *raise* where a bet is."""
    rng = case.rng
    named = ("river", "raked", "turn", "kuhn", "leduc")
    template = rng.choice([each for each in TEMPLATES if each.name in named])
    job = case.write("job.toml", template.text)
    node, words = _spelled_line(rng, Job.load(job).betting_tree.root)
    case.note(f"{template.name}: {node.line!r} as {words!r}")
    line = rng.choice((" ", ", ")).join(words)
    cards = next((board for known, board in template.lines if "/" in known), "")
    board = ["--board", cards] if "/" in node.line else []
    shown = case.spewy("show", case.templates / template.name, "--line", line, *board)
    line_shown = f"line {node.line or 'none yet'}" in re.sub(" +", " ", shown.out)
    case.expect(shown.code == 0 and line_shown, f"expected the line {node.line!r}")
    estimate = ("estimate", job, "--set", "solve.leaves=live", "--lock")
    locked = case.spewy(*estimate, f"{line}: {rng.choice(_spellings(node))}")
    case.expect(locked.code == 0, "expected a lock")
    faces_bet = any(action.kind == "call" for action in node.actions)
    names = ("bet", "b", "Bet") if faces_bet else ("raise", "Raise")
    amounts = ["", *(str(action.amount) for action in node.actions if action.amount), "50%"]
    wrong = f"{rng.choice(names)} {rng.choice(amounts)}".strip()
    for answer in (
        case.spewy("show", case.templates / template.name, "--line", f"{line} {wrong}", *board),
        case.spewy(*estimate, f"{line}: {wrong}"),
    ):
        why = f"there is {'a' if faces_bet else 'no'} bet to raise"
        case.expect(answer.code == 2 and answer.error.endswith(why), f"expected {wrong!r} to be refused")


def _spelled_line(rng: Random, node: Node) -> tuple[Node, list[str]]:
    """Walk to a random decision; the decision, and the actions on the way to it in some spelling."""
    words: list[str] = []
    for _ in range(rng.choice((0, 1, 2, 2, 3, 4))):
        number = rng.randrange(len(node.actions))
        following = node.children[number]
        if following.kind == "chance":
            following = following.children[0]
        if following.kind != "decision":
            break
        words.append(rng.choice(_spellings(node, number)))
        node = following
    if "/" in node.line[-1:]:
        words.append("/")
    return node, words


def _spellings(node: Node, number: int | None = None) -> list[str]:
    """Spellings of an action; None: of all actions of a decision."""
    if number is None:
        return [text for i in range(len(node.actions)) for text in _spellings(node, i)]
    action = node.actions[number]
    if not action.amount:
        return {"fold": ["f", "fold"], "check": ["x", "k", "c", "check"], "call": ["c", "call"]}[action.kind]
    verb = "raise" if any(each.kind == "call" for each in node.actions) else "bet"
    sized = [each for each in node.actions if each.amount]
    texts = [action.label, f"{verb} {action.amount}", f"{verb} to {action.amount}", f"r {action.amount}"]
    texts += ["a", "all-in", f"a{action.amount}"] if action.kind == "allin" else []
    others = [each for each in sized if each.kind != "allin"] or sized
    return texts + ([verb, verb.title(), "r"] if others == [action] else [])


def odd_boards(case: Case) -> None:
    """``spewy buckets`` of odd boards, ranges and options."""
    rng = case.rng
    board = rng.choice((*("Ks 9d 6h 3c 2s",) * 5, *("Ks 9d 6h 3c", "Ks 9d 6h") * 3, ""))
    if rng.random() < 0.7:
        board = odd_text(rng, board, "board")
    arguments = ["buckets", board]
    for name, values in (
        ("--rows", ("1", "2", "5", "1326", "0", "-1", "x", str(2**70))),
        ("--range", (some_text(rng, "range"), odd_text(rng, "QQ+,AKs:0.5", "range"))),
        ("--clustering", ("ward", "k-means", "strength-k-means", "equity-quantiles", "", "wards")),
    ):
        if rng.random() < 0.4:
            arguments += [name, rng.choice(values)]
    case.spewy(*_shuffled(rng, [*arguments, *rng.choice(([], ["--json"]))]))


RESTORED = "restored a damaged meta page"
"""Part of the warning about a file whose damaged meta page was restored; only its last save may be lost."""


def damage(case: Case) -> None:
    """A damaged folder through what looks at it, goes on with it, and audits it."""
    rng = case.rng
    template = rng.choice(TEMPLATES)
    folder = case.copy(template.name)
    others = [case.templates / other.name for other in TEMPLATES]
    done = damages.damage(rng, folder, others)
    case.note(f"{template.name}: {done}")
    audit = case.spewy("check", folder)
    for command in rng.sample(("show", "exploit", "export", "report", "show"), rng.choice((1, 2))):
        arguments = _right_arguments(rng, command, template)
        found = case.spewy(command, folder, *arguments)
        if damages.rewritten(done):
            continue
        right = cli_runs.spewy(command, case.templates / template.name, *arguments)
        if found.code == 0:
            same = command == "export" or found.out == right.stdout
            case.expect(same, f"expected what {template.name} holds, or an error")
        else:
            told = audit.code != 0 or RESTORED in audit.err
            case.expect(told or found.code == right.exit_code, "expected check to tell of the damage")
    if rng.random() < 0.4:
        _go_on(case, template, folder)


def foreign_folders(case: Case) -> None:
    """A folder that is not what a command expects, given to some of the commands that take folders."""
    rng = case.rng
    template = rng.choice((*TEMPLATES, *GAMES, *GAMES, *GAMES))
    folder = case.copy(template.name)
    others = [case.templates / other.name for other in (*TEMPLATES, *GAMES)]
    for _ in range(rng.choice((1, 1, 2)) if folder.is_dir() else 0):
        if folder.is_dir() and any(folder.iterdir()) and list(folder.rglob("manifest.json")):
            case.note(f"{template.name}: {foreign(rng, folder, others)}")
    job = case.write("job.toml", template.text)
    settings = [*template.settings, "--set", "solve.max_sweeps=3"]
    line = "" if template.name == "flop" else "cc/"  # a report over all 1,755 flops takes minutes
    for command in rng.sample(
        (
            ["show", folder], ["status", folder], ["check", folder], ["export", folder, "out.csv"],
            ["exploit", folder, "--workers", "1"] if template in GAMES else ["exploit", folder],
            ["report", folder, "--line", line], ["compare", folder, others[0]],
            ["drop", folder, "--regrets"], ["drop", folder, "--round", "river"], ["package", "acpc", folder, "bot"],
            ["solve", job, "--out", folder, *settings, *rng.choice(([], ["--again"]))],
            ["solve", job, "--out", folder / "play", *settings],
            ["match", folder, "call", "--hands", "1", "--workers", "1", "--resolve", "never"],
        ),
        3,
    ):  # fmt: skip
        case.spewy(*command)


def bots(case: Case) -> None:
    """A bot at the table of a dealer that sends odd lines: the bot plays, or says in one line what was wrong."""
    rng = case.rng
    folder = case.templates / rng.choice(("leduc", "dealt"))
    dealer = HostileDealer(rng)
    case.note(f"dealer: {b''.join(dealer.said)!r}"[:3000])
    options = rng.choice(([], ["--log", "said.txt"], ["--seed", "7"], ["--resolve", "always"]))
    try:
        case.table("play", "acpc", "127.0.0.1", dealer.port, "--lockers", folder, "--patience", "2", *options)
    finally:
        dealer.close()


def matches(case: Case) -> None:
    """Matches of all kinds of bots, and of words that give no bot."""
    rng = case.rng
    leduc, dealt, turn = (str(case.templates / name) for name in ("leduc", "dealt", "turn"))
    words = ("call", "raise", "random", "equity", "fold", leduc, dealt)
    odd = ("cmd:true", "cmd:", "cmd:'", "nobody", turn, "", "cmd:sh -c 'exit 3'")
    first, second = (rng.choice(words if rng.random() < 0.8 else odd) for _ in range(2))
    arguments: list[object] = ["match", first, second, "--hands", rng.choice((1, 2, 5)), "--workers", "1"]
    if rng.random() < 0.7:
        games = ("leduc", "leduc", "kuhn", "nothing", "holdem.limit.2p.reverse_blinds")
        arguments += ["--game", rng.choice(games)]
    for options in (["--no-aivat"], ["--seeds", "3"], ["--out", "logs"], ["--resolve", "never"], ["--json"]):
        if rng.random() < 0.3:
            arguments += options
    case.table(*_shuffled(rng, arguments))


def logs_of_others(case: Case) -> None:
    """The logs of a match: the match goes on with the same bots to the same score, and with no others."""
    rng = case.rng
    template = rng.choice([each for each in (*TEMPLATES, *GAMES) if each.name in ("leduc", "dealt")])
    folder = case.copy(template.name)
    options = {name: rng.choice(values) for name, values in BOT_OPTIONS.items()}
    command = ["match", "--hands", rng.choice((2, 3)), "--workers", "1", "--out", "logs", "--json"]

    def played(bot: str = "call", **others: str) -> Answer:
        now = options | {f"--{name}": value for name, value in others.items()}
        return case.spewy(*command, folder, bot, *(part for pair in now.items() for part in pair))

    before = played()
    case.expect(before.code == 0, "expected a match that is right to be played")
    if before.code:
        return
    log = Path("logs", rng.choice(("seed-1.log", "seed-1-swapped.log")))
    text = log.read_text()
    if rng.random() < 0.7:
        log.write_text(text[: rng.randrange(text.index("STATE:1:"), len(text))])
    if rng.random() < 0.5:
        after = played()
        same = after.code == 0 and after.json()["score"] == before.json()["score"]
        case.expect(same, "expected the same bots to go on to the same score")
    name = rng.choice((*BOT_OPTIONS, "bot", "solve", "solve", "head"))
    if name == "bot":
        refused = played("call=raise")
    elif name == "solve":
        more = ["--set", f"solve.max_sweeps={4 if template.name == 'leduc' else 300}"]
        again = rng.choice((["--again"], more, [*more, "--again"]))
        job = case.write("job.toml", template.text)
        case.expect(
            case.spewy("solve", job, "--out", folder, *template.settings, *again).code == 0,
            "expected a solve",
        )
        refused = played()
    elif name == "head":
        log.write_text(
            "".join(line for line in log.read_text().splitlines(True) if not line.startswith("# bot "))
        )
        refused = played()
    else:
        others = [value for value in BOT_OPTIONS[name] if value != options[name]]
        refused = played(**{name.removeprefix("--"): rng.choice(others)})
    said = "does not say which bots played" if name == "head" else "has hands of another bot"
    case.expect(
        refused.code == 2 and said in refused.error, f"expected hands of another bot to be refused ({name})"
    )


BOT_OPTIONS = {
    "--resolve": ("never", "off-tree"),
    "--safe": ("mixed", "cfr-d"),
    "--budget": ("0.5", "1", "2.25"),
    "--threads": ("1", "2"),
    "--menu": ("lean", "job"),
    "--flops": ("stored", "sampled"),
}
"""Options of a bot and values of them, with any of which a bot plays Leduc by its stored strategy."""


def processes(case: Case) -> None:
    """A command in a process of its own, in surroundings that are not as usual."""
    rng = case.rng
    job = case.write("job.toml", cli_runs.POLARISED)
    template = case.templates / "river"
    command: list[object] = rng.choice(
        (
            ["show", template, "--json"], ["show", template], ["check", template], ["export", template, "out.csv"],
            ["solve", job, "--json"], ["solve", job, "--out", "x/y"], ["tree", job], ["buckets", "Ks 9d 6h"],
            ["--help"],
            ["show", "nothing"], ["solve", "/dev/stdin"], ["tree", "/dev/null"], ["estimate", "."], [],
        )
    )  # fmt: skip
    around, codes = rng.choice(SURROUNDINGS)
    answer = case.process(around, *command)
    case.count(answer)
    if 1 not in codes:
        case.faults += answer_faults(answer) if command else ()
        return
    case.expect(answer.code in codes, f"expected exit code {codes}, found {answer.code}")
    case.expect("Traceback" not in answer.err and NOT_FORESEEN not in answer.err, "expected no traceback")
    case.expect(len(answer.error) <= MOST_OF_ERROR, "expected a short error")


SURROUNDINGS = (
    ('exec "$@"', (0, 2)),
    ('exec "$@" <&-', (0, 2)),
    ('exec "$@" >&-', (0, 1, 2)),
    ('exec "$@" 2>&-', (0, 1, 2)),
    ('exec "$@" <&- >&- 2>&-', (0, 1, 2)),
    ('exec "$@" >/dev/full', (0, 1, 2)),
    ('exec "$@" 2>/dev/full', (0, 1, 2)),
    (
        'cd "$(d=$(printf %0250d); for i in 1 2 3 4 5 6 7 8 9; do mkdir $d; cd -P $d; done; pwd)"; exec "$@"',
        (0, 1, 2),
    ),
    ('mkdir gone; cd gone; rmdir ../gone; exec "$@"', (0, 1, 2)),
    ('LC_ALL=C LANG=C PYTHONUTF8=0 exec "$@"', (0, 2)),
    ('env -u HOME -u PATH TZ=:/dev/null COLUMNS=1 LINES=0 TERM=none "$@"', (0, 2)),
    ('ulimit -n 12; exec "$@"', (0, 1, 2)),
    ('ulimit -f 8; exec "$@"', (0, 1, 2)),
    ('umask 777; exec "$@"', (0, 1, 2)),
)
"""Lines of shell, and the exit codes that may come out."""

KINDS: tuple[tuple[Callable[[Case], None], float], ...] = (
    (odd_jobs, 42),
    (odd_games, 8),
    (dealt_jobs, 8),
    (right_jobs, 15),
    (odd_arguments, 12),
    (spelled_lines, 4),
    (odd_boards, 4),
    (pasted, 8),
    (unordered, 1),
    (damage, 12),
    (foreign_folders, 6),
    (bots, 4),
    (matches, 0.5),
    (logs_of_others, 2),
    (slumbot, 2),
    (histories, 3),
    (processes, 1),
)
"""Kinds of cases by weight."""


def _known_job(rng: Random) -> Data:
    """A job with all that a turn may have."""
    sizes = {"bet": "60%, e, a", "raise": "2.5x"}
    return {
        "name": "full",
        "game": {"file": "holdem.nolimit.2p.reverse_blinds"},
        "spot": {
            "board": "Qs Jh 2h 8c", "pot": 200, "stack": 900, "oop": "AA,AKs:0.5,QhQd", "ip": "KK-TT,AhKh:0.25",
        },
        "bets": {"turn": {"oop": dict(sizes), "ip": dict(sizes)}, "river": {**sizes, "donk": "50%"}},
        "tree": {"add_allin": 1.5, "force_allin": 0.15, "merge": 0.1},
        "rows": {"turn": rng.choice((2, "hands")), "river": "hands"},
        "solve": {"variant": "dcfr", "target": "0.3%", "max_sweeps": 5, "workers": 2, "memory": "1 GiB"},
    }  # fmt: skip


def _odd_line(rng: Random, line: str) -> str:
    return odd_text(rng, line)


def _odd_number(rng: Random, line: str) -> str:
    """One number of a line is another."""
    words = line.split()
    places = [i for i, word in enumerate(words) if word.isdigit()]
    if places:
        words[rng.choice(places)] = str(rng.choice((0, 1, 2, 3, 4, 5, 10, 13, 52, 53, *ODD_NUMBERS)))
    return " ".join(words)


def _no_line(rng: Random, line: str) -> str:
    return rng.choice(("", f"{line}\n{line}", f"# {line}"))


def _try_job(case: Case, job: str, overrides: Sequence[str]) -> None:
    """A job through estimate and tree; what is small enough is solved, and what is refused is by all."""
    settings = [part for text in overrides for part in ("--set", text)]
    estimated = case.spewy("estimate", job, *settings, "--json")
    if case.rng.random() < 0.3:
        case.spewy("tree", job, *settings, *case.rng.choice(([], ["--json"])))
    jobs = _jobs_of(job, overrides)
    if jobs is None:
        solved = case.spewy("solve", job, *settings)
        case.expect(solved.code == 2, "expected a job that is refused to be refused by solve")
        return
    if any(each.sampled for each in jobs):
        _try_dealt(case, job, settings, estimated)
        return
    if len(jobs) > 4 or not all(map(_is_small, jobs)):
        return
    solved = _solve(case, job, settings, jobs)
    if estimated.code == 2 and "boards" not in estimated.error:
        case.expect(solved.code == 2, "expected what estimate refuses to be refused by solve")


def _try_dealt(case: Case, job: str, settings: list[str], estimated: Answer) -> None:
    """A job whose boards are dealt: a few deals, unless it is large or refused."""
    if estimated.code == 0 and not _few_boards(Job.load(job, settings[1::2])):
        return
    settings = [*settings, "--set", "solve.max_sweeps=200"]
    if case.rng.random() < 0.2:
        settings += ["--set", f"solve.memory={case.rng.choice(TOKENS['memory'])}"]
    solved = case.spewy("solve", job, *settings, "--out", "out", "--json")
    if estimated.code == 2:
        case.expect(solved.code == 2, "expected what estimate refuses to be refused by solve")
    if solved.code or case.faults:
        return
    case.faults += truth.dealt_lies(Job.load(job, settings[1::2]), solved.json())
    if case.rng.random() < 0.3:
        running = case.spewy("status", "out", "--json").json()["running"]
        case.expect(running is False, "expected an ended solve")
        measured = case.spewy("exploit", "out", "--workers", "1", "--json")
        expected = 0 if solved.json()["sweeps"] else 2  # no time for a single deal leaves nothing to measure
        case.expect(measured.code == expected, "expected to measure what was solved")


def _few_boards(job: Job) -> bool:
    """Whether its classes and rows are made, and its deals are walked, in little time."""
    cost = SampledPlan.of(job).cost
    return cost.memory_bytes <= SMALL_BYTES and cost.making_seconds < 1 and cost.seconds_per_deal < 0.01


def _jobs_of(job: str, overrides: Sequence[str]) -> list[Job] | None:
    """The jobs of a file; None where it is refused, and where something goes wrong, which ``solve`` then tells."""
    with suppress(Exception):
        return [entry.job for entry in Batch.load([job], overrides, Path("out")).entries]
    return None


def _is_small(job: Job) -> bool:
    if not job.tree_count.complete or lower_bounds(job).memory_bytes > SMALL_BYTES:
        return False
    if (job.solve.iterations or 1) > 50:
        return False
    try:
        cost = WalkedPlan.counted(job, streaming=False).cost
    except SpewyError:
        return True  # it is refused, with little work
    most = SMALL_SETS if job.live and not job.one_program else SMALL_SETS // 10
    return cost.memory_bytes <= SMALL_BYTES and cost.information_sets <= most and sum(cost.chunks) <= 3000


def _most_sweeps(job: Job) -> int:
    """Sweeps that take a fraction of a second."""
    if job.one_program:
        return 1
    if job.live:
        return 30
    return 1 if job.solve.integrate == "average" else 2


def _solve(case: Case, job: str, settings: list[str], jobs: list[Job]) -> Answer:
    """Solve what is not refused; a few sweeps of it, and look at it or solve it once more; the first answer."""
    most = min(map(_most_sweeps, jobs))
    if any(each.solve.max_sweeps > most and not each.one_program for each in jobs):
        settings = [*settings, "--set", f"solve.max_sweeps={most}"]
    arguments = ("solve", job, *settings, "--out", "out", "--json")
    solved = case.spewy(*arguments)
    if solved.code or case.faults:
        return solved
    told = solved.json()
    if not isinstance(told, dict):
        case.expect(all(each["error"] is None for each in told), "expected all boards to be solved")
        return solved
    found = Job.load(job, settings[1::2])
    case.faults += truth.lies(found, told)
    chance = case.rng.random()
    if chance < 0.3:
        _look_at(case, found, "out", told)
    elif chance < 0.4:
        again = case.spewy(*arguments)
        same = again.code == 0 and again.json()["sweeps"] == told["sweeps"]
        case.expect(same, "expected to go on at the end")
    return solved


def _solve_right(case: Case, data: Data, folder: str) -> dict[str, Any] | None:
    job = case.write(f"{folder}.toml", toml(data))
    solved = case.spewy("solve", job, "--out", folder, "--json")
    case.expect(solved.code == 0, "expected a job that is right to be solved")
    if case.faults:
        return None
    found: dict[str, Any] = solved.json()
    case.faults += truth.lies(Job.load(job), found)
    return found


def _look_at(case: Case, job: Job, folder: str, solved: dict[str, Any]) -> None:
    """Compare the stored result with the printed one."""
    measured = case.spewy("exploit", folder, "--json")
    case.expect(measured.code == 0, "expected to measure what was solved")
    if measured.code == 0:
        case.faults += truth.same_exploitability(job, solved, measured.json())
    shown = case.spewy("show", folder, "--json")
    if job.betting_tree.root.kind == "decision":
        case.expect(shown.code == 0, "expected to show what was solved")
    if shown.code == 0:
        case.faults += truth.wrong_hands(shown.json())
    if case.rng.random() < 0.1:
        case.expect(case.spewy("export", folder, "out.csv").code == 0, "expected to export what was solved")
        case.expect(case.spewy("check", folder).code == 0, "expected what was solved to be healthy")


def _in_double(_: Random, data: Data) -> Data:
    """The same game by the generic walk in double precision."""
    kept = {key: data["solve"][key] for key in ("target", "check_every")}
    changed = {key: value for key, value in data.items() if key != "rows"}
    return changed | {"solve": kept | {"precision": "double", "max_sweeps": 20}}


def _stored(rng: Random, data: Data) -> Data:
    """The same game by stored chunks, unless it has what they do not know."""
    if "lock" in data:
        return renamed(rng, data) if not data["lock"] else data
    kept = {key: data["solve"][key] for key in ("target", "check_every")}
    changed = {key: value for key, value in data.items() if key != "rows"}
    spot = {key: value for key, value in data["spot"].items() if key != "rake"}
    return changed | {"spot": spot, "solve": kept | {"leaves": "stored", "max_sweeps": 1}}


def _right_arguments(rng: Random, command: str, template: Template) -> list[str]:
    """Arguments of a command after its folder."""
    line, board = rng.choice(template.lines)
    dealt = ["--board", board] if board else []
    match command:
        case "show":
            return ["--line", line, *dealt, *rng.choice(([], ["--json"], ["--all"]))]
        case "report":
            return ["--line", rng.choice(("cc/", "cc", line)), *rng.choice(([], ["--json"]))]
        case "export":
            return [rng.choice(("out.csv", "out.parquet"))]
        case "exploit":
            return rng.choice(([], ["--json"]))
        case _:
            return []


def _arguments(rng: Random, command: str, folder: object, template: Template) -> list[object]:
    """A command line that may be wrong."""
    line, board = rng.choice(template.lines)
    if rng.random() < 0.6:
        line = odd_text(rng, line, "line") if rng.random() < 0.6 else some_text(rng, "line", between="")
    if rng.random() < 0.5:
        board = odd_text(rng, board, "board")
    arguments: list[object] = [command, folder]
    match command:
        case "show" | "report":
            arguments += ["--line", line] + (["--board", board] if board else [])
            if rng.random() < 0.2:
                arguments += ["--target", rng.choice(TOKENS["target"])]
            if command == "report" and rng.random() < 0.2:
                files = ("x.csv", "x.png", "x", "no/x.csv", ".")
                arguments += [rng.choice(("--csv", "--plot")), rng.choice(files)]
        case "export":
            files = ("x.csv", "x.parquet", "x.CSV", "x", ".csv", "no/x.csv", ".", *ODD_TEXTS)
            arguments.append(rng.choice(files))
        case "drop":
            arguments += ["--round", rng.choice(("river", "turn", "flop", "preflop", "rivers", *ODD_TEXTS))]
        case "solve":
            arguments[1:] = [template_job(template, folder), "--out", folder, *template.settings]
            if rng.random() < 0.5:
                arguments += ["--set", override(rng), "--set", "solve.max_sweeps=1"]
            if rng.random() < 0.3:
                more = (["--again"], ["--jobs", "0"], ["--save-every", "nan"], ["--save-every", "0"])
                arguments += rng.choice(more)
    return arguments + rng.choice(([], [], ["--json"]))


def template_job(template: Template, folder: object) -> Path:
    """A template's job file, written where its copy is."""
    return cli_runs.write(Path(str(folder)).parent, template.text, f"{template.name}.toml")


def _shuffled(rng: Random, arguments: list[object]) -> list[object]:
    """Arguments with one lost, doubled, changed or added, now and then."""
    if rng.random() > 0.3:
        return arguments
    place = rng.randrange(1, len(arguments))
    match rng.randrange(4):
        case 0:
            return arguments[:place] + arguments[place + 1 :]
        case 1:
            return arguments[:place] + [arguments[place]] + arguments[place:]
        case 2:
            return arguments[:place] + [odd_text(rng, str(arguments[place]))] + arguments[place + 1 :]
        case _:
            more = ("-v", "--help", "--", "--x", "-", "--json=1", "--set", "\udcff", "--line=", "--all")
            return arguments[:place] + [rng.choice(more)] + arguments[place:]


def _go_on(case: Case, template: Template, folder: Path) -> None:
    """Solve on in a damaged folder, or drop a round."""
    if case.rng.random() < 0.3:
        case.spewy("drop", folder, "--round", "river", "--json")
        return
    job = case.write("job.toml", template.text)
    settings = [*template.settings, "--set", "solve.max_sweeps=3"]
    case.spewy("solve", job, "--out", folder, *settings, "--json", *case.rng.choice(([], ["--again"])))
