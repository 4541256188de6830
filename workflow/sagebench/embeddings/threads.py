"""One thread for everything numerical in this process."""

import os
from functools import cache


@cache
def one_thread() -> None:
    """Hold BLAS and OpenMP at one thread, now and for libraries that are loaded later.

    A sum that is split over threads has other last bits; jobs run side by side instead.
    """
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


@cache
def one_torch_thread() -> None:
    """The same for torch, which keeps its own count."""
    one_thread()
    import torch

    torch.set_num_threads(1)
