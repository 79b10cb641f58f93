"""podsim simulates sharded training and inference steps on TPU pods, hop by hop over the real links.

    >>> import podsim
    >>> step = podsim.run("scenarios/quickstart/llama3-70b-v5p-pod.yaml", set={"batch.tokens": "8Mi"})
    >>> step["step_time_s"], step["mfu"]

A scenario is given as

* the path of its file: an ``os.PathLike``, or a ``str`` of one line;
* its text: a ``str`` of several lines, or of one in braces, ``{hardware: ...}``;
* a dictionary of what the file would hold. Texts in it are values, not YAML.

Paths inside a file are relative to it, those in a text or a dictionary to ``base`` (the current folder without it).

Functions are called as the commands of the program, with its options as arguments, and give what it writes with
``--json``: dictionaries with units in their keys. While they simulate, other threads of Python run, Ctrl-C raises
``KeyboardInterrupt``, and ``progress`` is called from the calling thread, at most some fifty times a second, with a
`Progress`; what it raises ends the simulation. A faulty scenario raises `ScenarioError`.
"""

from __future__ import annotations

import json
from typing import Any, Callable, Iterator, Mapping, NamedTuple, Optional, Sequence, Union, overload

from podsim import _arguments, _podsim
from podsim._arguments import Path, Scenario
from podsim._errors import Error, Fault, InternalError, ScenarioError
from podsim._writing import check, estimate, import_hf, import_maxtext, init, search, show

__all__ = [
    "Error",
    "Fault",
    "InternalError",
    "Progress",
    "Run",
    "ScenarioError",
    "Span",
    "Spans",
    "check",
    "collective",
    "compare",
    "estimate",
    "import_hf",
    "import_maxtext",
    "init",
    "run",
    "search",
    "serve",
    "show",
    "sweep",
]
__version__: str = _podsim.version


class Progress(NamedTuple):
    """The progress of a simulation."""

    phase: str
    """``building``, ``choosing algorithms``, ``simulating``, ``explaining``; ``serving``, ``sweeping``, ``comparing``;
    in a search also ``bounding`` and ``searching``."""
    share: float
    """The finished fraction of the phase, from 0 to 1."""
    simulated_s: float
    """The simulated time that is reached, while simulating."""
    events: int
    """Events played or skipped so far."""
    all_events: int


Callback = Callable[[Progress], object]


class Span(NamedTuple):
    """An operation of the reported chip, times in picoseconds."""

    name: str
    track: str
    start_ps: int
    end_ps: int


class Spans(Sequence[Span]):
    """The timeline of the reported chip, as a sequence of `Span` or by columns.

    ``starts_ps`` and ``ends_ps`` are views of 64-bit integers that nobody can write to; ``numpy.asarray(spans.starts_ps)`` shares their memory.
    """

    names: list[str]
    tracks: list[str]
    starts_ps: memoryview
    ends_ps: memoryview

    def __init__(
        self, names: list[str], tracks: list[str], starts_ps: bytes, ends_ps: bytes
    ) -> None:
        self.names = names
        self.tracks = tracks
        self.starts_ps = memoryview(starts_ps).cast("q")
        self.ends_ps = memoryview(ends_ps).cast("q")

    def __reduce__(self) -> tuple[type[Spans], tuple[list[str], list[str], bytes, bytes]]:
        """Views are not pickled."""
        return Spans, (self.names, self.tracks, self.starts_ps.tobytes(), self.ends_ps.tobytes())

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, index: int) -> Span: ...
    @overload
    def __getitem__(self, index: slice) -> list[Span]: ...
    def __getitem__(self, index: Union[int, slice]) -> Union[Span, list[Span]]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return Span(
            self.names[index], self.tracks[index], self.starts_ps[index], self.ends_ps[index]
        )

    def __iter__(self) -> Iterator[Span]:
        return map(Span, self.names, self.tracks, self.starts_ps, self.ends_ps)


class Run(dict[str, Any]):
    """The JSON of ``podsim run``, and the timeline behind it."""

    spans: Spans
    """The timeline of a step; a program has none."""


def _heard(progress: Optional[Callback]) -> Optional[Callable[[str, float, float, int, int], object]]:
    if progress is None:
        return None
    heard = progress
    return lambda *news: heard(Progress(*news))


def run(
    scenario: Scenario,
    *,
    base: Optional[Path] = None,
    set: Optional[Mapping[str, Any]] = None,
    fold: str = "auto",
    what_if: bool = False,
    reschedule: bool = False,
    explain: bool = True,
    explain_all: bool = False,
    reuse: bool = True,
    trace: Optional[Path] = None,
    trace_all: bool = False,
    report: Optional[Path] = None,
    progress: Optional[Callback] = None,
) -> Run:
    """Simulates one step of a scenario, or its program.

    ``set``: values in place of the scenario's, by key: ``{"batch.tokens": "8Mi", "mesh": {"tensor": "x%4"}}``. A text
        is YAML, as behind ``--set key=``.
    ``fold``: ``auto`` simulates the chips that differ, ``off`` every chip.
    ``what_if``: also how long the step would take if one thing cost nothing; ``reschedule`` with an order of operations
        of its own for each (``overlap.schedule: latency_hiding``).
    ``explain``: also why the step takes so long and what would make it shorter (``gap_s``, ``critical_path_s``, ``advice``), by
        dozens of more runs; ``explain_all`` of steps of more than 20 million events, too.
    ``reuse``: play repeated layers once; the result is the same but for ``played_events``.
    ``trace``: write a timeline of every chip that differs to this file, for ui.perfetto.dev or chrome://tracing;
        compressed where its name ends in ``.gz``. ``trace_all``: with all messages on links, not those of one layer.
    ``report``: write a page with charts to this file: HTML of at most 3 MB that needs no network.
    """
    text, spans = _podsim.run(
        _arguments.options(
            set=_arguments.settings(set),
            fold=fold,
            what_if=what_if,
            reschedule=reschedule,
            no_explain=not explain,
            explain_all=explain_all,
            no_reuse=not reuse,
            trace=_arguments.path(trace),
            trace_all=trace_all,
            report=_arguments.path(report),
        ),
        _arguments.source(scenario, base),
        _heard(progress),
    )
    result = Run(json.loads(text))
    result.spans = Spans(*spans)
    return result


def serve(
    scenario: Scenario,
    *,
    base: Optional[Path] = None,
    set: Optional[Mapping[str, Any]] = None,
    requests: bool = False,
    progress: Optional[Callback] = None,
) -> dict[str, Any]:
    """Serves the requests of a scenario (``serving:``) on its simulated chips.

    ``requests``: also the times of every request. ``set`` as in `run`.
    """
    text = _podsim.serve(
        _arguments.options(set=_arguments.settings(set), requests=requests),
        _arguments.source(scenario, base),
        _heard(progress),
    )
    result: dict[str, Any] = json.loads(text)
    return result


def compare(
    *scenarios: Scenario,
    base: Optional[Path] = None,
    jobs: Optional[int] = None,
    report: Optional[Path] = None,
    progress: Optional[Callback] = None,
) -> dict[str, Any]:
    """Simulates scenarios and sets them beside the analytic estimates and the references that they state.

    The path of a folder stands for all scenarios in it and below. ``base`` is of those that are no files.
    ``jobs``: threads; the cores of this machine without it. ``report`` as in `run`.
    """
    text = _podsim.compare(
        _arguments.options(jobs=jobs, report=_arguments.path(report)),
        _arguments.sources(scenarios, base),
        _heard(progress),
    )
    result: dict[str, Any] = json.loads(text)
    return result


def sweep(
    scenario: Scenario,
    vary: Mapping[str, Union[str, Sequence[Any]]],
    *,
    base: Optional[Path] = None,
    set: Optional[Mapping[str, Any]] = None,
    jobs: Optional[int] = None,
    sort: Optional[str] = None,
    csv: Optional[Path] = None,
    jsonl: Optional[Path] = None,
    shard: str = "0/1",
    gap: bool = False,
    timings: bool = False,
    fold: str = "auto",
    reuse: bool = True,
    report: Optional[Path] = None,
    progress: Optional[Callback] = None,
) -> list[dict[str, Any]]:
    """Simulates a scenario under every combination of some values, on all cores; a dictionary a setting.

    ``vary``: the values of each key, ``{"batch.tokens": ["4Mi", "8Mi"], "mesh": [{"tensor": "x%2"}, {"tensor": "x%4"}]}``;
        a text in place of the list is what stands behind ``--vary key=``.
    ``sort``: order of the result and the CSV: a varied key or a column of the CSV, as in ``mfu`` or ``mfu:desc``.
    ``jsonl``: the record, from which the same sweep goes on after it was stopped. ``csv``: write a table there.
    ``shard``: ``i/n``, only settings i, i + n, i + 2 n, ...
    ``gap``: itemise the gap to the roofline and the critical path, which takes several times as long.
    ``timings``: add ``wall_time_s``. ``jobs`` as in `compare`; ``set``, ``fold``, ``reuse``, ``report`` as in `run`.

    A setting that is refused has ``error`` in place of results.
    """
    lines, order = _podsim.sweep(
        _arguments.options(
            set=_arguments.settings(set),
            jobs=jobs,
            sort=sort,
            csv=_arguments.path(csv),
            jsonl=_arguments.path(jsonl),
            shard=shard,
            gap=gap,
            timings=timings,
            fold=fold,
            no_reuse=not reuse,
            report=_arguments.path(report),
        ),
        _arguments.source(scenario, base),
        _arguments.varied(vary),
        _heard(progress),
    )
    if jsonl is not None:
        with open(jsonl, encoding="utf-8") as record:
            lines = record.readlines()
    rows: dict[int, dict[str, Any]] = {}
    for line in lines:
        row = json.loads(line)
        rows[row["sweep"]["index"]] = row
    return [rows[index] for index in order]


def collective(
    *,
    chip: str,
    slice: Union[str, Sequence[int]],
    op: str,
    bytes: Union[str, float],
    axes: Optional[str] = None,
    twisted: bool = False,
    slices: Optional[int] = None,
    oversubscription: Optional[float] = None,
    shift: Optional[int] = None,
    root: Union[str, Sequence[int], None] = None,
    from_: Union[str, Sequence[int], None] = None,
    to: Union[str, Sequence[int], None] = None,
    dtype: str = "bf16",
    latency: str = "additive",
    hbm: str = "shared",
    algorithm: str = "auto",
    fold: str = "auto",
    csv: Optional[Path] = None,
    report: Optional[Path] = None,
    progress: Optional[Callback] = None,
) -> Any:
    """Simulates one collective on an otherwise idle slice: a dictionary, or a list of them for a range of sizes.

    ``slice``: ``16x20x28`` or ``(16, 20, 28)``; chips (``root``, ``from_``, ``to``): ``0,1,2`` or ``(0, 1, 2)``.
    ``bytes``: the array as it is complete in one group: ``1e9``, ``64 MiB``; a range ``1e3:1e10``, ``1e3:1e10:3``,
        ``1KiB:64MiB:x2``, of which ``csv`` writes a table.
    ``axes``: the group: whole axes run together (``xyz``), or factors (``x%4 y``); a send has none.
    ``report`` as in `run`.
    """
    text = _podsim.collective(
        _arguments.options(
            chip=chip,
            slice=_arguments.joined("x", slice),
            twisted=twisted,
            op=op,
            axes=axes,
            bytes=bytes,
            slices=slices,
            oversubscription=oversubscription,
            shift=shift,
            root=_arguments.joined(",", root),
            from_=_arguments.joined(",", from_),
            to=_arguments.joined(",", to),
            dtype=dtype,
            latency=latency,
            hbm=hbm,
            algorithm=algorithm,
            fold=fold,
            csv=_arguments.path(csv),
            report=_arguments.path(report),
        ),
        _heard(progress),
    )
    return json.loads(text)
