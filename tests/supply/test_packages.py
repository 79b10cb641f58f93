"""The Debian packages and the list of what the program is made of."""

from __future__ import annotations

import json
import pathlib
import re
import shutil
import tempfile
from collections.abc import Iterator

import pytest
from support import BUILD, SOURCE, said


def needed(binary: pathlib.Path) -> set[str]:
    return set(re.findall(r"NEEDED\s+(\S+)", said("objdump", "-p", binary)))


def values(component: dict, name: str) -> set[str]:
    return {each["value"] for each in component["properties"] if each["name"] == f"podsim:{name}"}


def test_the_bill_of_materials_is_whole(prefix: pathlib.Path) -> None:
    text = (prefix / "share/doc/podsim/podsim.cdx.json").read_text()
    bom = json.loads(text)
    assert (bom["bomFormat"], bom["specVersion"], bom["version"]) == ("CycloneDX", "1.5", 1)
    assert set(bom) == {"bomFormat", "specVersion", "version", "metadata", "components", "dependencies"}
    assert bom["metadata"]["component"]["name"] == "podsim"
    components = bom["components"]
    refs = [component["bom-ref"] for component in components]
    assert refs == sorted(set(refs))
    assert bom["dependencies"] == [{"ref": bom["metadata"]["component"]["bom-ref"], "dependsOn": refs}]
    for component in components:
        assert component["type"] == "library"
        assert component["scope"] in ("required", "optional")
        assert {each["name"] for each in component["properties"]} <= {
            "podsim:shared-object", "podsim:linked", "podsim:compiled-in", "podsim:embedded"}  # fmt: skip
        if "purl" in component:
            assert re.fullmatch(r"pkg:(deb/debian|npm)/[\w.+-]+@[\w.%~+-]+(\?arch=\w+)?", component["purl"])
            assert component["version"]
    assert str(SOURCE) not in text and str(BUILD) not in text and str(prefix) not in text

    linked = set().union(*(values(component, "linked") for component in components))
    assert linked == needed(prefix / "bin/podsim")
    objects = set().union(*(values(component, "shared-object") for component in components))
    modules = prefix / "lib/podsim/podsim_mpi.so"
    assert objects >= linked | (needed(modules) if modules.exists() else set())
    optional = {name for component in components if component["scope"] == "optional"
                for name in values(component, "shared-object")}  # fmt: skip
    assert not optional & linked


def test_the_bill_of_materials_knows_headers_and_pages(prefix: pathlib.Path) -> None:
    """What no shared object says. Versions as the package manager and the lock have them."""
    components = json.loads((prefix / "share/doc/podsim/podsim.cdx.json").read_text())["components"]
    named = {component["name"]: component for component in components}
    if shutil.which("dpkg-query"):
        for package in ("libboost1.74-dev", "nlohmann-json3-dev", "libeigen3-dev", "libstdc++-12-dev"):
            assert values(named[package], "compiled-in") == {"headers"}
            assert named[package]["version"] == said("dpkg-query", "-W", "-f", "${Version}", package)
        assert not {"libgtest-dev", "libbenchmark-dev"} & set(named)  # of tests and benchmarks
    embedded = {name for name, component in named.items() if values(component, "embedded")}
    asked = json.loads((SOURCE / "scenarios/src/report/web/package.json").read_text())["dependencies"]
    assert {name: named[name]["version"] for name in embedded} == asked


def test_the_bill_of_materials_is_the_same_again(prefix: pathlib.Path, tmp_path: pathlib.Path) -> None:
    said("cmake", "--install", BUILD, "--prefix", tmp_path, "--component", "program")
    name = "share/doc/podsim/podsim.cdx.json"
    assert (tmp_path / name).read_bytes() == (prefix / name).read_bytes()


@pytest.fixture(scope="module")
def packages() -> Iterator[dict[str, pathlib.Path]]:
    """Packages by name. Neither stripped nor well compressed, which would take most of the time."""
    if not shutil.which("dpkg-shlibdeps"):
        pytest.skip("needs dpkg-dev")
    components = "program;mpi" if (BUILD / "podsim_mpi.so").exists() else "program"
    with tempfile.TemporaryDirectory() as folder:
        said("cpack", "--config", BUILD / "CPackConfig.cmake", "-G", "DEB", "-B", folder,
             "-D", "CPACK_STRIP_FILES=OFF", "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=zstd",
             "-D", f"CPACK_COMPONENTS_ALL={components}", cwd=folder)  # fmt: skip
        yield {said("dpkg-deb", "-f", path, "Package").strip(): path for path in pathlib.Path(folder).glob("*.deb")}


def test_the_package_runs_from_where_it_is_unpacked(packages: dict[str, pathlib.Path], tmp_path: pathlib.Path) -> None:
    said("dpkg-deb", "-x", packages["podsim"], tmp_path)
    program = tmp_path / "usr/bin/podsim"
    assert said(program, "--version") == said(BUILD / "podsim", "--version")
    assert f"{tmp_path}/usr/share/podsim/scenarios/quickstart/llama3-70b-v5p-pod.yaml" in \
        said(program, "list", "scenarios", cwd=tmp_path)  # fmt: skip
    assert {path.name for path in (tmp_path / "usr/share/doc/podsim").iterdir()} == {
        "CHANGELOG.md", "LICENSE", "README.md", "copyright", "docs", "podsim.cdx.json"}  # fmt: skip
    assert {path.name for path in (tmp_path / "usr").iterdir()} == {"bin", "share"}


def test_the_package_depends_on_what_it_links(packages: dict[str, pathlib.Path]) -> None:
    def depends(name: str) -> set[str]:
        return {each.split()[0] for each in said("dpkg-deb", "-f", packages[name], "Depends").split(", ")}

    owners = set()
    for component in json.loads((BUILD / "podsim.cdx.json").read_text())["components"]:
        if values(component, "linked"):
            owners.add(component["name"])
    assert depends("podsim") == owners
    if "podsim-mpi" in packages:
        assert {"podsim", "libopenmpi3", "openmpi-bin"} <= depends("podsim-mpi")
    assert said("dpkg-deb", "-f", packages["podsim"], "Version").strip() == said(BUILD / "podsim", "--version").split()[1]
