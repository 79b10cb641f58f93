"""The archive that `make release` makes: its program needs nothing of the system's but glibc."""

from __future__ import annotations

import hashlib
import pathlib
import re
import tarfile

import pytest
from support import BUILD, SOURCE, said

GLIBC = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2", "linux-vdso.so.1"}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("archive") / "podsim-test.tar.gz"
    assert re.search(r"needs GLIBC 2\.\d+ or newer", said(SOURCE / ".ci/archive", BUILD, path))
    return path


def test_two_archives_of_a_build_are_the_same(archive: pathlib.Path, tmp_path: pathlib.Path) -> None:
    again = tmp_path / archive.name
    said(SOURCE / ".ci/archive", BUILD, again)
    assert hashlib.sha256(again.read_bytes()).digest() == hashlib.sha256(archive.read_bytes()).digest()


def test_the_program_runs_from_where_it_is_unpacked(archive: pathlib.Path, tmp_path: pathlib.Path) -> None:
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path)
    top = tmp_path / "podsim-test"
    program = top / "bin/podsim"
    for line in said("ldd", program).splitlines():
        name = line.split()[0].rpartition("/")[2]
        if name not in GLIBC:  # all else lies in the archive
            assert str(top / "lib/podsim") in line or str(top / "bin/../lib/podsim") in line, line
    scenario = "scenarios/quickstart/llama3-70b-v5p-pod.yaml"
    asked = ["run", SOURCE / scenario, "--no-explain", "--show", "gap,memory"]
    without_times = [re.sub(r"[\d.]+ s wall time", "", said(each, *asked)) for each in (program, BUILD / "podsim")]
    assert without_times[0] == without_times[1]
    assert (top / "lib/podsim/GLIBC").read_text().startswith("GLIBC_2.")
