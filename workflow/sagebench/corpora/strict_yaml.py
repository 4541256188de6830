"""YAML as plain data, for files that people write.

A repeated key is an error: by itself, the last one would win in silence. So are aliases that
contain themselves or unfold into more than a file would hold.
"""

from typing import Any

import yaml

_MOST = 1_000_000  # values, with every alias written out


def load(text: str | bytes) -> Any:
    """The plain data in `text`; yaml.YAMLError with line and column if it is not valid."""
    try:
        loader = _UniqueKeys(text)
        node = loader.get_single_node()
        if node is None:
            return None
        _written_out(node, {})
        return loader.construct_document(node)
    # PyYAML's own converters raise these for a date or number that there is not, a tag on a node
    # of another kind, or nesting beyond the interpreter's stack.
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
        raise yaml.YAMLError(f"{type(error).__name__}: {error}") from None


def _written_out(node: yaml.Node, known: dict[int, int]) -> int:
    """The number of values below `node`, with every alias written out."""
    if id(node) not in known:
        known[id(node)] = _MOST  # until it is counted: one that contains itself has no end
        parts = node.value if isinstance(node.value, list) else []
        below = [part for each in parts for part in (each if isinstance(each, tuple) else (each,))]
        known[id(node)] = 1 + sum(_written_out(part, known) for part in below)
    if known[id(node)] >= _MOST:
        raise yaml.composer.ComposerError(
            None, None, "aliases that unfold without end", node.start_mark
        )
    return known[id(node)]


class _UniqueKeys(yaml.SafeLoader):
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [str(key.value) for key, _ in node.value]
        if twice := sorted({key for key in keys if keys.count(key) > 1}):
            raise yaml.constructor.ConstructorError(
                None, None, f"the key {twice[0]!r} appears twice", node.start_mark
            )
        return super().construct_mapping(node, deep)
