#include "scenarios/src/simulate/known_collectives.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "scenarios/src/simulate/build_machine.h"

namespace podsim::scenarios {
namespace {

/// Folded steps simulate a few places. Beyond this number, tables of displacements take longer to
/// build than schedules.
constexpr int kMostPlaces = 64;
/// About 75 MB per thread, with the cached mirror images, and at most as much of tables. Beyond it
/// the cache is cleared and filled again.
constexpr std::size_t kMostKept = 250'000;
constexpr std::size_t kMostAlgorithms = 100'000;

}  // namespace

KnownSchedules::Key KnownSchedules::key(const StageCollective& collective,
                                        const std::optional<collectives::RingStep>& step) {
    std::vector<std::array<int, 3>> group;
    for (const topology::AxisFactor& factor : collective.members.group) {
        group.push_back({factor.axis, factor.stride, factor.length});
    }
    return {collective.operation,
            std::move(group),
            collective.members.across.stride,
            collective.members.across.length,
            collective.bytes.value(),
            step,
            collective.algorithm};
}

std::shared_ptr<const sim::Schedule> KnownSchedules::schedule(
    const Key& key, const std::function<sim::Schedule()>& build) {
    if (const auto found = schedules_.find(key); found != schedules_.end()) {
        return found->second;
    }
    auto built = std::make_shared<const sim::Schedule>(build());
    schedules_.emplace(key, built);
    images_.keep(built);
    messages_ += built->transfers.size();
    return built;
}

std::array<int, 16> KnownCollectives::shape_of(const topology::Places& places) {
    std::array<int, 16> shape{places.slices};
    auto at = shape.begin() + 1;
    for (std::size_t axis = 0; axis < topology::kAxes; ++axis) {
        *at++ = places.chips.lengths[axis];
        *at++ = places.chips.wrapped[axis] ? 1 : 0;
        at = std::ranges::copy(places.chips.wrap_shift[axis], at).out;
    }
    return shape;
}

KnownCollectives::Links KnownCollectives::links_of(const AchievedHardware& hardware) {
    const collectives::LinkModel link = link_model(hardware);
    return {{link.rate.value(), link.latency.value()},
            link.rule,
            hardware.message_cap.value(),
            shape_of(topology::Places(hardware.slice, hardware.slices))};
}

collectives::Algorithm KnownCollectives::algorithm(
    const AchievedHardware& hardware, const StageCollective& collective,
    const std::function<collectives::Algorithm()>& pick) {
    if (!hardware.perturbations.empty() || collective.members.span_slices()) {
        return pick();
    }
    if (algorithms_.size() > kMostAlgorithms) {
        algorithms_.clear();
    }
    std::tuple known(links_of(hardware), KnownSchedules::key(collective, std::nullopt));
    if (const auto found = algorithms_.find(known); found != algorithms_.end()) {
        return found->second;
    }
    const collectives::Algorithm picked = pick();
    algorithms_.emplace(std::move(known), picked);
    return picked;
}

KnownSchedules& KnownCollectives::on(const AchievedHardware& hardware, const Layout& layout) {
    if (!hardware.perturbations.empty() || layout.places.size() > kMostPlaces) {
        return of_one_step_.emplace(layout);
    }
    if (messages() > kMostKept) {
        kept_.clear();
    }
    Where where(links_of(hardware), shape_of(layout.places),
                {layout.host_box[0], layout.host_box[1], layout.host_box[2]});
    return kept_.try_emplace(std::move(where), layout).first->second;
}

std::size_t KnownCollectives::messages() const {
    return std::accumulate(
        kept_.begin(), kept_.end(), std::size_t{0},
        [](std::size_t sum, const auto& each) { return sum + each.second.messages(); });
}

}  // namespace podsim::scenarios
