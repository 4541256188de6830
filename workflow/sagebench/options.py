"""Parameters of things that are found by name: typed, with limits, explained when wrong."""

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from sagebench import registry
from sagebench.errors import BenchError


class ParameterSet(BaseModel):
    """The parameters of a metric or perturbation; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


P = TypeVar("P", bound=ParameterSet)


def checked(owner: str, declared: type[P], params: dict[str, Any]) -> P:
    """`params` as the declared set; BenchError names the parameter, its value, what is allowed.

    `owner` is how a message calls the thing: "metric BM25Plus".
    """
    for key in params:
        if not declared.model_fields:
            raise BenchError(f"{owner} takes no parameters: remove {key!r}")
        if key not in declared.model_fields:
            raise registry.unknown(f"parameter of {owner}", key, declared.model_fields)
    try:
        return declared.model_validate(params)
    except ValidationError as error:
        lines = [
            f"parameter {problem['loc'][0]!r} of {owner}: {problem['msg']} "
            f"(got {problem['input']!r})"
            for problem in error.errors()
        ]
        raise BenchError("\n".join(lines)) from None
