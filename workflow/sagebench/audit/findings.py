"""What verification finds."""

from dataclasses import dataclass

# Kind -> what it means, as the last line of a failed verification says.
KINDS = {
    "missing": "recorded, and not there",
    "changed": "other bytes than recorded",
    "unrecorded": "there, and no result rests on it",
    "no record": "needed by a result, and no record says how it was made",
    "other input": "made from other bytes than are recorded for its input",
    "other source": "other bytes than the catalogue pins",
    "not in the lock": "other bytes than dvc.lock holds",
    "rerun differs": "its job now gives other bytes",
    "not rerun": "its job cannot be run again",
}


@dataclass(frozen=True)
class Finding:
    """Something that is not as recorded: a kind of `KINDS`, the file, what was found."""

    kind: str
    path: str
    detail: str = ""

    def __str__(self) -> str:
        """One line: "changed: data/…: …"."""
        return ": ".join(part for part in (self.kind, self.path, self.detail) if part)
