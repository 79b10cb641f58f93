#include "workloads/bounds/book_step.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <string>
#include <vector>

#include "collectives/catalogue/bounds.h"
#include "workloads/models/model.h"
#include "workloads/plan/axes.h"
#include "workloads/plan/plan.h"

namespace podsim::workloads {
namespace {

/// Terms of the passes over a layer of one kind: seconds of communication, FLOPs of a chip.
struct LayerTerms {
    double gather = 0;
    double gather_backward = 0;
    double scatter = 0;
    double blocks = 2;      ///< blocks that exchange rows over tensor
    double tokens = 0;      ///< one AllToAll of its experts, and the tensor collective with it
    double token_sums = 0;  ///< the tensor collective alone
    double attention = 0;   ///< a
    double matmuls = 0;     ///< 2 P t / T
    double in_bf16 = 0;     ///< those of the matrices of training.bf16_backward
    double kv = 0;          ///< over context
    double projected = 0;   ///< columns of queries, keys and values that matmuls make
    double attended = 0;    ///< columns of attention's output
    LoadedWeights weights;
};

/// Times of a pass: its compute, and its communication in seconds.
struct PassTime {
    sim::Seconds matmuls;    ///< FLOPs / peak
    sim::Seconds attention;  ///< FLOPs of dot products / peak
    sim::Seconds loading;    ///< of weights; none if the HBM is not shared
    double comms = 0;

    [[nodiscard]] double math() const {
        return std::max(matmuls, loading).value() + attention.value();
    }
    [[nodiscard]] double time() const { return std::max(math(), comms); }
    [[nodiscard]] bool loads() const { return loading > matmuls && math() > comms; }
};

class BookStep {
public:
    BookStep(const ModelSpec& model, const TrainingPlan& plan, const topology::DeviceMesh& mesh,
             const MachineRates& rates);

    /// Returns the time of a microbatch on all stages. Marks in `loading` the passes that it
    /// bounds, and adds the time of the weights' gradients to `gradients`.
    [[nodiscard]] double layers(WeightLoading& loading, double& gradients) const;
    /// Returns the time of the layers of further tokens: T of each, of its projection, and of its
    /// logits, by a table that is gathered already.
    [[nodiscard]] double further_tokens(WeightLoading& loading) const;
    [[nodiscard]] double unembedding(WeightLoading& loading) const;
    /// Returns the time to gather the parameters that ZeRO-1 and 2 update in shards, once a step.
    [[nodiscard]] double updated() const;

private:
    /// Seconds of an array over ICI, and over DCN.
    struct Parts {
        double ici = 0;
        double exchanged = 0;  ///< the same for an AllToAll
        double dcn = 0;
        double slices = 1;  ///< slices that the group spans
    };
    [[nodiscard]] Parts parts_over(const std::vector<std::string>& names, double bytes) const;
    [[nodiscard]] double over(const std::vector<std::string>& names, double bytes) const {
        const Parts parts = parts_over(names, bytes);
        return std::max(parts.ici, parts.dcn);
    }
    /// Returns the same for an AllToAll: V A / (4 N W) along its longest axis. Over DCN it counts
    /// the bytes of a member's shard (1 / slices of the term) that go to other slices.
    [[nodiscard]] double exchanged_over(const std::vector<std::string>& names, double bytes) const {
        const Parts parts = parts_over(names, bytes);
        return std::max(parts.exchanged,
                        parts.dcn * (parts.slices - 1) / (parts.slices * parts.slices));
    }
    [[nodiscard]] double gather(double parameters, double element) const {
        return over(weight_axes_, parameters / tensor_ * element);
    }
    [[nodiscard]] double expert_gather(double parameters, double element) const {
        return over(expert_weight_axes_, parameters / (tensor_ * plan_.ways.expert) * element);
    }
    [[nodiscard]] double reduced_over_data(double parameters) const;
    /// Returns the bytes that the ReduceScatter of a gradient's element takes for each microbatch.
    [[nodiscard]] double scattered_element() const {
        return plan_.precision.gradients / (plan_.reduces_once() ? plan_.batch.microbatches : 1);
    }
    [[nodiscard]] double scatter(double parameters) const {
        return gather(parameters, scattered_element()) + reduced_over_data(parameters);
    }
    [[nodiscard]] double expert_scatter(double parameters) const {
        return expert_gather(parameters, scattered_element()) + reduced_over_data(parameters);
    }
    [[nodiscard]] double columns(double width) const {
        return over({axis::tensor_transpose}, tokens_ * width / plan_.ways.tensor * compute_);
    }
    [[nodiscard]] sim::Seconds matmuls(double flops) const {
        return sim::Flops(flops) / rates_.peak(plan_.precision.matmul);
    }
    [[nodiscard]] sim::Seconds in_bf16(double flops) const {
        return sim::Flops(flops) / rates_.flops;
    }
    [[nodiscard]] sim::Seconds loading(sim::Bytes weights) const {
        return rates_.hbm_shared ? weights / rates_.hbm : sim::Seconds{};
    }

    [[nodiscard]] LayerTerms terms_of(LayerKind kind) const;
    [[nodiscard]] PassTime forward(const LayerTerms& terms) const;
    [[nodiscard]] PassTime backward(LayerKind kind, const LayerTerms& terms) const;
    [[nodiscard]] double all_columns(const LayerTerms& terms) const {
        return columns(terms.projected + terms.attended +
                       (branches_ + 1) * static_cast<double>(model_.d_ff));
    }
    [[nodiscard]] double columns_again(const LayerTerms& terms) const;
    /// Returns the time of logits and their gradients. `gather`, `scatter`: seconds of their table.
    [[nodiscard]] double logits(WeightLoading& loading, double gather, double scatter) const;

    const ModelSpec& model_;
    const TrainingPlan& plan_;
    const topology::DeviceMesh& mesh_;
    const MachineRates& rates_;
    const std::vector<std::string> weight_axes_;
    const std::vector<std::string> expert_weight_axes_;
    const TensorSet kept_;
    const double tensor_;    ///< T
    const double shards_;    ///< X
    const double tokens_;    ///< t
    const double compute_;   ///< b
    const double branches_;  ///< g
    const double rows_;
    const double token_sums_;
    const double exchange_;
};

BookStep::BookStep(const ModelSpec& model, const TrainingPlan& plan,
                   const topology::DeviceMesh& mesh, const MachineRates& rates)
    : model_(model),
      plan_(plan),
      mesh_(mesh),
      rates_(rates),
      weight_axes_(axes_with(&PlanAxis::shares_weights, ways_of(mesh))),
      expert_weight_axes_(axes_with(&PlanAxis::shares_experts, ways_of(mesh))),
      kept_(kept_tensors(plan.remat)),
      tensor_(plan.ways.of_matrix()),
      shards_(static_cast<double>(ways_with(&PlanAxis::shares_weights, plan.ways))),
      tokens_(static_cast<double>(plan.batch.tokens) /
              (plan.ways.data * shards_ * plan.batch.microbatches)),
      compute_(plan.precision.compute),
      branches_(model.gated_mlp ? 2 : 1),
      rows_(over({axis::tensor}, tokens_ * static_cast<double>(model.d_model) /
                                     plan.ways.tensor_transpose * compute_)),
      token_sums_(over({axis::tensor}, tokens_ * static_cast<double>(model.experts.per_token) *
                                           static_cast<double>(model.d_model) * compute_)),
      exchange_(
          exchanged_over({axis::expert}, tokens_ * static_cast<double>(model.experts.per_token) *
                                             static_cast<double>(model.d_model) * compute_ /
                                             tensor_ * plan.ways.expert) +
          token_sums_) {}

/// Returns the times over the physical axes that these logical axes span; none for one member.
BookStep::Parts BookStep::parts_over(const std::vector<std::string>& names, double bytes) const {
    std::vector<std::string> present;
    for (const std::string& name : names) {
        if (mesh_.size(name) > 1) {
            present.push_back(name);
        }
    }
    if (present.empty()) {
        return {};
    }
    const collectives::Group group = mesh_.group(present);
    const int axes = std::popcount(collectives::axes_mask(group));
    const double ici =
        axes == 0 ? 0 : (sim::Bytes(bytes) / (rates_.ici_one_way * (2.0 * axes))).value();
    std::array<double, topology::kAxes> along{};
    for (const topology::AxisFactor& factor : group) {
        double& axis = along.at(static_cast<std::size_t>(factor.axis));
        axis = std::max(axis, 1.0) * factor.length;
    }
    const double exchanged =
        ici * axes / 4 * *std::ranges::max_element(along) / collectives::group_size(group);
    const int slices = mesh_.across(present).length;
    if (slices == 1) {
        return {.ici = ici, .exchanged = exchanged};
    }
    const double groups =
        static_cast<double>(rates_.chips_per_slice) / collectives::group_size(group);
    const sim::BytesPerSecond dcn = rates_.between_slices.dcn * rates_.between_slices.hosts;
    return {.ici = ici,
            .exchanged = exchanged,
            .dcn = (sim::Bytes(bytes * groups) / dcn).value(),
            .slices = static_cast<double>(slices)};
}

double BookStep::reduced_over_data(double parameters) const {
    const bool in_each = plan_.zero == 2 || plan_.all_reduces_each();
    const double reductions = plan_.zero > 0 && !plan_.all_reduces_each() ? 1 : 2;
    const int times = in_each ? 1 : plan_.batch.microbatches;
    return over({axis::data},
                reductions * parameters / (tensor_ * shards_ * times) * plan_.precision.gradients);
}

LayerTerms BookStep::terms_of(LayerKind kind) const {
    const LayerParameters parameters = count_layer(model_, kind);
    const auto dense = static_cast<double>(parameters.attention + parameters.mlp);
    const auto experts = static_cast<double>(parameters.experts);
    const bool mlp_rows = !kind.experts || model_.experts.shared > 0;
    const auto length = static_cast<double>(plan_.batch.sequence);
    const bool apart = plan_.ways.expert > 1;
    const AttentionSizes sizes = attention_sizes(model_, kind);
    const auto queries = static_cast<double>(model_.heads * sizes.head_dim);
    const auto kv = static_cast<double>(sizes.kv_heads * (sizes.head_dim + sizes.value_dim));
    LayerTerms terms;
    terms.projected = queries + static_cast<double>(sizes.kv_projection());
    terms.attended = static_cast<double>(model_.heads * sizes.value_dim);
    terms.kv = over({axis::context}, tokens_ * plan_.ways.context * kv / tensor_ * compute_);
    const auto brought = [&](double dense_bytes, double expert_bytes) {
        return apart ? gather(dense_bytes, 1) + expert_gather(expert_bytes, 1)
                     : gather(dense_bytes + expert_bytes, 1);
    };
    terms.gather =
        brought(dense * plan_.precision.weights(), experts * plan_.precision.expert_weights());
    terms.scatter = apart ? scatter(dense) + expert_scatter(experts) : scatter(dense + experts);
    terms.blocks = model_.parallel_block || !mlp_rows ? 1 : 2;
    terms.token_sums = kind.experts ? token_sums_ : 0;
    terms.tokens = kind.experts ? exchange_ : 0;
    terms.attention = 2 * tokens_ *
                      (attention_pairs(model_, kind, length, plan_.attention.causal) / length) *
                      (queries + terms.attended) / tensor_;
    terms.matmuls = 2 * static_cast<double>(parameters.matmul()) * tokens_ / tensor_;
    const MatrixSet& bf16 = plan_.precision.bf16_backward;
    const double out = terms.attended * static_cast<double>(model_.d_model);
    const auto router =
        static_cast<double>(kind.experts ? model_.experts.count * model_.d_model : 0);
    const double in_bf16 =
        ((bf16.has(Matrix::qkv) ? static_cast<double>(parameters.attention) - out : 0) +
         (bf16.has(Matrix::out) ? out : 0) +
         (bf16.has(Matrix::down) ? static_cast<double>(parameters.mlp) - router : 0));
    terms.in_bf16 = 2 * tokens_ / tensor_ * in_bf16;
    terms.weights = weights_of_layer(model_, plan_, kind, tokens_);
    const Precision& precision = plan_.precision;
    const double dense_again = matmuls_again(model_, plan_.remat, kind, 0);
    const double experts_again = matmuls_again(model_, plan_.remat, kind, experts) - dense_again;
    terms.gather_backward = brought(
        dense * precision.weights() + in_bf16 * (precision.plain_weights() - precision.weights()) +
            dense_again * (precision.weights_backward(Matrix::qkv, true) -
                           precision.weights_backward(Matrix::qkv, false)),
        experts * precision.expert_weights() +
            experts_again * (precision.expert_weights_backward(true) - precision.expert_weights()));
    return terms;
}

PassTime BookStep::forward(const LayerTerms& terms) const {
    return {.matmuls = matmuls(terms.matmuls),
            .attention = in_bf16(terms.attention),
            .loading = loading(terms.weights.forward),
            .comms = terms.gather + 2 * terms.blocks * rows_ + terms.kv + 2 * terms.tokens +
                     all_columns(terms)};
}

double BookStep::columns_again(const LayerTerms& terms) const {
    if (plan_.remat.policy == RematPolicy::block) {
        return all_columns(terms);
    }
    const auto d_ff = static_cast<double>(model_.d_ff);
    return columns(terms.attended + d_ff + (kept_.has(LayerTensor::qkv) ? 0 : terms.projected) +
                   (kept_.has(LayerTensor::gate_up) ? 0 : branches_ * d_ff));
}

PassTime BookStep::backward(LayerKind kind, const LayerTerms& terms) const {
    if (plan_.forward_only) {
        return {};
    }
    const bool again = plan_.remat.policy == RematPolicy::block;
    const auto taken = static_cast<double>(count_layer(model_, kind).experts_taken);
    const double projected =
        2 * terms.matmuls + 2 * matmuls_again(model_, plan_.remat, kind, taken) * tokens_ / tensor_;
    const double attended_times = kept_.has(LayerTensor::attended) ? 2 : 3;
    const TensorSet missing = again ? TensorSet{} : read_backward(model_, kind) - kept_;
    const bool block_sums = norms_outputs(model_) && (!kind.experts || model_.experts.shared > 0);
    const double sums_again = (missing.has(LayerTensor::out) ? 1 : 0) +
                              (missing.has(LayerTensor::output) && block_sums ? 1 : 0);
    const double partly = terms.tokens - terms.token_sums;
    const double exchanged =
        2 * terms.tokens +
        (plan_.remat.policy == RematPolicy::none
             ? terms.token_sums
             : terms.tokens + (again || missing.has(LayerTensor::output) ? terms.tokens : partly));
    return {.matmuls = matmuls(projected - 2 * terms.in_bf16) + in_bf16(2 * terms.in_bf16),
            .attention = in_bf16(attended_times * terms.attention),
            .loading = loading(terms.weights.backward),
            .comms = terms.gather_backward + terms.scatter + 2 * terms.kv +
                     ((again ? 4 : 3) * terms.blocks + sums_again) * rows_ + exchanged +
                     all_columns(terms) + columns_again(terms)};
}

double BookStep::layers(WeightLoading& loading, double& gradients) const {
    double sum = 0;
    for (const auto& [kind, number] : layer_kinds(model_)) {
        const LayerTerms terms = terms_of(kind);
        const PassTime there = forward(terms);
        const PassTime back = backward(kind, terms);
        sum += static_cast<double>(number) * (there.time() + back.time());
        gradients += static_cast<double>(number) *
                     (matmuls(terms.matmuls - terms.in_bf16) + in_bf16(terms.in_bf16)).value();
        loading.forward = loading.forward || there.loads();
        loading.backward = loading.backward || back.loads();
    }
    return sum;
}

double BookStep::further_tokens(WeightLoading& loading) const {
    const LayerKind kind = layer_kind(model_, model_.layers);
    TrainingPlan keeps_all = plan_;
    keeps_all.remat = {.policy = RematPolicy::none};
    const BookStep book(model_, keeps_all, mesh_, rates_);
    const LayerTerms terms = book.terms_of(kind);
    const auto matrix = static_cast<double>(mtp_matrix(model_));
    const double product = 2 * matrix * tokens_ / tensor_;
    const double brought = gather(matrix, plan_.precision.plain_weights());
    const PassTime there{in_bf16(product), {}, {}, brought};
    const PassTime back{in_bf16(2 * product), {}, {}, brought + scatter(matrix)};
    return static_cast<double>(model_.mtp_layers) *
           (book.forward(terms).time() + book.backward(kind, terms).time() + there.time() +
            back.time() + logits(loading, 0, 0));
}

double BookStep::unembedding(WeightLoading& loading) const {
    const auto table = static_cast<double>(count_parameters(model_).embedding);
    return logits(loading, gather(table, compute_), plan_.forward_only ? 0 : scatter(table));
}

double BookStep::logits(WeightLoading& loading, double gather, double scatter) const {
    const auto table = static_cast<double>(count_parameters(model_).embedding);
    const double logits = 2 * table * tokens_ / tensor_;
    const double sums = rows_ + columns(static_cast<double>(model_.vocabulary));
    const LoadedWeights weights = weights_of_table(model_, plan_);
    const PassTime there{.matmuls = in_bf16(logits),
                         .attention = {},
                         .loading = this->loading(weights.forward),
                         .comms = gather + sums};
    PassTime back;
    if (!plan_.forward_only) {
        back = {.matmuls = in_bf16((plan_.logit_chunks > 1 ? 3 : 2) * logits),
                .attention = {},
                .loading = this->loading(weights.backward),
                .comms = scatter + sums};
    }
    loading.unembedding = there.loads() || back.loads();
    return there.time() + back.time();
}

double BookStep::updated() const {
    if (plan_.zero == 0 || plan_.forward_only) {
        return 0;
    }
    const ParameterCount count = count_parameters(model_);
    auto held = static_cast<double>(count.total);
    if (plan_.ways.pipeline > 1) {  // those of the last stage
        const auto table =
            static_cast<double>(count.unembedding > 0 ? count.unembedding : count.embedding);
        const auto layers = static_cast<double>(count.total - count.embedding - count.unembedding);
        held = layers / plan_.ways.pipeline + table;
    }
    return over({axis::data}, held / (tensor_ * shards_) * plan_.precision.copy());
}

}  // namespace

BookEstimate book_step(const ModelSpec& model, const TrainingPlan& plan,
                       const topology::DeviceMesh& mesh, const MachineRates& rates) {
    const BookStep book(model, plan, mesh, rates);
    const double m = plan.batch.microbatches;
    BookEstimate estimate;
    double gradients = 0;
    const double layers = book.layers(estimate.loading, gradients);
    const bool zero_bubble =
        plan.pipeline.schedule == PipelineSchedule::zero_bubble && !plan.forward_only;
    const double idle = zero_bubble ? std::max(layers - 2 * gradients, 0.0) : layers;
    double time = (m * layers + (plan.ways.pipeline - 1.0) / plan.pipeline.chunks * idle) /
                  plan.ways.pipeline;
    if (!plan.layers_only) {
        time += m * book.unembedding(estimate.loading) + book.updated();
        if (!plan.forward_only) {
            time += m * book.further_tokens(estimate.loading);
        }
    }
    estimate.time = sim::Seconds(time);
    return estimate;
}

}  // namespace podsim::workloads
