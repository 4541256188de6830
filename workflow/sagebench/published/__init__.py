"""Published scores, computed again: MTEB's checks on a folder of benchmark data.

The folder is the user's (`--data`, or $SAGEBENCH_DATA); the benchmark itself never needs it.
"""
