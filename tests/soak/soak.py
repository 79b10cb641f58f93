#!/usr/bin/python3
"""Ends commands of podsim at random instants, and checks the files that they leave.

After SIGTERM, SIGINT and SIGHUP a command ends with 143, 130 and 143 (or had ended before), within half a second with --strict.
SIGKILL hits a sweep with a record. In every case an output is whole or still the file of before, nothing else lies beside it, and a
record goes on to the bytes of an undisturbed run.

Usage: soak.py PROGRAM SOURCE [--instants N] [--kills N] [--seed N] [--strict] [--only NAME]
"""

import argparse
import contextlib
import gzip
import json
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from listening import listens

SMALL = """\
name: small
hardware: {chip: v5p, slice: 2x2x2}
model: {base: llama-3-8b, layers: 2}
batch: {tokens: 32Ki, sequence: 4096}
mesh: {fsdp: x y z}
"""
# This step takes minutes and gigabytes to build.
LONG = """\
name: long
hardware: {chip: v5p, slice: 4x4x4}
model: llama-3-70b
batch: {tokens: 128Mi, sequence: 4096}
mesh: {pipeline: z, fsdp: x, tensor: y}
training: {remat: full, microbatches: 2048}
"""
BEFORE = "what was there before\n"
STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 143}
DEADLINE_S = 0.5
# The sweep has 600 small steps of some milliseconds each.
TOKENS = "batch.tokens=" + ",".join(f"{32 * k}Ki" for k in range(1, 601))
QUICK = "scenarios/quickstart/llama3-70b-v5p-pod.yaml"
SLICE = ("--set", "hardware.slice=8x8x8", "--set", "batch.tokens=2Mi")
GATHER = ("collective", "--chip", "v5p", "--op", "all-gather", "--axes", "xyz")
BASE = "tests/scenarios/import/maxtext/base-2025.yml"

# Each row has a name, arguments with OUT for the command's folder, and the seconds within which the signal comes.
COMMANDS = [
    ("run", ("run", QUICK, "--json", "OUT/r.json"), 3),
    ("run-trace", ("run", QUICK, "--no-explain", "--trace", "OUT/t.json.gz"), 1),
    ("run-trace-all", ("run", QUICK, "--no-explain", "--trace-all", "--trace", "OUT/t.json"), 3),
    ("what-if", ("run", QUICK, "--what-if", "--json", "OUT/r.json"), 6),
    ("building", ("run", "OUT/long.yaml", "--json", "OUT/r.json"), 4),
    ("unfolded", ("run", QUICK, *SLICE, "--fold", "off", "--json", "OUT/r.json"), 3),
    ("input", ("run", "-", "--json", "OUT/r.json"), 1),
    ("compare", ("compare", "scenarios/examples", "--json", "OUT/r.json"), 3),
    ("sweep", ("sweep", "OUT/small.yaml", "--vary", TOKENS, "--jsonl", "OUT/record.jsonl"), 1.5),
    ("sweep-csv", ("sweep", "OUT/small.yaml", "--vary", TOKENS, "--csv", "OUT/t.csv"), 1.5),
    ("search", ("search", QUICK, *SLICE, "--over", "remat,prefetch", "--json", "OUT/r.json"), 3),
    ("bounding", ("search", QUICK, *SLICE, "--write", "OUT/best.yaml"), 3),
    ("calibrate", ("calibrate", "scenarios/published", "--write", "OUT/profile.yaml"), 4),
    ("collective", (*GATHER, "--slice", "16x20x28", "--bytes", "1e12", "--fold", "off"), 3),
    ("choosing", (*GATHER, "--slice", "16x20x28", "--bytes", "1e12"), 1),
    ("sizes", (*GATHER, "--slice", "4x4x4", "--bytes", "1e3:1e12:9", "--csv", "OUT/t.csv"), 1),
    ("serve", ("serve", "scenarios/examples/serve-llama3-8b-v5e.yaml", "--json", "OUT/r.json"), 1),
    ("check", ("check", "scenarios/published", "--json", "OUT/r.json"), 3),
    ("topology", ("topology", "--chip", "v5p", "--slice", "16x20x28", "--graphviz", "OUT/t.dot"), 1),
    ("import", ("import", "maxtext", BASE, "compile_topology=v6e-128", "--write", "OUT/i.yaml"), 0.2),
]
RECORDED = "sweep"


def torn(path):
    """Returns true if a file is neither whole nor the file of before."""
    data = path.read_bytes()
    if data == BEFORE.encode():
        return False
    try:
        if path.name.endswith(".json.gz"):
            json.loads(gzip.decompress(data))
        elif path.suffix == ".json":
            json.loads(data)
        elif path.suffix == ".dot":
            return not data.endswith(b"}\n")
        else:
            return not data.endswith(b"\n")
    except (ValueError, EOFError):
        return True
    return False


class Soak:
    """Runs commands in their folders, and collects the defects."""

    def __init__(self, options, root):
        self.program = options.program
        self.source = options.source
        self.strict = options.strict
        self.random = random.Random(options.seed)
        self.wrong = []
        self.longest = 0.0
        self.counts = {}
        self.root = root
        self.whole = self.undisturbed()

    def start(self, args, folder):
        given = [self.program, *(arg.replace("OUT", str(folder)) for arg in args)]
        return subprocess.Popen(given, cwd=self.source, stdin=subprocess.PIPE,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    @contextlib.contextmanager
    def folder(self):
        """Yields a folder, one at a time and always of the same name, since records contain it."""
        place = pathlib.Path(self.root) / "out"
        place.mkdir()
        yield place
        shutil.rmtree(place)

    def prepared(self, folder):
        (folder / "small.yaml").write_text(SMALL)
        (folder / "long.yaml").write_text(LONG)
        return folder

    def outputs(self, args, folder):
        paths = [pathlib.Path(arg.replace("OUT", str(folder))) for arg in args
                 if arg.startswith("OUT/")]
        return [path for path in paths if path.name not in ("small.yaml", "long.yaml")]

    def say(self, name, what):
        self.wrong.append(f"{name}: {what}")
        print(self.wrong[-1], flush=True)

    def look_at(self, name, args, folder):
        """Checks that the outputs are whole and alone."""
        outputs = self.outputs(args, folder)
        allowed = {"small.yaml", "long.yaml", *(path.name for path in outputs)}
        if name == "sweep-csv":
            allowed |= {path.name + ".part" for path in outputs}  # has the settings that had ended
        if name == "bounding":
            allowed |= {f"best-{number}.yaml" for number in range(2, 11)}
        beside = {path.name for path in folder.iterdir()} - allowed
        if beside:
            self.say(name, f"leaves {sorted(beside)}")
        parts = [path.with_name(path.name + ".part") for path in outputs]
        for path in outputs + [part for part in parts if part.exists()]:
            if path.suffix != ".jsonl" and torn(path):
                self.say(name, f"leaves a torn {path.name}")

    def end(self, name, args, most, number):
        """Runs one command and ends it at one instant."""
        with self.folder() as folder:
            self.prepared(folder)
            for path in self.outputs(args, folder):
                if path.suffix != ".jsonl":
                    path.write_text(BEFORE)
            run = self.start(args, folder)
            time.sleep(most * 10 ** self.random.uniform(-1.5, 0))  # some commands end early
            listened = listens(run, number)
            begun = time.monotonic()
            run.send_signal(number)
            _, said = run.communicate()
            took = time.monotonic() - begun
            self.longest = max(self.longest, took)
            by_signal = run.returncode == STATUS.get(number)
            key = (name, "by signal" if by_signal else f"status {run.returncode}")
            self.counts[key] = self.counts.get(key, 0) + 1
            allowed = {0, 1, STATUS.get(number, -number)}
            if not listened:
                allowed.add(-number)
            if run.returncode not in allowed:
                self.say(name, f"status {run.returncode} after {number.name}: {said[-300:]!r}")
            if self.strict and took > DEADLINE_S:
                self.say(name, f"ends {took:.3f} s after {number.name}")
            self.look_at(name, args, folder)
            if name == RECORDED:
                self.go_on(name, args, folder)

    def go_on(self, name, args, folder):
        """Checks that the record becomes that of an undisturbed run, and that none of its settings runs again."""
        record = folder / "record.jsonl"
        kept = record.read_bytes() if record.exists() else b""
        kept = kept[:kept.rfind(b"\n") + 1]
        rest = self.start(args, folder)
        _, said = rest.communicate()
        lines = kept.count(b"\n")
        if lines and f"holds {lines} of 600 settings already" not in said.decode():
            self.say(name, f"goes on without the {lines} settings that were there: {said[-300:]!r}")
        if rest.returncode != 0 or record.read_bytes() != self.whole:
            self.say(name, f"a record of {lines} settings goes on to something else")

    def undisturbed(self):
        """Returns the record of a sweep that nobody ends."""
        args = next(one[1] for one in COMMANDS if one[0] == RECORDED)
        with self.folder() as place:
            self.start(args, self.prepared(place)).communicate()
            return (place / "record.jsonl").read_bytes()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("source")
    parser.add_argument("--instants", type=int, default=20)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--only")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        sys.exit(run(options, root))


def run(options, root):
    for number in STATUS:  # a process that ignores a signal, as in the background, passes that on
        signal.signal(number, signal.SIG_DFL)
    soak = Soak(options, root)
    chosen = [one for one in COMMANDS if options.only in (None, one[0])]
    signals = [signal.SIGTERM, signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
    for i in range(options.instants):
        name, args, most = chosen[i % len(chosen)]
        soak.end(name, args, most, signals[(i + i // len(chosen)) % len(signals)])
    name, args, most = next(one for one in COMMANDS if one[0] == RECORDED)
    for _ in range(options.kills):
        soak.end(name, args, most, signal.SIGKILL)
    for (name, end), count in sorted(soak.counts.items()):
        print(f"{name:14} {end:12} {count}")
    print(f"longest end: {soak.longest:.3f} s after its signal")
    print("seed", options.seed, "wrong:", len(soak.wrong))
    return 1 if soak.wrong else 0


if __name__ == "__main__":
    main()
