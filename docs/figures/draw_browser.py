"""Takes the pictures of the pages of ``spewy serve`` for ``docs/how-to/screens.md`` and ``browser.md``.

    python docs/figures/draw_browser.py [--out FOLDER] [--full FOLDER]

The script solves the example T1, T1 with other bets on the river, and a batch of five turns; it serves them and opens
six pages in Chromium, in three sizes and two colour schemes. A sheet shows the six views of a page at half scale.
It takes three to five minutes on a busy machine.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Literal

import common
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

PAGES = common.ROOT / "docs/how-to"
CHROMIUM = "/usr/bin/chromium"
SIZES = ((1920, 1080), (1280, 800), (390, 844))
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
GAP = 16
"""Pixels between the views of a sheet, before it is halved."""
QUALITY = 70
"""WebP quality of the pictures: text stays sharp, and a sheet stays below 300 kB."""


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=PAGES, help="folder into which the pictures are written")
    parser.add_argument("--full", type=Path, help="folder for all views as PNG files at full scale")
    parser.add_argument("--only", choices=VIEWS, help="take the views of one page only")
    options = parser.parse_args()
    with served() as address, sync_playwright() as library:
        browser = library.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for name in [options.only] if options.only else VIEWS:
            views = {
                (size, scheme): take(browser, address, name, size, scheme)
                for scheme in SCHEMES
                for size in SIZES
            }
            if options.full:
                options.full.mkdir(parents=True, exist_ok=True)
                for ((width, _), scheme), view in views.items():
                    view.save(options.full / f"{name}-{width}-{scheme}.png")
            save(sheet(views), options.out / f"screens-{name}.webp")
            for single, (page, size, scheme) in SINGLES.items():
                if page == name:
                    save(views[size, scheme], options.out / f"browser-{single}.webp")
        browser.close()


@contextmanager
def served() -> Iterator[str]:
    """Solve the jobs into a folder for the time of the block, and serve it; yield the address of the pages."""
    spewy = [sys.executable, "-m", "spewy"]
    with tempfile.TemporaryDirectory() as home:
        results = Path(home) / "results"
        text = (common.ROOT / "examples/T1.toml").read_text()
        jobs = {
            "T1": text,
            "small-river-bets": text.replace('[bets.river]\nbet = "60%', '[bets.river]\nbet = "30%'),
            "turns": text.replace('board = "Qs Jh 2h 8c"', f"boards = {TURNS}").replace('"0.3%"', '"2%"'),
        }
        for name, job in jobs.items():
            path = Path(home) / f"{name}.toml"
            path.write_text(job)
            subprocess.run([*spewy, "solve", path, "--out", results / name], check=True, capture_output=True)
        command = [*spewy, "serve", str(results), "--port", "0"]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as server:
            assert server.stdout is not None
            try:
                yield server.stdout.readline().strip()
            finally:
                server.terminate()


def take(
    browser: Browser, address: str, name: str, size: tuple[int, int], scheme: Literal["light", "dark"]
) -> Image.Image:
    """Open a page in a window, bring it into its state, and picture the window."""
    place, prepare = VIEWS[name]
    width, height = size
    with browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
    ) as context:
        page = context.new_page()
        page.goto(f"{address}#{place}")
        settle(page)
        prepare(page)
        settle(page)
        return Image.open(BytesIO(page.screenshot())).convert("RGB")


def settle(page: Page) -> None:
    """Wait until nothing on the page is being loaded."""
    page.wait_for_load_state("networkidle")
    page.wait_for_selector("[aria-busy]", state="detached")


def shown(page: Page) -> None:
    """Leave the page as its address shows it."""


def filled(page: Page) -> None:
    """Wait until the form shows the betting tree of the job."""
    page.wait_for_selector(".job-tree")


def in_the_hand(page: Page) -> None:
    """Take one action, and wait for the next decision of the hand."""
    page.locator("[data-action='c']").click()
    page.wait_for_selector("[data-action]")


def graded(page: Page) -> None:
    """Answer the first question."""
    page.locator("[data-action]").first.click()
    page.get_by_role("link", name="look at this decision").wait_for()


def sheet(views: dict[tuple[tuple[int, int], Literal["light", "dark"]], Image.Image]) -> Image.Image:
    """Put the views of a page side by side, a row for each scheme, at half scale."""
    width = sum(width for width, _ in SIZES) + GAP * (len(SIZES) - 1)
    height = max(height for _, height in SIZES)
    whole = Image.new("RGB", (width, 2 * height + GAP), "#888")
    for row, scheme in enumerate(SCHEMES):
        left = 0
        for size in SIZES:
            whole.paste(views[size, scheme], (left, row * (height + GAP)))
            left += size[0] + GAP
    return whole.resize((whole.width // 2, whole.height // 2), Image.Resampling.LANCZOS)


def save(picture: Image.Image, path: Path) -> None:
    """Write a picture, and say how large its file is."""
    picture.save(path, quality=QUALITY, method=6)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


TURNS = ["Qs Jh 2h 8c", "Ks 7h 2d 3c", "Ah 9d 6s 2c", "Ts 9s 5d Qc", "7h 7c 4d Jh"]
VIEWS: dict[str, tuple[str, Callable[[Page], None]]] = {
    "look": ("look?folder=T1&line=c&hand=AQo&seat=1", shown),
    "solve": ("solve?from=T1", filled),
    "play": ("play?folder=T1&seat=oop", in_the_hand),
    "train": ("train?folder=T1", graded),
    "compare": ("look?folder=T1&panel=compare&with=small-river-bets", shown),
    "batch": ("look?folder=turns", shown),
}
"""The pages: the place in the address, and a function that brings the page into the state to show."""
SINGLES: dict[str, tuple[str, tuple[int, int], Literal["light", "dark"]]] = {
    "look": ("look", SIZES[1], "light"),
    "phone": ("look", SIZES[2], "dark"),
    "solve": ("solve", SIZES[1], "light"),
    "play": ("play", SIZES[1], "light"),
}
"""Views that ``browser.md`` shows alone."""


if __name__ == "__main__":
    main()
