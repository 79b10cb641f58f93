#include "workloads/models/hf_quantization.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "workloads/models/hf_modules.h"
#include "workloads/models/stored_scheme.h"
#include "workloads/models/weights.h"

namespace podsim::workloads {

using stored::flag;
using stored::group_methods;
using stored::integer_methods;
using stored::Json;
using stored::Method;
using stored::Said;
using stored::Scheme;
using stored::text;
using stored::Unsaid;

namespace {

using Part = HfModule::Part;

std::vector<Method> all_methods() {
    std::vector<Method> all;
    for (const auto methods : {integer_methods(), group_methods()}) {
        all.insert(all.end(), methods.begin(), methods.end());
    }
    return all;
}

/// Bytes of matrices, and their parameters.
struct PartSum {
    double bytes = 0;
    double parameters = 0;
    void add(const HfModule& module, const Scheme* scheme) {
        bytes += (scheme == nullptr ? Scheme{} : *scheme).bytes(module);
        parameters += module.count * module.inputs * module.outputs;
    }
    /// Returns the mean over `all` parameters; those outside of the matrices have 2 bytes.
    [[nodiscard]] double mean(double all) const {
        return all > 0 ? (bytes + (all - parameters) * 2) / all : 2;
    }
};

void add_up(const Said& said, const ModelSpec& model, StoredWeights& stored) {
    PartSum dense;
    PartSum experts;
    PartSum head;
    std::vector<std::string> schemes;
    for (const HfModule& module : hf_modules(model)) {
        const Scheme* const scheme = said.of(module);
        PartSum& sum = module.part == Part::dense     ? dense
                       : module.part == Part::experts ? experts
                                                      : head;
        sum.add(module, scheme);
        if (scheme != nullptr && std::ranges::count(schemes, scheme->text()) == 0) {
            schemes.push_back(scheme->text());
        }
    }
    Weights layers;
    for (const auto& [kind, number] : layer_kinds(model)) {
        const Weights one = layer_weights(model, kind).total();
        layers +=
            {static_cast<double>(number) * one.dense, static_cast<double>(number) * one.experts};
    }
    const ParameterCount count = count_parameters(model);
    stored.dense = dense.mean(layers.dense);
    stored.experts = experts.mean(layers.experts);
    stored.tables = head.mean(static_cast<double>(count.embedding + count.positions +
                                                  count.unembedding + count.final_norm));
    stored.how += schemes.empty() ? ", no module of this model"
                                  : fmt::format(", {}", fmt::join(schemes, " and "));
}

}  // namespace

std::vector<std::string> quantisation_methods() {
    std::vector<std::string> names;
    for (const Method& method : all_methods()) {
        names.emplace_back(method.name);
    }
    return names;
}

StoredWeights read_stored_weights(HfConfig& config, const ModelSpec& model) {
    const auto [said, mark] = config.find_anywhere({"quantization_config", "compression_config"});
    StoredWeights stored;
    if (said == nullptr) {
        return stored;
    }
    stored.place = fmt::format("{}:{}:{}", mark.file, mark.line, mark.column);
    std::string name = text(*said, "quant_method");
    if (name.empty() && (flag(*said, "load_in_4bit") || flag(*said, "load_in_8bit"))) {
        name = "bitsandbytes";
    }
    const std::vector<Method> methods = all_methods();
    const auto found = std::ranges::find(methods, name, &Method::name);
    if (found == methods.end()) {
        stored.unknown = name.empty() ? "it has no quant_method"
                                      : fmt::format("what '{}' stores is not modelled", clip(name));
        return stored;
    }
    stored.how = name;
    try {
        add_up(found->read(*said), model, stored);
    } catch (const Unsaid& error) {
        stored.unknown = fmt::format("{}: {}, which is not modelled", name, error.what());
    } catch (const Json::exception&) {
        stored.unknown = fmt::format("{}: keys of other kinds than it has", name);
    }
    return stored;
}

}  // namespace podsim::workloads
