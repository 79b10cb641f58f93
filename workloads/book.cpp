// `book`: the reference text's closed forms for one training step (How to Scale Your Model, section
// 5).
//
// Symbols: L, D, N, K, H, V as in ModelSpec; S sequence length; T tensor ways, C context ways, X =
// fsdp x context weight shards; P = matmul parameters of a layer (the text's 2DF generalised:
// attention and MLP, no norms); t = tokens / (data fsdp context), the tokens of one tensor group,
// without the padding of shards that do not fill; b, d bytes of a compute and a gradient element; W
// = 2 x the one-way rate of a link; n_g the number of physical axes that the group g spans, whole
// or in factors (every axis is taken to wrap); R = peak FLOPs. A term of a group with one member is
// zero.
//
//   a        = 4 t S N H / T, halved when causal                attention's dot products
//   gather   = P / T b / (W n_X)                                weights of a layer
//   scatter  = P / T d / (W n_X) + 2 P / (T X) d / (W n_data)   its gradients (AllReduce twice)
//   rows     = t D b / (W n_T)                                  one tensor AllGather, ReduceScatter
//   kv       = 2 t C K H / T b / (W n_C)                        keys, values of the whole sequence
//
// Forward, a layer:
//   T_math   = (2 P t / T + a) / R
//   T_comms  = gather + 4 rows + kv                     (rows: in and out of attention and MLP)
// Backward, a layer:
//   T_math   = 2 x forward, + forward again (remat block) or + a / R (remat matmuls)
//   T_comms  = gather + scatter + 2 kv + 4 rows
//              + (remat block: the forward's 4 rows again; otherwise the third gather of each
//              block's input: 2 rows)
//              (2 kv: gathered again, and its gradient reduced)
// Unembedding:
//   forward  T_math = 2 V D t / T / R,  T_comms = V D / T b / (W n_X) + rows
//   backward T_math = 4 V D t / T / R,  T_comms = scatter of V D + rows
//
//   step = L max(T_math, T_comms) forward + L max(T_math, T_comms) backward
//        + max(...) of the unembedding forward + max(...) backward
//
// Left out, as in the text: embedding lookup, norms, optimizer, HBM, latency, the first gather and
// last scatter that nothing hides, MXU padding. Tensor collectives are taken to overlap with
// compute.
#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "collectives/bounds.h"
#include "workloads/analytic.h"

namespace podsim::workloads {
namespace {

double larger(sim::Seconds math, double comms) {
    return std::max(math.value(), comms);
}

}  // namespace

sim::Seconds book_step(const ModelSpec& model, const TrainingPlan& plan,
                       const topology::DeviceMesh& mesh, const MachineRates& rates) {
    const ParameterCount count = count_parameters(model);
    const double tensor = plan.tensor;
    const double shards = static_cast<double>(plan.fsdp) * plan.context;
    const double tokens = static_cast<double>(plan.tokens) / (plan.data * shards);
    const auto d_model = static_cast<double>(model.d_model);
    const auto table = static_cast<double>(count.embedding);
    const double compute = plan.precision.compute;
    const double gradient = plan.precision.gradients;

    // Seconds for bytes over the axes that the named logical axes span; zero for one member.
    const auto over = [&](const std::vector<std::string>& names, double bytes) {
        std::vector<std::string> present;
        for (const std::string& name : names) {
            if (mesh.size(name) > 1) {
                present.push_back(name);
            }
        }
        if (present.empty()) {
            return 0.0;
        }
        const int axes = std::popcount(collectives::axes_mask(mesh.group(present)));
        return (sim::Bytes(bytes) / (rates.ici_one_way * (2.0 * axes))).value();
    };
    const auto gather = [&](double parameters) {
        return over({"fsdp", "context"}, parameters / tensor * compute);
    };
    const auto scatter = [&](double parameters) {
        return over({"fsdp", "context"}, parameters / tensor * gradient) +
               over({"data"}, 2 * parameters / (tensor * shards) * gradient);
    };
    const double rows = over({"tensor"}, tokens * d_model * compute);
    const double kv = over({"context"}, 2 * tokens * plan.context *
                                            static_cast<double>(model.kv_heads * model.head_dim) /
                                            tensor * compute);
    const double logits = 2 * table * tokens / tensor;
    const auto math = [&](double flops) { return sim::Flops(flops) / rates.flops; };

    double layers = 0;
    for (const auto& [kind, number] : layer_kinds(model)) {
        const LayerParameters parameters = count_layer(model, kind);
        const auto weights =
            static_cast<double>(parameters.attention + parameters.mlp + parameters.experts);
        const double length = static_cast<double>(plan.sequence);
        const double attention =
            2 * tokens * (attention_pairs(model, kind, length, plan.causal) / length) *
            static_cast<double>(model.heads * (model.head_dim + value_dim(model))) / tensor;
        const double forward =
            2 * static_cast<double>(parameters.matmul()) * tokens / tensor + attention;
        const double recomputed = plan.remat == Remat::block     ? forward
                                  : plan.remat == Remat::matmuls ? attention
                                                                 : 0;
        layers += static_cast<double>(number) *
                  (larger(math(forward), gather(weights) + 4 * rows + kv) +
                   larger(math(2 * forward + recomputed),
                          gather(weights) + scatter(weights) + 2 * kv + 4 * rows +
                              (plan.remat == Remat::block ? 4 * rows : 2 * rows)));
    }
    const double unembedding = larger(math(logits), gather(table) + rows) +
                               larger(math(2 * logits), scatter(table) + rows);
    return sim::Seconds(layers + unembedding);
}

}  // namespace podsim::workloads
