// What a search varies and what it asks for: the section `search` of a scenario, and the options of the command.
//
//     search:
//       over: [mesh, remat, prefetch]          # names of over_names, each with the values that it usually has
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

#include "scenarios/space/mesh_space.h"
#include "scenarios/spec/search_section.h"
#include "scenarios/study/sweep.h"
#include "scenarios/yaml/yaml_tree.h"

namespace podsim::scenarios {

struct SearchSpec {
    std::vector<Varied> varied;  ///< every key but the mesh; the first changes slowest
    /// By key, which of its values is the scenario's own. The usual values have it among them; those that somebody lists are as listed.
    std::vector<std::optional<std::size_t>> own{};
    std::optional<std::vector<MeshAxis>> mesh;  ///< none: the mesh stays as the scenario has it
    sim::SourceMark mesh_place{};               ///< of what asks for the mesh, or of its axes
    bool usual_axes =
        false;  ///< nobody has said which axes, so that the scenario's mesh is among the meshes
    /// What every plan needs besides to be a scenario, as --set takes it: a slice in place of one that names its chip, ...
    std::vector<std::string> besides{};
    SearchSection asked;
    /// What the section varies and this search does not, since the command line says what varies: a sentence each.
    std::vector<std::string> left_out{};
};

/// What is asked for on the command line in place of the section's `over` and `vary`.
struct SearchRequest {
    std::vector<std::string> over{};
    std::vector<std::string> vary{};
};

/// Of a scenario's tree. Without `over` and `vary` anywhere, and with `mesh: auto`, which varies the mesh alone, as it says.
/// Throws sim::InputError.
SearchSpec search_spec(const YamlNode& tree, const std::string& file, const SearchRequest& request);

/// Whether a tree says `mesh: auto`.
bool has_auto_mesh(const YamlNode& tree);
/// The tree without `mesh: auto`.
YamlNode without_auto_mesh(YamlNode tree);
/// The tree without what only a search reads: `search`, and `mesh: auto`.
YamlNode without_search(YamlNode tree);

}  // namespace podsim::scenarios
