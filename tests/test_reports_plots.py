"""Pictures as SVG: text stays text, nothing in them is style or script, and names do no harm."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest

from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.reports import plots, svg
from pytest_kernelbench.reports.plots import Curve, Dot, RoofLines, Spread

NAME = "a$b$ </text><script>x</script> & \x00\u4e2d"
SHOWN = NAME.replace("\x00", "\ufffd")
SCALE = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
FALLING = (0.8, 0.7, 0.6, 0.4, 0.2, 0.0)


def parsed(drawn: str) -> ET.Element:
    return ET.fromstring(drawn)  # noqa: S314 - our own


def curve(slot: int = 0) -> Curve:
    return Curve(NAME, slot, SCALE, FALLING, FALLING, FALLING, FALLING)


def dots(count: int) -> list[Dot]:
    return [Dot(10.0**n, 1e12, n % 3, f"{NAME} {n}", f"#r{n}") for n in range(count)]


ROOF = RoofLines(4e12, 5e13)
PICTURES = {
    "fast_p": lambda: plots.fast_p([curve(), curve(1)], "one", NAME),
    "calls": lambda: plots.shares_by_call([curve()], "one", NAME, "calls"),
    "speedups": lambda: plots.speedups([Spread(NAME, 0, (0.5, 1.0, 9.0), 1.6)], "one", NAME),
    "against": lambda: plots.against(dots(4), "one", NAME, (NAME, "later")),
    "roofline": lambda: plots.roofline(dots(4), [], ROOF, "one", NAME),
    "strip": lambda: plots.roofline(dots(4), dots(2), ROOF, "one", NAME),
    "nothing": lambda: plots.roofline([], dots(1), ROOF, "one", NAME),
    "no curves": lambda: plots.fast_p([], "one", NAME),
}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_holds_nothing_but_shapes_and_text(name: str) -> None:
    drawn = PICTURES[name]()
    tags = {element.tag.rpartition("}")[2] for element in parsed(drawn).iter()}
    assert tags <= {
        "svg",
        "title",
        "desc",
        "g",
        "defs",
        "clipPath",
        "path",
        "rect",
        "use",
        "text",
        "a",
    }
    attributes = {key for element in parsed(drawn).iter() for key in element.attrib}
    assert not {key for key in attributes if key == "style" or key.startswith("on")}
    assert "http" not in drawn.replace("http://www.w3.org/2000/svg", "")


def test_a_series_has_a_marker_of_its_own_as_it_has_an_ink() -> None:
    for of in (svg.marker, svg.series):
        assert len({of(slot) for slot in range(svg.SERIES)}) == svg.SERIES
        assert of(svg.SERIES) == of(svg.SERIES - 1)


@pytest.mark.parametrize("name", ["fast_p", "strip"])
def test_the_same_data_give_the_same_picture(name: str) -> None:
    assert PICTURES[name]() == PICTURES[name]()


def test_ids_of_two_pictures_do_not_meet() -> None:
    both = plots.fast_p([curve()], "one", "x") + plots.fast_p([curve()], "two", "x")
    ids = re.findall(r' id="([^"]*)"', both)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r"(?:href=\"|url\()#([^\")]*)", both)) <= set(ids)


def test_text_is_text_as_it_was_given() -> None:
    texts = [e.text for e in parsed(PICTURES["against"]()).iter() if e.tag.endswith("}text")]
    assert f"speedup in {SHOWN}" in texts
    assert "1/8\u00d7" in [
        e.text for e in parsed(plots.speedups([Spread("a", 0, (0.13, 9), 1)], "x", "x")).iter()
    ]


def test_a_mark_says_what_it_is_and_opens_its_row() -> None:
    links = [e for e in parsed(PICTURES["strip"]()).iter() if e.tag.endswith("}a")]
    assert sorted(link.get("href") for link in links) == ["#r0", "#r0", "#r1", "#r1", "#r2", "#r3"]
    assert {link.get("tabindex") for link in links} == {"-1"}
    assert {link.get("target") for link in links} == {None}
    assert links[0][0].text == f"{SHOWN} 0"


@pytest.mark.parametrize(("slot", "ink"), [(0, "s1"), (6, "s7"), (7, "s8"), (30, "s8")])
def test_a_series_has_its_ink_as_a_class(slot: int, ink: str) -> None:
    drawn = plots.fast_p([curve(slot)], "one", "x")
    assert f'class="k-{ink}"' in drawn
    assert svg.ink(ink) in drawn, "in a file by itself it has a colour, too"
    assert f".k-{ink}{{stroke:var(--{ink})}}" in svg.style()


def test_what_cannot_be_seen_is_told() -> None:
    root = parsed(plots.fast_p([Curve("ann", 0, SCALE, FALLING)], "one", "Shares"))
    told = {child.tag.rpartition("}")[2]: child.text for child in root}
    assert told["title"] == "Shares"
    assert told["desc"] == "ann: 0.80 at p = 0, 0.00 at p = 4"
    assert root.get("role") == "img"


def test_a_curve_goes_where_its_numbers_say() -> None:
    """The last path of a series' ink: 0 on the left edge, then a step to the right a doubling."""
    drawn = plots.fast_p([Curve("ann", 0, SCALE, FALLING)], "one", "x", top=0.8)
    path = re.findall(r'<path d="([^"]*)"[^>]*class="k-s1"', drawn)[-1]
    points = [tuple(map(float, point.split())) for point in re.split("[ML] ", path)[1:]][::2]
    steps = [right[0] - left[0] for left, right in pairwise(points[1:])]
    assert steps == pytest.approx([steps[0]] * 4, abs=0.02)
    heights = [(points[-1][1] - y) / (points[-1][1] - points[0][1]) * 0.8 for _, y in points]
    assert heights == pytest.approx(FALLING, abs=1e-3)


def test_legend_escapes() -> None:
    assert "&lt;/text&gt;&lt;script&gt;" in plots.legend([NAME])


def test_what_is_missing_is_said_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name[0] == "m" else name)
    with pytest.raises(UsageError, match=r"needs matplotlib, .* pip install 'pytest-kernelbench\["):
        plots.available()
