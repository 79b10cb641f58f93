#include "workloads/bounds/book_formulas.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "collectives/catalogue/bounds.h"
#include "workloads/plan/axis_names.h"

namespace podsim::workloads {
namespace {

int axes_of(const collectives::Group& group) {
    return std::max(1, std::popcount(collectives::axes_mask(group)));
}

}  // namespace

double ici_intensity(sim::FlopsPerSecond peak, sim::BytesPerSecond one_way) {
    return peak.value() / (2 * one_way.value());
}

double least_tokens_per_chip(double alpha, int fsdp_axes) {
    return alpha / fsdp_axes;
}

double most_tensor_ways(double alpha, int tensor_axes, double d_ff) {
    return tensor_axes * d_ff / alpha;
}

BookLayout book_layout(const topology::DeviceMesh& mesh) {
    const collectives::Group fsdp =
        mesh.group({axis::data, axis::fsdp, axis::context, axis::expert});
    const collectives::Group tensor = mesh.group({axis::tensor});
    return {collectives::group_size(fsdp), collectives::group_size(tensor), axes_of(fsdp),
            axes_of(tensor)};
}

double least_tokens_per_chip_concurrent(double alpha, const BookLayout& layout, double d_ff) {
    return alpha * alpha / (layout.fsdp_axes * layout.tensor_axes * d_ff);
}

double least_tokens_per_chip_mixed(double alpha, const BookLayout& layout, double d_ff) {
    return 4 * least_tokens_per_chip_concurrent(alpha, layout, d_ff);
}

double optimal_fsdp_ways(double tokens, double chips, const BookLayout& layout, double d_ff) {
    return std::sqrt(tokens * layout.fsdp_axes * chips / (d_ff * layout.tensor_axes));
}

double communication_to_compute(double alpha, double tokens, const BookLayout& layout,
                                double d_ff) {
    const auto term = [](int ways, double width, int axes) {
        return ways == 1 ? 0 : ways / (width * axes);
    };
    return alpha * (term(layout.fsdp_ways, tokens, layout.fsdp_axes) +
                    term(layout.tensor_ways, d_ff, layout.tensor_axes));
}

FsdpWays compute_bound_fsdp_ways(double alpha, double tokens, double chips,
                                 const BookLayout& layout, double d_ff) {
    const double middle = tokens * layout.fsdp_axes / (2 * alpha);
    const double optimal = optimal_fsdp_ways(tokens, chips, layout, d_ff);
    const double square = middle * middle - optimal * optimal;
    if (square < 0) {
        return {};
    }
    return {middle - std::sqrt(square), middle + std::sqrt(square)};
}

double least_tokens_per_slice(sim::FlopsPerSecond peak, int chips_per_host,
                              sim::BytesPerSecond dcn_per_host) {
    return peak.value() * chips_per_host / dcn_per_host.value();
}

sim::Flops book_training_flops(double parameters, double tokens) {
    return sim::Flops(6 * parameters * tokens);
}

sim::Seconds book_training_time(sim::Flops flops, double chips, sim::FlopsPerSecond peak,
                                double mfu) {
    return flops / (peak * (chips * mfu));
}

}  // namespace podsim::workloads
