"""Foreign bytes are read or refused by name; `make fuzz` runs the same targets for minutes each."""

import pytest
from hypothesis import HealthCheck, given, settings

from fuzz.material import SEEDS
from fuzz.targets import TARGETS
from sagebench import registry

EXAMPLES = 60


@pytest.mark.parametrize("name", TARGETS)
def test_only_declared_errors(name: str) -> None:
    target = TARGETS[name]
    settings(
        max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=[*HealthCheck]
    )(given(target.inputs)(target.run))()


def test_every_parser_is_a_target() -> None:
    assert sorted(SEEDS) == sorted(registry.entries("parser"))


@pytest.mark.parametrize("name", SEEDS)
def test_a_seed_is_a_valid_corpus(name: str, tmp_path) -> None:
    """What the targets spoil is whole at first, so that they reach the parsers' insides."""
    seed = SEEDS[name]
    contents = tuple(map(seed.write, seed.files))
    TARGETS[f"parser_{name}"].check(contents, tmp_path)
