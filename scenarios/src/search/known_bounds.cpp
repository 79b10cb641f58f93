#include "scenarios/src/search/known_bounds.h"

#include <algorithm>
#include <cstddef>

#include "collectives/algorithms/ring_bounds.h"
#include "collectives/catalogue/operations.h"
#include "collectives/paths/factors.h"

namespace podsim::scenarios {
namespace {

using collectives::Operation;

/// Returns the blocks that go up from chip `at` of a run along a factor.
double blocks_up(Operation operation, const topology::AxisFactor& factor, int at) {
    const int below = at / factor.stride;
    // that have their member at or below the link
    const int groups = at % factor.stride + 1;
    const auto from = [&](int member) {
        if (member < 0 || member >= factor.length - 1) {
            return 0;
        }
        return operation == Operation::all_gather ? member + 1 : factor.length - 1 - member;
    };
    return groups * from(below) + (factor.stride - groups) * from(below - 1);
}

using LinksUp = std::array<std::vector<double>, topology::kAxes>;

/// Returns, by axis and chip, the load that an algorithm with these blocks puts on the link up from
/// there.
LinksUp links_up(Operation operation, const topology::Lattice& slice,
                 const collectives::Group& group, const std::vector<double>& held) {
    LinksUp up;
    for (std::size_t f = 0; f < group.size(); ++f) {
        const topology::AxisFactor& factor = group[f];
        std::vector<double>& links = up[static_cast<std::size_t>(factor.axis)];
        links.resize(static_cast<std::size_t>(slice.length(factor.axis)));
        const bool ring = collectives::factor_kind(slice, factor).ring;
        const int run = factor.stride * factor.length;
        for (std::size_t chip = 0; chip < links.size(); ++chip) {
            links[chip] +=
                held[f] * (ring ? (factor.length - 1) * factor.stride / 2.0
                                : blocks_up(operation, factor, static_cast<int>(chip) % run));
        }
    }
    return up;
}

}  // namespace

StepLinks step_links(const topology::Lattice& slice, const topology::AxisFactor& factor,
                     int direction) {
    StepLinks links;
    if (collectives::factor_kind(slice, factor).ring) {
        links.forward = factor.stride * (direction > 0 ? 1 : direction == 0 ? 0.5 : 0);
        links.back = factor.stride - links.forward;
        return links;
    }
    const int run = factor.stride * factor.length;
    for (int chip = 0; chip < slice.length(factor.axis); ++chip) {
        const int at = chip % run;
        links.up.push_back(std::min({at + 1, factor.stride, run - 1 - at}));
    }
    return links;
}

AlgorithmLinks algorithm_links(Operation operation, const topology::Lattice& slice,
                               const collectives::Group& group) {
    AlgorithmLinks found;
    const bool known = operation == Operation::all_gather || operation == Operation::reduce_scatter;
    if (!known || slice.twisted() || collectives::group_size(group) < 2) {
        return found;
    }
    const collectives::CollectiveCall call{
        .operation = operation, .slice = slice, .members = {group}};
    for (const collectives::Algorithm algorithm : collectives::info(operation).candidates(call)) {
        found.held.push_back(collectives::held_along(slice, group, algorithm));
        const LinksUp up = links_up(operation, slice, group, found.held.back());
        for (std::size_t axis = 0; axis < up.size(); ++axis) {
            std::vector<double>& least = found.up[axis];
            if (found.held.size() == 1) {
                least = up[axis];
            } else {
                std::ranges::transform(least, up[axis], least.begin(),
                                       [](double a, double b) { return std::min(a, b); });
            }
        }
    }
    return found;
}

}  // namespace podsim::scenarios
