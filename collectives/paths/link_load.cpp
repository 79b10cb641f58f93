#include "collectives/paths/link_load.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace podsim::collectives {
namespace {

/// Returns the gaps between the blocks of each factor, whose strides ascend: the rest of a stride
/// after the blocks before it. No gap is shorter than one before it. The gap that closes a ring, at
/// least as long as the last, is left out.
std::vector<Gap> gaps_along(const Group& group, int axis) {
    std::vector<Gap> gaps;
    int span = 0;
    for (const topology::AxisFactor& factor : group) {
        if (factor.axis != axis || factor.length == 1) {
            continue;
        }
        for (Gap& gap : gaps) {
            gap.count *= factor.length;
        }
        const int links = factor.stride - span;
        if (gaps.empty() || gaps.back().links != links) {
            gaps.push_back({links, 0});
        }
        gaps.back().count += factor.length - 1;
        span += (factor.length - 1) * factor.stride;
    }
    return gaps;
}

/// Sums differ by rounding: a set of axes replaces an earlier one only if it is busier by more than
/// that.
constexpr double kBusier = 1 + 1e-12;
constexpr int kMostTurns = 64;

double product(const AxisWeights& a, const AxisWeights& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

AxisWeights difference(const AxisWeights& a, const AxisWeights& b) {
    return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}

AxisWeights alone(std::size_t axis) {
    AxisWeights weights{};
    weights.at(axis) = 1;
    return weights;
}

/// Weights at which the minimum of the given sums, over the links, is largest.
class Highest {
public:
    Highest(const std::vector<AxisWeights>& sums, const AxisWeights& links)
        : sums_(sums), links_(links) {
        for (std::size_t axis = 0; axis < links.size(); ++axis) {
            offer(alone(axis));
        }
        for (std::size_t i = 0; i < sums.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                where_equal(difference(sums[i], sums[j]));
                for (std::size_t k = 0; k < j; ++k) {
                    where_equal(difference(sums[i], sums[j]), difference(sums[i], sums[k]));
                }
            }
        }
    }

    [[nodiscard]] const AxisWeights& weights() const { return weights_; }
    [[nodiscard]] double value() const { return value_; }

private:
    /// Offers the weights at which two sums are equal and one axis counts for nothing.
    void where_equal(const AxisWeights& difference) {
        offer({difference[1], -difference[0], 0});
        offer({difference[2], 0, -difference[0]});
        offer({0, difference[2], -difference[1]});
    }
    /// Offers the weights at which three sums are equal.
    void where_equal(const AxisWeights& a, const AxisWeights& b) {
        offer({a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]});
    }
    /// Offers weights up to their sign.
    void offer(AxisWeights weights) {
        double total = product(weights, links_);
        if (total < 0) {
            weights = {-weights[0], -weights[1], -weights[2]};
            total = -total;
        }
        if (total == 0 || std::ranges::any_of(weights, [](double w) { return w < 0; })) {
            return;
        }
        double least = std::numeric_limits<double>::infinity();
        for (const AxisWeights& sum : sums_) {
            least = std::min(least, product(weights, sum));
        }
        if (least / total > value_) {
            weights_ = weights;
            value_ = least / total;
        }
    }

    const std::vector<AxisWeights>& sums_;
    const AxisWeights& links_;
    AxisWeights weights_{};
    double value_ = 0;
};

}  // namespace

Gaps gaps_between(const Group& group) {
    Gaps gaps;
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        gaps.at(static_cast<std::size_t>(axis)) = gaps_along(group, axis);
    }
    return gaps;
}

std::array<double, topology::kAxes> tree_links(const Gaps& gaps, const AxisWeights& weights) {
    std::array<double, topology::kAxes> parts{1, 1, 1};
    std::array<std::size_t, topology::kAxes> next{};
    for (std::size_t axis = 0; axis < gaps.size(); ++axis) {
        for (const Gap& gap : gaps[axis]) {
            parts[axis] += gap.count;
        }
    }
    std::array<double, topology::kAxes> links{};
    for (;;) {
        std::size_t lightest = gaps.size();
        double weight = 0;
        for (std::size_t axis = 0; axis < gaps.size(); ++axis) {
            if (next[axis] == gaps[axis].size()) {
                continue;
            }
            const double of_axis = weights[axis] * gaps[axis][next[axis]].links;
            if (lightest == gaps.size() || of_axis < weight) {
                lightest = axis;
                weight = of_axis;
            }
        }
        if (lightest == gaps.size()) {
            return links;
        }
        const Gap& joined = gaps[lightest][next[lightest]++];
        const double before = parts[0] * parts[1] * parts[2];
        parts[lightest] -= joined.count;
        links[lightest] += joined.links * (before - parts[0] * parts[1] * parts[2]);
    }
}

void LinkLoad::add_tree(const Gaps& gaps, double bytes) {
    const auto known = std::ranges::find(trees_, gaps, &Tree::gaps);
    if (known != trees_.end()) {
        known->bytes += bytes;
    } else {
        trees_.push_back({gaps, bytes});
    }
}

void LinkLoad::add(const LinkLoad& other, double times) {
    for (const Tree& tree : other.trees_) {
        add_tree(tree.gaps, tree.bytes * times);
    }
    for (std::size_t axis = 0; axis < along_.size(); ++axis) {
        along_.at(axis) += other.along_.at(axis) * times;
    }
}

AxisWeights LinkLoad::least(const AxisWeights& weights) const {
    AxisWeights sum = along_;
    for (const Tree& tree : trees_) {
        const auto links = tree_links(tree.gaps, weights);
        for (std::size_t axis = 0; axis < sum.size(); ++axis) {
            sum.at(axis) += tree.bytes * links.at(axis);
        }
    }
    return sum;
}

LinkLoad::Most LinkLoad::most(const AxisWeights& links) const {
    Most most;
    std::vector<AxisWeights> sums;
    const auto offer = [&](const AxisWeights& weights) {
        sums.push_back(least(weights));
        const double bytes = product(weights, sums.back()) / product(weights, links);
        if (bytes <= most.bytes * kBusier) {
            return;
        }
        most = {bytes, 0};
        for (std::size_t axis = 0; axis < weights.size(); ++axis) {
            most.axes |= weights.at(axis) > 0 && links.at(axis) > 0 ? 1U << axis : 0U;
        }
    };
    for (std::size_t axis = 0; axis < links.size(); ++axis) {
        if (links.at(axis) > 0) {
            offer(alone(axis));
        }
    }
    for (int turn = 0; !sums.empty() && turn < kMostTurns; ++turn) {
        const Highest highest(sums, links);
        if (highest.value() <= most.bytes * kBusier) {
            break;
        }
        offer(highest.weights());
    }
    return most;
}

}  // namespace podsim::collectives
