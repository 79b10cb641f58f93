#include "collectives/paths/link_load.h"

#include <algorithm>
#include <cstddef>

namespace podsim::collectives {
namespace {

/// Sums differ by rounding: a set of axes must be busier than one that was tried before by more than that.
constexpr double kBusier = 1 + 1e-12;

/// Tries weights one after the other.
class Busiest {
public:
    Busiest(const LinkLoad& load, const AxisWeights& links) : load_(load), links_(links) {}

    void offer(const AxisWeights& weights) {
        double links = 0;
        unsigned axes = 0;
        for (std::size_t axis = 0; axis < weights.size(); ++axis) {
            links += weights.at(axis) * links_.at(axis);
            axes |= weights.at(axis) > 0 ? 1U << axis : 0U;
        }
        if (links == 0) {
            return;
        }
        const double bytes = load_.counted(weights) / links;
        if (bytes > most_.bytes * kBusier) {
            most_ = {bytes, axes};
        }
    }

    [[nodiscard]] LinkLoad::Most most() const { return most_; }

private:
    const LinkLoad& load_;
    const AxisWeights& links_;
    LinkLoad::Most most_;
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

double LinkLoad::counted(const AxisWeights& weights) const {
    double sum = 0;
    for (const Tree& tree : trees_) {
        sum += tree.bytes * tree_links(tree.gaps, weights);
    }
    for (std::size_t axis = 0; axis < along_.size(); ++axis) {
        sum += weights.at(axis) * along_.at(axis);
    }
    return sum;
}

std::array<std::vector<double>, topology::kAxes> LinkLoad::ratios() const {
    std::array<std::vector<int>, topology::kAxes> links;
    for (const Tree& tree : trees_) {
        for (std::size_t axis = 0; axis < links.size(); ++axis) {
            for (const Gap& gap : tree.gaps.at(axis)) {
                links.at(axis).push_back(gap.links);
            }
        }
    }
    const auto between = [&](std::size_t first, std::size_t second) {
        std::vector<double> all;
        for (const int one : links.at(first)) {
            for (const int other : links.at(second)) {
                all.push_back(static_cast<double>(one) / other);
            }
        }
        std::ranges::sort(all);
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return all;
    };
    return {between(0, 1), between(0, 2), between(1, 2)};
}

LinkLoad::Most LinkLoad::most(const AxisWeights& links) const {
    Busiest busiest(*this, links);
    for (std::size_t axis = 0; axis < along_.size(); ++axis) {
        AxisWeights alone{};
        alone.at(axis) = 1;
        busiest.offer(alone);
    }
    const auto [xy, xz, yz] = ratios();
    for (const double y : xy) {
        busiest.offer({1, y, 0});
    }
    for (const double z : xz) {
        busiest.offer({1, 0, z});
    }
    for (const double z : yz) {
        busiest.offer({0, 1, z});
    }
    for (const double y : xy) {
        for (const double z : xz) {
            busiest.offer({1, y, z});
        }
        for (const double z_of_y : yz) {
            busiest.offer({1, y, y * z_of_y});
        }
    }
    for (const double z : xz) {
        for (const double z_of_y : yz) {
            busiest.offer({1, z / z_of_y, z});
        }
    }
    return busiest.most();
}

}  // namespace podsim::collectives
