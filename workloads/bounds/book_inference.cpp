#include "workloads/bounds/book_inference.h"

#include <algorithm>
#include <cmath>

#include "workloads/models/kv_cache.h"
#include "workloads/plan/plan.h"

namespace podsim::workloads {

namespace {

/// Stored size of all parameters and of the routed experts among them, and the mean bytes of a
/// parameter. The sizes are in bytes, or in parameters if all are stored alike.
struct StoredBytes {
    double all = 0;
    double experts = 0;
    double element = 2;
};
StoredBytes stored_bytes(const ModelSpec& model, const ParameterCount& count,
                         const Precision& precision) {
    double experts = 0;
    for (const auto& [kind, number] : layer_kinds(model)) {
        experts += static_cast<double>(number * count_layer(model, kind).experts);
    }
    const double layers = static_cast<double>(count.layers) - experts;
    const double tables = static_cast<double>(count.total - count.layers);
    if (precision.stored_alike()) {
        return {layers + tables + experts, experts, precision.parameters};
    }
    const double of_experts = experts * precision.stored_experts();
    const double all =
        layers * precision.parameters + tables * precision.stored_tables() + of_experts;
    return {all, of_experts, all / static_cast<double>(count.total)};
}

/// Returns the fraction of a layer's experts that none of `tokens` tokens takes.
double missed(const ModelSpec& model, double tokens) {
    return model.experts.count == 0 ? 0
                                    : std::pow(1 - static_cast<double>(model.experts.per_token) /
                                                       static_cast<double>(model.experts.count),
                                               tokens);
}

BookInference book_of_step(const ModelSpec& model, const TrainingPlan& plan,
                           const Inference& inference, double chips, const MachineRates& rates,
                           double parameters) {
    const ParameterCount count = count_parameters(model);
    const double all = parameters > 0 ? parameters : static_cast<double>(count.total);
    const double active =
        all * static_cast<double>(count.active) / static_cast<double>(count.total);
    const double element = inference.cache_element;
    BookInference book;
    double read = 0;
    for (const CachedRun& run : inference.runs) {
        const auto cached = static_cast<double>(run.cached);
        read += static_cast<double>(run.sequences) * cache_bytes(model, cached, element).value();
        const double room = std::max(cached + static_cast<double>(run.fresh),
                                     static_cast<double>(inference.reserved));
        book.of_sequence = std::max(book.of_sequence, cache_bytes(model, room, element));
    }
    const auto tokens = static_cast<double>(inference.tokens());
    const double peak = rates.peak(plan.precision.matmul).value();
    const StoredBytes stored = stored_bytes(model, count, plan.precision);
    book.parameters = sim::Bytes(all * stored.element);
    book.of_token = cache_bytes(model, 1, element);
    book.cached = sim::Bytes(read);
    book.cache = sim::Seconds(read / (chips * rates.hbm.value()));
    // The step reads the experts that its tokens meet, on average.
    const double read_share = 1 - stored.experts / stored.all * missed(model, tokens);
    book.weights = sim::Seconds(book.parameters.value() * read_share / (chips * rates.hbm.value()));
    book.flops = sim::Seconds(2 * tokens * active / (chips * peak));
    book.step = book.cache + std::max(book.flops, book.weights);
    book.least = book.cache + book.weights;
    const double experts = model.experts.count > 0
                               ? static_cast<double>(model.experts.count) /
                                     static_cast<double>(model.experts.per_token)
                               : 1;
    book.critical_batch = peak / rates.hbm.value() * stored.element / 2 * experts;
    return book;
}

}  // namespace

double mean_stored_bytes(const ModelSpec& model, const Precision& precision) {
    return stored_bytes(model, count_parameters(model), precision).element;
}

BookInference book_inference(const ModelSpec& model, const TrainingPlan& plan, double chips,
                             const MachineRates& rates, double parameters) {
    const std::vector<Inference> steps = steps_of(*plan.inference);
    BookInference sum = book_of_step(model, plan, steps.front(), chips, rates, parameters);
    for (std::size_t i = 1; i < steps.size(); ++i) {
        const BookInference step = book_of_step(model, plan, steps[i], chips, rates, parameters);
        sum.step += step.step;
        sum.least += step.least;
        sum.cached += step.cached;
        sum.cache += step.cache;
        sum.weights += step.weights;
        sum.flops += step.flops;
    }
    return sum;
}

}  // namespace podsim::workloads
