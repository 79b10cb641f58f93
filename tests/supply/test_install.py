"""What `cmake --install` leaves works without the checkout, and other projects can build on it."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import subprocess

from support import BUILD, SOURCE, said

QUICKSTART = "share/podsim/scenarios/quickstart/llama3-70b-v5p-pod.yaml"
BUILT = BUILD / "podsim"


def test_the_program_is_the_built_one_and_finds_its_scenarios(prefix: pathlib.Path, tmp_path: pathlib.Path) -> None:
    program = prefix / "bin/podsim"
    assert said(program, "--version") == said(BUILT, "--version")
    listed = [line.split()[0] for line in said(program, "list", "scenarios", cwd=tmp_path).splitlines()]
    written = {path.relative_to(SOURCE / "scenarios") for folder in ("book", "examples", "published", "quickstart")
               for path in (SOURCE / "scenarios" / folder).rglob("*.yaml")}  # fmt: skip
    assert {pathlib.Path(path).relative_to(prefix / "share/podsim/scenarios") for path in listed} == written

    page = tmp_path / "step.html"
    result = json.loads(said(program, "run", prefix / QUICKSTART, "--no-explain", "--report", page, "--json", "-",
                             cwd=tmp_path))  # fmt: skip
    same = json.loads(said(BUILT, "run", SOURCE / "scenarios/quickstart/llama3-70b-v5p-pod.yaml", "--no-explain",
                           "--json", "-"))  # fmt: skip
    assert result["step_time_s"] == same["step_time_s"]
    assert page.read_text().startswith("<!DOCTYPE html>")


def test_nothing_installed_names_the_checkout(prefix: pathlib.Path) -> None:
    """Nor the build; so two checkouts may give the same bytes, and neither is needed."""
    files = [path for path in prefix.rglob("*") if path.is_file()]
    assert len(files) > 500
    for path in files:
        assert str(SOURCE).encode() not in path.read_bytes(), path


def test_links_of_the_docs_lead_to_what_is_installed(prefix: pathlib.Path) -> None:
    docs = prefix / "share/doc/podsim"
    assert (docs / "LICENSE").read_bytes() == (SOURCE / "LICENSE").read_bytes()
    pages = sorted((docs / "docs").glob("*.md"))
    assert len(pages) > 10
    for page in pages:
        for target in re.findall(r"\]\(([\w./-]+\.(?:md|json|png|svg|ipynb))", page.read_text()):
            if not target.startswith("../"):
                assert (page.parent / target).is_file(), f"{page.name}: {target}"


def test_ranks_find_their_module(prefix: pathlib.Path, tmp_path: pathlib.Path) -> None:
    if not (BUILD / "podsim_mpi.so").exists():
        assert not (prefix / "lib/podsim").exists()
        return
    scenario = tmp_path / "small.yaml"
    scenario.write_text("name: small\nhardware: {chip: v5p, slice: 2x2x2}\nmodel: {base: llama-3-8b, layers: 2}\n"
                        "batch: {tokens: 32Ki, sequence: 4096}\nmesh: {fsdp: x y z}\n")  # fmt: skip
    sweep = ["sweep", scenario, "--vary", "batch.tokens=32Ki,64Ki", "--jsonl"]
    said("mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", prefix / "bin/podsim", *sweep, "ranks.jsonl",
         cwd=tmp_path)  # fmt: skip
    said(BUILT, *sweep, "alone.jsonl", cwd=tmp_path)
    assert (tmp_path / "ranks.jsonl").read_bytes() == (tmp_path / "alone.jsonl").read_bytes()


def test_a_project_builds_on_the_libraries(prefix: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """The gather: 3 steps of a ring of 4, each 360 kB / 4 at 90 GB/s and 1 us of latency, so 3 * 2 us."""
    shutil.copytree(SOURCE / "tests/supply/consumer", tmp_path / "consumer")
    said("cmake", "-S", tmp_path / "consumer", "-B", tmp_path / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=None",
         f"-DCMAKE_PREFIX_PATH={prefix}", CXXFLAGS="-O0")  # fmt: skip
    said("cmake", "--build", tmp_path / "build", "--parallel", "2")
    scenario = prefix / QUICKSTART
    gather, step = said(tmp_path / "build/consumer", scenario).split()
    assert gather == "6000000"
    result = json.loads(said(prefix / "bin/podsim", "run", scenario, "--no-explain", "--json", "-"))
    assert int(step) / 1e12 == result["step_time_s"]
    assert said(tmp_path / "build/kernel") == "unknown axis 'tensr'; did you mean 'tensor'? allowed: fsdp, tensor\n"


def test_another_version_is_refused(prefix: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(newer LANGUAGES NONE)\n"
                                             "find_package(podsim 0.2 CONFIG REQUIRED)\n")  # fmt: skip
    done = subprocess.run(["cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}"],
                          capture_output=True, text=True, check=False, env=os.environ)  # fmt: skip
    assert done.returncode != 0
    assert "podsim-config.cmake, version: 0.1.0" in done.stderr


def test_the_commit_is_what_git_says(tmp_path: pathlib.Path) -> None:
    """In a repository, with tracked files changed, and without one though a folder above is one."""
    inner = tmp_path / "inner"
    inner.mkdir()
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", tmp_path]

    def commit(source: pathlib.Path) -> str:
        out = tmp_path / "commit.cpp"
        said("cmake", f"-DSOURCE={source}", f"-DOUT={out}", "-P", SOURCE / "cmake/commit.cmake")
        return re.findall(r'return "(.*)";', out.read_text())[0]

    assert commit(tmp_path) == ""
    (tmp_path / "file").write_text("1")
    said(*git, "init", "-q")
    said(*git, "add", "file")
    said(*git, "commit", "-q", "-m", "one")
    head = said(*git, "rev-parse", "HEAD")[:12]
    (tmp_path / "untracked").write_text("")
    assert commit(tmp_path) == head
    before = (tmp_path / "commit.cpp").stat().st_mtime_ns
    assert commit(tmp_path) == head
    assert (tmp_path / "commit.cpp").stat().st_mtime_ns == before  # or it would be compiled with every build
    assert commit(inner) == ""
    (tmp_path / "file").write_text("2")
    assert commit(tmp_path) == head + "-dirty"
