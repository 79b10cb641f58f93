#include "scenarios/src/search/own_values.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "scenarios/src/base/quantity_text.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/reader.h"
#include "scenarios/src/scenario/schema.h"
#include "scenarios/src/scenario/training_parts.h"
#include "sim/base/error.h"
#include "sim/base/input_faults.h"
#include "topology/lattice/shape.h"
#include "workloads/models/model.h"
#include "workloads/plan/plan.h"

namespace podsim::scenarios {
namespace {

/// Writes a node on one line, as --set takes it.
std::string flow_text(const YamlNode& node) {
    std::string text;
    const auto add = [&](const std::string& one) { text += (text.empty() ? "" : ", ") + one; };
    switch (node.kind) {
        case YamlNode::Kind::null:
            return "";
        case YamlNode::Kind::scalar:
            return node.text;
        case YamlNode::Kind::sequence:
            for (const YamlNode& item : node.items) {
                add(flow_text(item));
            }
            return fmt::format("[{}]", text);
        case YamlNode::Kind::map:
            for (const YamlNode::Entry& entry : node.entries) {
                add(fmt::format("{}: {}", entry.key, flow_text(entry.value)));
            }
            return fmt::format("{{{}}}", text);
    }
    return text;
}

/// Reads a key off the tree, or its default; nothing if neither is a value.
std::optional<YamlNode> said_value(const YamlNode& tree, const std::string& key) {
    const YamlNode* node = &tree;
    for (std::size_t begin = 0; node != nullptr && begin <= key.size();) {
        const std::size_t end = std::min(key.find('.', begin), key.size());
        node = node->find(key.substr(begin, end - begin));
        begin = end + 1;
    }
    if (node != nullptr) {
        return *node;
    }
    const KeySpec* const known = find_key(key);
    if (known == nullptr || (known->accepts & kText) == 0) {
        return std::nullopt;
    }
    YamlNode fallback;
    fallback.kind = YamlNode::Kind::scalar;
    fallback.text = known->fallback;
    return fallback;
}

/// Names the tensors of a policy that the layers have.
std::string remat_text(const YamlNode& tree, const std::string& file) {
    sim::InputFaults faults;
    const workloads::ModelSpec model = load_model(tree, file);
    workloads::TrainingPlan plan;
    read_remat(Reader(tree, faults)["training"]["remat"], model, plan);
    workloads::RematNames& names = plan.remat.names;
    const workloads::TensorSet unread = never_read(model, names);
    names = {.save = names.save - unread, .offload = names.offload - unread};
    return to_string(plan.remat);
}

/// Returns the same text for values that are the same.
std::string meaning_of(const std::string& key, const YamlNode& value, const YamlNode& tree,
                       const std::string& file) {
    try {
        YamlNode with_value = tree;
        set_value(with_value, key, value, {file, 0, 0});
        if (key == "training.remat") {
            return remat_text(with_value, file);
        }
        if (key == "hardware.slice") {
            return topology::to_string(load_hardware(with_value, file).shape);
        }
    } catch (const sim::InputError&) {
        // The value is refused later, as it is written.
    }
    const bool number = value.kind == YamlNode::Kind::scalar && is_number(value.text);
    return number ? fmt::format("{}", parse_number(value.text)) : flow_text(value);
}

}  // namespace

std::optional<std::size_t> own_value(const Varied& varied, const YamlNode& tree,
                                     const std::string& file) {
    const std::optional<YamlNode> own = said_value(tree, varied.key);
    if (!own) {
        return std::nullopt;
    }
    const std::string meaning = meaning_of(varied.key, *own, tree, file);
    for (std::size_t i = 0; i < varied.values.size(); ++i) {
        if (meaning_of(varied.key, varied.values[i], tree, file) == meaning) {
            return i;
        }
    }
    return std::nullopt;
}

void add_own_value(Varied& varied, const YamlNode& tree, const std::string& file) {
    Varied all{.key = varied.key, .values = {}, .texts = {}, .place = varied.place};
    std::set<std::string> meanings;
    const auto add = [&](const YamlNode& value, const std::string& text) {
        if (meanings.insert(meaning_of(varied.key, value, tree, file)).second) {
            all.values.push_back(value);
            all.texts.push_back(text);
        }
    };
    for (std::size_t i = 0; i < varied.values.size(); ++i) {
        add(varied.values[i], varied.texts[i]);
    }
    if (const std::optional<YamlNode> own = said_value(tree, varied.key)) {
        add(*own, flow_text(*own));
    }
    varied = std::move(all);
}

}  // namespace podsim::scenarios
