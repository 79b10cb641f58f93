"""The functions that help to write scenarios; podsim/__init__.py has them for users."""

from __future__ import annotations

import json
import os
import warnings
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union

from podsim import _arguments, _podsim
from podsim._arguments import Path, Scenario

if TYPE_CHECKING:
    from podsim import Callback


def _result(text: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(text)
    return result


def show(
    scenario: Scenario, *, base: Optional[Path] = None, set: Optional[Mapping[str, Any]] = None
) -> dict[str, Any]:
    """A scenario with every default filled in, and where each value comes from. ``set`` as in `run`."""
    return _result(
        _podsim.show(
            _arguments.options(set=_arguments.settings(set)), _arguments.source(scenario, base)
        )
    )


def check(
    *scenarios: Scenario, base: Optional[Path] = None, set: Optional[Mapping[str, Any]] = None
) -> dict[str, Any]:
    """The faults of scenarios, the events of their runs, and if they fit in memory, without running them.

    Faults are part of the result and raise nothing. Folders and ``base`` as in `compare`, ``set`` as in `run`.
    """
    return _result(
        _podsim.check(
            _arguments.options(set=_arguments.settings(set)),
            _arguments.sources(scenarios, base),
        )
    )


def estimate(
    scenario: Scenario, *, base: Optional[Path] = None, set: Optional[Mapping[str, Any]] = None
) -> dict[str, Any]:
    """The closed forms of a step at ideal rates, and its memory, without simulating it. ``set`` as in `run`."""
    return _result(
        _podsim.estimate(
            _arguments.options(set=_arguments.settings(set)), _arguments.source(scenario, base)
        )
    )


def init(
    *, model: str, chip: Optional[str] = None, slice: Union[str, Sequence[int], None] = None
) -> str:
    """The text of a first scenario for a chip, a slice (one host without it) and a model: with comments, to be run or edited.

    A slice as ``"v5p-16"`` says its chip.

    Warns where no simple mesh of the slice holds the model.
    """
    text, fits = _podsim.init(
        _arguments.options(chip=chip, slice=_arguments.joined("x", slice), model=model)
    )
    if not fits:
        warnings.warn("no simple mesh of this slice holds the model", stacklevel=2)
    return text


def search(
    scenario: Scenario,
    *,
    over: Union[str, Sequence[str], None] = None,
    vary: Optional[Mapping[str, Union[str, Sequence[Any]]]] = None,
    base: Optional[Path] = None,
    set: Optional[Mapping[str, Any]] = None,
    jobs: Optional[int] = None,
    seconds: Optional[float] = None,
    write: Optional[Path] = None,
    jsonl: Optional[Path] = None,
    read: Union[Path, Sequence[Path]] = (),
    shard: str = "0/1",
    explain: bool = True,
    progress: Optional[Callback] = None,
) -> dict[str, Any]:
    """Finds the best plan of a space, exactly.

    ``over``: names of what varies with its usual values, ``["mesh", "remat"]``; ``vary``: keys and their values, as in `sweep`.
    ``write``: write the best plan as a scenario to this file, and the others beside it, numbered.
    ``jsonl``: the file of what was simulated, from which the same search goes on; ``read``: those of others.
    ``shard``: ``i/n``, simulate only the i-th part of n.
    ``explain``: also why the second plan takes longer, and which plans stay near the best under other rates.
    ``seconds``: end after so long with the best until then, ``complete`` false, and ``gap_fraction``: how much better another may be.
    ``jobs`` as in `compare`; ``set`` as in `run`. Ctrl-C, and what ``progress`` raises, give up what was found.
    """
    from podsim import _heard

    return _result(
        _podsim.search(
            _arguments.options(
                over=[over] if isinstance(over, str) else list(over or []),
                vary=_arguments.varied_texts(vary),
                set=_arguments.settings(set),
                jobs=jobs,
                seconds=seconds,
                write=_arguments.path(write),
                jsonl=_arguments.path(jsonl),
                read=_arguments.paths(read),
                shard=shard,
                no_explain=not explain,
            ),
            _arguments.source(scenario, base),
            _heard(progress),
        )
    )


def import_maxtext(file: Path, overrides: Optional[Mapping[str, Any]] = None) -> dict[str, Any]:
    """The scenario of a MaxText run, in ``scenario`` of the result, and what became of each key.

    ``overrides``: those of its command line, ``{"per_device_batch_size": 4}``.
    """
    words = _arguments.settings(overrides, "overrides")
    return _result(_podsim.import_maxtext(_arguments.file(file), words))


def import_hf(file: Path) -> dict[str, Any]:
    """How the keys of a Hugging Face config are understood: the model, its parameters, what was read, ignored, unknown."""
    return _result(_podsim.import_hf(_arguments.file(file)))
