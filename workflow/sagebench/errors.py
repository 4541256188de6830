"""The one exception that a user is meant to read."""


class BenchError(Exception):
    """Something the user can act on: the message names the thing, the value and the way out.

    The command line prints it without a traceback and exits with 2 (`sage-bench`: with 1); any
    other exception is a defect of this project and keeps its traceback in the job's log.
    """
