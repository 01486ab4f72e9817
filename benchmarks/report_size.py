"""The report of a big run: its size, the time to build it, and the time that a browser takes to open it.

    python -m benchmarks.report_size [--frames 1000] [--browser /usr/bin/chromium]

The dump is written by `benchmarks.many_frames`. The browser's times are its own performance entries; without a browser,
or without playwright, only the first two are printed. Exit code 1 if opening takes 2 s or more.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.many_frames import write_many_frames
from depyf.views.html.build import build_report

OPENS_WITHIN = 2.0
"""Seconds."""

_FRAME = "ProxyMain::BeginMainFrame"
_TIMES = """() => {
  const entry = performance.getEntriesByType('navigation')[0];
  const paint = performance.getEntriesByName('first-contentful-paint')[0];
  return [entry.domContentLoadedEventEnd, entry.loadEventEnd, paint ? paint.startTime : 0];
}"""
_SCROLL = """async () => {
  let longest = 0, last = performance.now();
  const height = document.documentElement.scrollHeight;
  for (let at = 0; at < height && at < 40000; at += 400) {
    scrollTo(0, at);
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }
  return longest;
}"""


def _work(trace: Path) -> list[float]:
    """Return what each frame of a trace took of the processor on the page's own thread, in ms."""
    events = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
    return [event["tdur"] / 1000 for event in events if event["name"] == _FRAME and "tdur" in event]


def _opened(page_file: Path, browser: str) -> tuple[list[float], float, float]:
    """Return when the page was read, loaded, painted; the longest frame of scrolling; a function's page; all in ms."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        launched = started.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page: Any = launched.new_page(viewport={"width": 1500, "height": 900})
        page.goto(page_file.as_uri(), wait_until="load")
        page.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length > 0")
        times = page.evaluate(_TIMES)
        launched.start_tracing(page=page, path=str(page_file.with_name("trace.json")), categories=["cc"])
        longest = page.evaluate(_SCROLL)
        launched.stop_tracing()
        began = time.monotonic()
        page.evaluate("() => { location.hash = '#p0f500/c600/kernel'; }")
        page.wait_for_function("() => document.querySelectorAll('.pane:not(.source) .ln').length > 10")
        shown = 1000 * (time.monotonic() - began)
        launched.close()
    return times, longest, shown


def main() -> None:
    """Print the numbers of a run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--frames", type=int, default=1000)
    parser.add_argument("--browser", default=shutil.which("chromium"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        write_many_frames(directory, arguments.frames)
        size = sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())
        began = time.monotonic()
        report = build_report(directory)
        built = time.monotonic() - began
        print(f"{arguments.frames} frames, a dump of {size / 1e6:.1f} MB")
        print(
            f"report: {report.size / 1e6:.1f} MB in {report.files} files, "
            f"the page {report.page.stat().st_size / 1e6:.2f} MB of it"
        )
        print(f"built in {built:.2f} s")
        if arguments.browser is None or importlib.util.find_spec("playwright") is None:
            print("no browser here: opening was not measured")
            return
        (read, loaded, painted), longest, shown = _opened(report.page, arguments.browser)
        print(f"opened: first paint {painted / 1000:.2f} s, read {read / 1000:.2f} s, loaded {loaded / 1000:.2f} s")
        work = _work(report.page.with_name("trace.json"))
        print(f"scrolling: {sum(work) / len(work):.1f} ms of the processor a frame, at most {max(work):.1f} ms")
        print(f"longest frame {longest:.0f} ms; a function's kernel shown after {shown:.0f} ms")
        sys.exit(loaded / 1000 >= OPENS_WITHIN)


if __name__ == "__main__":
    main()
