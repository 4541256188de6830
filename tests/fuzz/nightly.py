"""The long form: every target for so many minutes, with seeds that grow; `make fuzz MINUTES=10`.

    python tests/fuzz/nightly.py --minutes 10 [--target parser_beir] [--seed 1000]

Prints the inputs that each target was tried with. A finding is printed with the smallest input
that shows it and the seed that finds it again; the other targets still run, and the exit is 1.
"""

import argparse
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hypothesis import HealthCheck, Phase, given, seed, settings

from fuzz.targets import TARGETS

ROUND = 500  # inputs per seed
QUIET = settings(
    max_examples=ROUND,
    deadline=None,
    database=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=[*HealthCheck],
)


def tried(name: str, seconds: float, first_seed: int) -> tuple[int, bool]:
    """(inputs tried, whether nothing was found) of one target."""
    target, count, end = TARGETS[name], Counter[str](), time.monotonic() + seconds

    def once(value: Any) -> None:
        # The last round ends with the time, not with its inputs.
        if time.monotonic() < end:
            count["inputs"] += 1
            target.run(value)

    number = first_seed
    while time.monotonic() < end:
        try:
            seed(number)(QUIET(given(target.inputs)(once)))()
        except Exception:
            print(f"{name}: found with --seed {number}", flush=True)
            traceback.print_exc(limit=-8)
            return count["inputs"], False
        number += 1
    return count["inputs"], True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="per target")
    parser.add_argument("--target", choices=TARGETS, nargs="+", default=list(TARGETS))
    parser.add_argument("--seed", type=int, default=0, help="the first round's")
    options = parser.parse_args()
    clean = True
    for name in options.target:
        inputs, fine = tried(name, options.minutes * 60, options.seed)
        clean &= fine
        print(f"{name}: {inputs} inputs{'' if fine else ', FOUND'}", flush=True)
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main())
