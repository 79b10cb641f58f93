// `podsim list`: what the catalogues hold.
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ostream>

#include "collectives/vocabulary/algorithm.h"
#include "scenarios/cli/cli.h"
#include "scenarios/cli/common.h"
#include "scenarios/load/load.h"
#include "scenarios/load/scenario_files.h"
#include "scenarios/text/format.h"
#include "scenarios/text/quote.h"
#include "scenarios/text/table.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"
#include "topology/chips/chip.h"
#include "topology/chips/slice_names.h"
#include "workloads/models/model.h"
#include "workloads/plan/remat.h"

namespace podsim::scenarios {
namespace {

std::string list_chips() {
    Table table;
    table.row({"chip", "bf16", "HBM", "HBM rate", "ICI book", "ICI vendor", "torus", "pod", "host",
               "MXU"});
    for (const topology::ChipSpec& chip : topology::chip_catalogue()) {
        const int dimensions = chip.torus_dimensions.value;
        table.row({chip.name, format_flops_rate(chip.bf16_flops.value),
                   format_bytes(chip.hbm_capacity.value), format_rate(chip.hbm_bandwidth.value),
                   format_rate(chip.ici_one_way_book.value),
                   format_rate(chip.ici_one_way_vendor.value), fmt::format("{}D", dimensions),
                   topology::to_string(chip.pod_shape.value, dimensions),
                   topology::to_string(chip.host_shape.value, dimensions),
                   fmt::format("{0}x{0}", chip.mxu_dimension.value)});
    }
    std::string aliases;
    for (const topology::ChipAlias& alias : topology::chip_aliases()) {
        aliases += fmt::format("{}{} is {}", aliases.empty() ? "" : ", ", alias.name, alias.chip);
    }
    return table.text(0) + "\nICI rates are for one link and one direction.\n" +
           fmt::format("Other names: {}.\n", aliases) +
           "Slices may be called as clouds call them: v5p-512 (cores, two a chip: v2 to v4, v5p, "
           "tpu7x), "
           "v5e-256 (chips: v5e, v6e).\n";
}

std::string list_models() {
    Table table;
    table.row({"model", "parameters", "of a token", "layers", "d_model", "d_ff", "heads",
               "kv_heads", "head_dim", "vocabulary", "experts", "window"});
    for (const workloads::ModelSpec& model : workloads::model_catalogue()) {
        const workloads::ParameterCount count = workloads::count_parameters(model);
        const workloads::Experts& experts = model.experts;
        table.row(
            {model.name, format_count(static_cast<double>(count.total)),
             format_count(static_cast<double>(count.active)), std::to_string(model.layers),
             std::to_string(model.d_model), std::to_string(model.d_ff), std::to_string(model.heads),
             std::to_string(model.kv_heads), std::to_string(model.head_dim),
             std::to_string(model.vocabulary),
             experts.count > 0 ? fmt::format("{} of {}", experts.per_token, experts.count) : "-",
             model.window > 0 ? std::to_string(model.window) : "-"});
    }
    return table.text(0);
}

std::string list_algorithms() {
    Table table({1});
    for (const collectives::AlgorithmInfo& info : collectives::all_algorithms()) {
        table.row({std::string(info.name), std::string(info.summary)});
    }
    return table.text(0);
}

std::string list_remat() {
    Table table({1, 2});
    table.row({"remat", "kept in HBM", "at the host"});
    for (const auto& [name, remat] : workloads::remat_policies()) {
        const workloads::TensorSet kept = kept_tensors(remat) - remat.names.offload;
        table.row({std::string(name), to_string(kept), to_string(remat.names.offload)});
    }
    return table.text(0) +
           "\nThe names of MaxText, and none, matmuls, block. Of these a step keeps what its "
           "backward pass reads, and runs\n"
           "again what it reads and does not find; block runs the whole forward pass again.\n";
}

/// The title, or what is wrong with the file: a listing goes on.
std::string title_or_problem(const std::string& file) {
    try {
        return scenario_title(file);
    } catch (const sim::InputError& error) {
        return fmt::format("(not a scenario: {})", error.problem());
    }
}

std::string list_scenarios() {
    const std::vector<std::string> candidates = library_candidates();
    for (const std::string& folder : candidates) {
        std::error_code ignored;
        if (!std::filesystem::is_directory(folder, ignored)) {
            continue;
        }
        const std::vector<std::string> files = scenario_files(folder);
        if (files.empty()) {
            continue;
        }
        Table table({1});
        for (const std::string& file : files) {
            table.row({file, title_or_problem(file)});
        }
        return table.text(0);
    }
    throw sim::InputError("no scenarios found",
                          fmt::format("looked in {}", fmt::join(candidates, ", ")));
}

struct Listing {
    std::string_view name;
    std::string (*text)();
};
constexpr Listing kListings[] = {{"chips", list_chips},
                                 {"models", list_models},
                                 {"scenarios", list_scenarios},
                                 {"algorithms", list_algorithms},
                                 {"remat", list_remat}};

}  // namespace

Usage list_usage() {
    Usage usage(
        "list chips|models|scenarios|algorithms|remat",
        "Lists what the catalogues hold. Scenarios are looked for in the folder scenarios/ of\n"
        "the current folder, then beside the executable and above it, then in share/podsim/\n"
        "of where podsim is installed.",
        "podsim list models");
    usage.positional("WHAT", 1);
    std::vector<std::string> names;
    for (const Listing& listing : kListings) {
        names.emplace_back(listing.name);
    }
    usage.offer("WHAT", names);
    return usage;
}

int command_list(Arguments args, std::ostream& out, std::ostream& /*err*/) {
    Usage options = list_usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help(look_of(out).width);
        return kDone;
    }
    const std::vector<std::string> wanted = options.all("WHAT");
    std::vector<std::string_view> names;
    for (const Listing& listing : kListings) {
        if (!wanted.empty() && wanted.front() == listing.name) {
            out << listing.text();
            return kDone;
        }
        names.push_back(listing.name);
    }
    if (wanted.empty()) {
        throw sim::InputError("list what?", fmt::format("allowed: {}", fmt::join(names, ", ")));
    }
    throw sim::unknown_name("catalogue", printable(wanted.front()), names);
}

}  // namespace podsim::scenarios
