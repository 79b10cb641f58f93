// `podsim list`: the entries of the catalogues.
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/src/base/format.h"
#include "scenarios/src/base/quote.h"
#include "scenarios/src/base/table.h"
#include "scenarios/src/cli/catalogue_entry.h"
#include "scenarios/src/cli/cli.h"
#include "scenarios/src/cli/common.h"
#include "scenarios/src/cli/output.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"
#include "topology/chips/chip.h"
#include "topology/chips/slice_names.h"
#include "workloads/models/model.h"

namespace podsim::scenarios {
namespace {

struct Catalogue {
    std::string_view name;  ///< `chips`
    std::string_view one;   ///< `chip`
    std::string (*table)();
    std::vector<CatalogueEntry> (*entries)();
};

std::string chip_table() {
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
           "v5e-256 (chips: v5e, v6e).\n"
           "All of one chip, with sources: podsim list chips v5p\n";
}

std::string model_table() {
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

/// Returns one line per entry: its name and the texts of its values. If `title` is given, the
/// columns have headings.
std::string lines_of(const std::vector<CatalogueEntry>& entries, const char* title = nullptr) {
    Table table({1, 2});
    if (title != nullptr) {
        std::vector<std::string> head = {title};
        for (const CatalogueValue& value : entries.front().values) {
            head.push_back(value.name);
        }
        table.row(std::move(head));
    }
    for (const CatalogueEntry& entry : entries) {
        std::vector<std::string> cells = {entry.name};
        for (const CatalogueValue& value : entry.values) {
            cells.push_back(value.text);
        }
        table.row(std::move(cells));
    }
    return table.text(0);
}

std::string scenario_table() {
    return lines_of(scenario_entries());
}

std::string algorithm_table() {
    return lines_of(algorithm_entries());
}

std::string remat_table() {
    return lines_of(remat_entries(), "remat") +
           "\nThe names of MaxText, and none, matmuls, block. Of these a step keeps what its "
           "backward pass reads, and runs\n"
           "again what it reads and does not find; block runs the whole forward pass again.\n";
}

constexpr Catalogue kCatalogues[] = {
    {"chips", "chip", chip_table, chip_entries},
    {"models", "model", model_table, model_entries},
    {"scenarios", "scenario", scenario_table, scenario_entries},
    {"algorithms", "algorithm", algorithm_table, algorithm_entries},
    {"remat", "remat policy", remat_table, remat_entries}};

std::span<const Catalogue> catalogues() {
    return kCatalogues;
}

/// Returns the catalogue of that name. Throws sim::InputError with the nearest name.
const Catalogue& find_catalogue(std::string_view name) {
    std::vector<std::string_view> names;
    for (const Catalogue& catalogue : kCatalogues) {
        if (catalogue.name == name) {
            return catalogue;
        }
        names.push_back(catalogue.name);
    }
    throw sim::unknown_name("catalogue", printable(name), names);
}

/// Returns the entry of that name; a chip also by its aliases. Throws sim::InputError with the
/// nearest name.
CatalogueEntry find_entry(const Catalogue& catalogue, std::string_view name) {
    const bool chips = catalogue.entries == chip_entries;
    const std::string wanted = chips ? topology::find_chip(name).name : std::string(name);
    std::vector<std::string> names;
    for (CatalogueEntry& entry : catalogue.entries()) {
        if (entry.name == wanted) {
            return std::move(entry);
        }
        names.push_back(entry.name);
    }
    throw sim::unknown_name(catalogue.one, printable(name), names);
}

/// Returns the entry's values, one per line, with their sources.
std::string entry_text(const CatalogueEntry& entry) {
    std::vector<std::string> sources;
    for (const CatalogueValue& value : entry.values) {
        if (!value.source.empty() && std::ranges::find(sources, value.source) == sources.end()) {
            sources.push_back(value.source);
        }
    }
    Table table({1, 2});
    for (const CatalogueValue& value : entry.values) {
        const auto source = std::ranges::find(sources, value.source);
        table.row({value.name, value.text,
                   value.source.empty() || sources.size() == 1
                       ? ""
                       : fmt::format("[{}]", source - sources.begin() + 1)});
    }
    std::string text = fmt::format("{}\n{}", entry.name, table.text(2));
    if (sources.size() == 1) {
        text += fmt::format("\nSource: {}\n", sources.front());
    } else if (!sources.empty()) {
        text += "\nSources\n";
        for (std::size_t i = 0; i < sources.size(); ++i) {
            text += fmt::format("  [{}] {}\n", i + 1, sources[i]);
        }
    }
    return text;
}

/// Returns the document of `podsim list --json` for these entries.
Json catalogue_json(const Catalogue& catalogue, std::span<const CatalogueEntry> entries) {
    Json list = Json::array();
    for (const CatalogueEntry& entry : entries) {
        Json json = {{"name", entry.name}};
        Json sources = Json::object();
        for (const CatalogueValue& value : entry.values) {
            json[value.key] = value.value;
            if (!value.source.empty()) {
                sources[value.key] = value.source;
            }
        }
        if (!sources.empty()) {
            json["sources"] = std::move(sources);
        }
        list.push_back(std::move(json));
    }
    return {{"schema", kSchemaName},
            {"kind", "list"},
            {"catalogue", catalogue.name},
            {"entries", std::move(list)}};
}

}  // namespace

Usage list_usage() {
    Usage usage(
        "list chips|models|scenarios|algorithms|remat [NAME] [--json PATH|-]",
        "Lists what the catalogues hold, or all of one entry with its sources. Scenarios are\n"
        "looked for in the folder scenarios/ of the current folder, then beside the executable\n"
        "and above it, then in share/podsim/ of where podsim is installed.",
        "podsim list chips v5p");
    usage.file("json", "write it as JSON to a file, or alone to standard output (-)");
    usage.positional("WHAT", 2);
    std::vector<std::string> names;
    for (const Catalogue& catalogue : catalogues()) {
        names.emplace_back(catalogue.name);
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
    const std::string json = output_path(options, "json");
    if (wanted.empty()) {
        std::vector<std::string_view> names;
        for (const Catalogue& catalogue : catalogues()) {
            names.push_back(catalogue.name);
        }
        throw sim::InputError("list what?", fmt::format("allowed: {}", fmt::join(names, ", ")));
    }
    const Catalogue& catalogue = find_catalogue(wanted.front());
    std::vector<CatalogueEntry> entries;
    if (wanted.size() > 1) {
        entries.push_back(find_entry(catalogue, wanted[1]));
    } else if (!json.empty()) {
        entries = catalogue.entries();
    }
    if (json != "-") {
        out << (wanted.size() > 1 ? entry_text(entries.front()) : catalogue.table());
    }
    if (!json.empty()) {
        write_json(catalogue_json(catalogue, entries), json, out);
    }
    return kDone;
}

}  // namespace podsim::scenarios
