#!/usr/bin/env python3
"""Writes the bill of materials of a podsim as CycloneDX 1.5 JSON: sbom.py --build BUILD --version V --out FILE [--lock LOCK] BINARY...

It lists three kinds of components, each in its installed version:
- loaded: the packages of the shared objects that ldd names, with the first binary's own NEEDED ones marked;
- compiled in: the packages of the headers that the production code includes (ninja's log), and of the archives that the
  program was linked with;
- embedded in pages: the packages of LOCK, a package-lock.json, that are not for development alone.
It has no times and no paths: the same build writes the same bytes.
"""

import argparse
import base64
import json
import os
import pathlib
import re
import subprocess
import sys

FOLDERS = ("sim", "topology", "collectives", "workloads", "scenarios")


def said(*command: str) -> str:
    """Returns the output of a command, also if it fails in part; nothing if there is no such command."""
    try:
        return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout
    except FileNotFoundError:
        return ""


def owners(paths: set[str]) -> dict[str, str]:
    """Returns the Debian package of each file that has one; dpkg knows /lib and /usr/lib, one folder, by either name."""
    names: dict[str, str] = {}
    for path in paths:
        for real in {os.path.normpath(path), os.path.realpath(path)}:
            bare = real.removeprefix("/usr")
            names[real] = names[bare] = names["/usr" + bare] = path
    found = {}
    asked = sorted(names)
    for first in range(0, len(asked), 1000):
        for line in said("dpkg-query", "--search", *asked[first:first + 1000]).splitlines():
            package, separator, name = line.partition(": ")
            if separator and name in names and not package.startswith("diversion"):
                found[names[name]] = package.split(",")[0]
    return found


def debian(package: str) -> dict:
    """Returns the component of an installed package."""
    name, version, architecture = said(
        "dpkg-query", "--show", "--showformat", "${Package}\t${Version}\t${Architecture}", package).split("\t")
    purl = f"pkg:deb/debian/{name}@{version.replace('+', '%2B').replace(':', '%3A')}?arch={architecture}"
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}


def loaded(binary: str) -> dict[str, str]:
    """Returns the shared objects that a binary and its libraries need, with their paths."""
    said_of_it = said("ldd", binary)
    loader = {name: folder + name for folder, name in re.findall(r"^\s*(/\S+/)(ld-\S+) \(", said_of_it, re.M)}
    return dict(re.findall(r"^\s*(\S+) => (/\S+)", said_of_it, re.M)) | loader


def needed(binary: str) -> set[str]:
    return set(re.findall(r"NEEDED\s+(\S+)", said("objdump", "-p", binary)))


def headers(build: pathlib.Path) -> set[str]:
    """Returns the files outside the checkout and the build that production code includes."""
    found = set()
    wanted = False
    for line in said("ninja", "-C", str(build), "-t", "deps").splitlines():
        if line and not line.startswith(" "):
            wanted = line.startswith(tuple(f"{folder}/CMakeFiles/podsim" for folder in FOLDERS)) \
                and not line.startswith("scenarios/src/python/")
        elif wanted and line.startswith("    /"):
            found.add(line.strip())
    return {path for path in found if not path.startswith(str(build))}


def archives(build: pathlib.Path) -> set[str]:
    """Returns the archives that are linked into the program."""
    link = said("ninja", "-C", str(build), "-t", "commands", "podsim").splitlines()
    return set(re.findall(r"(?<=\s)/\S+\.a\b", link[-1] if link else ""))


def with_property(component: dict, name: str, values: set[str]) -> dict:
    listed = component.setdefault("properties", [])
    listed.extend({"name": f"podsim:{name}", "value": value} for value in sorted(values))
    return component


def shared_objects(binaries: list[str]) -> list[dict]:
    objects: dict[str, str] = {}
    for binary in binaries:
        objects.update(loaded(binary))
    direct = needed(binaries[0])
    owner = owners(set(objects.values()))
    of_package: dict[str, set[str]] = {}
    components = []
    for soname, path in objects.items():
        if path in owner:
            of_package.setdefault(owner[path], set()).add(soname)
        else:  # not from a package
            components.append(with_property(
                {"type": "library", "bom-ref": f"object:{soname}", "name": soname}, "shared-object", {soname}))
    for package, sonames in of_package.items():
        components.append(with_property(debian(package), "shared-object", sonames))
    only_by_modules = set(objects) - set(loaded(binaries[0]))
    for component in components:
        sonames = {each["value"] for each in component["properties"]}
        component["scope"] = "optional" if sonames <= only_by_modules else "required"
        with_property(component, "linked", sonames & direct)
    return components


def embedded(lock: str) -> list[dict]:
    components = []
    for place, entry in json.loads(pathlib.Path(lock).read_text())["packages"].items():
        if not place or entry.get("dev"):
            continue
        name = place.rpartition("node_modules/")[2]
        purl = f"pkg:npm/{name.replace('@', '%40')}@{entry['version']}"
        kind, _, digest = entry["integrity"].partition("-")
        components.append(with_property({
            "type": "library", "bom-ref": purl, "name": name, "version": entry["version"], "purl": purl,
            "scope": "required", "licenses": [{"license": {"id": entry["license"]}}],
            "hashes": [{"alg": kind.upper().replace("SHA", "SHA-"), "content": base64.b64decode(digest).hex()}],
        }, "embedded", {"pages"}))
    return components


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--version", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--lock")
    parser.add_argument("binaries", nargs="+", metavar="BINARY")
    asked = parser.parse_args()

    components = shared_objects(asked.binaries)
    compiled_in = set(owners(headers(asked.build)).values())
    of_archives = set(owners(archives(asked.build)).values())
    for package in compiled_in | of_archives:
        how = {kind for kind, packages in (("headers", compiled_in), ("archive", of_archives)) if package in packages}
        components.append(with_property(debian(package), "compiled-in", how) | {"scope": "required"})
    if asked.lock:
        components += embedded(asked.lock)
    components.sort(key=lambda component: component["bom-ref"])
    program = f"pkg:generic/podsim@{asked.version}"
    bom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {
            "type": "application", "bom-ref": program, "name": "podsim", "version": asked.version, "purl": program,
            "licenses": [{"license": {"id": "Apache-2.0"}}]}},
        "components": components,
        "dependencies": [{"ref": program, "dependsOn": [component["bom-ref"] for component in components]}],
    }
    pathlib.Path(asked.out).write_text(json.dumps(bom, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
