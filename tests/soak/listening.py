"""Whether a program that was started listens for a signal yet: before it has reached main, the signal ends it."""

import pathlib
import re


def listens(process, number):
    """By Linux's account of the process; one that has ended needs no listening."""
    try:
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    except OSError:
        return True
    caught = re.search(r"^SigCgt:\s*([0-9a-f]+)", status, re.MULTILINE)
    return caught is None or bool(int(caught[1], 16) >> (number - 1) & 1)
