"""The benchmark as a library: from an `encode` function to scores, without the workflow.

    from sagebench import evaluate

    table = evaluate(encode, tasks=["clustering"], size="smoke", beside=["jaccard"])

The same tasks, scores and tables as in the workflow, called in this process; what does not depend
on the system (corpora, samples, perturbed texts) is kept in a per-user folder.
"""

from sagebench.evaluation.benchmark import evaluate
from sagebench.evaluation.pairs import score

__all__ = ["evaluate", "score"]
