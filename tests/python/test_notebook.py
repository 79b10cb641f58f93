"""The notebook of the documentation shows what its cells give."""

from __future__ import annotations

from typing import Any

import nbformat
from notebook import executed
from support import SOURCE


def shown(cell: Any) -> list[Any]:
    """What a reader sees of a cell's outputs."""
    return [
        output.get("text") or output.get("data") or (output.ename, output.evalue)
        for output in cell.outputs
    ]


def test_the_notebook_shows_what_its_cells_give() -> None:
    path = SOURCE / "docs/podsim.ipynb"
    stored = nbformat.read(path, as_version=4)
    fresh = executed(stored, path.parent)
    code = [i for i, cell in enumerate(stored.cells) if cell.cell_type == "code"]
    assert len(code) >= 6
    for i in code:
        assert shown(fresh.cells[i]) == shown(stored.cells[i]), stored.cells[i].source
    assert sum(len(shown(stored.cells[i])) for i in code) >= 6
