"""Tells if a started program listens for a signal yet: before it reaches main, the signal ends it."""

import pathlib
import re


def listens(process, number):
    """Reads Linux's status of the process; a process that has ended counts as listening."""
    try:
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    except OSError:
        return True
    caught = re.search(r"^SigCgt:\s*([0-9a-f]+)", status, re.MULTILINE)
    return caught is None or bool(int(caught[1], 16) >> (number - 1) & 1)
