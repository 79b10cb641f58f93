#!/usr/bin/python3
"""docs/performance.md and its plots from bench/results.json.

  bench/performance.py keep RAW.json    strip what names a machine from Google Benchmark's RAW.json into bench/results.json
  bench/performance.py tables           write the tables between the markers of docs/performance.md
  bench/performance.py check            exit with 1 where the tables are not those of bench/results.json
  bench/performance.py plots            draw docs/performance-*.svg (needs matplotlib)
"""
import json
import pathlib
import platform
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
RESULTS = TOP / "bench" / "results.json"
PAGE = TOP / "docs" / "performance.md"
QUEUES = ["radix", "lanes", "calendar", "quaternary", "std", "d_ary", "pairing", "multimap"]
SIMULATED = ["waves", "radix", "lanes", "calendar", "quaternary", "std"]
TITLES = {"std": "std::priority_queue", "d_ary": "boost d_ary_heap&lt;4>", "pairing": "boost pairing_heap",
          "multimap": "std::multimap", "quaternary": "4-ary heap", "waves": "waves over radix (default)"}
INCREMENTS = ["exponential", "bimodal", "constant", "few"]


def keep(raw):
    """Processor, caches, date and rows; no names of hosts, programs or folders."""
    data = json.loads(pathlib.Path(raw).read_text())
    context = data["context"]
    with open("/proc/cpuinfo") as lines:
        model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")),
                     platform.machine())
    machine = {
        "date": context["date"][:10], "processor": model, "cpus": context["num_cpus"],
        "caches": [f"L{c['level']} {c['type']} {c['size'] // 1024} KiB" for c in context["caches"]],
        "load_average": context["load_avg"],
    }
    dropped = {"family_index", "per_family_instance_index", "run_name", "repetitions", "repetition_index", "threads"}
    rows = [{k: v for k, v in row.items() if k not in dropped} for row in data["benchmarks"]]
    failed = [row["name"] for row in rows if row.get("error_occurred")]
    if failed:
        sys.exit("these benchmarks failed: " + ", ".join(failed))
    RESULTS.write_text(json.dumps({"machine": machine, "benchmarks": rows}, indent=1) + "\n")


def load():
    data = json.loads(RESULTS.read_text())
    return data["machine"], data["benchmarks"]


def named(rows, prefix):
    """Rows of a family, with the rest of the name, without what Google Benchmark appends."""
    found = []
    for row in rows:
        parts = [p for p in row["name"].split("/") if not p.startswith("iterations:") and p != "manual_time"]
        if parts[0] == prefix:
            found.append((parts[1:], row))
    return found


def number(value, digits=3):
    """Three digits, with a unit of thousands."""
    for factor, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(value) >= factor:
            return f"{value / factor:.{digits}g}{unit}" if value < 999.5 * factor else f"{value / factor:.0f}{unit}"
    return f"{value:.{digits}g}"


def milliseconds(row, clock="cpu_time"):
    """Of the processor; of whole steps, which use several, on the wall."""
    return row[clock] * {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}[row["time_unit"]]


def duration(ms):
    return f"{ms / 1000:.3g} s" if ms >= 1000 else f"{ms:.3g} ms"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]


def argument(parts, name):
    return int(next(p.split(":")[1] for p in parts if p.startswith(name + ":")))


def machine_lines(machine, _):
    load_average = ", ".join(f"{x:.1f}" for x in machine["load_average"])
    parts = [machine["processor"], f"{machine['cpus']} processors", *machine["caches"]]
    return [f"Recorded {machine['date']}: {', '.join(parts)}; load average at the start "
            f"{load_average}."]


def hold_lines(_, rows):
    cells = {(row["label"], argument(parts, "pending")): row for parts, row in named(rows, "hold")}
    sizes = sorted({size for _, size in cells})
    lines = []
    for increments in INCREMENTS:
        head = [f"{increments}, ns"] + [number(s) + " pending" for s in sizes]
        body = [[TITLES.get(q, q)] + [f"{cells[increments, s][q + '_ns']:.0f}" for s in sizes] for q in QUEUES]
        lines += table(head, body) + [""]
    return lines[:-1]


def hops_lines(_, rows):
    head = ["million hops a second"] + [f"{parts[0]} ({number(row['hops'])} hops)" for parts, row in named(rows, "hops")]
    body = [[TITLES.get(q, q)] + [f"{row[q + '_hops_per_s'] / 1e6:.1f}" for _, row in named(rows, "hops")]
            for q in SIMULATED]
    body.append(["default over std::priority_queue"] + [f"{row['times_std']:.1f}" for _, row in named(rows, "hops")])
    return table(head, body)


def collectives_lines(_, rows):
    body = [[parts[0], parts[1], f"{row['simulated_chips']:.0f} of {row['chips']:.0f}", f"{row['events']:,.0f}",
             duration(milliseconds(row)), f"{row['bound_over_simulated']:.3f}"]
            for parts, row in named(rows, "collective")]
    return table(["operation, 1 GB", "slice", "chips simulated", "events", "time", "bound / simulated"], body)


def message_lines(_, rows):
    body = [[f"{argument(parts, 'megabytes'):,} MB", f"{row['events']:,.0f}", duration(milliseconds(row)),
             f"{row['bound_over_simulated']:.3f}"] for parts, row in named(rows, "message_size")]
    return table(["AllGather on 16x20x28, folded", "events", "time", "bound / simulated"], body)


def steps_lines(_, rows):
    body = [[" ".join([family] + parts).replace("_", " "), f"{row['simulated_chips']:.0f} of {row['chips']:.0f}",
             f"{row['layers']:.0f}", f"{row['events']:,.0f}", f"{row['played']:,.0f}", duration(milliseconds(row, "real_time" if family == "step" else "cpu_time"))]
            for family in ("step", "unfolded_step") for parts, row in named(rows, family)]
    return table(["step", "chips simulated", "layers", "events", "played", "time"], body)


def layers_lines(_, rows):
    cells = {(argument(p, "layers"), argument(p, "reuse")): row for p, row in named(rows, "layers")}
    body = [[n, f"{cells[n, 0]['events']:,.0f}", duration(milliseconds(cells[n, 0])),
             f"{cells[n, 1]['played']:,.0f}", duration(milliseconds(cells[n, 1]))]
            for n in sorted({n for n, _ in cells})]
    return table(["layers", "events", "time without reuse", "events played with reuse", "time with reuse"], body)


def memory_lines(_, rows):
    body = [[" ".join([family.split("_")[1]] + parts).replace("_", " "), f"{row['simulated_chips']:.0f}", f"{row['events']:,.0f}",
             f"{row['peak_rise_bytes'] / 1e6:.1f} MB", f"{row['bytes_per_chip'] / 1e3:.1f} kB",
             f"{row['bytes_per_event']:.2f} B"]
            for family in ("memory_collective", "memory_step") for parts, row in named(rows, family)]
    return table(["unfolded run", "chips", "events", "peak memory", "by chip", "by event"], body)


BLOCKS = {"machine": machine_lines, "hold": hold_lines, "hops": hops_lines, "collectives": collectives_lines,
          "message-size": message_lines, "steps": steps_lines, "layers": layers_lines, "memory": memory_lines}


def filled():
    machine, rows = load()
    lines = []
    inside = None
    for line in PAGE.read_text().splitlines():
        if inside and line == f"<!-- {inside}:end -->":
            inside = None
        if not inside:
            lines.append(line)
        for name, block in BLOCKS.items():
            if line == f"<!-- {name}:begin -->":
                inside = name
                lines += block(machine, rows)
    if inside:
        sys.exit(f"docs/performance.md lacks <!-- {inside}:end -->")
    return "\n".join(lines) + "\n"


def plots():
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    plt.rcParams.update({"svg.hashsalt": "podsim", "font.size": 9, "axes.grid": True, "grid.color": "#dddddd",
                         "axes.spines.top": False, "axes.spines.right": False, "figure.facecolor": "white"})
    _, rows = load()

    def save(figure, name):
        figure.savefig(TOP / "docs" / f"performance-{name}.svg", metadata={"Date": None}, bbox_inches="tight")
        plt.close(figure)

    plain = {q: t.replace("&lt;", "<") for q, t in TITLES.items()}
    cells = {(row["label"], argument(p, "pending")): row for p, row in named(rows, "hold")}
    sizes = sorted({size for _, size in cells})
    figure, axes = plt.subplots(2, 2, figsize=(8, 6), sharex=True, sharey=True)
    for axis, increments in zip(axes.flat, INCREMENTS):
        for queue in QUEUES:
            axis.loglog(sizes, [cells[increments, s][queue + "_ns"] for s in sizes], marker="o", markersize=3,
                        linewidth=2.4 if queue == "radix" else 1.2, label=plain.get(queue, queue))
        axis.set_title(increments, fontsize=10)
    figure.supxlabel("events pending", fontsize=9)
    figure.supylabel("ns for a pop and a push", fontsize=9)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="lower center", ncol=4, frameon=False,
                  bbox_to_anchor=(0.5, -0.07))
    figure.tight_layout()
    save(figure, "queues")

    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.8))
    for operation in ("all-gather", "all-reduce", "all-to-all"):
        for fold, style in (("folded", "--"), ("unfolded", "-")):
            points = sorted((row["chips"], milliseconds(row)) for p, row in named(rows, "collective")
                            if p[0] == operation and p[2] == fold)
            color = {"all-gather": "C0", "all-reduce": "C1", "all-to-all": "C2"}[operation]
            left.loglog(*zip(*points), style, color=color, marker="o", markersize=3, label=f"{operation}, {fold}")
    left.set(xlabel="chips", ylabel="processor time, ms", title="1 GB over the whole slice")
    left.title.set_size(10)
    left.legend(frameon=False, fontsize=7.5, ncol=2, loc="upper center", bbox_to_anchor=(0.5, -0.2))
    for reuse, label in ((0, "every layer played"), (1, "repeats reused")):
        points = sorted((row["layers"], milliseconds(row)) for p, row in named(rows, "layers")
                        if argument(p, "reuse") == reuse)
        right.loglog(*zip(*points), marker="o", markersize=3, label=label)
    right.set(xlabel="layers", ylabel="processor time, ms", title="step on 16x20x28, folded")
    right.title.set_size(10)
    right.legend(frameon=False, fontsize=7.5, ncol=2, loc="upper center", bbox_to_anchor=(0.5, -0.2))
    figure.tight_layout()
    save(figure, "scaling")


def main(arguments):
    match arguments:
        case ["keep", raw]:
            keep(raw)
        case ["tables"]:
            PAGE.write_text(filled())
        case ["check"]:
            if PAGE.read_text() != filled():
                sys.exit("docs/performance.md does not show bench/results.json; run: bench/performance.py tables")
        case ["plots"]:
            plots()
        case _:
            sys.exit(__doc__)


main(sys.argv[1:])
