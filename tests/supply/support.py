"""What the tests of installing share: the build beside them, installed once."""

from __future__ import annotations

import os
import pathlib
import subprocess

SOURCE = pathlib.Path(os.environ["PODSIM_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["PODSIM_BUILD_DIR"])


def said(*command: object, cwd: object = None, **more: str) -> str:
    """What a command prints. It must succeed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=cwd,
                          env={**os.environ, **more}, check=False)  # fmt: skip
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout
