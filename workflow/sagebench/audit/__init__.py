"""For reviewers: what was made from what, by which code, and whether the bytes are still those.

Everything here reads records, parameters and bytes; nothing of the workflow imports it.
"""
