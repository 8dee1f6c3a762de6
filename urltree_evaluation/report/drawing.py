"""Convert a matplotlib figure to inline SVG with real text and without external references.

    figure ──▶ savefig ──▶ metadata and styles removed, ids renamed ──▶ <svg role="img" …>

Equal figures give equal bytes. The ids in the SVG begin with the name of the chart, because a page
has many charts.
"""

from __future__ import annotations

import re
import warnings
from contextlib import AbstractContextManager
from io import BytesIO
from typing import Any, Final, Literal, cast

import matplotlib as mpl
from lxml import etree
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from urltree_evaluation.report.groups import LIGHT
from urltree_evaluation.report.sanitizing import sanitize

_STYLE: Final[dict[str, Any]] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "urltree",
    "text.parse_math": False,  # names may contain "$"
    "font.family": ["DejaVu Sans"],  # wider than the page's fonts, so labels have enough room
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
}
_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")


def plot_settings() -> AbstractContextManager[None]:
    """Return a context with our settings of matplotlib; figures and axes are created in it."""
    return mpl.rc_context(cast("Any", _STYLE))  # the type of its keys is not public


def new_figure(
    width: float, height: float, layout: Literal["constrained"] | None = "constrained"
) -> Figure:
    """Return an empty figure that is not registered with pyplot; its size is in inches."""
    return Figure(figsize=(width, height), layout=layout)


def draw_grid(axes: Axes, axis: Literal["x", "y", "both"]) -> None:
    """Draw light grid lines behind the data."""
    axes.grid(axis=axis, color=LIGHT, linewidth=0.6)
    axes.set_axisbelow(True)


def svg(figure: Figure, name: str, label: str) -> Markup:
    """Return the figure as inline SVG.

    Args:
        figure: figure created within `plot_settings()`.
        name: prefix of the ids in the SVG; it must be unique on the page.
        label: description for readers who cannot see the chart.
    """
    out = BytesIO()
    with plot_settings(), warnings.catch_warnings():
        # The font of this machine may lack glyphs, but the reader's browser uses its own fonts.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure.savefig(out, format="svg", metadata=dict.fromkeys(("Date", "Creator")))
    parser = etree.XMLParser(no_network=True, remove_blank_text=True, remove_comments=True)
    root = etree.fromstring(out.getvalue(), parser)
    etree.strip_elements(root, f"{_SVG}metadata", f"{_SVG}style", with_tail=False)
    _rename(root, name)
    _shorten(root)
    root.set("role", "img")
    root.set("aria-label", sanitize(label))
    etree.cleanup_namespaces(root)
    return Markup(etree.tostring(root, encoding="unicode"))  # noqa: S704 - lxml has escaped it


def _rename(root: etree._Element, name: str) -> None:
    """Prefix ids with `name`, and remove ids that are not used."""
    text = etree.tostring(root, encoding="unicode")
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', text))
    for element in root.iter():
        if link := str(element.attrib.pop(_HREF, "")):
            element.set("href", f"#{name}-{link[1:]}")
        if (clip := element.get("clip-path")) is not None:
            element.set("clip-path", clip.replace("url(#", f"url(#{name}-"))
        if (identifier := str(element.attrib.pop("id", ""))) in used:
            element.set("id", f"{name}-{identifier}")


def _shorten(root: etree._Element) -> None:
    """Round lengths to two decimals (1/7200 inch), and let the HTML page choose the fonts."""
    for element in root.iter():
        for key in ("d", "x", "y", "transform"):
            if (value := element.get(key)) is not None:
                short = _LONG_NUMBER.sub(lambda found: f"{float(found[0]):.2f}", value)
                element.set(key, " ".join(short.split()))
        if element.get("transform", "").startswith("rotate(-0 "):
            del element.attrib["transform"]
        if element.tag == f"{_SVG}text":
            element.set("style", _text_style(element.get("style", "")))


def _text_style(css: str) -> str:
    size = re.search(r"font(?:-size)?:[^;]*?([\d.]+px)", css)
    kept = [rule.strip() for rule in css.split(";") if not rule.strip().startswith("font")]
    weight = ["font-weight: bold"] if re.search(r"\b(bold|700)\b", css) else []
    return "; ".join([f"font-size: {size[1] if size else '9px'}", *filter(None, kept), *weight])
