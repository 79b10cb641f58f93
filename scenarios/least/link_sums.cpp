#include "scenarios/least/link_sums.h"

#include <algorithm>

namespace podsim::scenarios {
namespace {

/// Bytes on the links of an axis in the course of a program.
class AxisSums {
public:
    void add(const std::vector<double>& up, sim::Bytes bytes) {
        up_.resize(std::max(up_.size(), up.size()));
        for (std::size_t chip = 0; chip < up.size(); ++chip) {
            up_[chip] += bytes.value() * up[chip];
        }
    }
    void add(const StepLinks& step, sim::Bytes bytes) {
        add(step.up, bytes);
        forward_ += bytes.value() * step.forward;
        back_ += bytes.value() * step.back;
    }
    /// What goes down is what goes up in the mirror, but for rings.
    [[nodiscard]] double most() const {
        const double on_lines = up_.empty() ? 0 : *std::ranges::max_element(up_);
        return on_lines + std::max(forward_, back_);
    }

private:
    std::vector<double> up_;  ///< by chip
    double forward_ = 0;      ///< of steps round rings, on every link
    double back_ = 0;
};

}  // namespace

sim::Seconds busiest_link_time(const workloads::StepProgram& program,
                               const topology::Lattice& slice, const PlacedMesh& mesh,
                               sim::BytesPerSecond link, TensorCollectives tensor,
                               KnownBounds::OfMachine& known) {
    std::array<AxisSums, topology::kAxes> sums;
    for (const workloads::Op& op : program.ops) {
        const auto* collective = std::get_if<workloads::Collective>(&op.work);
        if (collective == nullptr ||
            (tensor == TensorCollectives::in_steps && may_go_in_steps(*collective))) {
            continue;
        }
        const collectives::Members& members = mesh.members(collective->axes);
        if (members.span_slices()) {
            continue;
        }
        if (collective->step) {
            const collectives::RingStep& step = *collective->step;
            if (!step.senders) {
                const topology::AxisFactor& factor =
                    members.group[static_cast<std::size_t>(step.factor)];
                sums[static_cast<std::size_t>(factor.axis)].add(
                    step_links(slice, factor, step.direction), step.bytes);
            }
            continue;
        }
        const AlgorithmLinks& links = known.links(collective->operation, slice, members);
        for (std::size_t axis = 0; axis < sums.size(); ++axis) {
            sums[axis].add(links.up[axis], collective->bytes);
        }
    }
    double most = 0;
    for (const AxisSums& axis : sums) {
        most = std::max(most, axis.most());
    }
    return sim::Bytes(most) / link;
}

}  // namespace podsim::scenarios
