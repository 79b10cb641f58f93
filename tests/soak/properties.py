#!/usr/bin/python3
"""Runs random scenarios (generate.py) as users do, and checks the promises that hold of every step.

Every scenario runs, or is refused in words with status 2. Every step takes at least as long as its bounds; the terms of each
account add up to it, to the picosecond; a second run writes the same bytes. The step is the same when every layer and every chip is
played, when the output of `show` is run, and as one setting of a sweep; `diff` finds no difference from itself. Each scenario also
meets one of these: a signal or a kill at a random instant, a full disk, a record that goes on.

Usage: properties.py PROGRAM [--seconds N] [--scenarios N] [--seed N] [--keep FOLDER]
Each number is a scenario: --seed S begins with scenario S, and --scenarios 1 repeats it alone.
"""

import argparse
import collections
import json
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import generate
from listening import listens

BEFORE = "what was there before\n"
LIMIT_S = 600  # the machine may be busy; the longest of five thousand took half a minute alone
MEMORY = "3GB"
# A command has half a second, and three seconds after SIGINT if it has found something; the machine may be busy.
MOST_TO_END_S = 4
MOST_CHIPS_UNFOLDED = 32
WALL = re.compile(r'"wall_time_s": [^,\n]*')
DEFECT = re.compile(r"a defect in podsim|Assertion|terminate called|std::|nan|-nan")


def picoseconds(seconds):
    return round(seconds * 1e12)


def terms_of(account):
    """Returns the terms of an account of `diff`, which is a map by name or a list."""
    return account.values() if isinstance(account, dict) else account


class Wrong(Exception):
    """A promise that a scenario does not keep."""


def small_files():
    """Makes the disk full after 512 bytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))


class Looker:
    """One scenario in a folder of its own."""

    def __init__(self, program, folder, rng):
        self.program = program
        self.folder = folder
        self.random = rng
        self.file = folder / "s.yaml"

    def podsim(self, *args, status=(0,), **more):
        done = subprocess.run([self.program, *map(str, args), "--memory", MEMORY], cwd=self.folder, text=True,
                              capture_output=True, timeout=LIMIT_S, check=False, **more)
        if done.returncode not in status:
            raise Wrong(f"{' '.join(map(str, args))}: status {done.returncode}: {done.stderr[-600:]}")
        if done.returncode != 0 and (not done.stderr.strip() or DEFECT.search(done.stderr)):
            raise Wrong(f"{' '.join(map(str, args))}: refused without words: {done.stderr[-600:]!r}")
        return done

    def step(self, *args, file=None):
        return json.loads(self.podsim("run", file or self.file, "--json", "-", *args).stdout)

    def look(self):
        """Returns 'refused', or the names of the promises that were checked."""
        first = self.podsim("run", self.file, "--json", "r.json", status=(0, 2))
        if first.returncode == 2:
            if "s.yaml" not in first.stderr:
                raise Wrong(f"refused without a place: {first.stderr!r}")
            self.podsim("check", self.file, status=(2,))
            return "refused: " + re.sub(r"[0-9]+", "N", first.stderr.splitlines()[0].split(": ", 1)[-1])[:60]
        step = json.loads((self.folder / "r.json").read_text())
        self.adds_up(step)
        promise = self.random.choice([self.same_bytes, self.same_without_reuse, self.same_unfolded, self.same_shown,
                                      self.same_in_a_sweep, self.no_difference, self.ends_by_a_signal, self.full_disk,
                                      self.record_goes_on])
        promise(step)
        return promise.__name__

    def adds_up(self, step):
        time_of_step = picoseconds(step["step_time_s"])
        bound = picoseconds(step["analytic"]["roofline_lower_s"])
        if bound > time_of_step:
            raise Wrong(f"the bound, {bound} ps, is above the step, {time_of_step} ps")
        accounts = {
            "gap": (time_of_step - bound, step.get("gap_s")),
            "critical path": (time_of_step, step.get("critical_path_s")),
            "stream": (time_of_step, {"compute": step["compute_s"], "exposed": step["exposed_communication_s"]}),
        }
        for name, (whole, terms) in accounts.items():
            if terms is None:
                continue
            parts = sum(picoseconds(term) for term in terms.values())
            if parts != whole and not (name == "gap" and abs(parts - whole) <= 1):
                raise Wrong(f"the {name} adds up to {parts} ps of {whole} ps")
        peak = step.get("memory", {})
        if peak and sum(peak["at_peak_bytes"].values()) > peak["peak_bytes"] * (1 + 1e-9):
            raise Wrong("the classes of memory add up to more than its peak")

    def same_bytes(self, _):
        one, two = (WALL.sub("", self.podsim("run", self.file, "--json", "-").stdout) for _ in range(2))
        if one != two:
            raise Wrong("two runs differ")

    def equal(self, step, other, what):
        for key in ("step_time_s", "compute_s", "mfu", "events", "links", "memory"):
            if step.get(key) != other.get(key):
                raise Wrong(f"{what}: {key} is {json.dumps(other.get(key))[:300]} in place of {json.dumps(step.get(key))[:300]}")

    def same_without_reuse(self, step):
        self.equal(step, self.step("--no-reuse", "--no-explain"), "without reuse")

    def same_unfolded(self, step):
        if step["chips"] > MOST_CHIPS_UNFOLDED:
            return
        other = self.step("--fold", "off", "--no-explain")
        for key in ("step_time_s", "compute_s", "mfu"):
            if step[key] != other[key]:
                raise Wrong(f"unfolded: {key} is {other[key]} in place of {step[key]}")
        if step["events"] * other["simulated_chips"] != other["events"] * step["simulated_chips"]:
            raise Wrong(f"unfolded: {other['events']} events of {other['simulated_chips']} chips, "
                        f"{step['events']} of {step['simulated_chips']}")

    def same_shown(self, step):
        (self.folder / "shown.yaml").write_text(self.podsim("show", self.file).stdout)
        self.equal(step, self.step("--no-explain", file="shown.yaml"), "as shown")

    def same_in_a_sweep(self, step):
        self.podsim("sweep", self.file, "--vary", "hardware.oversubscription=1,2,4", "--jsonl", "sweep.jsonl")
        same = str(json.loads(self.file.read_text())["hardware"].get("oversubscription", 1))
        rows = [json.loads(line) for line in (self.folder / "sweep.jsonl").read_text().splitlines()]
        if [row["settings"]["hardware.oversubscription"] for row in rows] != ["1", "2", "4"]:
            raise Wrong(f"a sweep of 3 settings has {[row['settings'] for row in rows]}")
        row = next(row for row in rows if row["settings"]["hardware.oversubscription"] == same)
        self.equal(step, row, "in a sweep")

    def no_difference(self, _):
        for other in (self.file, "r.json"):
            said = json.loads(self.podsim("diff", self.file, other, "--json", "-").stdout)
            if said["more_s"] != 0 or said["why"] != "A and B take the same time, to the picosecond.":
                raise Wrong(f"differs from itself ({other}): {said['more_s']} s, {said['why']}")
            for account in ("causes_s", "stream_s", "critical_path_s", "gap_s"):
                if any(term["a"] != term["b"] for term in terms_of(said[account])):
                    raise Wrong(f"differs from itself ({other}) in {account}: {said[account]}")

    def ends_by_a_signal(self, _):
        number = self.random.choice((signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL))
        out = self.folder / "out.json"
        out.write_text(BEFORE)
        with subprocess.Popen([self.program, "run", self.file, "--json", out, "--trace", self.folder / "t.json"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as run:
            time.sleep(10 ** self.random.uniform(-2.5, -0.3))
            listened = listens(run, number)
            begun = time.monotonic()
            run.send_signal(number)
            run.communicate(timeout=LIMIT_S)
            took = time.monotonic() - begun
        allowed = {0, {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 143}.get(number, -number)}
        if not listened:
            allowed.add(-number)
        if run.returncode not in allowed or took > MOST_TO_END_S:
            raise Wrong(f"status {run.returncode} {took:.2f} s after {number.name}")
        for path in (out, self.folder / "t.json"):
            if path.exists() and path.read_text() != BEFORE:
                json.loads(path.read_text())
        self.nothing_beside("out.json", "t.json")

    def nothing_beside(self, *outputs):
        beside = {path.name for path in self.folder.iterdir()} - {"s.yaml", "r.json", *outputs}
        if beside:
            raise Wrong(f"leaves {sorted(beside)}")

    def full_disk(self, _):
        out = self.folder / "out.json"
        out.write_text(BEFORE)
        done = self.podsim("run", self.file, "--no-explain", "--json", out, status=(2,), preexec_fn=small_files)
        if out.read_text() != BEFORE:
            raise Wrong("what was there before is lost to a full disk")
        if "out.json" not in done.stderr:
            raise Wrong(f"a full disk: {done.stderr!r}")
        self.nothing_beside("out.json")

    def record_goes_on(self, _):
        vary = ("sweep", self.file, "--vary", "hardware.oversubscription=1,2,4", "--vary", "hardware.latency=additive,floor")
        self.podsim(*vary, "--jsonl", "whole.jsonl")
        whole = (self.folder / "whole.jsonl").read_bytes()
        record = self.folder / "cut.jsonl"
        record.write_bytes(whole[:self.random.randrange(len(whole) + 1)])
        self.podsim(*vary, "--jsonl", "cut.jsonl")
        if record.read_bytes() != whole:
            raise Wrong("a record that was cut off goes on to other bytes")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--scenarios", type=int, default=sys.maxsize)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    sys.exit(run(options))


def hear_signals():
    """Restores the default of signals: a process that ignores one, as in the background or under nohup, passes that on to podsim."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def run(options):
    hear_signals()
    program = options.program.resolve()
    end = time.monotonic() + options.seconds
    counts = collections.Counter()
    wrong = []
    number = options.seed
    while time.monotonic() < end and number < options.seed + options.scenarios:
        rng = random.Random(number)
        made = generate.scenario(rng)
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "s.yaml").write_text(json.dumps(made, indent=1) + "\n")
            try:
                counts[Looker(program, folder, rng).look()] += 1
            except (Wrong, subprocess.TimeoutExpired, ValueError, KeyError) as error:
                wrong.append(number)
                print(f"scenario {number}: {type(error).__name__} {error}", flush=True)
                if options.keep:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    shutil.copy(folder / "s.yaml", options.keep / f"{number}.yaml")
        number += 1
    refused = sum(count for what, count in counts.items() if what.startswith("refused"))
    for what, count in sorted(counts.items(), key=lambda entry: -entry[1]):
        print(f"{count:7} {what}")
    print(f"scenarios {options.seed} to {number - 1}: {number - options.seed}, refused {refused}, wrong {len(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    main()
