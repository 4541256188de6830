"""results/bench/index.md: the targets, then every section's rows and tables."""

from collections.abc import Iterable, Mapping
from typing import Any

from sagebench.bench.measure import Row, Section, Target
from sagebench.tables.markdown import escape

_HEAD = """# What it costs

Every number is measured by `make bench`: medians of five runs unless a row says otherwise, seconds
of processor time on one thread, for references too, each in a fresh process; peak memory is the
whole process's. Where a reference was too slow to run to its end, the row says what part was run.

![Seconds over size, both on logarithmic scales](growth.png)
"""


def render(sections: Mapping[str, Section], machine: str) -> str:
    """The page; `machine` says where it was measured."""
    blocks = [_HEAD, f"Measured on {escape(machine)}.", "## Targets"]
    targets = [target for section in sections.values() for target in section.targets]
    blocks.append(_table([_target(target) for target in targets]))
    for section in sections.values():
        blocks.append(f"## {escape(section.title)}")
        if section.rows:
            blocks.append(_table([_row(row) for row in section.rows]))
        for title, rows in section.tables.items():
            blocks += [f"**{escape(title)}**", _table(rows)]
        blocks += [escape(note) for note in section.notes]
    return "\n\n".join(block.strip() for block in blocks) + "\n"


def _target(target: Target) -> dict[str, Any]:
    limit = f"≥ {target.at_least:g}" if target.at_least is not None else f"≤ {target.at_most:g}"
    share = not target.unit and target.at_most is not None and target.at_most < 1
    shown = f"{target.measured:.1%}" if share else f"{number(target.measured)} {target.unit}"
    return {
        "what": target.what,
        "target": f"≤ {target.at_most:.0%}" if share else f"{limit} {target.unit}".strip(),
        "measured": shown.strip(),
        "": "met" if target.met else "not met",
        "where it comes from": target.cause,
    }


def _row(row: Row) -> dict[str, Any]:
    reference = row.reference
    if row.reference_sample:
        reference += f" ({row.reference_sample})"
    return {
        "what": row.what,
        "size": row.size,
        "s": number(row.seconds),
        "runs": row.runs,
        "peak, MB": number(row.peak_mb),
        "growth exponent": "" if row.exponent is None else f"{row.exponent:.2f}",
        "reference": reference,
        "reference, s": number(row.reference_seconds),
        "ratio": number(row.ratio),
        "difference": "" if row.difference is None else f"{row.difference:.0e}",
    }


def _table(rows: Iterable[Mapping[str, Any]]) -> str:
    rows = list(rows)
    if not rows:
        return "Nothing was measured."
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = [names, ["---"] * len(names)]
    lines += [[escape(_shown(row.get(name, ""))) for name in names] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _shown(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def number(value: float | None) -> str:
    """Three significant digits, down to a thousandth and one below; "" for nothing."""
    if value is None:
        return ""
    if 0 < abs(value) < 0.001:
        return f"{value:.1g}"
    digits = max(0, 2 - len(f"{abs(value):.0f}") + 1) if abs(value) >= 1 else 3
    return f"{value:,.{digits}f}"
