#!/usr/bin/python3
"""Checks on random steps (generate.py) that a machine with one faster resource takes no longer.

A pair is a step, and the same step with one resource, alone, 1.05 to 16 times faster (its rates multiplied, its latencies divided
by the factor). A pair is slower if the second step takes more than 0.5 % longer, and at most 0.5 % of the pairs may be slower. Half
of the steps are at measured factors (`profile: {base: CHIP}`, which a changed chip keeps), half at ideal ones. The resource is drawn
from those that the step uses. Every pair that is more than 2 % slower is printed, so that it can be run again and explained.

Usage: faster.py PROGRAM [--pairs N] [--seed N] [--jobs N] [--keep FOLDER] [--record PATH]
Each number is a pair: --seed S begins with pair S, and --pairs 1 repeats it alone. Seed 1, these resources and factors that are
uniform in their logarithm were fixed before the first result was seen.
"""

import argparse
import concurrent.futures
import json
import math
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

import generate

MOST_SLOWER = 0.005  # fraction of the pairs
SLOWER = 0.005
TO_PRINT = 0.02
FACTORS = (1.05, 16)
LIMIT_S = 600
MEMORY = "3GB"

# A resource has the links that a step must use, its rates and its latencies, by their key of a chip and their key in `list chips`.
RESOURCES = {
    "compute": ("", {"bf16_flops": "bf16_flops_per_s", "int8_ops": "int8_ops_per_s", "fp8_flops": "fp8_flops_per_s",
                     "vpu_flops": "vpu_flops_per_s"}, {}),
    "HBM": ("", {"hbm_bandwidth": "hbm_bytes_per_s"}, {}),
    "ICI": ("ici", {"ici_one_way": "ici_one_way_book_bytes_per_s"}, {}),
    "ICI latency": ("ici", {}, {"ici_latency": "ici_latency_s"}),
    "PCIe": ("pcie", {"pcie_one_way": "pcie_one_way_bytes_per_s"}, {}),
    "DCN": ("dcn", {"dcn_per_host": "dcn_per_host_bytes_per_s"}, {}),
    "DCN latency": ("dcn", {}, {"dcn_latency": "dcn_latency_s"}),
    "launch": ("ici", {}, {}),  # a factor of the profile: only at measured factors, and with collectives
}
LAUNCH = re.compile(r"launch_s: (\S+)")
UNITS = {"bf16_flops": "TFLOP/s", "fp8_flops": "TFLOP/s", "vpu_flops": "TFLOP/s", "int8_ops": "TOP/s"}


class Program:
    def __init__(self, path, folder):
        self.path = path.resolve()
        self.folder = folder
        self.chips = {}

    def podsim(self, *args):
        return subprocess.run([self.path, *map(str, args), "--memory", MEMORY], text=True, capture_output=True,
                              timeout=LIMIT_S, check=False)

    def chip(self, name):
        if name not in self.chips:
            done = self.podsim("list", "chips", name, "--json", "-")
            self.chips[name] = json.loads(done.stdout)["entries"][0]
        return self.chips[name]

    def launch_s(self, name):
        """Returns the launch time among the factors of a scenario."""
        return float(LAUNCH.search(self.podsim("show", self.folder / name).stdout)[1])

    def step(self, scenario, name):
        """Returns the result of a run; nothing if it is refused."""
        path = self.folder / name
        path.write_text(json.dumps(scenario, indent=1) + "\n")
        done = self.podsim("run", path, "--no-explain", "--json", "-")
        if done.returncode not in (0, 2):
            raise RuntimeError(f"{name}: status {done.returncode}: {done.stderr[-600:]}")
        return json.loads(done.stdout) if done.returncode == 0 else None


def rates_of(chip, resource, factor):
    """Returns the keys of a chip whose resource is faster by the factor."""
    _, rates, latencies = RESOURCES[resource]
    made = {}
    for key, listed in rates.items():
        if chip[listed] > 0:
            made[key] = f"{chip[listed] * factor / 1e12:.9g} {UNITS.get(key, 'TB/s')}"
    for key, listed in latencies.items():
        made[key] = f"{chip[listed] / factor * 1e9:.6g} ns"
    return made


def is_measured(number):
    return number % 2 == 0


def pair(program, number):
    """Returns (resource, factor, seconds, seconds when faster) of a pair; nothing if its step is refused."""
    rng = random.Random(number)
    scenario = generate.scenario(rng)
    hardware = scenario["hardware"]
    chip = hardware["chip"]
    # A chip has no key for the vendor's rate of a link.
    hardware.pop("ici_rates", None)
    hardware["profile"] = {"base": chip} if is_measured(number) else "ideal"
    step = program.step(scenario, f"{number}.yaml")
    if step is None:
        return None
    used = [name for name, link in step["links"].items() if link["bytes"] > 0]
    resource = rng.choice([name for name, (link, _, _) in RESOURCES.items()
                           if (not link or any(one.startswith(link) for one in used))
                           and (name != "launch" or is_measured(number))])
    factor = math.exp(rng.uniform(math.log(FACTORS[0]), math.log(FACTORS[1])))
    if resource == "launch":
        hardware["profile"]["launch_s"] = program.launch_s(f"{number}.yaml") / factor
    else:
        hardware["chip"] = {"base": chip} | rates_of(program.chip(chip), resource, factor)
    faster = program.step(scenario, f"{number}_faster.yaml")
    if faster is None:
        raise RuntimeError(f"pair {number}: refused with faster {resource}")
    return resource, factor, step["step_time_s"], faster["step_time_s"]


def pairs(program, options):
    """Yields (number, pair) for the first pairs that are not refused, half of each kind."""
    wanted = {False: options.pairs // 2, True: options.pairs - options.pairs // 2}
    if options.pairs == 1:
        wanted = {is_measured(options.seed): 1, not is_measured(options.seed): 0}
    number = options.seed
    refused = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        while any(wanted.values()):
            numbers = [n for n in range(number, number + 4 * options.jobs) if wanted[is_measured(n)] > 0]
            number += 4 * options.jobs
            for one, made in zip(numbers, pool.map(lambda n: pair(program, n), numbers)):
                refused += made is None
                if made is not None and wanted[is_measured(one)] > 0:
                    wanted[is_measured(one)] -= 1
                    yield one, made
    print(f"seed {options.seed}: {options.pairs} pairs, {refused} scenarios refused")


def run(options):
    slower = 0
    steps = []
    with tempfile.TemporaryDirectory() as folder:
        folder = options.keep or pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        program = Program(options.program, folder)
        record = options.record.open("w") if options.record else None
        for number, (resource, factor, step, faster) in pairs(program, options):
            steps += [step, faster]
            more = faster / step - 1
            slower += more > SLOWER
            if more > (TO_PRINT if options.pairs > 1 else -1):
                print(f"pair {number}: {resource} {factor:.2f} times faster, {step * 1e3:.6g} ms takes "
                      f"{faster * 1e3:.6g} ms, {100 * more:+.2f} %", flush=True)
            if record:
                record.write(json.dumps({"number": number, "resource": resource, "factor": factor, "step_s": step,
                                         "faster_s": faster}) + "\n")
                record.flush()
    most = max(1, math.floor(MOST_SLOWER * options.pairs))
    print(f"slower by more than {100 * SLOWER:g} %: {slower} of {options.pairs} pairs, at most {most} may be")
    print(f"mean step {statistics.fmean(steps) * 1e3:.6g} ms, geometric {statistics.geometric_mean(steps) * 1e3:.6g} ms")
    return 1 if slower > most else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--record", type=pathlib.Path)
    sys.exit(run(parser.parse_args()))


if __name__ == "__main__":
    main()
