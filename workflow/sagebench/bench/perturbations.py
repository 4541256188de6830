"""Throughput of every perturbation."""

from pathlib import Path
from typing import Any

from sagebench import registry
from sagebench.bench.measure import Place, Section, child, times
from sagebench.bench.texts import pieces
from sagebench.corpora.fetch import fetch

TEXTS, WORDS = 20, 200


def measure(place: Place) -> Section:
    """One process for each perturbation: what is loaded once counts apart from what is per text."""
    raw = place.scratch / "raw"  # for what no corpus of this run needs as well
    table = []
    for name, entry in registry.entries("perturbation").items():
        for source in entry.needs:
            if not (raw / source).exists():
                fetch(source, raw / source, progress=False)
        table.append(child(perturb, name=name, data=place.data, raw=raw))
    notes = [
        f"{TEXTS} texts of {WORDS} words, one thread. Loading happens once in a process: "
        "WordNet, the tagger, nlpaug."
    ]
    return Section("Perturbations", tables={"Throughput": table}, notes=notes)


def perturb(name: str, data: str, raw: str) -> dict[str, Any]:
    """Words a second after the first text, and what the first one cost."""
    texts = pieces(data, TEXTS, WORDS)
    perturbation = registry.load("perturbation", name)(Path(raw))
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
