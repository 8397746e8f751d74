"""The picture of a report for the README: its upper part in Chromium, in 255 colours.

kb report --html report.html verdicts.jsonl
python benchmarks/screenshot.py report.html docs/report.png
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

import browser


def main() -> None:
    """Open the page, take the picture, write it small."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--height", type=int, default=1000)
    args = parser.parse_args()
    if lacking := browser.missing():
        sys.exit(lacking)
    with browser.chromium() as driver:
        browser.look(driver, 1400, args.height)
        browser.opened(driver, args.page.resolve())
        seen = browser.picture(driver).crop((0, 0, 1400, args.height))
    seen.quantize(255).save(args.picture, optimize=True)
    print(f"{args.picture}: {args.picture.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
