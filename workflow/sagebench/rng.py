"""Randomness that depends on what it is for and on nothing else."""

import hashlib
import json

import numpy as np


def seed_for(seed: int, *purpose: object) -> int:
    """128-bit integer from (seed, purpose): the same on every platform, process and order.

    `purpose` is serialised as JSON, so ("a", "bc") and ("ab", "c") differ.
    """
    payload = json.dumps([seed, *purpose], ensure_ascii=True, sort_keys=True)
    return int.from_bytes(hashlib.sha256(payload.encode()).digest()[:16], "big")


def generator(seed: int, *purpose: object) -> np.random.Generator:
    """A PCG64 generator of its own for each purpose; no global state is read or changed."""
    return np.random.Generator(np.random.PCG64(seed_for(seed, *purpose)))


def hash_order(ids: list[str], seed: int, *purpose: object) -> list[int]:
    """Positions of `ids` in a seeded order in which a smaller sample is a prefix of a larger.

    Each id's place depends on its own hash, so adding or removing other ids never reshuffles
    the rest. Ties (equal ids) keep their order.
    """
    return sorted(range(len(ids)), key=lambda i: (seed_for(seed, *purpose, ids[i]), i))
