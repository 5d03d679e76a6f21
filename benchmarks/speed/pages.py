"""Times and memory of the pages of `spewy serve`, in a real browser and by requests of many clients.

    python -m benchmarks.speed.pages [--folders DIR] [--solves T1,flop-holdem] [--clicks 60] [--seconds 10] [--quick]

The server runs in a process of its own. Without --folders it shows three solves that the benchmark makes first, in
some two minutes: the turn T1, a flop, and the whole game flop-holdem; limit-holdem can be named, too, and takes 7 GiB.
In Chromium (``/usr/bin/chromium``) the benchmark opens the first page and each solve, and clicks along random lines.
The time of a click ends when the browser has drawn the next position. Then it clicks again in a solve that runs and
saves every second; four clients send the requests of these clicks again, 100 requests a second; and 10,000 clients
connect at once. Last, four clients
request these positions as fast as they can from a second server, which has not computed any of them before. Each row of
the table has the limit that the project sets. Every answer must be a position or a plain message, or the benchmark
fails; a time above its limit has a star, and never fails. Clicks above the limit are also printed one by one, with
the positions to which they lead. Without Chromium the benchmark does nothing.
"""

import argparse
import asyncio
import http.client
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from urllib.parse import urlencode, urlsplit

from playwright.sync_api import Browser, Page, Request, sync_playwright

from benchmarks.command import as_command
from benchmarks.paths import EXAMPLES, ROOT
from spewy import Job, solve

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
)
SOLVES = {
    "T1": ("T1", []),
    "flop": ("F1", ["solve.max_sweeps=3"]),
    "flop-holdem": ("flop-holdem", ["solve.max_time=30 s"]),
    "limit-holdem": ("limit-holdem", ["solve.max_time=30 s"]),
    "leduc": ("leduc", ["solve.max_sweeps=20"]),
    "R1": ("R1", []),
}
"""Solves that the benchmark makes, by name: the example job, and changes of its keys."""
WRITING = "running"
"""Folder name of the solve that is still running while the benchmark clicks in it."""
FIRST_PAGE, CLICK_WHILE_WRITING = (1000, 1000), (300, 300)
CLICK = (70, 150)
"""Limits of the median and of the worst time in milliseconds; `FIRST_PAGE`: to show the first page."""
MOST_MIB, MOST_KB = 300, 25
"""Limits: memory of the server, and size of a compressed answer."""
PATIENCE = 300  # seconds after which a page or a process counts as stuck
CLIENTS, PER_SECOND, BURST, SMALL_BURST = 4, 100, 10_000, 400
TAKE = """async (random) => {
  const steps = [...document.querySelectorAll(".stage.here [data-step], .stage.here [data-card]")];
  const open = steps.filter((step) => !step.disabled);
  if (!open.length) return null;
  const moved = new Promise((done) => addEventListener("hashchange", done, { once: true }));
  const started = performance.now();
  open[Math.floor(random * open.length)].click();
  await moved;
  while (document.querySelector("[aria-busy]")) await new Promise((done) => setTimeout(done));
  await new Promise(requestAnimationFrame);
  await new Promise((done) => setTimeout(done));
  const error = document.querySelector("main .error");
  if (error) throw new Error(`${location.hash}: ${error.textContent}`);
  return [performance.now() - started, location.hash];
}"""
"""JavaScript that clicks a random action or card, and returns the milliseconds until the next position is drawn."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--folders",
        type=Path,
        help="folder with the folder of each solve; default: the benchmark makes the solves",
    )
    parser.add_argument("--solves", help="names of the solves to open, with commas between them")
    parser.add_argument("--clicks", type=int, default=60, help="number of clicks in each solve")
    parser.add_argument(
        "--seconds",
        type=float,
        default=10.0,
        help="number of seconds during which four clients send requests at a steady rate",
    )
    parser.add_argument("--quick", action="store_true", help="only R1 and Leduc, few clicks and clients")
    options = parser.parse_args()
    if not CHROMIUM.exists():
        print(f"skipped, since {CHROMIUM} is missing; install Chromium (apt-get install chromium)")
        return
    names, n_pages, n_clients = options.solves or "T1,flop,flop-holdem", 5, BURST
    if options.quick:
        names = options.solves or "R1,leduc"
        options.clicks, options.seconds, n_pages, n_clients = 8, 1.0, 1, SMALL_BURST
    with ExitStack() as stack:
        own = Path(stack.enter_context(TemporaryDirectory()))
        shown = options.folders or own / "solves"
        (own / WRITING).mkdir()
        if options.folders is None:
            make_solves(shown, names.split(","))
        address, server = stack.enter_context(serving(shown, own / WRITING))
        browser = stack.enter_context(chromium())
        print("| what | solve | median ms | worst ms | limit ms |\n|---|---|---|---|---|", flush=True)
        questions = look_around(
            browser, address, server, shown.name, names.split(","), options.clicks, n_pages
        )
        with running_solve(own / WRITING) as folder:
            wait_until_saved(address, folder)
            for solve_name in (folder, f"{shown.name}/{names.split(',')[0]}"):
                times, _ = walk(browser, address, solve_name, options.clicks)
                row("click while a job writes", solve_name, times, CLICK_WHILE_WRITING)
        ask_steadily(address, questions, options.seconds)
        burst(address, questions, n_clients)
        memory(server)
        fresh, _ = stack.enter_context(serving(shown))
        ask_anew(fresh, list(dict.fromkeys(questions)))


def make_solves(folder: Path, names: Sequence[str]) -> None:
    """Solve the jobs ``names``, such as "T1" or "flop" (keys of `SOLVES`), each into a subfolder of ``folder``."""
    for name in names:
        file, changes = SOLVES[name]
        solve(Job.load(EXAMPLES / f"{file}.toml", changes), folder / name)


@contextmanager
def serving(*folders: Path) -> Iterator[tuple[str, int]]:
    """Run ``spewy serve`` until the block ends; yield its address and its process id."""
    with _spewy("serve", *folders, "--port", "0", stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip(), process.pid


@contextmanager
def running_solve(root: Path) -> Iterator[str]:
    """Solve T1 in a subfolder of ``root`` until the block ends, with a save each second.

    Yields:
        The id by which the server names the solve.
    """
    changes = ("--set", "solve.target=0.000001%", "--set", "solve.max_sweeps=1000000")
    with _spewy("solve", EXAMPLES / "T1.toml", "--out", root / "T1", "--save-every", "1", *changes):
        yield f"{root.name}/T1"


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as library:
        browser = library.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


def look_around(
    browser: Browser, address: str, process: int, root: str, names: Sequence[str], n_clicks: int, n_pages: int
) -> list[str]:
    """Print the times of first pages and of clicks in each solve; return the URLs of the requested positions.

    The server, a ``process`` with this number, shows the folder ``root``; its subfolders ``names`` have the solves.
    """
    row("first page", "all", [first_page(browser, address) for _ in range(n_pages)], FIRST_PAGE)
    questions: list[str] = []
    for name in names:
        folder = f"{root}/{name}"
        place = f"{address}#look?{urlencode({'folder': folder})}"
        row("first page", name, [first_page(browser, place) for _ in range(n_pages)], FIRST_PAGE)
        before = processor_seconds(process)
        times, asked = walk(browser, address, folder, n_clicks)
        row("click", name, times, CLICK)
        taken = [1000 * (processor_seconds(process) - before) / max(len(asked), 1)]
        row("processor of the server for a click", name, taken, None)
        questions += asked
    return questions


def first_page(browser: Browser, address: str) -> float:
    """Open the first page with an empty browser cache; return the milliseconds until it is shown."""
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(1000 * PATIENCE)
        started = time.perf_counter()
        page.goto(address)
        page.wait_for_selector("main:not(:has([aria-busy])) :is(.solves, .ribbon)")
        return 1000 * (time.perf_counter() - started)


def walk(browser: Browser, address: str, folder: str, n_clicks: int) -> tuple[list[float], list[str]]:
    """Click along random lines of a solve; return the milliseconds of each click, and the URLs that were requested."""
    random, times, asked = Random(0), [], []
    root = f"#look?{urlencode({'folder': folder})}"

    def note(request: Request) -> None:
        if "/api/position" in request.url:
            asked.append(request.url.removeprefix(address.rstrip("/")))

    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        page = context.new_page()
        page.set_default_timeout(1000 * PATIENCE)
        page.on("request", note)
        open_root(page, address, root)
        while len(times) < n_clicks:
            found = page.evaluate(TAKE, random.random())
            if found is None:
                open_root(page, address, root)
            else:
                times.append(found[0])
                if found[0] > CLICK[1]:
                    print(f"slow click: {found[0]:.0f} ms to {found[1]}", file=sys.stderr)
    return times, asked


def open_root(page: Page, address: str, root: str) -> None:
    """Open the root of a solve (``root``, its URL without ``address``), and wait until the page is drawn."""
    page.goto("about:blank")
    page.goto(address + root)
    page.wait_for_selector(".stage.here")


def wait_until_saved(address: str, folder: str) -> None:
    connection = _connection(address)
    while ask(connection, f"/api/summary?{urlencode({'folder': folder})}")[0] != 200:
        time.sleep(0.1)


def ask_steadily(address: str, questions: Sequence[str], seconds: float) -> None:
    """Request URLs from several clients at a steady rate; print how late the answers come after the due times.

    Args:
        address: address of the server.
        questions: the URLs, which the clients request again and again.
        seconds: length of the measurement.
    """
    late: list[float] = []
    statuses: Counter[str] = Counter()
    begin = time.perf_counter()

    def client(number: int) -> None:
        connection = _connection(address)
        for count in itertools.count():
            due = begin + (count * CLIENTS + number) / PER_SECOND
            if due >= begin + seconds:
                return
            time.sleep(max(0.0, due - time.perf_counter()))
            status, body = ask(connection, questions[(count * CLIENTS + number) % len(questions)])
            late.append(1000 * (time.perf_counter() - due))
            statuses[_described(status, body)] += 1

    _all_at_once(client)
    rate = len(late) / (time.perf_counter() - begin)
    row(f"{CLIENTS} clients, {rate:.0f} clicks a second", "all", late, None)
    _require_positions(statuses)


def ask_anew(address: str, questions: Sequence[str]) -> None:
    """Request each URL once, from several clients as fast as they can; print the times and the rate.

    Args:
        address: address of a server that has answered none of the URLs.
        questions: the URLs, each once.
    """
    times: list[float] = []
    sizes: list[float] = []
    statuses: Counter[str] = Counter()
    begin = time.perf_counter()

    def client(number: int) -> None:
        connection = _connection(address)
        for question in questions[number::CLIENTS]:
            sent = time.perf_counter()
            status, body = ask(connection, question)
            times.append(1000 * (time.perf_counter() - sent))
            statuses[_described(status, body)] += 1
            sizes.append(len(body) / 1000)

    _all_at_once(client)
    rate = len(times) / (time.perf_counter() - begin)
    row(f"{CLIENTS} clients, {rate:.0f} new positions a second", "all", times, None)
    row("compressed answer, kB", "all", sizes, (MOST_KB, MOST_KB))
    _require_positions(statuses)


def burst(address: str, questions: Sequence[str], n_clients: int) -> None:
    """Let many clients connect at once and request a URL each; print the times and the number of answers by status.

    Args:
        address: address of the server.
        questions: the URLs, which the clients take in turn.
        n_clients: number of clients.
    """
    host, port = urlsplit(address).hostname, urlsplit(address).port
    times: list[float] = []

    async def client(question: str) -> str:
        begin = time.perf_counter()
        try:
            reader, writer = await asyncio.open_connection(host, port)
            request = f"GET {question} HTTP/1.1\r\nHost: {host}\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n"
            writer.write(request.encode())
            answer = await asyncio.wait_for(reader.read(), PATIENCE)
            writer.close()
        except (OSError, TimeoutError) as error:
            return f"{type(error).__name__}"
        times.append(1000 * (time.perf_counter() - begin))
        head, _, body = answer.partition(b"\r\n\r\n")
        return _described(int(head.split()[1]), body) if head else "nothing"

    async def clients() -> Counter[str]:
        asked = itertools.islice(itertools.cycle(questions), n_clients)
        return Counter(await asyncio.gather(*map(client, asked)))

    with ThreadPoolExecutor(1) as pool:  # the browser's library has an event loop in this thread
        found = pool.submit(lambda: asyncio.run(clients())).result()
    text = ", ".join(f"{count:,} {kind}" for kind, count in found.most_common())
    row(f"{n_clients:,} requests at once: {text}", "all", times, None)
    status, body = ask(_connection(address), questions[0])
    found[_described(status, body)] += 1
    if set(found) - {"200", "503 with a message"} or status != 200:
        sys.exit("expected a position or a plain message for each request, and a position afterwards")


def ask(connection: http.client.HTTPConnection, question: str) -> tuple[int, bytes]:
    """Request the URL ``question`` over a connection; return the HTTP status and the body of the answer."""
    connection.request("GET", question, headers={"Accept-Encoding": "gzip"})  # as browsers do
    answer = connection.getresponse()
    return answer.status, answer.read()


def processor_seconds(process: int) -> float:
    """Seconds of processor time that a process has taken."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(process: int) -> None:
    """Print the memory of the server process: now, without pages of files (which the system can free), and the peak."""
    text = Path(f"/proc/{process}/status").read_text()
    now, own, peak = (int(text.split(f"{k}:")[1].split()[0]) / 1024 for k in ("VmRSS", "RssAnon", "VmHWM"))
    most = f"at its peak {_starred(peak, MOST_MIB)} (limit {MOST_MIB})"
    print(f"\nmemory of the server: {now:.0f} MiB, without pages of files {own:.0f} MiB; {most}")


def row(what: str, name: str, times: Sequence[float], limits: tuple[float, float] | None) -> None:
    """Print a row of the table: median and maximum of some times in ms, with a star if they exceed their limits.

    ``what`` and ``name`` are the first two cells: what was timed, and in which solve.
    """
    both = (None, None) if limits is None else limits
    figures = [_starred(value, limit) for value, limit in zip((median(times), max(times)), both, strict=True)]
    text = "" if limits is None else " and ".join(map(str, dict.fromkeys(limits)))
    print(f"| {what} | {name} | {figures[0]} | {figures[1]} | {text} |", flush=True)


def _starred(value: float, limit: float | None) -> str:
    return f"{value:.0f}{' *' if limit is not None and value > limit else ''}"


def _described(status: int, body: bytes) -> str:
    if status == 200:
        return "200"
    try:
        plain = list(json.loads(body)) == ["error"]
    except ValueError:
        plain = False
    return f"{status} {'with' if plain else 'without'} a message"


def _connection(address: str) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(str(urlsplit(address).netloc), timeout=PATIENCE)


def _all_at_once(client: Callable[[int], None]) -> None:
    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(client, range(CLIENTS)))


def _require_positions(statuses: Counter[str]) -> None:
    """End the benchmark with an error unless ``statuses``, the number of answers by status, has only the status 200."""
    if set(statuses) != {"200"}:
        sys.exit(f"answers to {CLIENTS} clients: {dict(statuses)}; expected no error")


@contextmanager
def _spewy(*arguments: str | Path, stdout: int = subprocess.DEVNULL) -> Iterator[subprocess.Popen[str]]:
    """Run a command of ``spewy`` in a process, which gets Ctrl-C when the block ends."""
    process = subprocess.Popen(
        [sys.executable, "-m", "spewy", *map(str, arguments)],
        stdout=stdout,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)


if __name__ == "__main__":
    as_command(main)
