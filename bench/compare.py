#!/usr/bin/env python3
"""Compares the speed of two builds of the benchmarks: bench/compare.py OLD NEW [--filter REGEX]

Runs OLD and NEW (paths of podsim_bench) in turns, so that what slows the machine for a while slows both, and prints for
each benchmark the median over the pairs of new time / old time. Exits with 1 when one is above 1 + --within.
Build both with `cmake --preset bench && cmake --build --preset bench`, the old one from a checkout of its own.
"""

import argparse
import json
import statistics
import subprocess
import sys


def times(program, options):
    """{benchmark: processor time of an iteration} of one run."""
    run = subprocess.run(
        [program, "--benchmark_format=json", f"--benchmark_filter={options.filter}",
         f"--benchmark_min_time={options.min_time}"],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return {b["name"]: b["cpu_time"] for b in json.loads(run.stdout)["benchmarks"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--filter", default=".", help="benchmarks by regular expression (all)")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--min-time", type=float, default=0.1, help="seconds a benchmark runs, each time (0.1)")
    parser.add_argument("--within", type=float, default=0.03, help="how much slower is accepted (0.03)")
    options = parser.parse_args()

    ratios = {}
    for pair in range(options.pairs):
        # Who is first changes: the second may find the caches and the clock otherwise.
        programs = [options.old, options.new] if pair % 2 == 0 else [options.new, options.old]
        taken = {program: times(program, options) for program in programs}
        old, new = taken[options.old], taken[options.new]
        for name in old.keys() & new.keys():
            ratios.setdefault(name, []).append(new[name] / old[name])
        print(f"pair {pair + 1} of {options.pairs}", file=sys.stderr)

    if not ratios:
        sys.exit("compare: the programs share no benchmark of that name")
    slower = False
    for name in sorted(ratios):
        median = statistics.median(ratios[name])
        too_slow = median > 1 + options.within
        slower = slower or too_slow
        print(f"{name:60} {median:6.3f}  ({min(ratios[name]):.3f} to {max(ratios[name]):.3f})"
              f"{'  slower' if too_slow else ''}")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
