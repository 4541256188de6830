"""What a job asks of a cluster: memory and time, from the peaks measured in a default run.

A local run ignores these numbers. Every job computes on one thread (see __main__), so none asks
for more than the one core that is Snakemake's default.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sagebench.plan import Plan

_SNAKEMAKE = 400  # MB of the two Snakemakes that start a job on its node: 170 each, measured
_START = 5  # minutes for them, for imports from a slow shared disk, and for short jobs
_MEMORY, _TIME = 2, 10  # times the measured peak: other texts, other processors


@dataclass(frozen=True)
class Peak:
    """The highest of a phase's jobs at default size: resident memory in MB, wall time in s."""

    mb: int
    seconds: int


_PHASES = {
    "fetch": Peak(300, 300),  # the time is that of a slow network
    "snapshot": Peak(300, 300),  # likewise; neither was measured
    "corpus": Peak(228, 2),
    "sample": Peak(96, 1),
    "perturb": Peak(214, 5),
    "embed": Peak(722, 181),
    "similarity": Peak(209, 10),
    "score": Peak(279, 2),
    "table": Peak(300, 8),
    "figure": Peak(195, 9),
    "card": Peak(74, 1),
    "metrics": Peak(105, 3),
    "report": Peak(300, 10),  # not measured: as the largest table
}
_METRICS = {"bertscore": Peak(841, 133), "rouge": Peak(340, 19)}  # similarities beyond the others

Ask = Callable[[Any, int], int]


class Demand:
    """A plan's asks, as functions of a job's wildcards and attempt, which Snakemake calls.

    Each attempt asks for twice what the last one had: a job that a cluster ends for lack of
    memory or time is tried again with more.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def mem_mb(self, phase: str) -> Ask:
        """Memory in MB of a phase's jobs."""
        return self._ask(phase, lambda peak: _SNAKEMAKE + _MEMORY * peak.mb)

    def runtime(self, phase: str) -> Ask:
        """Wall time in minutes of a phase's jobs."""
        return self._ask(phase, lambda peak: _START + math.ceil(_TIME * peak.seconds / 60))

    def gpu(self, wildcards: Any) -> int:
        """GPUs of an embedding: one for a model with `device: cuda`, else none is waited for."""
        return int(getattr(self.plan.models[wildcards.model], "device", "cpu") == "cuda")

    def _ask(self, phase: str, first: Callable[[Peak], int]) -> Ask:
        def ask(wildcards: Any, attempt: int) -> int:
            return first(self._peak(phase, wildcards)) * 2 ** (attempt - 1)

        return ask

    def _peak(self, phase: str, wildcards: Any) -> Peak:
        """A similarity's peak is that of its metric, whatever label the row has."""
        metric = self.plan.metrics.get(getattr(wildcards, "system", ""), ("",))[0]
        return _METRICS.get(metric, _PHASES[phase])
