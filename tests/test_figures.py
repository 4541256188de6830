"""The figures: same bytes for the same table, every mark from a row, legible colours."""

from itertools import pairwise
from pathlib import Path

import fake_scores
import matplotlib as mpl
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from sagebench import figures, tables
from sagebench import params as params_module
from sagebench.errors import BenchError
from sagebench.figures import conditions, heatmap, overall, retention, sensitivity, style
from sagebench.tables.context import ALL
from sagebench.tables.summary import COLUMNS
from sagebench.tables.table import read

ROOT = Path(__file__).resolve().parents[1]
RENDERERS = {
    "summary": heatmap.summary,
    "robustness": conditions.draw,
    "sensitivity_grid": sensitivity.draw,
    "retrieval": retention.draw,
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables that figures read."""
    folder = tmp_path_factory.mktemp("figures")
    (folder / "few.yaml").write_text("bootstrap: {resamples: 100}\n", encoding="utf-8")
    params = params_module.read(ROOT / "params.yaml", folder / "few.yaml")
    fake_scores.write_scores(folder, params)
    fake_scores.write_embeddings(folder, params)
    for name in {recipe.table for recipe in figures.FIGURES.values()}:
        tables.write(name, params, folder, folder / "tables")
    return folder / "tables"


def texts(figure: object) -> list[str]:
    return [text.get_text() for text in figure.findobj(mpl.text.Text)]  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", figures.FIGURES)
def test_equal_tables_give_equal_bytes(name: str, written: Path, tmp_path: Path) -> None:
    first = figures.draw(name, written, tmp_path / "a")
    assert first == figures.outputs(name, tmp_path / "a")
    with mpl.rc_context({"font.size": 30, "svg.hashsalt": None, "savefig.dpi": 50}):
        second = figures.draw(name, written, tmp_path / "b")
    for one, two in zip(first, second, strict=True):
        assert one.read_bytes() == two.read_bytes(), one.name


def test_files_tell_no_date_and_no_version(written: Path, tmp_path: Path) -> None:
    svg, png = figures.draw("overall_intervals", written, tmp_path)
    text = svg.read_text(encoding="utf-8")
    assert "dc:date" not in text
    assert mpl.__version__ not in text.partition("<defs>")[0]
    image = Image.open(png)
    assert image.width == style.WIDTH * style.DPI
    assert not {"Software", "Creation Time"} & image.info.keys()


def test_figures_read_their_table_and_nothing_else(written: Path, tmp_path: Path) -> None:
    for name in figures.FIGURES:
        (table,) = figures.inputs(name, written)
        alone = tmp_path / name
        alone.mkdir()
        (alone / table.name).write_bytes(table.read_bytes())
        with style.applied():
            figures.FIGURES[name].draw(read(alone / table.name))


def test_the_heat_map_shows_the_tables_values(written: Path) -> None:
    frame = read(written / "summary.csv")
    with style.applied():
        shown = texts(heatmap.summary(frame))
    for row in frame[(frame.corpus == ALL) & frame.measure.isin(COLUMNS)].itertuples():
        assert f"{row.value:.3f}" in shown
        assert row.title in shown
    assert {"Embedding models", "Text metrics", "Reference rows"} <= set(shown)


def test_every_retention_is_shown(written: Path) -> None:
    frame = read(written / "retrieval.csv")
    with style.applied():
        figure = retention.draw(frame)
    shown, columns = texts(figure), [label.get_text() for label in figure.axes[0].get_xticklabels()]
    wanted = frame[(frame.corpus == ALL) & frame.measure.str.startswith("retention:")]
    assert len(wanted) == 18 * wanted.system.nunique()
    assert sum(text.replace(".", "").isdigit() for text in shown) >= 19 * wanted.system.nunique()
    assert len(columns) == 19
    assert "Numerization" in columns
    assert columns.count("50% at 0.5") == 2


def test_the_curves_are_means_over_positions(written: Path) -> None:
    frame = read(written / "sensitivity_grid.csv")
    with style.applied():
        figure = sensitivity.draw(frame)
    panel = next(a for a in figure.axes if a.get_title(loc="left") == "Text metrics: insertion")
    start = "similarity:insertion:0.5:"
    part = frame[(frame.system == "rouge") & (frame.corpus == ALL)]
    mean = part[part.measure.str.startswith(start)].value.mean()
    assert any(mean == pytest.approx(y) for line in panel.lines for y in line.get_ydata())
    assert list(panel.lines[0].get_ydata()) == pytest.approx([1 / 1.15, 1 / 1.5, 1 / 2], abs=1e-6)


def test_the_papers_overall_is_a_ring_on_its_systems(written: Path) -> None:
    with style.applied():
        axes = overall.draw(read(written / "summary.csv")).axes[0]
    rings = [line for line in axes.lines if line.get_markerfacecolor() == "none"]
    assert sorted(x for ring in rings for x in ring.get_xdata()) == [0.399, 0.402, 0.404, 0.423]


@pytest.mark.parametrize("name", RENDERERS)
def test_missing_values_and_hostile_names_are_drawn(name: str, written: Path) -> None:
    frame = read(written / f"{name}.csv")
    gone = frame.system == "glove"
    frame.loc[gone, ["value", "low", "high"]] = float("nan")
    frame.loc[gone, "title"] = "$\\frac{1}{2}$ <b>& a name\nas long as a sentence of its own"
    with style.applied():
        figure = RENDERERS[name](frame)
        figure.draw_without_rendering()
    if name != "sensitivity_grid":  # there a line without values is left out
        shown = texts(figure)
        assert "–" in shown
        assert any(text.startswith("$\\frac") and text.endswith("…") for text in shown)


@pytest.mark.parametrize("kinds", [["embedding"], ["reference"], ["classical", "reference"]])
def test_fewer_kinds_of_systems_are_drawn(kinds: list[str], written: Path) -> None:
    for name, render in {**RENDERERS, "overall": overall.draw}.items():
        frame = read(written / f"{name if name != 'overall' else 'summary'}.csv")
        with style.applied():
            render(frame[frame.kind.isin([*kinds, "expected"])]).draw_without_rendering()


def test_unknown_figures_and_missing_tables_are_refused(written: Path, tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="did you mean 'retention'"):
        figures.draw("retentions", written, tmp_path)
    with pytest.raises(BenchError, match=r"retrieval\.csv cannot be read .*build the tables first"):
        figures.draw("retention", tmp_path, tmp_path)
    (tmp_path / "retrieval.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(BenchError, match="is no table of scores"):
        figures.draw("retention", tmp_path, tmp_path)


def test_a_system_may_be_called_nan(tmp_path: Path) -> None:
    row = "nan,NA,embedding,all corpora,overall,0.5,,,3,null"
    header = "system,title,kind,corpus,measure,value,low,high,n,note"
    (tmp_path / "x.csv").write_text(f"{header}\n{row}\n", encoding="utf-8")
    frame = read(tmp_path / "x.csv")
    assert frame.iloc[0][["system", "title", "note"]].tolist() == ["nan", "NA", "null"]
    assert pd.isna(frame.low[0])


def _luminance(colour: tuple[float, ...]) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_values_can_be_read_on_every_colour_of_the_scale() -> None:
    scale = mpl.colormaps[style.COLOUR_MAP]
    before = -1.0
    for step in range(101):
        colour = scale(step / 100)
        ground = _luminance(colour)
        ink = _luminance(mpl.colors.to_rgb(style.text_colour(colour)))
        high, low = max(ground, ink), min(ground, ink)
        assert (high + 0.05) / (low + 0.05) > 3.5
        assert ground > before - 1e-3  # in grey, more is lighter
        before = ground


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9).map(sorted))
def test_labels_keep_their_distance_and_their_centre(values: list[float]) -> None:
    places = sensitivity._apart(values)
    assert len(places) == len(values)
    gaps = [after - before for before, after in pairwise(places)]
    assert all(gap >= sensitivity._LINE - 1e-9 for gap in gaps)
    assert sum(places) == pytest.approx(sum(values), abs=1e-6)
    alone = all(b - a >= sensitivity._LINE for a, b in pairwise(values))
    if alone:
        assert places == pytest.approx(values)
