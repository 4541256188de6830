"""Throughput of every perturbation whose sources have been fetched."""

from pathlib import Path
from typing import Any

from sagebench import registry
from sagebench.bench.measure import Place, Section, child, times
from sagebench.bench.texts import pieces

TEXTS, WORDS = 20, 200


def measure(place: Place) -> Section:
    """One process for each perturbation: what is loaded once counts apart from what is per text."""
    table, left_out = [], []
    for name, entry in registry.entries("perturbation").items():
        if all((place.data / "raw" / source).is_dir() for source in entry.needs):
            table.append(child(perturb, name=name, data=place.data))
        else:
            left_out.append(f"{name} ({', '.join(entry.needs)})")
    notes = [
        f"{TEXTS} texts of {WORDS} words, one thread. Loading happens once in a process: "
        "WordNet, the tagger, nlpaug."
    ]
    if left_out:
        notes.append(f"Not measured, for their sources were not fetched: {'; '.join(left_out)}.")
    return Section("Perturbations", tables={"Throughput": table}, notes=notes)


def perturb(name: str, data: str) -> dict[str, Any]:
    """Words a second after the first text, and what the first one cost."""
    texts = pieces(data, TEXTS, WORDS)
    perturbation = registry.load("perturbation", name)(Path(data) / "raw")
    needle = perturbation.kind in ("insertion", "removal")
    place = {"size": 0.5, "position": 0.5} if needle else {}
    (first,) = times(lambda: perturbation.apply(texts[0], 1, **place), runs=1)
    rounds = times(lambda: [perturbation.apply(text, 1, **place) for text in texts], runs=5)
    per_text = sorted(rounds)[2] / TEXTS
    return {
        "perturbation": name,
        "kind": perturbation.kind,
        "words/s": round(WORDS / per_text),
        "texts/s": round(1 / per_text),
        "loading, s": round(max(0.0, first - per_text), 2),
    }
