#include "scenarios/space/search_spec.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "scenarios/load/load.h"
#include "scenarios/spec/training_step.h"
#include "scenarios/text/quantity_text.h"
#include "scenarios/text/quote.h"
#include "scenarios/yaml/reader.h"
#include "scenarios/yaml/schema.h"
#include "sim/base/nearest.h"
#include "topology/lattice/shape.h"
#include "workloads/program/axis_names.h"

namespace podsim::scenarios {
namespace {

namespace axis = workloads::axis;

constexpr std::string_view kMesh = "mesh";
constexpr std::string_view kSlice = "slice";

/// The texts of a list, or of one text.
std::vector<std::string> texts_of(const Reader& place) {
    std::vector<std::string> texts;
    if (!place.present()) {
        return texts;
    }
    if (place.node().kind == YamlNode::Kind::scalar) {
        return {place.node().text};
    }
    for (const YamlNode& item : place.node().items) {
        texts.push_back(item.text);
    }
    return texts;
}

bool is_auto(const YamlNode* mesh) {
    return mesh != nullptr && mesh->kind == YamlNode::Kind::scalar && mesh->text == "auto";
}

std::vector<int> sizes_of(const Reader& place) {
    std::vector<int> sizes;
    for (const std::string& text : texts_of(place)) {
        if (text == "any") {
            return {};
        }
        try {
            const std::int64_t size = parse_count(text);
            if (size < 1 || size > kMostChips) {
                throw sim::InputError(fmt::format("{} ways", size),
                                      fmt::format("write sizes from 1 to {}", kMostChips));
            }
            sizes.push_back(static_cast<int>(size));
        } catch (const sim::InputError& error) {
            throw place.located(error);
        }
    }
    return sizes;
}

/// Those that a search for the mesh goes over unless `search.mesh` names others.
std::vector<MeshAxis> usual_axes(const YamlNode& tree, const std::string& file) {
    std::vector<MeshAxis> axes{
        {std::string(axis::fsdp)}, {std::string(axis::context)}, {std::string(axis::tensor)}};
    if (load_hardware(tree, file).slices > 1) {
        axes.push_back({std::string(axis::data)});
    }
    if (load_model(tree, file).experts.count > 0) {
        axes.push_back({std::string(axis::expert)});
    }
    return axes;
}

std::vector<MeshAxis> mesh_axes_of(const Reader& section, const YamlNode& tree,
                                   const std::string& file) {
    const Reader mesh = section["mesh"];
    if (!mesh.is_map()) {
        return usual_axes(tree, file);
    }
    std::vector<MeshAxis> axes;
    for (const YamlNode::Entry& entry : mesh.node().entries) {
        axes.push_back({entry.key, sizes_of(mesh[entry.key])});
    }
    return axes;
}

bool is_offered(const topology::ChipSpec& chip, const topology::Point& shape) {
    try {
        (void)topology::make_slice(chip, shape, false);
        return true;
    } catch (const sim::InputError&) {
        return false;
    }
}

/// Slices that the catalogue offers of the scenario's chip, from a quarter of its chips to twice as many.
std::vector<std::string> slices_near(const YamlNode& tree, const std::string& file) {
    const IdealHardware hardware = load_hardware(tree, file);
    const topology::ChipSpec& chip = hardware.chip;
    const int chips = hardware.slice.size();
    const topology::Point& pod = chip.pod_shape.value;
    const int longest = std::max({pod[0], pod[1], pod[2]});
    std::vector<std::string> slices;
    std::vector<int> lengths{1, 2};
    for (int length = 4; length <= longest; length += 4) {
        lengths.push_back(length);
    }
    for (const int x : lengths) {
        for (const int y : lengths) {
            for (const int z : lengths) {
                const topology::Point shape{x, y, z};
                const bool ascends = x <= y && (pod[2] == 1 ? z == 1 : y <= z);
                if (ascends && 4 * x * y * z >= chips && x * y * z <= 2 * chips &&
                    is_offered(chip, shape)) {
                    slices.push_back(topology::to_string(shape));
                }
            }
        }
    }
    return slices;
}

void add_over(const std::string& name, const YamlNode& tree, const std::string& file,
              const Reader& section, SearchSpec& spec) {
    if (name == kMesh) {
        spec.mesh = mesh_axes_of(section, tree, file);
        return;
    }
    if (name == kSlice) {
        spec.varied.insert(spec.varied.begin(),
                           varied_of("hardware.slice", slices_near(tree, file)));
        return;
    }
    const auto found = std::ranges::find(over_names(), name, &OverName::name);
    if (found == over_names().end()) {
        throw sim::unknown_name("name of what a search goes over", name, names_of_over())
            .at({"--over", 0, 0});
    }
    spec.varied.push_back(varied_of(std::string(found->key), found->values));
}

void check_may_vary(const Varied& varied, const SearchSpec& spec) {
    if (varied.key.starts_with("search.")) {
        throw sim::InputError(fmt::format("{} is what a search is asked for, and does not vary",
                                          in_quotes(varied.key)),
                              "give its value with --set, and search once for each",
                              {"--vary", 0, 0});
    }
    if (spec.mesh && (varied.key == kMesh || varied.key.starts_with("mesh."))) {
        throw sim::InputError(fmt::format("{} is varied twice", in_quotes(varied.key)),
                              "leave mesh out of --over, or out of --vary", {"--vary", 0, 0});
    }
}

}  // namespace

const std::vector<OverName>& over_names() {
    static const std::vector<OverName> names{
        {"remat",
         "training.remat",
         {"none", "minimal_with_context", "minimal", "save_dot_with_context_except_mlp",
          "save_dot_except_mlp", "save_qkv_proj", "full"}},
        {"prefetch", "overlap.prefetch_layers", {"1", "2"}},
        {"overlap", "overlap.tensor", {"blocking", "two-way"}},
        {"weights", "overlap.weights", {"layer", "block", "matmul"}},
        {"schedule", "training.schedule", {"gpipe", "1f1b", "zero_bubble"}},
        {"microbatches", "training.microbatches", {"1", "2", "4", "8", "16"}},
    };
    return names;
}

std::vector<std::string> names_of_over() {
    std::vector<std::string> names{std::string(kMesh), std::string(kSlice)};
    for (const OverName& one : over_names()) {
        names.emplace_back(one.name);
    }
    return names;
}

SearchSpec search_spec(const YamlNode& tree, const std::string& file,
                       const SearchRequest& request) {
    sim::InputFaults faults;
    const Reader root(tree, faults);
    const Reader section = root["search"];
    SearchSpec spec;
    std::vector<std::string> over = request.over;
    std::vector<std::string> vary = request.vary;
    const bool asked = !over.empty() || !vary.empty();
    if (!asked) {
        over = texts_of(section["over"]);
        vary = texts_of(section["vary"]);
    }
    if (has_auto_mesh(tree) && std::ranges::count(over, kMesh) == 0) {
        over.emplace_back(kMesh);
    } else if (over.empty() && vary.empty()) {
        over = {"mesh", "remat", "prefetch", "overlap"};
    }
    const YamlNode plain = without_search(tree);
    for (const std::string& name : over) {
        add_over(name, plain, file, section, spec);
    }
    for (const std::string& text : vary) {
        check_may_vary(spec.varied.emplace_back(parse_varied(text)), spec);
    }
    spec.asked = load_search(tree);
    return spec;
}

bool has_auto_mesh(const YamlNode& tree) {
    return is_auto(tree.find(kMesh));
}

YamlNode without_auto_mesh(YamlNode tree) {
    std::erase_if(tree.entries, [&](const YamlNode::Entry& entry) {
        return entry.key == kMesh && is_auto(&entry.value);
    });
    return tree;
}

YamlNode without_search(YamlNode tree) {
    std::erase_if(tree.entries, [](const YamlNode::Entry& entry) { return entry.key == "search"; });
    return without_auto_mesh(std::move(tree));
}

}  // namespace podsim::scenarios
