"""Takes the pictures of the pages of ``spewy serve`` for ``docs/how-to/browser.md``.

    python docs/figures/draw_browser.py [--out FOLDER]

The script solves the example T1, serves it, and opens the pages in Chromium: the look page on a screen with light
colours and on a phone with dark colours, the solve page, and the play page after a hand. It takes half a minute.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Literal

import common
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

PAGES = common.ROOT / "docs/how-to"
CHROMIUM = "/usr/bin/chromium"
COLOURS = 160
"""Number of colours of a picture, which keeps its file small."""


@dataclass(frozen=True)
class Screen:
    """A window of the browser.

    Attributes:
        width: width in pixels.
        height: height in pixels.
        scheme: "light" or "dark".
    """

    width: int
    height: int
    scheme: Literal["light", "dark"] = "light"


DESK, PHONE = Screen(1280, 1000), Screen(390, 844, "dark")


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=PAGES, help="folder into which the pictures are written")
    folder = parser.parse_args().out
    with served() as address, sync_playwright() as library:
        browser = library.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for name, take in PICTURES.items():
            path = folder / f"browser-{name}.png"
            save(take(browser, address), path)
            print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")
        browser.close()


@contextmanager
def served() -> Iterator[str]:
    """Solve the example T1 into a folder for the time of the block, and serve it; yield the address of the pages."""
    spewy = [sys.executable, "-m", "spewy"]
    with tempfile.TemporaryDirectory() as home:
        results = Path(home) / "results"
        job = common.ROOT / "examples/T1.toml"
        subprocess.run([*spewy, "solve", job, "--out", results / "T1"], check=True, capture_output=True)
        command = [*spewy, "serve", str(results), "--port", "0"]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as server:
            assert server.stdout is not None
            try:
                yield server.stdout.readline().strip()
            finally:
                server.terminate()


@contextmanager
def opened(browser: Browser, address: str, screen: Screen) -> Iterator[Page]:
    """Open an address in a window; yield the page once it shows everything."""
    with browser.new_context(
        viewport={"width": screen.width, "height": screen.height}, color_scheme=screen.scheme
    ) as context:
        page = context.new_page()
        page.goto(address)
        settle(page)
        yield page


def settle(page: Page) -> None:
    """Wait until nothing on the page is being loaded."""
    page.wait_for_load_state("networkidle")
    page.wait_for_selector("[aria-busy]", state="detached")


def look(browser: Browser, address: str) -> bytes:
    """Show ip's decision after a check, with the hands of one class."""
    with opened(browser, f"{address}#look?folder=T1&line=c&hand=QJs&seat=1", DESK) as page:
        return page.screenshot()


def phone(browser: Browser, address: str) -> bytes:
    """Show the first decision on a phone."""
    with opened(browser, f"{address}#look?folder=T1", PHONE) as page:
        return page.screenshot()


def solve(browser: Browser, address: str) -> bytes:
    """Show the form of a job, with its cost."""
    with opened(browser, f"{address}#solve", DESK) as page:
        return page.screenshot()


def play(browser: Browser, address: str) -> bytes:
    """Show the review of a hand in which the person had a decision."""
    with opened(browser, f"{address}#play?folder=T1&seat=oop", DESK) as page:
        while page.locator("[data-action]").count():
            page.locator("[data-action='c']").click()
            settle(page)
        page.get_by_role("heading", name="Review of hand 1").wait_for()
        return page.screenshot()


def save(pixels: bytes, path: Path) -> None:
    """Write a picture with few colours."""
    Image.open(BytesIO(pixels)).convert("RGB").quantize(COLOURS).save(path, optimize=True)


PICTURES = {"look": look, "phone": phone, "solve": solve, "play": play}
"""Names of the pictures, and functions that take them."""


if __name__ == "__main__":
    main()
