"""Content addresses: of a text, and of a vector."""

import hashlib


def text_key(text: str) -> str:
    """Hex sha256 of the text: how its embedding is found again in an embeddings table."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def query_key(text: str) -> str:
    """The same for a text as a query, where a model reads queries in another way than documents.

    0xFF is in no text's encoding, so that no document has this address.
    """
    return hashlib.sha256(b"\xffquery\xff" + text.encode("utf-8", "surrogatepass")).hexdigest()


def vector_key(fingerprint: str, visible: bytes) -> bytes:
    """32 bytes: the address of a vector is its model and what the model reads, not the text.

    Two texts that differ only behind the cut share it; two prompts, lengths, precisions or
    library versions never do, for they are in the fingerprint.
    """
    return hashlib.sha256(f"{fingerprint}\0".encode() + visible).digest()
