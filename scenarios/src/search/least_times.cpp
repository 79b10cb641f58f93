#include "scenarios/src/search/least_times.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "collectives/catalogue/bounds.h"
#include "collectives/catalogue/choose_algorithm.h"
#include "scenarios/src/search/mirrored_step.h"
#include "scenarios/src/simulate/build_machine.h"
#include "workloads/bounds/ici_traffic.h"
#include "workloads/bounds/least_traffic.h"

namespace podsim::scenarios {
namespace {

/// Returns whole picoseconds that a simulation, which rounds up, cannot undercut. The fraction is
/// far above the error of doubles.
sim::Time sure_time(sim::Seconds time) {
    constexpr double kSure = 1 - 1e-12;
    return {static_cast<std::int64_t>(std::floor(time.value() * 1e12 * kSure))};
}

/// Returns the factor along which a ring step goes.
const topology::AxisFactor& stepped(const workloads::Collective& collective,
                                    const collectives::Members& members) {
    return members.group[static_cast<std::size_t>(collective.step->factor)];
}

/// Returns LikeChips::Beside::lines of one of a group's factors.
int lines_beside(const topology::AxisFactor& factor, const collectives::Members& members,
                 const LikeChips& like) {
    for (const auto& factors : by_axis(members.group)) {
        const auto found = std::ranges::find(factors, factor);
        if (found != factors.end()) {
            return like.beside(factors).lines[static_cast<std::size_t>(found - factors.begin())];
        }
    }
    return 1;
}

}  // namespace

LeastTimes::LeastTimes(const AchievedHardware& hardware, TensorCollectives tensor,
                       KnownBounds& known)
    : hardware_(hardware),
      durations_(hardware),
      links_(slice_links(hardware)),
      link_(hardware.chip.ici_one_way(hardware.ici_rates)),
      detours_(std::ranges::any_of(
          hardware.perturbations,
          [](const Perturbation& one) { return one.kind == Perturbation::Kind::dead_link; })),
      tensor_(tensor),
      known_(known.of(hardware, link_model(hardware), links_)),
      known_collectives_(known.collectives()) {}

LeastTimes::Placement LeastTimes::placement(const OperationKinds& kinds,
                                            const workloads::StepPrograms& programs,
                                            const PlacedMesh& mesh) const {
    std::vector<collectives::Members> members;
    for (const OperationKinds::Kind& kind : kinds.all()) {
        if (const auto* collective = std::get_if<workloads::Collective>(&kind.work)) {
            const collectives::Members& one = mesh.members(collective->axes);
            if (std::ranges::find(members, one) == members.end()) {
                members.push_back(one);
            }
        }
    }
    const collectives::Members unlike =
        programs.programs.size() > 1 ? mesh.members(programs.axes) : collectives::Members{};
    return {mesh, known_.like(
                      hardware_.slice, lay_out(hardware_, Fold::automatic, members, unlike).folded,
                      is_mirrored(kinds, programs, mesh, hardware_, tensor_, known_collectives_))};
}

std::vector<LeastTime> LeastTimes::of(const OperationKinds& kinds,
                                      const workloads::StepPrograms& programs,
                                      const PlacedMesh& mesh) {
    Placement placed = placement(kinds, programs, mesh);
    std::vector<LeastTime> times;
    times.reserve(kinds.all().size());
    for (const OperationKinds::Kind& kind : kinds.all()) {
        const auto* collective = std::get_if<workloads::Collective>(&kind.work);
        times.push_back(collective != nullptr ? of(*collective, programs, placed)
                                              : LeastTime{of_others(kind, programs, mesh.mesh())});
    }
    return times;
}

sim::Time LeastTimes::of_others(const OperationKinds::Kind& kind,
                                const workloads::StepPrograms& programs,
                                const topology::DeviceMesh& mesh) const {
    if (const auto* handover = std::get_if<workloads::Handover>(&kind.work)) {
        return of(*handover, workloads::way_of(*handover, kind.program, programs, mesh));
    }
    return sure_time(std::get<workloads::HostTransfer>(kind.work).bytes / links_.pcie);
}

std::vector<LeastTime> LeastTimes::likely(const OperationKinds& kinds,
                                          const workloads::StepPrograms& programs,
                                          const PlacedMesh& mesh) {
    std::vector<LeastTime> times;
    times.reserve(kinds.all().size());
    for (const OperationKinds::Kind& kind : kinds.all()) {
        const auto* collective = std::get_if<workloads::Collective>(&kind.work);
        if (collective == nullptr) {
            times.push_back({of_others(kind, programs, mesh.mesh())});
        } else if (collective->step) {
            const collectives::Members& members = mesh.members(collective->axes);
            times.push_back(
                {of_ring_step(*collective, members, stepped(*collective, members).stride)});
        } else if (mesh.members(collective->axes).size() > 1 && collective->bytes.value() > 0) {
            times.push_back({physical(*collective, mesh)});
        } else {
            times.push_back({});
        }
    }
    return times;
}

LeastTime LeastTimes::of(const workloads::Collective& collective,
                         const workloads::StepPrograms& programs, Placement& placement) {
    // Members with programs of their own begin it when they reach it.
    const bool shared =
        programs.members() > 1 && std::ranges::any_of(programs.axes, [&](const std::string& axis) {
            return std::ranges::count(collective.axes, axis) > 0;
        });
    const collectives::Members& members = placement.mesh.members(collective.axes);
    const bool moves = collective.step ? collective.step->bytes.value() > 0
                                       : collective.bytes.value() > 0 && members.size() > 1;
    if (shared || detours_ || !moves) {
        return {};
    }
    const bool together = placement.like.alike(members);
    if (collective.step) {
        if (collective.step->senders) {
            return {};
        }
        return together
                   ? LeastTime{of_ring_step(
                         collective, members,
                         lines_beside(stepped(collective, members), members, placement.like))}
                   : LeastTime{{}, of_ring_step(collective, members, 1), {}, LeastTime::kNobody};
    }
    if (tensor_ == TensorCollectives::in_steps && may_go_in_steps(collective)) {
        const LeastTime one = of_member(collective, members.size(), best_rate(members));
        return together ? LeastTime{one.both()}
                        : LeastTime{{}, one.receive, {}, LeastTime::kNobody};
    }
    const sim::Time all = placement.like.crowded(members)
                              ? crowded(collective, members, placement.like)
                              : physical(collective, placement.mesh);
    if (together) {
        return {all};
    }
    LeastTime time = of_member(collective, members.size(), best_rate(members));
    time.all = all;
    sim::Time& moved =
        collective.operation == collectives::Operation::all_gather ? time.receive : time.send;
    moved = std::max(moved, of_member_by_algorithm(collective, members));
    const auto found = std::ranges::find(placement.families, members);
    const auto family = static_cast<std::size_t>(found - placement.families.begin());
    if (found == placement.families.end() && family < kMostFamilies) {
        placement.families.push_back(members);
    }
    time.family = family < kMostFamilies ? static_cast<std::uint8_t>(family) : LeastTime::kNobody;
    return time;
}

sim::Time LeastTimes::crowded(const workloads::Collective& collective,
                              const collectives::Members& members, const LikeChips& like) const {
    const bool routed = collective.operation == collectives::Operation::all_to_all;
    return std::max({of_member(collective, members.size(), mean_rate(members, like, routed)).both(),
                     of_member(collective, members.size(), end_rate(members, like)).both(),
                     crowded_by_algorithm(collective, members, like)});
}

/// `blocks_of`: by factor, how many blocks (AlgorithmLinks::held) one link must carry.
template <class BlocksOf>
sim::Time LeastTimes::by_algorithm(const workloads::Collective& collective,
                                   const collectives::Members& members, BlocksOf blocks_of) const {
    if (members.span_slices()) {
        return {};
    }
    const AlgorithmLinks& links = known_.links(collective.operation, hardware_.slice, members);
    if (links.held.empty()) {
        return {};
    }
    double least = std::numeric_limits<double>::max();
    for (const std::vector<double>& held : links.held) {
        double most = 0;
        for (std::size_t f = 0; f < held.size(); ++f) {
            most = std::max(most, held[f] * blocks_of(f));
        }
        least = std::min(least, most);
    }
    return durations_.launch() + sure_time(collective.bytes * least / link_);
}

sim::Time LeastTimes::crowded_by_algorithm(const workloads::Collective& collective,
                                           const collectives::Members& members,
                                           const LikeChips& like) const {
    std::vector<double> blocks;
    for (const auto& factors : by_axis(members.group)) {
        const std::vector<int> lines = like.beside(factors).lines;
        for (std::size_t f = 0; f < factors.size(); ++f) {
            blocks.push_back(lines[f] * (factors[f].length - 1) /
                             (is_ring(factors[f]) ? 2.0 : 1.0));
        }
    }
    return by_algorithm(collective, members, [&](std::size_t f) { return blocks[f]; });
}

sim::Time LeastTimes::of_member_by_algorithm(const workloads::Collective& collective,
                                             const collectives::Members& members) const {
    return by_algorithm(collective, members, [&](std::size_t f) {
        const topology::AxisFactor& factor = members.group[f];
        return (factor.length - 1) / (is_ring(factor) || factor.length > 2 ? 2.0 : 1.0);
    });
}

bool LeastTimes::is_ring(const topology::AxisFactor& factor) const {
    return hardware_.slice.wraps(factor.axis) &&
           factor.stride * factor.length == hardware_.slice.length(factor.axis);
}

sim::BytesPerSecond LeastTimes::best_rate(const collectives::Members& members) const {
    sim::BytesPerSecond rate = members.span_slices() ? links_.pcie : sim::BytesPerSecond{};
    for (const auto& factors : by_axis(members.group)) {
        double links = 0;
        for (const topology::AxisFactor& factor : factors) {
            links += is_ring(factor) || factor.length > 2 ? 2 : 1;
        }
        rate += link_ * std::min(links, 2.0);
    }
    return rate;
}

sim::BytesPerSecond LeastTimes::mean_rate(const collectives::Members& members,
                                          const LikeChips& like, bool routed) const {
    sim::BytesPerSecond rate = members.span_slices() ? links_.pcie : sim::BytesPerSecond{};
    for (const auto& factors : by_axis(members.group)) {
        // Bytes also come from the other pair of `x%2 x/4`, if messages go straight to their
        // destination.
        const bool from_both = routed && factors.size() > 1;
        const double covered = like.beside(factors).covered;
        double left = 2;  // of the links of a chip
        double used = 0;
        for (const topology::AxisFactor& factor : factors) {  // the nearest cost the least
            const double most = from_both || is_ring(factor) || factor.length > 2 ? 2 : 1;
            const double share = covered * factor.stride;
            const double over = std::min({most, left / share, 2 - used});
            left -= over * share;
            used += over;
        }
        rate += link_ * used;
    }
    return rate;
}

sim::BytesPerSecond LeastTimes::end_rate(const collectives::Members& members,
                                         const LikeChips& like) const {
    sim::BytesPerSecond rate = members.span_slices() ? links_.pcie : sim::BytesPerSecond{};
    for (const auto& factors : by_axis(members.group)) {
        double links = 0;
        for (const topology::AxisFactor& factor : factors) {
            const double shared = factors.size() > 1 ? 1 : like.beside(factors).in_run;
            links += is_ring(factor) ? 2 / shared : 1 / shared;
        }
        rate += link_ * std::min(links, 2.0);
    }
    return rate;
}

LeastTime LeastTimes::of_member(const workloads::Collective& collective, int members,
                                sim::BytesPerSecond rate) const {
    const double n = members;
    const auto over = [&](double share) {
        return durations_.launch() + sure_time(collective.bytes * share / rate);
    };
    using collectives::Operation;
    switch (collective.operation) {
        case Operation::all_gather:
            return {{}, over((n - 1) / n), durations_.launch()};
        case Operation::reduce_scatter:
            return {{}, over(1 / n), over((n - 1) / n)};
        case Operation::all_reduce:
            return {{}, over(1), over(1)};
        case Operation::all_to_all:
            return {{}, over((n - 1) / (n * n)), over((n - 1) / (n * n))};
        default:
            return {};
    }
}

/// The blocks of all lines that begin together pass one link, the last to the chip behind it. Each
/// block goes over all links of the stride.
sim::Time LeastTimes::of_ring_step(const workloads::Collective& collective,
                                   const collectives::Members& members, int lines) const {
    const collectives::RingStep& step = *collective.step;
    const sim::Bytes one_way = step.direction == 0 ? step.bytes / 2 : step.bytes;
    const sim::Seconds hop = hardware_.chip.ici_latency.value;
    const auto over = [&](sim::Bytes bytes, int hops) {
        const sim::Seconds moving = bytes / link_;
        return hardware_.latency == LatencyRule::additive ? moving + hop * static_cast<double>(hops)
                                                          : std::max(moving, hop);
    };
    return durations_.launch() +
           sure_time(std::max(over(one_way * static_cast<double>(lines), 1),
                              over(one_way, stepped(collective, members).stride)));
}

sim::Time LeastTimes::physical(const workloads::Collective& collective, const PlacedMesh& mesh) {
    const collectives::Members& members = mesh.members(collective.axes);
    return durations_.launch() + known_.of(collective.operation, members, collective.bytes, [&] {
        const collectives::CollectiveCall call{
            .operation = collective.operation,
            .slice = hardware_.slice,
            .members = members,
            .bytes = collective.bytes,
            .ends = workloads::ends_of(collective, hardware_.slice, mesh.mesh())};
        return members.span_slices() ? sure_time(collectives::physical_bound(call, link_, links_))
                                     : collectives::lower_bound_of_any(call, link_model(hardware_));
    });
}

sim::Time LeastTimes::of(const workloads::Handover& handover,
                         const topology::DeviceMesh::Displacement& way) const {
    const sim::Seconds time =
        way.slices != 0
            ? handover.bytes / links_.pcie
            : handover.bytes /
                  (link_ * collectives::handover_links(hardware_.slice, way.chips).routes);
    return sure_time(time);
}

}  // namespace podsim::scenarios
