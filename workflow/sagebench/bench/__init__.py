"""What the workflow costs, measured: speed and memory against references, growth, one run's split.

A section is a module with `measure(place) -> Section`. What is timed runs in a fresh process each
(`measure.child`), on one thread like every job of the workflow, and so do the references.
"""
