from __future__ import annotations

import pathlib
import tempfile
from collections.abc import Iterator

import pytest
from support import BUILD, said


@pytest.fixture(scope="session")
def prefix() -> Iterator[pathlib.Path]:
    """Where the build is installed with all its components. Not kept, being large."""
    with tempfile.TemporaryDirectory() as folder:
        said("cmake", "--install", BUILD, "--prefix", folder)
        yield pathlib.Path(folder)
