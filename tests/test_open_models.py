"""Open models: fetched from the Hub once, prompts per role, precision, batches, short vectors."""

import hashlib
import json
import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from loopback import running
from workflow_support import Project

from sagebench import provenance
from sagebench.corpora import catalogue
from sagebench.embeddings import snapshots
from sagebench.embeddings.base import build
from sagebench.errors import BenchError
from sagebench.params import Model

ROOT = Path(__file__).resolve().parents[1]
TEXTS = ["A man is eating food", "Tea", "The stock market crashed in Tokyo. " * 5]
COMMIT = "c0ffee" * 6 + "beef"


@pytest.fixture(scope="module")
def folder(raw):
    return raw("minilm") / "minilm" / "model"


@pytest.fixture(scope="module")
def plain(raw):
    return build("minilm", raw("minilm"))


def open_model(folder, **settings):
    return build({"name": "mine", "path": str(folder)} | settings, Path(folder))


def test_a_prompt_per_role(folder, plain):
    model = open_model(folder, prompts={"query": "query: ", "document": "passage: "})
    for role, prompt in [("query", "query: "), ("document", "passage: "), ("clustering", "")]:
        expected = plain.encode([prompt + text for text in TEXTS])
        np.testing.assert_allclose(model.for_role(role).encode(TEXTS), expected, atol=1e-6)
        read = model.for_role(role).tokens(TEXTS)
        assert read == plain.tokens([prompt + text for text in TEXTS])
    marks = {model.for_role(role).fingerprint for role in ("query", "document", "similarity")}
    assert len(marks) == 3
    assert model.for_role("clustering") is model


def test_short_vectors_are_the_long_ones_beginning(folder, plain):
    whole = plain.encode(TEXTS)[:, :64]
    expected = whole / np.linalg.norm(whole, axis=1, keepdims=True)
    model = open_model(folder, truncate_dim=64)
    assert model.dim == 64
    np.testing.assert_allclose(model.encode(TEXTS), expected, atol=1e-6)
    with pytest.raises(BenchError, match="truncate_dim 999 exceeds its 384"):
        open_model(folder, truncate_dim=999)


def test_batches_and_precision_move_a_vector_little_and_have_their_own_address(folder, plain):
    exact = plain.encode(TEXTS)
    batched = open_model(folder, batch_size=8)
    coarse = open_model(folder, dtype="bfloat16")
    np.testing.assert_allclose(batched.encode(TEXTS), exact, atol=1e-5)
    cosines = (coarse.encode(TEXTS) * exact).sum(axis=1)
    assert np.all((cosines > 0.99) & (cosines < 1 - 1e-7))
    assert len({plain.fingerprint, batched.fingerprint, coarse.fingerprint}) == 3
    assert [len(batch) for batch in batched.batches([plain.read(t) for t in TEXTS * 5])] == [8, 7]


def test_batches_of_automatic_size_hold_so_many_tokens_with_padding(folder):
    model = open_model(folder, batch_size="auto")
    texts = [f"{i} " + "word " * (7 * i % 300) for i in range(120)]
    batches = model.batches([model.read(text) for text in texts])
    lengths = [[min(reading.tokens, 256) for reading in batch] for batch in batches]
    assert sum(map(len, batches)) == len(texts)
    flat = [length for batch in lengths for length in batch]
    assert flat == sorted(flat, reverse=True)
    assert all(len(batch) * batch[0] <= 4_096 for batch in lengths)
    one_more = [(len(a) + 1) * a[0] for a in lengths[:-1]]
    assert min(one_more) > 4_096
    same = open_model(folder, batch_size="auto").fingerprint
    assert model.fingerprint == same != open_model(folder, batch_size=8).fingerprint


def test_a_batch_that_the_memory_does_not_take_is_halved_and_so_are_later_ones(folder, plain):
    import torch

    model, room, tried = open_model(folder, batch_size="auto"), 300, []
    encode = model._model.encode

    def tight(texts, **options):
        tried.append(len(texts) * max(len(text.split()) + 2 for text in texts))
        if tried[-1] > room:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return encode(texts, **options)

    model._model.encode = tight
    texts = [f"{i} " + "word " * (3 * i) for i in range(40)]
    np.testing.assert_allclose(model.encode(texts), plain.encode(texts), atol=1e-5)
    refused = [size for size in tried if size > room]
    assert 1 <= len(refused) <= 4  # each halves what is tried from then on
    assert tried[: len(refused)] == refused
    room = 10
    with pytest.raises(BenchError, match="does not take a text of 42 tokens; set `max_tokens`"):
        model.encode(["word " * 40])


def test_what_this_machine_lacks_is_explained(folder):
    import importlib.util

    import torch

    if not torch.cuda.is_available():
        with pytest.raises(BenchError, match="no cuda; use `device: auto`"):
            open_model(folder, device="cuda")
    if importlib.util.find_spec("optimum") is None:
        with pytest.raises(BenchError, match=r"sentence-transformers\[onnx\]"):
            open_model(folder, backend="onnx")
    with pytest.raises(BenchError, match="there is no folder"):
        open_model("./nowhere", batch_size=2)
    if not (torch.cuda.is_available() or torch.backends.mps.is_available()):
        automatic = open_model(folder, device="auto", batch_size=2)
        assert automatic.fingerprint == open_model(folder, device="cpu", batch_size=2).fingerprint


def test_a_static_model_reads_to_the_end(tmp_path, raw):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(raw("minilm") / "minilm/model/tokenizer.json"))
    weights = np.random.default_rng(1).normal(size=(tokenizer.get_vocab_size(), 8))
    module = StaticEmbedding(tokenizer, embedding_weights=weights.astype(np.float32))
    SentenceTransformer(modules=[module], device="cpu").save(str(tmp_path / "static"))
    model = open_model(tmp_path / "static", batch_size=4)
    long, edited = "word " * 5_000, "word " * 5_000 + "market"
    assert model.max_tokens is None
    assert model.tokens([edited])[0] > 5_000
    a, b = model.encode([long, edited])
    assert not np.array_equal(a, b)
    with pytest.raises(BenchError, match="leave out `max_tokens`"):
        open_model(tmp_path / "static", batch_size=4, max_tokens=128)


def test_a_model_without_more_to_say_stays_with_the_plain_loader():
    assert Model(name="m", path="x", prompt="q: ", max_tokens=9).encoder == "sentence_transformer"
    for more in ({"dtype": "float16"}, {"prompts": {"query": "q"}}, {"device": "auto"}):
        assert Model.model_validate({"name": "m", "path": "x"} | more).encoder == "open"


# --- the Hub -----------------------------------------------------------------------------------


class _Hub(BaseHTTPRequestHandler):
    """The Hub's paths for one model; `files` and `requests` belong to the server."""

    def log_message(self, *args):
        pass

    def do_HEAD(self):
        self._serve(body=False)

    def do_GET(self):
        self._serve(body=True)

    def _serve(self, body):
        path = self.path.partition("?")[0]
        self.server.requests.append((self.command, path))
        files = self.server.files
        if path in (f"/api/models/some/model/revision/{r}" for r in ("main", COMMIT)):
            siblings = [{"rfilename": name} for name in files]
            info = {"id": "some/model", "sha": COMMIT, "siblings": siblings}
            return self._send(200, json.dumps(info).encode(), {}, body)
        if path == f"/api/models/some/model/tree/{COMMIT}":
            tree = [{"type": "file", "path": name, "size": len(content), "oid": "0" * 40}
                    for name, content in files.items()]  # fmt: skip
            return self._send(200, json.dumps(tree).encode(), {}, body)
        name = path.removeprefix(f"/some/model/resolve/{COMMIT}/")
        if name not in files:
            return self._send(401, b"", {"X-Error-Code": "RepoNotFound"}, body)
        etag = hashlib.sha256(files[name]).hexdigest()
        headers = {"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT}
        return self._send(200, files[name], headers, body)

    def _send(self, status, content, headers, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if body:
            self.wfile.write(content)


@pytest.fixture
def hub(folder):
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hub)
    server.files = {p.relative_to(folder).as_posix(): p.read_bytes()
                    for p in folder.rglob("*") if p.is_file()}  # fmt: skip
    server.files |= {"onnx/model.onnx": b"graph", "tf_model.h5": b"other weights"}
    server.requests = []
    with running(server):
        yield server


def snapshot(hub, out, **spec):
    known = {"name": "own", "repo": "some/model", "revision": None, "backend": "torch"} | spec
    return subprocess.run(
        [sys.executable, "-m", "sagebench", "snapshot", str(out), "--spec", json.dumps(known)],
        env=os.environ | {
            "PYTHONPATH": os.pathsep.join(sys.path), "HF_HOME": str(out.parent / "home"),
            "HF_ENDPOINT": f"http://127.0.0.1:{hub.server_address[1]}", "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_OFFLINE": "0",
        },
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_model_is_fetched_at_a_commit_and_read_offline(
    hub, folder, plain, raw, tmp_path, monkeypatch
):
    out = snapshots.record_path(tmp_path, "own")
    done = snapshot(hub, out)
    assert done.returncode == 0, done.stderr
    record = json.loads(out.read_text())
    assert (record["repo"], record["revision"]) == ("some/model", COMMIT)
    assert set(record["files"]) == set(hub.files) - {"onnx/model.onnx", "tf_model.h5"}
    weights = folder / "model.safetensors"
    assert record["files"]["model.safetensors"] == {
        "size": weights.stat().st_size, "sha256": provenance.file_sha256(weights),
    }  # fmt: skip
    first, before = out.read_bytes(), len(hub.requests)
    assert snapshot(hub, out).returncode == 0
    assert out.read_bytes() == first
    weights_again = ("GET", f"/some/model/resolve/{COMMIT}/model.safetensors")
    assert weights_again in hub.requests[:before]
    assert weights_again not in hub.requests[before:]

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(out.parent / "home" / "hub"))
    before = len(hub.requests)
    named = {"name": "own", "path": "some/model"}
    assert build(named, tmp_path).fingerprint == plain.fingerprint
    found = build(named | {"prompts": {"query": "query: "}}, tmp_path).for_role("query")
    np.testing.assert_allclose(found.encode(["a"]), plain.encode(["query: a"]), atol=1e-6)
    assert len(hub.requests) == before


def test_a_model_that_is_not_there_is_explained(hub, tmp_path):
    out = snapshots.record_path(tmp_path, "own")
    done = snapshot(hub, out, repo="some/typo")
    assert done.returncode == 2
    assert "401 alike" in done.stderr
    assert not out.exists()


@pytest.mark.workflow
def test_the_workflow_fetches_what_the_parameters_name(tmp_path):
    project = Project(tmp_path / "project")
    project.change({
        "models": ["e5_small_v2", "text_embedding_3_small",
                   {"name": "mine", "path": "some/model", "dtype": "float16"},
                   {"name": "served", "provider": "openai", "base_url": "http://127.0.0.1:9/v1",
                    "model": "m", "dimensions": 8}],
        "budget_usd": 3,
    })  # fmt: skip
    planned = project.planned()
    assert {"snapshot e5_small_v2", "snapshot mine"} <= set(planned)
    assert "snapshot text_embedding_3_small" not in planned
    assert sum(job.startswith("embed ") for job in planned) == 4 * 5
    assert any("retrieval" in job for job in project.planned("--", "texts"))
    assert not [job for job in project.planned("--", "texts") if job.startswith("embed")]


# --- docs --------------------------------------------------------------------------------------


def test_the_docs_table_of_prompts_is_the_catalogues():
    lines = ["| model | query | document | clustering | similarity |", "|---|---|---|---|---|"]
    roles = ("query", "document", "clustering", "similarity")
    for name, model in catalogue.load().models.items():
        if prompts := model.options.get("prompts"):
            shown = [
                json.dumps(prompts[r]).replace("|", "\\|") if r in prompts else "" for r in roles
            ]
            cells = [f"`{text}`" if text else "–" for text in shown]
            lines.append(f"| {name} | {' | '.join(cells)} |")
    table = "\n".join(lines)
    assert table in (ROOT / "docs/models.md").read_text(encoding="utf-8"), table


def test_every_open_model_has_a_commit_and_known_options():
    models = {n: m for n, m in catalogue.load().models.items() if m.backend == "open"}
    assert len(models) > 20
    for name, model in models.items():
        own = Model.model_validate(
            {"name": name, "path": model.hub.repo, "max_tokens": model.max_tokens} | model.options
        )
        assert own.path == model.hub.repo
