// Scenarios of the library, algorithms and remat policies.
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "collectives/vocabulary/algorithm.h"
#include "scenarios/src/cli/catalogue_entry.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/scenario_files.h"
#include "sim/base/error.h"
#include "workloads/plan/remat.h"

namespace podsim::scenarios {
namespace {

CatalogueValue words(const char* key, const char* name, const std::string& text) {
    return {.key = key, .name = name, .text = text, .value = text, .source = {}};
}

/// Returns the title, or the problem of the file, so that a listing continues.
std::string title_or_problem(const std::string& file) {
    try {
        return scenario_title(file);
    } catch (const sim::InputError& error) {
        return fmt::format("(not a scenario: {})", error.problem());
    }
}

}  // namespace

std::vector<CatalogueEntry> scenario_entries() {
    const std::vector<std::string> candidates = library_candidates();
    for (const std::string& folder : candidates) {
        std::error_code ignored;
        if (!std::filesystem::is_directory(folder, ignored)) {
            continue;
        }
        std::vector<CatalogueEntry> entries;
        for (const std::string& file : scenario_files(folder)) {
            entries.push_back(
                {.name = file, .values = {words("title", "title", title_or_problem(file))}});
        }
        if (!entries.empty()) {
            return entries;
        }
    }
    throw sim::InputError("no scenarios found",
                          fmt::format("looked in {}", fmt::join(candidates, ", ")));
}

std::vector<CatalogueEntry> algorithm_entries() {
    std::vector<CatalogueEntry> entries;
    for (const collectives::AlgorithmInfo& info : collectives::all_algorithms()) {
        entries.push_back({.name = std::string(info.name),
                           .values = {words("summary", "summary", std::string(info.summary))}});
    }
    return entries;
}

std::vector<CatalogueEntry> remat_entries() {
    std::vector<CatalogueEntry> entries;
    for (const auto& [name, remat] : workloads::remat_policies()) {
        const workloads::TensorSet kept = kept_tensors(remat) - remat.names.offload;
        entries.push_back(
            {.name = std::string(name),
             .values = {words("kept_in_hbm", "kept in HBM", to_string(kept)),
                        words("kept_at_host", "at the host", to_string(remat.names.offload))}});
    }
    return entries;
}

}  // namespace podsim::scenarios
