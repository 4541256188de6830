"""The cost of vectors: what the store saves, what arithmetic allows, what options cost."""

from pathlib import Path
from typing import Any

import numpy as np

from sagebench.bench.measure import Place, Row, Section, Target, child, curve, median
from sagebench.bench.scifact import MODEL
from sagebench.bench.texts import pieces
from sagebench.published import sts
from sagebench.published.folder import Folder

_SAMPLE = 150  # texts drawn from each list that is too long to encode as a whole
_SIZES = [4, 8, 16, 32]
_FULL = 300  # words that surely fill the 256 tokens that MiniLM reads
_RUNS = 5
PLAIN, DEFAULT = "sentence-transformers, batches of 32", "default: one text at a time"
# What can be asked for, and how an entry of `models:` asks for it.
OPTIONS: dict[str, dict[str, Any]] = {
    PLAIN: {},
    DEFAULT: {},
    "batch_size: auto": {"batch_size": "auto"},
    "dtype: bfloat16": {"dtype": "bfloat16"},
    "dtype: bfloat16, batch_size: auto": {"dtype": "bfloat16", "batch_size": "auto"},
    "minilm_int8 (ONNX)": {},
}


def measure(place: Place) -> Section:
    """The run's texts, the arithmetic limit, precision and batches."""
    saved = child(saving, data=place.data)
    speed = child(limit, data=place.data)
    what = "embedding of the run's texts"
    rows = [
        Row(
            what, f"{saved['ours']:,} vectors for {saved['plain']:,} texts", saved["our_seconds"],
            reference="plain encode of each task's lists",
            reference_seconds=saved["plain_seconds"],
            reference_sample=f"{_SAMPLE} texts of each", difference=saved["difference"],
        ),
        Row(
            "embedding, 256 tokens a text", f"{_SIZES[-1]} texts", speed["curve"][-1][1],
            peak_mb=speed["peak_mb"], reference="arithmetic limit: FLOPs / GEMM rate",
            reference_seconds=speed["limit"][-1][1], curve=speed["curve"],
        ),
        Row(
            "arithmetic limit of embedding", f"{_SIZES[-1]} texts", speed["limit"][-1][1],
            curve=speed["limit"],
        ),
    ]  # fmt: skip
    fewer = saved["plain"] / saved["ours"]
    cause = (
        f"of which {fewer:.2f} times from fewer texts (repeated, or equal as far as the model "
        f"reads) and {(rows[0].ratio or 0) / fewer:.2f} from the speed of a text; where each "
        f"comparison encodes both its sides the lists hold {saved['both_sides']:,} texts, "
        f"{saved['both_sides'] / saved['ours']:.1f} times as many as vectors"
    )
    target = Target(f"{what}, vs plain encode per task", "times", rows[0].ratio or 0, at_least=2)
    target = Target(target.what, target.unit, target.measured, target.at_least, None, cause)
    options = [
        child(option, name=name, data=place.data, published=place.published) for name in OPTIONS
    ]
    notes = [
        f"GEMM rate {speed['gflops']:.1f} GFLOP/s in float32 on one thread, "
        f"{speed['flops_a_text'] / 1e9:.2f} GFLOP a text of 256 tokens; the model's layers reach "
        f"{speed['limit'][-1][1] / speed['curve'][-1][1]:.0%} of that rate."
    ]
    return Section("Embedding", rows, [target], {"Options of all-MiniLM-L6-v2": options}, notes)


def saving(data: str) -> dict[str, Any]:
    """Texts of the default run's lists and vectors that are computed; seconds by samples."""
    from sagebench.embeddings.base import build
    from sagebench.plan import Plan

    model = build(MODEL, Path(data) / "raw")
    lists, both = _lists(Plan.read("params.yaml"), Path(data))
    plain = [text for each in lists for text in each]
    distinct = dict.fromkeys(plain)
    visible: dict[bytes, str] = {}
    reading = median(lambda: visible.update({model.read(t).visible: t for t in distinct}), runs=1)
    visible.pop(b"", None)
    ours = list(visible.values())
    drawn = np.random.default_rng(0)
    some, others = (
        [texts[i] for i in drawn.choice(len(texts), _SAMPLE, replace=False)]
        for texts in (plain, ours)
    )
    transformer: Any = _transformer(data)
    alone = model.encode(some)
    difference = float(np.abs(transformer.encode(some, normalize_embeddings=True) - alone).max())
    by_encode = median(lambda: transformer.encode(some, show_progress_bar=False), _RUNS)
    readings = [model.read(text) for text in others]
    by_us = median(lambda: [model.vector(each) for each in readings], _RUNS)
    return {
        "plain": len(plain), "ours": len(ours), "both_sides": both, "difference": difference,
        "plain_seconds": by_encode / _SAMPLE * len(plain),
        "our_seconds": by_us / _SAMPLE * len(ours) + reading,
    }  # fmt: skip


def _lists(plan: Any, data: Path) -> tuple[list[list[str]], int]:
    """Every list of texts that a plain script would encode once a task and corpus.

    And the number of texts where each comparison encodes both its sides.
    """
    from sagebench.layout import read_inputs

    lists, both = [], 0
    for name, task in plan.tasks.items():
        for corpus in task.corpora if task.models else []:
            inputs: Any = read_inputs(
                data, name, corpus, plan.role(corpus), list(task.perturbations)
            )
            sample = inputs["sample"]
            columns = ("text", "summary", "summary_1", "summary_2", "text_a", "text_b")
            own = [sample[column] for column in columns if column in sample.columns]
            own = [column.drop_nulls().to_list() for column in own if column.count()]
            own += [inputs["queries"]["text"].to_list()] if "queries" in inputs else []
            changed = [frame["text"].to_list() for frame in inputs["perturbed"].values()]
            lists += own + changed
            compared = sum(map(len, own[1:] + changed))
            both += 2 * compared if name in ("robustness", "sensitivity") else 0
            both += sum(map(len, own + changed)) if name in ("clustering", "retrieval") else 0
            both += 2 * compared if name == "human_preference" else 0
    return lists, both


def limit(data: str) -> dict[str, Any]:
    """Seconds of full-length texts, and of nothing but their multiplications."""
    from sagebench.embeddings.base import build

    model = build(MODEL, Path(data) / "raw")
    texts = pieces(data, _SIZES[-1], _FULL)
    readings = [model.read(text) for text in texts]
    found = curve(lambda n: lambda: [model.vector(each) for each in readings[:n]], _SIZES)
    config = _transformer(data)[0].auto_model.config
    tokens, width, inner = 256, config.hidden_size, config.intermediate_size
    # Two operations a multiplication: four projections, two layers of the network, attention.
    a_token = 2 * (4 * width * width + 2 * width * inner) + 4 * tokens * width
    flops = config.num_hidden_layers * tokens * a_token
    rate = _rate(tokens, width, inner)
    return {
        **found, "gflops": rate / 1e9, "flops_a_text": flops,
        "limit": [(n, n * flops / rate) for n in _SIZES],
    }  # fmt: skip


def _rate(tokens: int, width: int, inner: int) -> float:
    """FLOPs a second of a matrix product, by the faster of torch's two libraries."""
    import torch

    from sagebench.embeddings import onednn

    layer, left, many = torch.nn.Linear(width, inner), torch.randn(tokens, width), 200
    holder = torch.nn.Sequential(layer)
    with torch.inference_mode():
        seconds = [median(lambda: [layer(left) for _ in range(many)])]
        if onednn.use(holder, lambda: holder(left).numpy()):
            seconds.append(median(lambda: [holder(left) for _ in range(many)]))
    return 2 * tokens * width * inner * many / min(seconds)


def option(name: str, data: str, published: str) -> dict[str, Any]:
    """Texts a second, short and long, and the correlation with people's ratings."""
    known = published not in ("None", None)
    rated = sts.benchmark(Folder(Path(published))) if known else sts.Pairs([], [], [])
    encode = _encoder(name, data)
    short = (rated.left or pieces(data, 200, 12))[:200]
    long = pieces(data, 24, _FULL)
    found: dict[str, Any] = {
        "option": name,
        "texts/s, STSBenchmark": round(len(short) / median(lambda: encode(short), _RUNS)),
        "texts/s, 256 tokens": round(len(long) / median(lambda: encode(long), _RUNS), 1),
    }
    if known:
        from scipy.stats import spearmanr

        a, b = encode(rated.left), encode(rated.right)
        norms = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
        rho = spearmanr((a * b).sum(axis=1) / norms, rated.ratings).statistic
        found["Spearman, STSBenchmark"] = round(float(rho), 4)
    return found


def _encoder(name: str, data: str) -> Any:
    """texts -> (n, dim) vectors."""
    from sagebench.embeddings.base import build
    from sagebench.params import Model

    raw = Path(data) / "raw"
    if name == PLAIN:
        transformer = _transformer(data)
        return lambda texts: transformer.encode(list(texts), show_progress_bar=False)
    if options := OPTIONS[name]:
        own = Model(name="own", path=str(raw / MODEL / "model"), **options)
        return build(own, raw).encode
    return build(MODEL if name == DEFAULT else "minilm_int8", raw).encode


def _transformer(data: str) -> Any:
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    folder = Path(data) / "raw" / "minilm" / "model"
    return SentenceTransformer(str(folder), device="cpu", local_files_only=True).eval()
