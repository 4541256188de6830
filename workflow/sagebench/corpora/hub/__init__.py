"""Data sets of the Hugging Face Hub: listed, picked from, downloaded; never a script of theirs."""
