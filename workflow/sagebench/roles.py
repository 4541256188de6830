"""What a text is to its task: compared on equal terms, clustered, searched, or searched with."""

from typing import Literal

Role = Literal["similarity", "clustering", "document", "query"]
