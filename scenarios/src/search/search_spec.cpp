#include "scenarios/src/search/search_spec.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "scenarios/src/base/quantity_text.h"
#include "scenarios/src/base/quote.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/reader.h"
#include "scenarios/src/scenario/schema.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/search/own_values.h"
#include "sim/base/nearest.h"
#include "topology/lattice/shape.h"
#include "workloads/plan/axis_names.h"

namespace podsim::scenarios {
namespace {

namespace axis = workloads::axis;

constexpr const char* kOver = "--over";
constexpr const char* kVary = "--vary";
constexpr std::string_view kMesh = "mesh";
constexpr std::string_view kSlice = "slice";
constexpr std::string_view kMapping = "mesh_mapping";

/// A request and its position.
struct AskedText {
    std::string text;
    sim::SourceMark place;
};

/// Returns the texts of a list, or of one text.
std::vector<AskedText> texts_of(const Reader& place) {
    std::vector<AskedText> texts;
    if (!place.present()) {
        return texts;
    }
    if (place.node().kind == YamlNode::Kind::scalar) {
        return {{place.node().text, place.mark()}};
    }
    for (const YamlNode& item : place.node().items) {
        texts.push_back({item.text, item.mark});
    }
    return texts;
}

std::vector<AskedText> texts_of(const std::vector<std::string>& texts, const std::string& option) {
    std::vector<AskedText> asked;
    asked.reserve(texts.size());
    for (const std::string& text : texts) {
        asked.push_back({text, {option, 0, 0}});
    }
    return asked;
}

bool is_auto(const YamlNode* mesh) {
    return mesh != nullptr && mesh->kind == YamlNode::Kind::scalar && mesh->text == "auto";
}

std::vector<int> sizes_of(const Reader& place) {
    std::vector<int> sizes;
    for (const auto& [text, mark] : texts_of(place)) {
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

bool is_inference(const YamlNode& tree) {
    return tree.find("inference") != nullptr;
}

/// True if sequences are split along `context`: in inference only the prompts of a prefill are.
bool splits_sequences(const YamlNode& tree) {
    const YamlNode* const inference = tree.find("inference");
    if (inference == nullptr) {
        return true;
    }
    const YamlNode* const step = inference->find("step");
    return step != nullptr && step->text == "prefill" && inference->find("context") == nullptr;
}

/// Returns the axes that a search for the mesh goes over unless `search.mesh` names others.
std::vector<MeshAxis> usual_axes(const YamlNode& tree, const std::string& file) {
    const bool experts = load_model(tree, file).experts.count > 0;
    std::vector<MeshAxis> axes{{std::string(axis::fsdp)}};
    if (splits_sequences(tree)) {
        axes.push_back({std::string(axis::context)});
    }
    axes.push_back({std::string(axis::tensor)});
    if (!splits_sequences(tree) && !experts) {
        axes.push_back({std::string(axis::cache)});  // goes with neither context nor expert
    }
    if (load_hardware(tree, file).slices > 1) {
        axes.push_back({std::string(axis::data)});
    }
    if (experts) {
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

/// Returns the slices that the catalogue offers for the scenario's chip, from a quarter of its
/// chips to twice as many.
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

/// Returns the position to which errors of a value of `over` refer.
sim::SourceMark place_of_value(const AskedText& name) {
    return name.place.file == kOver
               ? sim::SourceMark{fmt::format("{} {}", kOver, printable(name.text)), 0, 0}
               : name.place;
}

/// Adds `name` of --over, or of search.over.
void add_over(const AskedText& name, const YamlNode& tree, const std::string& file,
              const Reader& section, SearchSpec& spec) {
    if (name.text == kMesh) {
        spec.mesh = mesh_axes_of(section, tree, file);
        spec.usual_axes = !section["mesh"].is_map();
        spec.mesh_place = section["mesh"].present() ? section["mesh"].mark() : place_of_value(name);
        if (tree.find(kMapping) != nullptr) {
            spec.besides.push_back(fmt::format("{}=podsim", kMapping));
        }
        return;
    }
    if (name.text == kSlice) {
        const YamlNode* const hardware = tree.find("hardware");
        Varied slices = varied_of("hardware.slice", slices_near(tree, file));
        slices.place = place_of_value(name);
        add_own_value(slices, tree, file);
        spec.varied.insert(spec.varied.begin(), std::move(slices));
        if (hardware != nullptr && hardware->find("chip") == nullptr) {
            spec.besides.push_back(
                fmt::format("hardware.chip={}", load_hardware(tree, file).chip.name));
        }
        return;
    }
    const auto found = std::ranges::find(over_names(), name.text, &OverName::name);
    if (name.text.find(',') != std::string::npos) {
        throw sim::InputError(fmt::format("search.over: {}", kSeveralOver), kListOfOver,
                              name.place);
    }
    if (found == over_names().end()) {
        throw sim::unknown_name("name of what a search goes over", name.text, names_of_over())
            .at(name.place);
    }
    Varied& usual = spec.varied.emplace_back(varied_of(std::string(found->key), found->values));
    usual.texts = found->values;
    usual.place = place_of_value(name);
    add_own_value(usual, tree, file);
}

/// Reads a text of `vary`, with its position in the file if it is in one.
Varied varied_at(const AskedText& asked) {
    if (asked.place.file == kVary) {
        return parse_varied(asked.text);
    }
    try {
        Varied varied = parse_varied(asked.text);
        varied.place = asked.place;
        return varied;
    } catch (const sim::InputError& error) {
        throw sim::InputError(fmt::format("search.vary: {}", error.problem()), error.remedy(),
                              asked.place);
    }
}

void check_may_vary(const Varied& varied, const SearchSpec& spec) {
    if (varied.key.starts_with("search.")) {
        throw sim::InputError(fmt::format("{} is what a search is asked for, and does not vary",
                                          in_quotes(varied.key)),
                              "give its value with --set, and search once for each", varied.mark());
    }
    if (spec.mesh && (varied.key == kMesh || varied.key.starts_with("mesh."))) {
        throw sim::InputError(fmt::format("{} is varied twice", in_quotes(varied.key)),
                              "leave mesh out of --over, or out of --vary", varied.mark());
    }
    if (spec.mesh && varied.key == kMapping) {
        throw sim::InputError(
            fmt::format("{} maps sizes to axes, and a search for the mesh tries all axes",
                        in_quotes(varied.key)),
            "leave mesh out of --over, or do not vary it", varied.mark());
    }
}

std::string key_of(const std::string& vary) {
    return vary.substr(0, vary.find('='));
}

/// Returns sentences about the keys that the section varies and the command line does not mention.
std::vector<std::string> left_out(const Reader& section, const SearchRequest& request) {
    std::vector<std::string> sentences;
    const auto add = [&](std::string_view key, const AskedText& asked) {
        const sim::InputError said(
            fmt::format("search.{} has {}, which does not vary here: --over and --vary replace "
                        "what the section says",
                        key, printable(asked.text)),
            {}, asked.place);
        sentences.emplace_back(said.what());
    };
    for (const AskedText& name : texts_of(section["over"])) {
        if (std::ranges::find(request.over, name.text) == request.over.end()) {
            add("over", name);
        }
    }
    for (const AskedText& text : texts_of(section["vary"])) {
        if (std::ranges::find(request.vary, key_of(text.text), key_of) == request.vary.end()) {
            add("vary", text);
        }
    }
    return sentences;
}

}  // namespace

SearchSpec search_spec(const YamlNode& tree, const std::string& file,
                       const SearchRequest& request) {
    sim::InputFaults faults;
    const Reader root(tree, faults);
    const Reader section = root["search"];
    SearchSpec spec;
    std::vector<AskedText> over = texts_of(request.over, kOver);
    std::vector<AskedText> vary = texts_of(request.vary, kVary);
    if (over.empty() && vary.empty()) {
        over = texts_of(section["over"]);
        vary = texts_of(section["vary"]);
    } else {
        spec.left_out = left_out(section, request);
    }
    const YamlNode plain = without_search(tree);
    if (has_auto_mesh(tree) && std::ranges::count(over, kMesh, &AskedText::text) == 0) {
        over.push_back({std::string(kMesh), tree.find(kMesh)->mark});
    } else if (over.empty() && vary.empty()) {
        for (const std::string& name : usual_over(is_inference(plain))) {
            over.push_back({name, {kOver, 0, 0}});
        }
    }
    for (const AskedText& name : over) {
        add_over(name, plain, file, section, spec);
    }
    for (const AskedText& text : vary) {
        check_may_vary(spec.varied.emplace_back(varied_at(text)), spec);
    }
    for (const Varied& varied : spec.varied) {
        spec.own.push_back(own_value(varied, plain, file));
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
