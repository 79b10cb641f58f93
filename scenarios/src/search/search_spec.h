// The request of a search: its varied keys and its objective, from the section `search` of a
// scenario and the options of the command.
//
//     search:
//       over: [mesh, remat, prefetch]          # names of over_names, each with its usual values
//       vary: ["training.microbatches=1,2,4"]  # any key of the scenario, as --vary of a sweep
//       mesh: {fsdp: any, tensor: [1, 2, 4, 8], context: any}
//       objective: step_time                   # or mfu, cost, chips
//       memory_margin: 5 %                     # of a chip's HBM, to stay free
//       deadline: 2 s                          # steps that take longer are not wanted
//       tokens: 1Mi                            # least tokens of a batch
//       budget: 2e6                            # USD for report.tokens
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/src/scenario/search_section.h"
#include "scenarios/src/scenario/yaml_tree.h"
#include "scenarios/src/search/mesh_space.h"
#include "scenarios/src/study/sweep.h"

namespace podsim::scenarios {

struct SearchSpec {
    /// Every key but the mesh; the first changes slowest.
    std::vector<Varied> varied;
    /// By key, the index of the scenario's own value. The usual values contain it; values that
    /// somebody lists are as listed.
    std::vector<std::optional<std::size_t>> own{};
    /// None: the mesh stays as the scenario has it.
    std::optional<std::vector<MeshAxis>> mesh;
    /// Position of the request for the mesh, or of its axes.
    sim::SourceMark mesh_place{};
    /// True if nobody has named the axes, so that the scenario's mesh is among the meshes.
    bool usual_axes = false;
    /// Settings that every plan also needs to be a scenario, as --set takes them: a slice in place
    /// of one that names its chip, ...
    std::vector<std::string> besides{};
    SearchSection asked;
    /// Keys that the section varies and this search does not, because the command line says what
    /// varies: a sentence each.
    std::vector<std::string> left_out{};
};

/// Requests of the command line that replace the section's `over` and `vary`.
struct SearchRequest {
    std::vector<std::string> over{};
    std::vector<std::string> vary{};
};

/// Reads the specification off a scenario's tree. Without `over` and `vary` anywhere, `mesh: auto`
/// varies the mesh alone, and a tree without it varies the usual keys. Throws sim::InputError.
SearchSpec search_spec(const YamlNode& tree, const std::string& file, const SearchRequest& request);

/// True if a tree has `mesh: auto`.
bool has_auto_mesh(const YamlNode& tree);
/// Returns the tree without `mesh: auto`.
YamlNode without_auto_mesh(YamlNode tree);
/// Returns the tree without the entries that only a search reads: `search`, and `mesh: auto`.
YamlNode without_search(YamlNode tree);

}  // namespace podsim::scenarios
