"""Makes matplotlib's SVG fit for a page: text stays text, colours are the page's to choose.

A figure is drawn in the inks below. Each comes out as a class and as its own colour in light, so
that the same SVG follows a page's dark mode and still looks right in a file by itself.
"""

from __future__ import annotations

import io
import re
import warnings
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

from pytest_kernelbench.texts import in_xml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from matplotlib.figure import Figure

SERIES = 8
"""How many series have an ink of their own; what comes after them shares the last."""
_MARKERS = "os^DvPX*"
_LIGHT = {
    "ink": "#1d2329",
    "soft": "#5c6670",
    "grid": "#e3e6e9",
    "roof": "#343b43",
    "s1": "#1f6fb4",
    "s2": "#c8501e",
    "s3": "#14805f",
    "s4": "#93478d",
    "s5": "#97690a",
    "s6": "#0f89a8",
    "s7": "#b4325a",
    "s8": "#6b7480",
}
_DARK = {
    "ink": "#e6e9ec",
    "soft": "#a3adb8",
    "grid": "#31383f",
    "roof": "#c9d1d9",
    "s1": "#6fb3f2",
    "s2": "#f2925f",
    "s3": "#54c9a3",
    "s4": "#d596d0",
    "s5": "#e0b64a",
    "s6": "#66cfe9",
    "s7": "#f0849f",
    "s8": "#a3acb9",
}
_BY_COLOUR = {colour: ink for ink, colour in _LIGHT.items()}
_SVG, _XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_COORDINATE = re.compile(r"-?(?<!\d)\d+\.\d+")
_REFERENCE = re.compile(r"url\(#([^()]+)\)")


def ink(name: str) -> str:
    """The colour to hand to matplotlib for one of the inks: ``soft``, ``s3``."""
    return _LIGHT[name]


def series(slot: int) -> str:
    """The ink of a series, by its place among all of a page's series."""
    return f"s{min(slot, SERIES - 1) + 1}"


def marker(slot: int) -> str:
    """The marker of a series, as matplotlib names it."""
    return _MARKERS[min(slot, len(_MARKERS) - 1)]


def style() -> str:
    """The CSS that goes with the SVGs of a page, once; ``data-theme`` on the root overrides."""
    wanted = "@media screen and (prefers-color-scheme:dark)"
    sizes = (
        ".plot{display:block;width:100%;height:auto;font-family:inherit}"
        ".plot.key{display:inline;width:28px;height:10px}"
    )
    classes = "".join(
        f".plot .f-{name}{{fill:var(--{name})}}.plot .k-{name}{{stroke:var(--{name})}}"
        for name in _LIGHT
    )
    light, dark = _variables(_LIGHT), _variables(_DARK)
    return (
        f":root{{{light}}}\n"
        f"{wanted}{{:root:not([data-theme=light]){{{dark}}}}}\n"
        f"@media screen{{:root[data-theme=dark]{{{dark}}}}}\n"
        f"{classes}\n{sizes}\n"
    )


def _variables(inks: Mapping[str, str]) -> str:
    return "".join(f"--{name}:{colour};" for name, colour in inks.items())


def render(
    figure: Figure,
    name: str,
    title: str,
    description: str,
    links: Sequence[tuple[str, str]] = (),
) -> str:
    """A figure as an ``<svg>`` to put into a page; ``name`` must be its own on that page.

    It is resolution-free, has no inline style (a strict Content-Security-Policy lets it live), and
    what a screen reader says of it is ``title`` and ``description``. ``links`` has the fragment and
    the words of each mark that was drawn with the address ``#dot-N``.
    """
    buffer = io.BytesIO()
    import matplotlib as mpl
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        if isinstance(text, Text):  # for the type checker
            text.set_parse_math(False)  # a name with two dollar signs is no formula
            text.set_text(in_xml(text.get_text()))
    letters_and_ids = mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": name})
    with letters_and_ids, warnings.catch_warnings():
        # The reader's own fonts are used; that ours lacks a letter only matters to its width.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    root = ET.fromstring(buffer.getvalue())  # noqa: S314 - matplotlib's own output
    for anchor in root.iter(f"{{{_SVG}}}a"):
        _link(anchor, links)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag == f"{{{_SVG}}}metadata" or _is_rule_book(child):
                parent.remove(child)
    _name_ids(root, name)
    for element in root.iter():
        _unstyle(element)
        _shorten(element)
    return _page_element(root, name, title, description)


def _link(anchor: ET.Element, links: Sequence[tuple[str, str]]) -> None:
    """An address of a mark becomes its row's; it is not in the order of tabs, the table is."""
    number = int(anchor.attrib.pop(f"{{{_XLINK}}}href").rpartition("-")[2])
    anchor.attrib.pop("target", None)
    fragment, words = links[number]
    if fragment:
        anchor.set("href", fragment)
        anchor.set("tabindex", "-1")
    title = ET.Element(f"{{{_SVG}}}title")
    title.text = in_xml(words)
    anchor.insert(0, title)


def _is_rule_book(element: ET.Element) -> bool:
    """Matplotlib's ``<style>``: in a page it would apply to everything."""
    return any(child.tag == f"{{{_SVG}}}style" for child in element) or (
        element.tag == f"{{{_SVG}}}style"
    )


def _name_ids(root: ET.Element, name: str) -> None:
    """Keep only the ids that something refers to, and make them the figure's own."""
    wanted = set(_references(root))
    for element in root.iter():
        for key, value in list(element.attrib.items()):
            if key == "id":
                if value in wanted:
                    element.set("id", f"{name}-{value}")
                else:
                    del element.attrib["id"]
            elif key == f"{{{_XLINK}}}href" and value[1:] in wanted:
                del element.attrib[key]
                element.set("href", f"#{name}-{value[1:]}")
            elif key in ("clip-path", "style"):
                element.set(key, _REFERENCE.sub(rf"url(#{name}-\1)", value))


def _references(root: ET.Element) -> Iterator[str]:
    for element in root.iter():
        if element.tag == f"{{{_SVG}}}use":
            yield element.get(f"{{{_XLINK}}}href", "")[1:]
        for key in ("clip-path", "style"):
            yield from _REFERENCE.findall(element.get(key, ""))


def _unstyle(element: ET.Element) -> None:
    """Inline style into attributes, our inks into classes besides."""
    text = element.attrib.pop("style", "")
    classes = []
    for declaration in filter(None, (part.strip() for part in text.split(";"))):
        key, _, value = (part.strip() for part in declaration.partition(":"))
        if key == "font":
            size = next(part for part in value.split() if part.endswith("px"))
            element.set("font-size", size)
            if "bold" in value or "600" in value:
                element.set("font-weight", "600")
            continue
        if key != "font-family":
            element.set(key, value)
        if value in _BY_COLOUR:
            classes.append(f"{'f' if key == 'fill' else 'k'}-{_BY_COLOUR[value]}")
    if classes:
        element.set("class", " ".join(classes))


def _shorten(element: ET.Element) -> None:
    """Two digits after the point are a hundredth of a pixel."""
    for key in ("d", "x", "y", "transform", "points"):
        value = element.get(key)
        if value is not None:
            short = _COORDINATE.sub(
                lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), value
            )
            element.set(key, " ".join(short.split()))


def _page_element(root: ET.Element, name: str, title: str, description: str) -> str:
    for element in root.iter():
        element.tail = None
        if element.text is not None and not element.text.strip():
            element.text = None
    for key in ("width", "height", "version"):
        root.attrib.pop(key, None)
    root.set("class", "plot")
    root.set("role", "img")
    root.set("aria-labelledby", f"{name}-title {name}-desc")
    for place, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = ET.Element(f"{{{_SVG}}}{tag}", {"id": f"{name}-{tag}"})
        element.text = in_xml(text)
        root.insert(place, element)
    ET.register_namespace("", _SVG)
    ET.register_namespace("xlink", _XLINK)
    return ET.tostring(root, encoding="unicode")
