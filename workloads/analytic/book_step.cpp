// `book`: the reference text's closed forms for one training step (How to Scale Your Model, section
// 5).
//
// Symbols: L, D, N, K, H, V as in ModelSpec; S sequence length; T tensor ways, C context ways, E expert
// ways, X = fsdp x context x expert weight shards; P = matmul parameters of a layer (the text's 2DF
// generalised: attention and MLP, no norms), with experts those of one token in T_math and all in gather and
// scatter, where routed experts count P / (T E) over fsdp x context;
// t = tokens / (data fsdp context expert m), the tokens of one tensor group in one of m microbatches,
// without the padding of shards that do not fill; b, d bytes of a compute and a gradient element; W
// = 2 x the one-way rate of a link; n_g the number of physical axes that the group g spans, whole
// or in factors (every axis is taken to wrap); R = peak FLOPs. A term of a group with one member is
// zero.
//
// A term of a group that spans slices is the larger of its term over ICI and the bytes of all such groups
// of a slice over the DCN links of its hosts.
//
//   a        = 2 t N (H + Hv) / T x keys of a query             attention's dot products (keys: S, S / 2
//                                                               causal, about W with a window)
//   gather   = P / T b / (W n_X)                                weights of a layer
//   scatter  = P / T d / (W n_X) + 2 P / (T X) d / (W n_data)   its gradients (AllReduce twice)
//   rows     = t D b / (W n_T)                                  one tensor AllGather, ReduceScatter
//              (X ways of tensor_transpose beside Y of tensor, T = X Y: t D / X over tensor)
//   columns  = t (q + o + (g + 1) F) / Y b / (W n_X)            over tensor_transpose: q queries, keys and values,
//              o attention's output, g 2 of a gated MLP (row_exchange.h)
//   kv       = t C K (H + Hv) / T b / (W n_C)                   keys, values of the whole sequence
//   tokens   = E t k D / T b / (4 W n_E), k experts a token     one AllToAll of an expert layer, and on
//              + t k D b / (W n_T)                              either side of the experts over tensor
//
// Forward, a layer:
//   T_math   = 2 P t / T / R + a / R_bf16                 (R of the plan's precision)
//   T_comms  = gather + 4 rows + kv + columns           (rows: in and out of attention and MLP)
// Backward, a layer:
//   T_math   = 2 x forward, + forward again (remat block) or + a / R (remat matmuls) or, with named tensors, what
//              of its matmuls and of a / R runs again
//   T_comms  = gather + scatter + 2 kv + 4 rows
//              + (remat block: the forward's 4 rows again; otherwise the third gather of each
//              block's input: 2 rows; named tensors without out_proj: 1 more, its sums again)
//              (2 kv: gathered again, and its gradient reduced)
//              + columns + (remat block: columns again; otherwise o + F of them, and what of q and g F is made again)
// In a parallel block 2 rows stand where 4 do, and 1 where 2 do. With experts 2 tokens are added forward, 3
// backward (4 with remat block), and the MLP's rows stand only for shared experts.
// Unembedding:
//   forward  T_math = 2 V D t / T / R,  T_comms = V D / T b / (W n_X) + rows
//   backward T_math = 4 V D t / T / R,  T_comms = scatter of V D + rows     (V of columns in both)
//
// With ZeRO-2 the gradients' term over data stands once instead of twice; with ZeRO-1 and 2 the gather of the updated
// parameters over data is added at the end.
//
//   layers      = L max(T_math, T_comms) forward + L max(T_math, T_comms) backward
//   unembedding = max(...) of the unembedding forward + max(...) backward
//   step        = m layers + m unembedding                                 without a pipeline
//               = (m + b) layers / p + m unembedding                       p stages, the last sets the pace
// where b, the bubble in microbatches, is (p - 1) / v of v chunks, and a third of p - 1 in the zero-bubble
// schedule (F = B = W). The text has no form for pipelines: this is the papers' bubble on its layers. The data
// AllReduce, once a step, counts 1 / m in each microbatch's scatter. Sends between stages are left out.
//
// Left out, as in the text: embedding lookup, norms, optimizer, HBM, latency, the first gather and
// last scatter that nothing hides, MXU padding. Tensor collectives are taken to overlap with
// compute.
#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "collectives/catalogue/bounds.h"
#include "workloads/analytic/analytic.h"
#include "workloads/models/model.h"
#include "workloads/plan/plan.h"

namespace podsim::workloads {
namespace {

double larger(sim::Seconds math, double comms) {
    return std::max(math.value(), comms);
}

/// Matmul parameters of a layer, for one token, that recomputation uses.
double rerun(const ModelSpec& model, const TrainingPlan& plan, LayerKind kind) {
    const LayerParameters parameters = count_layer(model, kind);
    if (plan.remat.policy == RematPolicy::block) {
        return static_cast<double>(parameters.matmul());
    }
    const TensorSet kept = kept_tensors(plan.remat);
    const auto out = static_cast<double>(model.heads * value_dim(model) * model.d_model);
    const auto router = static_cast<double>(kind.experts ? model.experts.count * model.d_model : 0);
    const double mlp = static_cast<double>(parameters.mlp + parameters.experts_taken) - router;
    const double branches = model.gated_mlp ? 2 : 1;
    const bool out_again = !kept.has(LayerTensor::out) && !model.parallel_block;
    return (kept.has(LayerTensor::qkv) ? 0 : static_cast<double>(parameters.attention) - out) +
           (out_again ? out : 0) +
           (kept.has(LayerTensor::gate_up) ? 0 : router + mlp * branches / (branches + 1));
}

}  // namespace

sim::Seconds book_step(const ModelSpec& model, const TrainingPlan& plan,
                       const topology::DeviceMesh& mesh, const MachineRates& rates) {
    const ParameterCount count = count_parameters(model);
    const double tensor = plan.ways.of_matrix();
    const double shards =
        static_cast<double>(plan.ways.fsdp) * plan.ways.context * plan.ways.expert;
    const double tokens = static_cast<double>(plan.batch.tokens) /
                          (plan.ways.data * shards * plan.batch.microbatches);
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
        const collectives::Group group = mesh.group(present);
        const int axes = std::popcount(collectives::axes_mask(group));
        const double ici =
            axes == 0 ? 0 : (sim::Bytes(bytes) / (rates.ici_one_way * (2.0 * axes))).value();
        if (mesh.across(present).length == 1) {
            return ici;
        }
        const double groups =
            static_cast<double>(rates.chips_per_slice) / collectives::group_size(group);
        const sim::BytesPerSecond dcn = rates.between_slices.dcn * rates.between_slices.hosts;
        return std::max(ici, (sim::Bytes(bytes * groups) / dcn).value());
    };
    const auto gather = [&](double parameters, double element) {
        return over({"fsdp", "context", "expert"}, parameters / tensor * element);
    };
    const double weight = plan.precision.weights();
    const double reductions = plan.zero == 2 ? 1 : 2;
    const auto scatter = [&](double parameters) {
        return over({"fsdp", "context", "expert"}, parameters / tensor * gradient) +
               over({"data"}, reductions * parameters /
                                  (tensor * shards * plan.batch.microbatches) * gradient);
    };
    const double rows = over({"tensor"}, tokens * d_model / plan.ways.tensor_transpose * compute);
    const auto columns = [&](double width) {
        return over({"tensor_transpose"}, tokens * width / plan.ways.tensor * compute);
    };
    const auto attended = static_cast<double>(model.heads * value_dim(model));
    const auto qkv = static_cast<double>(model.heads * model.head_dim +
                                         model.kv_heads * (model.head_dim + value_dim(model)));
    const auto d_ff = static_cast<double>(model.d_ff);
    const double branches = model.gated_mlp ? 2 : 1;
    const double between_products = columns(qkv + attended + (branches + 1) * d_ff);
    const auto expert_gather = [&](double parameters, double element) {
        return over({"fsdp", "context"}, parameters / (tensor * plan.ways.expert) * element);
    };
    const auto expert_scatter = [&](double parameters) {
        return expert_gather(parameters, gradient) +
               over({"data"}, reductions * parameters /
                                  (tensor * shards * plan.batch.microbatches) * gradient);
    };
    const auto heads = static_cast<double>(model.kv_heads * (model.head_dim + value_dim(model)));
    const double kv = over({"context"}, tokens * plan.ways.context * heads / tensor * compute);
    const double routed = tokens * static_cast<double>(model.experts.per_token) * d_model * compute;
    const double exchange =
        over({"expert"}, routed / tensor * plan.ways.expert) / 4 + over({"tensor"}, routed);
    const double logits = 2 * table * tokens / tensor;
    // Matmuls in the plan's precision, and those that are bf16 in every one.
    const auto math = [&](double flops, double in_bf16) {
        return sim::Flops(flops) / rates.peak(plan.precision.matmul) +
               sim::Flops(in_bf16) / rates.flops;
    };

    const TensorSet kept = kept_tensors(plan.remat);
    // An evaluation step has no backward pass.
    const auto backward = [&](sim::Seconds mathematics, double communication) {
        return plan.forward_only ? 0 : larger(mathematics, communication);
    };
    double layers = 0;
    for (const auto& [kind, number] : layer_kinds(model)) {
        const LayerParameters parameters = count_layer(model, kind);
        const auto dense = static_cast<double>(parameters.attention + parameters.mlp);
        const auto experts = static_cast<double>(parameters.experts);
        const double weights = plan.ways.expert > 1
                                   ? gather(dense, weight) + expert_gather(experts, weight)
                                   : gather(dense + experts, weight);
        const double gradients = plan.ways.expert > 1 ? scatter(dense) + expert_scatter(experts)
                                                      : scatter(dense + experts);
        const bool mlp_rows = !kind.experts || model.experts.shared > 0;
        const double blocks = model.parallel_block || !mlp_rows ? 1 : 2;
        const double tokens_once = kind.experts ? exchange : 0;
        const bool again = plan.remat.policy == RematPolicy::block;
        const double length = static_cast<double>(plan.batch.sequence);
        const double attention =
            2 * tokens * (attention_pairs(model, kind, length, plan.attention.causal) / length) *
            static_cast<double>(model.heads * (model.head_dim + value_dim(model))) / tensor;
        const double forward = 2 * static_cast<double>(parameters.matmul()) * tokens / tensor;
        const double projected = 2 * forward + 2 * rerun(model, plan, kind) * tokens / tensor;
        const double attended_times = kept.has(LayerTensor::attended) ? 2 : 3;
        const bool sums_again = plan.remat.policy == RematPolicy::named && !model.parallel_block &&
                                !kept.has(LayerTensor::out);
        layers +=
            static_cast<double>(number) *
            (larger(math(forward, attention),
                    weights + 2 * blocks * rows + kv + 2 * tokens_once + between_products) +
             backward(
                 math(projected, attended_times * attention),
                 weights + gradients + 2 * kv + (again ? 4 : 3) * (blocks * rows + tokens_once) +
                     (sums_again ? rows : 0) + between_products +
                     (again ? between_products
                            : columns(attended + d_ff + (kept.has(LayerTensor::qkv) ? 0 : qkv) +
                                      (kept.has(LayerTensor::gate_up) ? 0 : branches * d_ff)))));
    }
    const double sums = rows + columns(static_cast<double>(model.vocabulary));
    const double unembedding = larger(math(0, logits), gather(table, compute) + sums) +
                               backward(math(0, 2 * logits), scatter(table) + sums);
    const double updated = plan.zero == 0 || plan.forward_only
                               ? 0
                               : over({"data"}, static_cast<double>(count.total) /
                                                    (tensor * shards) * plan.precision.copy());
    const double m = plan.batch.microbatches;
    const double idle = (plan.ways.pipeline - 1.0) / plan.pipeline.chunks;
    const double bubble = plan.pipeline.schedule == PipelineSchedule::zero_bubble ? idle / 3 : idle;
    return sim::Seconds((m + bubble) * layers / plan.ways.pipeline +
                        (plan.layers_only ? 0 : m * unembedding + updated));
}

}  // namespace podsim::workloads
