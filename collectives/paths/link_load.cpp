#include "collectives/paths/link_load.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace podsim::collectives {
namespace {

/// Sums differ by rounding: a set of axes must be busier than one that was tried before by more than that.
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

/// Weights for which the least of some sums, over the links, is largest.
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
    /// Where two sums are equal and one axis counts for nothing.
    void where_equal(const AxisWeights& difference) {
        offer({difference[1], -difference[0], 0});
        offer({difference[2], 0, -difference[0]});
        offer({0, difference[2], -difference[1]});
    }
    /// Where three are.
    void where_equal(const AxisWeights& a, const AxisWeights& b) {
        offer({a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]});
    }
    /// Up to their sign.
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
