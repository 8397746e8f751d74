"""The page in Chromium: what a reader sees, does and is kept from."""

from __future__ import annotations

from collections import Counter
from typing import Any

import browser
import pytest
from made_records import HOSTILE, outcome_of, runs_of, session

from pytest_kernelbench.reports.html.page import write

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browser.missing()), reason=browser.missing()),
]
PAIRS = 400
RUNS = runs_of(session(PAIRS), session(PAIRS, factor=1.5))
WRONG = next(n for n, each in enumerate(RUNS.latest) if HOSTILE in each.source)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    write(path, RUNS, outcome_of(RUNS))
    return path


@pytest.fixture(scope="module")
def driver():
    with browser.chromium() as running:
        yield running


@pytest.fixture
def shown(driver, page):
    """The page as it is at first, on a wide screen."""
    browser.look(driver, 1400)
    driver.get("about:blank")  # else only the fragment would change
    browser.opened(driver, page)
    return driver


def table(driver):
    return driver.find_element("id", "table")


def active_row(driver) -> list[str]:
    """The cells of the row that the keyboard is on."""
    script = """
        const id = document.getElementById("table").getAttribute("aria-activedescendant");
        return [...document.getElementById(id).cells].map((cell) => cell.textContent);"""
    return driver.execute_script(script)


def pixels(element, image=None) -> Counter:
    """How many pixels of each colour an element shows, in a picture of the page."""
    driver = element.parent
    script = """const box = arguments[0].getBoundingClientRect();
        return [box.x + scrollX, box.y + scrollY, box.right + scrollX, box.bottom + scrollY];"""
    box = driver.execute_script(script, element)
    image = (image or browser.picture(driver)).crop(tuple(map(round, box)))
    return Counter({colour: count for count, colour in image.getcolors(1 << 24)})


def lightness(colour: tuple[int, int, int]) -> float:
    return sum(colour) / 3 / 255


# What is seen


@pytest.mark.parametrize("width", [1400, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_layout_and_pictures(driver, page, width: int, scheme: str) -> None:
    browser.look(driver, width, scheme=scheme)
    driver.get("about:blank")
    browser.opened(driver, page)
    wide = driver.execute_script("return document.documentElement.scrollWidth")
    assert wide == width, "nothing is beyond the edge"
    figures = driver.find_elements("css selector", "figure svg.plot")
    assert len(figures) == 6
    tops = [figure.rect["y"] for figure in figures]
    assert len(set(tops[:2])) == (1 if width > 1000 else 2), "beside each other where there is room"
    heads = {head.text: head.rect["y"] for head in driver.find_elements("tag name", "h2")}
    assert heads["fast_p"] < tops[0] < heads["Scores"] < heads["Pairs"]
    image = browser.picture(driver)
    for figure in figures:
        seen = pixels(figure, image)
        (paper, much), *rest = seen.most_common()
        assert (lightness(paper) < 0.15) == (scheme == "dark")
        assert 0.4 < much / seen.total() < 0.99, "neither empty nor full"
        strong = [colour for colour, _ in rest if abs(lightness(colour) - lightness(paper)) > 0.6]
        assert strong, "letters can be read"
        assert any(max(colour) - min(colour) > 80 for colour, _ in rest), "series have colours"


def test_print_is_black_on_white_and_has_every_row(shown) -> None:
    browser.look(shown, 1000, scheme="dark", media="print")
    figure = shown.find_element("css selector", "figure svg.plot")
    assert lightness(pixels(figure).most_common(1)[0][0]) > 0.95
    assert not shown.find_element("id", "filters").is_displayed()
    shown.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert len(shown.find_elements("css selector", "#table tr[data-place]")) == PAIRS


def test_the_theme_can_be_chosen(shown) -> None:
    button = shown.find_element("id", "theme")
    body = shown.find_element("tag name", "h1")
    papers = []
    for _ in range(3):
        papers.append((button.text, lightness(pixels(body).most_common(1)[0][0]) > 0.5))
        button.click()
    assert papers == [("Theme: system", True), ("Theme: light", True), ("Theme: dark", False)]


# What is done


def test_rows_exist_only_where_they_are_seen(shown) -> None:
    scroller = shown.find_element("id", "scroller")
    rows = "#table tr[data-place]"
    assert len(shown.find_elements("css selector", rows)) < 60
    shown.execute_script("arguments[0].scrollTop = 1e9", scroller)
    shown.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    places = [
        int(row.get_attribute("data-place")) for row in shown.find_elements("css selector", rows)
    ]
    assert max(places) == PAIRS - 1
    assert len(places) < 60
    assert table(shown).get_attribute("aria-rowcount") == str(PAIRS + 1)


def test_search_and_filters(shown) -> None:
    count = shown.find_element("id", "count")
    assert count.text == f"{PAIRS} pairs"
    search = shown.find_element("id", "search")
    search.send_keys("ann wrong_value")
    assert count.text == f"{PAIRS // 10} of {PAIRS} pairs"
    search.clear()
    search.send_keys("no such thing")
    assert count.text == f"0 of {PAIRS} pairs"
    search.clear()
    search.send_keys(" ")
    shown.find_element("css selector", "#status option[value='not right']").click()
    assert count.text == f"{PAIRS // 5} of {PAIRS} pairs"
    shown.find_element("css selector", "#level option[value='1']").click()
    assert count.text == f"{PAIRS // 10} of {PAIRS} pairs"


def test_sorting_puts_what_is_missing_last(shown) -> None:
    head = shown.find_element("xpath", "//th[button[text()='speedup']]")
    figures = (
        "return [...document.querySelectorAll('#table td.c-speedup')].map((c) => c.textContent)"
    )
    for direction in ("descending", "ascending"):
        head.find_element("tag name", "button").click()
        assert head.get_attribute("aria-sort") == direction
        found = [float(text.rstrip("\u00d7")) for text in shown.execute_script(figures)]
        assert found == sorted(found, reverse=direction == "descending")
        assert len(found) > 20
    table(shown).send_keys(_keys().END)
    assert not active_row(shown)[5]


def _keys() -> Any:
    from selenium.webdriver.common.keys import Keys

    return Keys


def test_by_keyboard_alone(shown) -> None:
    keys = _keys()
    focused = shown.switch_to.active_element
    for _ in range(60):
        focused.send_keys(keys.TAB)
        focused = shown.switch_to.active_element
        if focused.get_attribute("id") == "table":
            break
    assert focused.get_attribute("id") == "table", "it is reached by Tab"
    focused.send_keys(keys.ARROW_DOWN, keys.ARROW_DOWN)
    third = active_row(shown)
    focused.send_keys(keys.PAGE_DOWN, keys.HOME, keys.ARROW_DOWN, keys.ARROW_DOWN)
    assert active_row(shown) == third
    focused.send_keys(keys.ENTER)
    dialog = shown.find_element("id", "pair")
    browser.until(shown, dialog.is_displayed)
    assert shown.find_element("id", "pair-title").text.startswith(f"{third[0]} relu by ")
    assert shown.switch_to.active_element.get_attribute("id") == "pair-title"
    address = shown.current_url
    shown.switch_to.active_element.send_keys(keys.ARROW_RIGHT)
    browser.until(shown, lambda: shown.current_url != address)
    shown.switch_to.active_element.send_keys(keys.ESCAPE)
    browser.until(shown, lambda: not dialog.is_displayed())
    assert shown.switch_to.active_element.get_attribute("id") == "table"


def test_an_opened_pair_shows_all_of_it(driver, page) -> None:
    browser.look(driver, 1400)
    driver.get("about:blank")
    browser.opened(driver, page, f"#r{WRONG}")
    dialog = driver.find_element("id", "pair")
    browser.until(driver, dialog.is_displayed)
    text = dialog.text
    assert "wrong_value" in text
    assert f"differs: {HOSTILE}" in text
    assert "run 1" in text, "its history"
    (hit,) = driver.find_elements("css selector", "#pair pre.code span.hit")
    assert hit.text == HOSTILE, "the line of the source that the error names"


def test_a_mark_in_a_picture_opens_its_pair(shown) -> None:
    mark = shown.find_element("css selector", "figure a[href^='#r'] use")
    shown.execute_script(
        "arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true}))", mark
    )
    browser.until(shown, shown.find_element("id", "pair").is_displayed)


def test_a_series_can_be_hidden(shown) -> None:
    figure = shown.find_element("css selector", "figure svg.plot")
    before = pixels(figure)
    shown.find_element("css selector", ".legend button").click()
    after = pixels(figure)
    assert after != before
    assert after.most_common(1)[0][1] > before.most_common(1)[0][1], "more paper is seen"


# What is kept from happening


def test_nothing_that_an_author_wrote_runs(shown) -> None:
    shown.execute_script("location.hash = '#r' + arguments[0]", WRONG)
    browser.until(shown, shown.find_element("id", "pair").is_displayed)
    assert shown.execute_script("return window.stolen === undefined")
    assert not shown.find_elements("css selector", "img")
    said = [entry for entry in shown.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
    assert said == [], "not even tried"


def test_no_network_and_no_script_but_ours(shown) -> None:
    tries = """
        const done = arguments[0], refused = [];
        const add = (tag, what) =>
            document.body.append(Object.assign(document.createElement(tag), what));
        addEventListener("securitypolicyviolation", (e) => refused.push(e.effectiveDirective));
        add("script", { textContent: "window.stolen = 1" });
        add("img", { src: "https://example.org/x.png" });
        fetch("https://example.org/").catch(() => 0).finally(
            () => setTimeout(() => done([window.stolen, refused]), 100));"""
    stolen, directives = shown.execute_async_script(tries)
    assert stolen is None
    assert sorted(set(directives)) == ["connect-src", "img-src", "script-src-elem"]
    shown.get_log("browser")  # what it said of these must not count against the next test
