"""Figures as bytes: the same for the same figure, without dates and versions."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from sagebench.figures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def svg(figure: Figure) -> bytes:
    """The figure as SVG, its letters as outlines: it needs no fonts where it is shown."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def png(figure: Figure) -> bytes:
    """The figure as PNG with at most 256 colours, a third of the size of one with all."""
    from PIL import Image

    raw, buffer = io.BytesIO(), io.BytesIO()
    figure.savefig(raw, format="png", metadata={"Software": None})
    image = Image.open(raw).convert("RGB")
    image = image.quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    image.save(buffer, format="PNG", dpi=(style.DPI, style.DPI), compress_level=9)
    return buffer.getvalue()
