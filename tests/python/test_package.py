"""What `make python` packs is whole: files, metadata, version."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

from support import SMALL, podsim as command


def test_the_installed_package_is_whole(tmp_path: pathlib.Path) -> None:
    build = os.environ["PODSIM_BUILD_DIR"]
    subprocess.run(
        ["cmake", "--install", build, "--component", "python", "--prefix", str(tmp_path)],
        check=True, capture_output=True,
    )  # fmt: skip
    names = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    version = command("--version").stdout.split()[1]
    info = f"podsim-{version}.dist-info"
    modules = {name for name in names if name.endswith(".so")}
    assert names - modules == {
        "podsim/__init__.py", "podsim/_arguments.py", "podsim/_errors.py", "podsim/_podsim.pyi", "podsim/_writing.py",
        "podsim/py.typed", f"{info}/METADATA", f"{info}/WHEEL",
    }  # fmt: skip
    assert len(modules) == 1
    said = subprocess.run(
        [sys.executable, "-B", "-c",
         "import importlib.metadata, podsim, sys; print(podsim.__file__, podsim.__version__, "
         "importlib.metadata.version('podsim'), podsim.run(sys.argv[1])['chips'])", SMALL],
        env={**os.environ, "PYTHONPATH": str(tmp_path)}, check=True, capture_output=True, text=True,
    ).stdout.split()  # fmt: skip
    assert said == [str(tmp_path / "podsim/__init__.py"), version, version, "8"]
