// `training.remat`: a policy, or the names of the tensors that are saved and offloaded.
#include <array>
#include <fmt/format.h>
#include <set>
#include <string>

#include "scenarios/src/base/quote.h"
#include "scenarios/src/scenario/training_parts.h"
#include "scenarios/src/scenario/training_step.h"

namespace podsim::scenarios {
namespace {

using workloads::LayerTensor;
using workloads::RematPolicy;
using workloads::TensorSet;

/// A tensor, or a part of one that a single matmul writes: query, key, value; gate, up. Latents
/// alone are a part.
struct Named {
    LayerTensor tensor{};
    unsigned parts = 1;
};
constexpr unsigned kGate = 1;
constexpr unsigned kUp = 2;
constexpr unsigned kLatents = 8;

/// The names of LayerTensor, of their parts, and of MaxText.
constexpr std::pair<std::string_view, Named> kPolicyNames[] = {
    {"decoder_layer_input", {LayerTensor::input}},
    {"qkv_proj", {LayerTensor::qkv, 7}},
    {"query_proj", {LayerTensor::qkv, 1}},
    {"key_proj", {LayerTensor::qkv, 2}},
    {"value_proj", {LayerTensor::qkv, 4}},
    {"kv_proj", {LayerTensor::qkv, 6}},
    {"query_wa_proj", {LayerTensor::qkv, kLatents}},
    {"kv_wa_proj", {LayerTensor::qkv, kLatents}},
    {"mla_q", {LayerTensor::qkv, kLatents}},
    {"mla_kv", {LayerTensor::qkv, kLatents}},
    {"attention_out", {LayerTensor::attended}},
    {"context", {LayerTensor::attended}},
    {"out_proj", {LayerTensor::out}},
    {"mlp_gate_up", {LayerTensor::gate_up, kGate | kUp}},
    {"mlp_gate", {LayerTensor::gate_up, kGate}},
    {"mlp_up", {LayerTensor::gate_up, kUp}},
    {"mlpwi", {LayerTensor::gate_up, kGate | kUp}},
    {"mlpwi_0", {LayerTensor::gate_up, kGate}},
    {"mlpwi_1", {LayerTensor::gate_up, kUp}},
    {"moe_mlpwi_0", {LayerTensor::gate_up, kGate}},
    {"moe_mlpwi_1", {LayerTensor::gate_up, kUp}},
    {"mlp_hidden", {LayerTensor::hidden}},
    {"mlp_out", {LayerTensor::output}},
    {"mlpwo", {LayerTensor::output}},
    {"moe_mlpwo", {LayerTensor::output}},
};

unsigned parts_of(LayerTensor tensor, const workloads::ModelSpec& model) {
    switch (tensor) {
        case LayerTensor::qkv:
            return 7;
        case LayerTensor::gate_up:
            return model.gated_mlp ? kGate | kUp : kUp;
        default:
            return 1;
    }
}

TensorSet read_names(const Reader& list, const workloads::ModelSpec& model) {
    TensorSet tensors;
    std::array<unsigned, workloads::kLayerTensors.size()> parts{};
    std::set<std::string> written;
    for (const Reader& item : list.items()) {
        const auto named = item.choose<Named>(kPolicyNames, {});
        unsigned& seen = parts[static_cast<std::size_t>(named.tensor)];
        if (named.parts == kGate && named.tensor == LayerTensor::gate_up && !model.gated_mlp) {
            item.check({"model"}, [&] {
                throw item.error(fmt::format("{}, but the MLP of {} has no gate",
                                             in_quotes(item.node().text), model.name),
                                 "write mlp_gate_up for its first matmul");
            });
        }
        if (!written.insert(item.node().text).second) {
            item.refuse(fmt::format("{} stands twice", in_quotes(item.node().text)),
                        "write each tensor once");
        }
        seen |= named.parts;
        tensors.add(named.tensor);
    }
    for (const LayerTensor tensor : workloads::kLayerTensors) {
        const unsigned seen = parts[static_cast<std::size_t>(tensor)];
        const unsigned all = parts_of(tensor, model);
        if (seen != 0 && (seen & all) != all) {
            list.check({"model"}, [&] {
                throw list.error(
                    fmt::format("only a part of {}, which one matmul writes", to_string(tensor)),
                    fmt::format("write {}", to_string(tensor)));
            });
        }
    }
    return tensors;
}

}  // namespace

void read_remat(const Reader& remat, const workloads::ModelSpec& model,
                workloads::TrainingPlan& plan) {
    if (!remat.is_map()) {
        if (remat.present() && remat.node().text == "custom") {
            remat.refuse("'custom' does not say what is kept",
                         "list tensors: {save: [...], offload: [...]}");
            return;
        }
        plan.remat = remat.choose<workloads::Remat>(workloads::remat_policies(), plan.remat);
        return;
    }
    plan.remat.policy = RematPolicy::named;
    plan.remat.names.save = read_names(remat["save"], model);
    plan.remat.names.offload = read_names(remat["offload"], model);
}

}  // namespace podsim::scenarios
