#include "collectives/algorithms/ring_steps.h"

#include <algorithm>

#include "collectives/algorithms/parts.h"
#include "collectives/paths/factors.h"
#include "sim/base/error.h"

namespace podsim::collectives {
namespace {

/// A piece with the time at which it comes, in shares of V over one link.
struct Timed {
    double at = 0;
    SteppedGather::Piece piece;
};

class Stepping {
public:
    Stepping(const topology::Lattice& slice, const Group& group, bool two_way)
        : slice_(slice), group_(group), two_way_(two_way) {}

    SteppedGather run() {
        const double block = 1.0 / group_size(group_);
        for (const Part& part : divide(slice_, group_, Algorithm::automatic)) {
            if (part.weight <= 0) {
                continue;
            }
            std::vector<std::uint32_t> before;
            double held = part.weight * block;
            for (std::size_t i = 0; i < part.order.size(); ++i) {
                const std::vector<std::uint32_t> steps =
                    gather_along(part.order[i], part.lengths[i], held, before);
                before.insert(before.end(), steps.begin(), steps.end());
                held *= part.lengths[i];
            }
        }
        std::ranges::stable_sort(timed_, {}, &Timed::at);
        result_.pieces.push_back({block, {}});
        for (Timed& timed : timed_) {
            result_.pieces.push_back(std::move(timed.piece));
        }
        if (group_.size() == 1) {
            order_members(group_.front());
        }
        return std::move(result_);
    }

private:
    void order_members(const topology::AxisFactor& factor) {
        const bool ring = factor_kind(slice_, factor).ring;
        for (int member = 0; static_cast<int>(result_.ring.size()) < factor.length;) {
            result_.ring.push_back(member);
            member = ring ? member + 1 : next_by_twos(member, factor.length);
        }
    }

    std::vector<std::uint32_t> gather_along(int factor, int length, double block,
                                            const std::vector<std::uint32_t>& before) {
        const FactorKind kind = factor_kind(slice_, group_[static_cast<std::size_t>(factor)]);
        const bool both = two_way_ && kind.ring;
        if (both && length == 2) {
            const std::uint32_t step = add({factor, 0, block, before, true}, block / 2, kind);
            timed_.push_back({times_[step], {block, {step}}});
            return {step};
        }
        std::vector<std::uint32_t> steps;
        std::vector<std::uint32_t> last[2] = {before, before};
        for (int distance = 1; distance <= (both ? length / 2 : length - 1); ++distance) {
            const bool half = both && 2 * distance == length;
            Timed opposite;
            for (const int direction : both ? std::vector{1, -1} : std::vector{1}) {
                auto& behind = last[direction < 0 ? 1 : 0];
                const double share = half ? block / 2 : block;
                const std::uint32_t step =
                    add({factor, direction, share, behind, distance == 1}, share, kind);
                behind = {step};
                steps.push_back(step);
                if (half) {
                    opposite.at = times_[step];
                    opposite.piece.share += share;
                    opposite.piece.steps.push_back(step);
                } else {
                    timed_.push_back({times_[step], {share, {step}}});
                }
            }
            if (half) {
                timed_.push_back(std::move(opposite));
            }
        }
        return steps;
    }

    /// `one_way`: of its share what goes over one link.
    std::uint32_t add(SteppedGather::Step step, double one_way, const FactorKind& kind) {
        double begins = 0;
        for (const std::uint32_t before : step.after) {
            begins = std::max(begins, times_[before]);
        }
        times_.push_back(begins + one_way * kind.links_per_hop);
        result_.steps.push_back(std::move(step));
        return static_cast<std::uint32_t>(result_.steps.size() - 1);
    }

    const topology::Lattice& slice_;
    const Group& group_;
    const bool two_way_;
    std::vector<double> times_;  ///< at which each step has arrived
    std::vector<Timed> timed_;
    SteppedGather result_;
};

}  // namespace

int next_by_twos(int position, int length) {
    if (position % 2 == 1) {
        return position == 1 ? 0 : position - 2;
    }
    if (position + 2 < length) {
        return position + 2;
    }
    return position + 1 < length ? position + 1 : position - 1;
}

SteppedGather step_gather(const topology::Lattice& slice, const Group& group, bool two_way) {
    if (spans_twisted_slice(slice, group)) {
        throw sim::InputError(
            "single ring steps over the whole of a twisted slice are not available",
            "write blocking, or use part of the slice's axes");
    }
    return Stepping(slice, group, two_way).run();
}

}  // namespace podsim::collectives
