"""The exceptions that podsim raises."""

from __future__ import annotations

from typing import Iterable, NamedTuple, Optional, Tuple


class Error(Exception):
    """The base class of podsim's exceptions."""


class Fault(NamedTuple):
    """One thing that is wrong, and what to do instead; as text, a line of the command line's messages."""

    file: str
    """The file, the option (``--bytes 1e99``), ``<text>`` or ``<dict>``; empty where there is none."""
    line: Optional[int]
    """From 1; none where it is unknown, as in a dictionary."""
    column: Optional[int]
    message: str

    def __str__(self) -> str:
        line = f"{self.line}:{self.column}:" if self.line else ""
        return f"{self.file}:{line} {self.message}" if self.file else self.message


class ScenarioError(Error, ValueError):
    """A scenario, or an argument, that cannot be simulated; as text, a line a fault."""

    faults: list[Fault]
    """All faults that do not only follow from another one; at least one."""

    def __init__(self, faults: Iterable[Tuple[str, Optional[int], Optional[int], str]]) -> None:
        self.faults = [Fault(*fault) for fault in faults]
        super().__init__(self.faults)

    def __str__(self) -> str:
        return "\n".join(map(str, self.faults))


class InternalError(Error, RuntimeError):
    """A defect in podsim itself."""
