// The training plan of a scenario and the expectations on its result.
#include <fmt/format.h>

#include "scenarios/load_parts.h"
#include "scenarios/quantity_text.h"
#include "scenarios/text.h"

namespace podsim::scenarios {
namespace {

using workloads::Optimizer;
using workloads::Remat;
using workloads::TrainingPlan;

constexpr std::pair<std::string_view, double> kPrecisions[] = {{"bf16", 2.0}};
constexpr std::pair<std::string_view, double> kGradients[] = {{"bf16", 2.0}, {"fp32", 4.0}};
constexpr std::pair<std::string_view, Optimizer> kOptimizers[] = {{"adam", Optimizer::adam},
                                                                  {"sgd", Optimizer::sgd}};
constexpr std::pair<std::string_view, Remat> kRemats[] = {
    {"none", Remat::none}, {"matmuls", Remat::matmuls}, {"block", Remat::block}};
constexpr std::pair<std::string_view, bool> kAttentions[] = {{"causal", true}, {"full", false}};
constexpr std::pair<std::string_view, bool> kTensorForms[] = {{"blocking", true}};

/// Where an error of workloads::validate belongs: its first word is the setting.
Reader place_of(const Reader& root, const sim::InputError& error) {
    const std::string setting = error.problem().substr(0, error.problem().find(' '));
    for (const std::string_view section : {"batch", "mesh", "overlap", "training", "model"}) {
        const Reader map = root[section];
        if (map.is_map() && map.node().find(setting) != nullptr) {
            return map[setting];
        }
    }
    const bool of_mesh = setting == "data" || setting == "fsdp" || setting == "context" ||
                         setting == "tensor" || setting == "expert";
    return root[of_mesh && root["mesh"].present() ? "mesh" : "batch"];
}

void refuse_microbatches(const Reader& microbatches) {
    if (microbatches.whole(1, 1 << 20, 1) != 1) {
        throw microbatches.error("more than one microbatch is not available yet",
                                 "write microbatches: 1");
    }
}

double parse_reference(const std::string& quantity, const std::string& text) {
    if (quantity == "mfu" || quantity == "hfu") {
        return parse_percent(text);
    }
    return quantity == "tokens_per_s" ? parse_token_rate(text) : parse_time(text).value();
}

}  // namespace

TrainingPlan read_plan(const Reader& root, const topology::DeviceMesh& mesh,
                       const workloads::ModelSpec& model) {
    const Reader batch = root["batch"].require();
    const Reader training = root["training"];
    const Reader overlap = root["overlap"];
    TrainingPlan plan;
    plan.tokens = batch["tokens"].read(parse_count);
    plan.sequence = batch["sequence"].read(parse_count);
    plan.data = mesh.size("data");
    plan.fsdp = mesh.size("fsdp");
    plan.context = mesh.size("context");
    plan.tensor = mesh.size("tensor");
    plan.expert = mesh.size("expert");
    plan.capacity_factor = training["capacity_factor"].get<double>(parse_multiple, 1);
    plan.expert_imbalance = training["expert_imbalance"].get<double>(parse_multiple, 1);
    plan.causal = training["attention"].choose<bool>(kAttentions, true);
    plan.remat = training["remat"].choose<Remat>(kRemats, Remat::block);
    plan.optimizer = training["optimizer"].choose<Optimizer>(kOptimizers, Optimizer::adam);
    plan.precision.compute = training["precision"].choose<double>(kPrecisions, 2.0);
    plan.precision.gradients = training["gradients"].choose<double>(kGradients, 2.0);
    refuse_microbatches(training["microbatches"]);
    plan.prefetch_layers = static_cast<int>(overlap["prefetch_layers"].whole(0, 4096, 1));
    plan.reductions_in_flight = static_cast<int>(overlap["reductions_in_flight"].whole(1, 4096, 2));
    static_cast<void>(overlap["tensor"].choose<bool>(kTensorForms, true));
    try {
        workloads::validate(plan, model);
    } catch (const sim::InputError& error) {
        throw error.at(place_of(root, error).mark());
    }
    return plan;
}

std::vector<Expectation> read_expectations(const Reader& expect) {
    std::vector<Expectation> expectations;
    if (!expect.present()) {
        return expectations;
    }
    for (const YamlNode::Entry& entry : expect.node().entries) {
        const Reader place = expect[entry.key];
        Expectation expectation;
        expectation.quantity = entry.key;
        expectation.of = place["of"].read(
            [&](const std::string& text) { return parse_reference(entry.key, text); });
        if (expectation.of <= 0) {
            throw place["of"].error("a reference of zero has no relative error",
                                    "write a value above zero");
        }
        expectation.within = place["within"].read(parse_percent);
        expectation.source =
            place["source"].get<std::string>([](const std::string& text) { return text; }, "");
        expectations.push_back(std::move(expectation));
    }
    return expectations;
}

}  // namespace podsim::scenarios
