"""One look for all figures: legible at 1,000 pixels, in grey and to colour-blind readers."""

from __future__ import annotations

from contextlib import AbstractContextManager

from sagebench.tables.plain import one_line

WIDTH = 10.0  # inches: at 100 pixels an inch as wide as a README's column
COLOUR_MAP = "cividis"  # light and dark in order, so it survives printing in grey
DPI = 200  # of PNG files: sharp on dense screens
INK = "#222222"
FAINT = "#6b6b6b"
RULE = "#d9d9d9"
# Okabe and Ito's colours, which colour-blind readers can tell apart, dark ones first; every
# series also has a marker and a dash of its own.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]
DASHES = ["-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)), (0, (3, 1.2)), "-", "-"]
KIND_COLOURS = {"embedding": "#0072B2", "classical": "#B34700", "reference": "#6f6f6f"}
KIND_MARKERS = {"embedding": "o", "classical": "s", "reference": "D"}

_SETTINGS = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same on every machine
    "font.size": 9.5,
    "text.color": INK,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.labelsize": 9.5,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "savefig.dpi": DPI,
    "text.parse_math": False,  # a "$" in a name is a dollar
    "svg.fonttype": "path",
    "svg.hashsalt": "sagebench",
}


def applied() -> AbstractContextManager[None]:
    """These settings and no one else's (such as a user's matplotlibrc) while it is open."""
    import matplotlib.style

    return matplotlib.style.context(_SETTINGS, after_reset=True)


def text_colour(background: tuple[float, ...]) -> str:
    """White or near-black, whichever has the higher contrast on an RGB(A) colour (WCAG 2)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in background[:3]]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return INK if luminance > 0.19 else "white"


def short(text: str, limit: int) -> str:
    """`text` on one line, cut to `limit` characters: no name may grow over its neighbours."""
    text = one_line(text)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
