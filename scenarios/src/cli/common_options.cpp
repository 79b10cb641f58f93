#include "scenarios/src/cli/common_options.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "scenarios/src/base/format.h"
#include "scenarios/src/base/memory_limit.h"
#include "scenarios/src/base/parallel.h"
#include "scenarios/src/base/quantity_text.h"
#include "scenarios/src/scenario/load.h"
#include "sim/base/nearest.h"
#include "topology/chips/chip.h"
#include "topology/chips/slice_names.h"

namespace podsim::scenarios {

namespace {

struct FoldName {
    std::string_view name;
    Fold fold;
};
constexpr FoldName kFolds[] = {{"auto", Fold::automatic}, {"off", Fold::off}};

std::vector<std::string> fold_names() {
    std::vector<std::string> names;
    for (const FoldName& each : kFolds) {
        names.emplace_back(each.name);
    }
    return names;
}

/// The value of an option as it stands in the arguments, before a command has read them.
std::optional<std::string> value_in(Arguments args, std::string_view option) {
    for (std::size_t i = 0; i < args.size(); ++i) {
        if (args[i] == option && i + 1 < args.size()) {
            return args[i + 1];
        }
        if (args[i].starts_with(fmt::format("{}=", option))) {
            return args[i].substr(option.size() + 1);
        }
    }
    return std::nullopt;
}

}  // namespace

std::string overflow_place(Arguments args) {
    const std::optional<std::string> bytes = value_in(args, "--bytes");
    return bytes ? fmt::format("--bytes {}", printable(*bytes)) : "podsim";
}

double memory_option(Arguments args) {
    const std::optional<std::string> text = value_in(args, "--memory");
    if (!text) {
        return std::numeric_limits<double>::infinity();
    }
    try {
        const double bytes = parse_bytes(*text).value();
        if (bytes < kLeastMemory) {
            throw sim::InputError("too little for any command",
                                  fmt::format("give {:.0f} MB or more", kLeastMemory / 1e6));
        }
        return bytes;
    } catch (const sim::InputError& error) {
        throw error.at({fmt::format("--memory {}", printable(*text)), 0, 0});
    }
}

sim::InputError out_of_memory(Arguments args) {
    std::string place = "podsim";
    for (const std::string& arg : args) {
        if (arg.ends_with(".yaml") || arg.ends_with(".yml")) {
            place = arg;
        }
    }
    const bool limited = std::isfinite(address_space_left());
    return sim::InputError(
        fmt::format("out of memory: podsim may take {}{}", format_bytes(sim::Bytes(memory_limit())),
                    limited ? ", and its address space is limited (ulimit -v)" : ""),
        limited ? "raise that limit, or leave out what takes more runs with --no-explain; or make "
                  "the step smaller, with fewer microbatches or a larger hardware.message_cap"
                : "give more with --memory, or fewer --jobs; or make the step smaller, with fewer "
                  "microbatches or a larger hardware.message_cap",
        {place, 0, 0});
}

ScenarioSource scenario_argument(const Usage& options, std::string_view command) {
    const std::vector<std::string> files = options.all("FILE.yaml");
    if (files.empty()) {
        throw sim::InputError("no scenario file",
                              fmt::format("usage: podsim {} FILE.yaml", command));
    }
    return named_source(files.front());
}

std::vector<ScenarioSource> scenario_arguments(const Usage& options) {
    std::vector<ScenarioSource> named;
    for (const std::string& name : options.all("FILE|DIR")) {
        named.push_back(named_source(name));
    }
    return named;
}

void add_fold_option(Usage& usage) {
    usage.value("fold", "auto: simulate the chips that differ; off: simulate every chip", "auto");
    usage.offer("fold", fold_names());
}

void add_chip_option(Usage& usage) {
    usage.value("chip", "a chip of `podsim list chips`");
    std::vector<std::string> names;
    for (const topology::ChipSpec& chip : topology::chip_catalogue()) {
        names.push_back(chip.name);
    }
    for (const topology::ChipAlias& alias : topology::chip_aliases()) {
        names.emplace_back(alias.name);
    }
    usage.offer("chip", names);
}

Fold parse_fold(const std::string& text) {
    const auto* const found = std::ranges::find(kFolds, text, &FoldName::name);
    if (found == std::end(kFolds)) {
        throw sim::unknown_name("--fold", printable(text), fold_names());
    }
    return found->fold;
}

int parse_jobs(const Usage& options) {
    if (!options.has("jobs")) {
        return available_jobs();
    }
    const std::string text = options.get("jobs");
    const sim::SourceMark mark{"--jobs " + printable(text), 0, 0};
    const std::string allowed = fmt::format("write a number of threads from 1 to {}", kMostJobs);
    std::int64_t jobs = 0;
    try {
        jobs = parse_count(text);
    } catch (const sim::InputError& error) {
        throw sim::InputError(error.problem(), allowed, mark);
    }
    if (jobs < 1 || jobs > kMostJobs) {
        throw sim::InputError("out of range", allowed, mark);
    }
    return static_cast<int>(jobs);
}

std::string chip_option(const Usage& options) {
    const bool says_all = !options.has("chip") && options.has("slice") &&
                          topology::is_slice_name(options.get("slice"));
    return says_all ? "" : options.get("chip");
}

int read_slices(const Usage& options, const Hardware& hardware) {
    return read_option(options, "slices", [&](const std::string& text) {
        const std::int64_t slices = parse_count(text);
        const int most = kMostChips / hardware.slice.size();
        if (slices < 1 || slices > most) {
            throw sim::InputError(
                fmt::format("{} slices", slices),
                fmt::format("from 1 to {} are allowed: {} chips", most, kMostChips));
        }
        return static_cast<int>(slices);
    });
}

}  // namespace podsim::scenarios
