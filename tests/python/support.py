"""What the tests of the Python package share: the program beside it, and small scenarios."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
from typing import Any

PROGRAM = os.environ["PODSIM_PROGRAM"]
SOURCE = pathlib.Path(os.environ["PODSIM_SOURCE_DIR"])
QUICKSTART = SOURCE / "scenarios/quickstart/llama3-70b-v5p-pod.yaml"

# Two layers on 8 chips.
SMALL = """\
name: small
hardware: {chip: v5p, slice: 2x2x2}
model: {base: llama-3-8b, layers: 2}
batch: {tokens: 32Ki, sequence: 4096}
mesh: {fsdp: x y z}
"""
SMALL_DICT: dict[str, Any] = {
    "name": "small",
    "hardware": {"chip": "v5p", "slice": "2x2x2"},
    "model": {"base": "llama-3-8b", "layers": 2},
    "batch": {"tokens": "32Ki", "sequence": 4096},
    "mesh": {"fsdp": "x y z"},
}
SERVER = """\
name: two
hardware: {chip: v5e, slice: 1x1}
model: {name: m, layers: 2, d_model: 256, d_ff: 1024, heads: 4, vocabulary: 1024}
inference: {}
serving: {concurrency: 1, requests: 2, prompt: 8, output: 3, slots: 1, grid: exact}
"""
GATHER = """\
name: a gather
hardware: {chip: v5p, slice: 4x4x4}
program:
  stages:
    - {do: all-gather, axes: z, bytes: 1 MiB}
"""


def podsim(*args: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *map(str, args)], capture_output=True, text=True, check=False)


def json_of(*args: Any) -> Any:
    """What a command prints with --json -."""
    done = podsim(*args, "--json", "-")
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def without_times(value: Any) -> Any:
    """Without what differs from run to run."""
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if k not in ("wall_time_s", "most_wall_time_s")}
    return [without_times(v) for v in value] if isinstance(value, list) else value


def same(mine: Any, theirs: Any) -> bool:
    """Byte for byte, keys in their order, but for wall times."""
    return json.dumps(without_times(mine)) == json.dumps(without_times(theirs))
