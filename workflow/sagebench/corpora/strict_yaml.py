"""YAML in which a repeated key is an error: by itself, the last one would win in silence."""

from typing import Any

import yaml


def load(text: str) -> Any:
    """The plain data in `text`; yaml.YAMLError with line and column if it is not valid."""
    return _UniqueKeys(text).get_single_data()


class _UniqueKeys(yaml.SafeLoader):
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [str(key.value) for key, _ in node.value]
        if twice := sorted({key for key in keys if keys.count(key) > 1}):
            raise yaml.constructor.ConstructorError(
                None, None, f"the key {twice[0]!r} appears twice", node.start_mark
            )
        return super().construct_mapping(node, deep)
