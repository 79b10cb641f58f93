// `podsim merge`: merges the records of a sweep's shards.
#include <fmt/format.h>
#include <ostream>

#include "scenarios/src/base/whole_file.h"
#include "scenarios/src/cli/cli.h"
#include "scenarios/src/cli/common.h"
#include "scenarios/src/cli/output.h"
#include "scenarios/src/study/sweep_merge.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

/// Throws sim::InputError for a sweep with missing settings, and names the first of them.
void check_whole(const MergedSweep& sweep) {
    const std::vector<std::size_t> missing = sweep.missing();
    if (missing.empty()) {
        return;
    }
    constexpr std::size_t kNamed = 8;
    std::string named;
    for (std::size_t i = 0; i < missing.size() && i < kNamed; ++i) {
        named += fmt::format("{}{}", i > 0 ? ", " : "", missing[i]);
    }
    throw sim::InputError(fmt::format("{} of {} settings are missing: {}{}", missing.size(),
                                      sweep.size(), named, missing.size() > kNamed ? ", ..." : ""),
                          "run their shards to the end (setting s is in shard s mod n of n)");
}

}  // namespace

Usage merge_usage() {
    Usage usage(
        "merge RECORD.jsonl ... --jsonl PATH|-",
        "Puts the records of a sweep's shards (podsim sweep --shard) together: byte for byte the\n"
        "record that one machine would have written.",
        "podsim merge shard-*.jsonl --jsonl sweep.jsonl",
        "Records that overlap must agree, and a damaged line is refused (its crc32). Nothing is "
        "written while settings are missing: run\n"
        "their shards' commands again, which go on where they stopped. `podsim sweep` without\n"
        "--shard and with the merged file as --jsonl prints the table.\n\n"
        "Exit status: 0 done, 2 bad usage, bad records or missing settings.\n");
    usage.file("jsonl", "write the merged record to a file, or to standard output (-)");
    usage.positional("RECORD.jsonl", -1);
    return usage;
}

int command_merge(Arguments args, std::ostream& out, std::ostream& err) {
    Usage options = merge_usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help(look_of(out).width);
        return kDone;
    }
    const std::vector<std::string> records = options.all("RECORD.jsonl");
    if (records.empty()) {
        throw sim::InputError("no records", "usage: podsim merge RECORD.jsonl ... --jsonl PATH|-");
    }
    const std::string path = output_path(options, "jsonl");
    if (path.empty()) {
        throw sim::InputError("--jsonl is missing",
                              "usage: podsim merge RECORD.jsonl ... --jsonl PATH|-");
    }
    const MergedSweep sweep(records);
    print_warnings(err, sweep.warnings());
    check_whole(sweep);
    if (path == "-") {
        sweep.write(out);
        return kDone;
    }
    WholeFile file("--jsonl", path);
    sweep.write(file.stream());
    file.keep();
    return kDone;
}

}  // namespace podsim::scenarios
