"""Executes docs/podsim.ipynb: `notebook.py FILE` writes its outputs anew, where results have changed."""

from __future__ import annotations

import copy
import os
import pathlib
import sys
from typing import Any

import nbclient
import nbformat


def executed(notebook: Any, folder: pathlib.Path) -> Any:
    """A copy with the outputs that its cells have now, run in `folder` by a kernel of this interpreter."""
    result = copy.deepcopy(notebook)
    for cell in result.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    client = nbclient.NotebookClient(
        result, timeout=300, kernel_name="python3", record_timing=False,
        resources={"metadata": {"path": str(folder)}},
    )  # fmt: skip
    client.execute()
    return result


if __name__ == "__main__":
    path = pathlib.Path(sys.argv[1])
    fresh = executed(nbformat.read(path, as_version=4), path.parent)
    fresh.metadata.pop("language_info", None)
    nbformat.write(fresh, path)
