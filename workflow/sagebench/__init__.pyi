from sagebench.errors import BenchError as BenchError
from sagebench.evaluation import evaluate as evaluate
from sagebench.evaluation import score as score

__version__: str
__all__ = ["BenchError", "evaluate", "score"]
