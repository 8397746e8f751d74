"""Chromium without a window, driven through its own driver; nothing is downloaded for it."""

from __future__ import annotations

import base64
import io
import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from PIL import Image
    from selenium.webdriver import Chrome

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
DRIVERS = ("chromedriver", "chromium.chromedriver")


def missing() -> str:
    """What is not here; empty where a browser can be driven."""
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "selenium is not installed"
    if _found(BROWSERS) is None or _found(DRIVERS) is None:
        return "Chromium and its driver are not installed: apt-get install chromium chromium-driver"
    return ""


def _found(names: tuple[str, ...]) -> str | None:
    return next((path for name in names if (path := shutil.which(name)) is not None), None)


@contextmanager
def chromium() -> Iterator[Chrome]:
    """A browser that keeps what its console said."""
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    options.binary_location = _found(BROWSERS) or ""
    options.add_argument("--headless=new")
    options.add_argument("--hide-scrollbars")
    options.add_argument("--disable-gpu")
    options.add_argument("--disable-dev-shm-usage")  # a container's is often too small
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # as root Chromium refuses to start with it
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = Chrome(options=options, service=Service(_found(DRIVERS)))
    try:
        yield driver
    finally:
        driver.quit()


def look(
    driver: Chrome, width: int, height: int = 900, *, scheme: str = "light", media: str = ""
) -> None:
    """Give the page a size in pixels, the reader's wish for light or dark, and a medium."""
    size: dict[str, Any] = {"width": width, "height": height, "deviceScaleFactor": 1}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size | {"mobile": False})
    wishes = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
    features = [{"name": name, "value": value} for name, value in wishes.items()]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})


def picture(driver: Chrome) -> Image.Image:
    """The whole page, also what lies below the window."""
    from PIL import Image

    asked = {"captureBeyondViewport": True, "optimizeForSpeed": True}
    answer = driver.execute_cdp_cmd("Page.captureScreenshot", asked)
    return Image.open(io.BytesIO(base64.b64decode(answer["data"]))).convert("RGB")


def until(driver: Chrome, holds: Callable[[], bool]) -> None:
    """Wait for something; fails after half a minute."""
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(driver, 30, poll_frequency=0.05).until(lambda _: holds())


def opened(driver: Chrome, path: Path, fragment: str = "") -> None:
    """Open a page and wait until its table is there."""
    rows = "return document.querySelectorAll('#table tr[data-place]').length > 0"
    driver.get(path.as_uri() + fragment)
    until(driver, lambda: bool(driver.execute_script(rows)))
