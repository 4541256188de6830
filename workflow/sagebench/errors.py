"""The one exception that a user is meant to read, and what to say of the machine's own limits."""

import errno


class BenchError(Exception):
    """Something the user can act on: the message names the thing, the value and the way out.

    The command line prints it without a traceback and exits with 2 (`sage-bench`: with 1); any
    other exception is a defect of this project and keeps its traceback in the job's log.
    """


_WAYS_OUT = {
    errno.ENOSPC: "free some space there",
    errno.EDQUOT: "free some space there, or ask for a larger quota",
    errno.EROFS: "make the place writable",
    errno.EACCES: "get the right to write there",
    errno.EFBIG: "raise the limit of file sizes (`ulimit -f`)",
    errno.EMFILE: "raise the limit of open files (`ulimit -n`)",
    errno.ENFILE: "raise the system's limit of open files",
    errno.ENOMEM: "free memory, raise `ulimit -v`, or run fewer jobs at once (`--cores 1`)",
}


def limit_of_machine(error: BaseException) -> str | None:
    """What to tell of a full disk, a missing right or too little memory; None for other errors."""
    code = errno.ENOMEM if isinstance(error, MemoryError) else getattr(error, "errno", None)
    if not isinstance(error, (OSError, MemoryError)) or code not in _WAYS_OUT:
        return None
    what = str(error) or "out of memory"
    return f"{what}: {_WAYS_OUT[code]} and run again; what is finished is kept"
