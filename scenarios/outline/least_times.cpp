#include "scenarios/outline/least_times.h"

#include <algorithm>
#include <cmath>

#include "collectives/catalogue/bounds.h"
#include "collectives/catalogue/choose_algorithm.h"
#include "scenarios/lower/build_machine.h"
#include "workloads/analytic/least_traffic.h"
#include "workloads/analytic/roofline.h"

namespace podsim::scenarios {
namespace {

/// Whole picoseconds that a simulation, which rounds up, cannot undercut; the share is far above what doubles err by.
sim::Time sure_time(sim::Seconds time) {
    constexpr double kSure = 1 - 1e-12;
    return {static_cast<std::int64_t>(std::floor(time.value() * 1e12 * kSure))};
}

}  // namespace

std::uint32_t OperationKinds::of(const workloads::StepPrograms& programs, std::size_t program,
                                 const workloads::Op& op) {
    if (std::holds_alternative<workloads::Compute>(op.work)) {
        return kCompute;
    }
    Kind kind{op.work, program, 0};
    Key key{};
    if (const auto* collective = std::get_if<workloads::Collective>(&op.work)) {
        const bool step = collective->step.has_value();
        key = {step ? 1 : 0,
               static_cast<int>(collective->operation),
               collective->bytes.value(),
               step ? collective->step->bytes.value() : 0,
               collective->axes,
               collective->loads,
               collective->returning,
               collective->loads.empty() ? 0 : program,
               step && collective->step->senders ? 1U : 0U};
    } else if (const auto* handover = std::get_if<workloads::Handover>(&op.work)) {
        kind.peer = programs.peer(program, *handover);
        key = {
            2,        handover->sends ? 1 : 0, handover->bytes.value(), 0, {}, {}, false, program,
            kind.peer};
    } else {
        const auto& transfer = std::get<workloads::HostTransfer>(op.work);
        key = {3, static_cast<int>(transfer.direction), transfer.bytes.value(), 0, {}, {}, false, 0,
               0};
    }
    const auto [entry, added] =
        numbers_.try_emplace(std::move(key), static_cast<std::uint32_t>(kinds_.size()));
    if (added) {
        kinds_.push_back(std::move(kind));
    }
    return entry->second;
}

bool may_go_in_steps(const workloads::Collective& collective) {
    using collectives::Operation;
    return collective.purpose == workloads::Purpose::tensor && !collective.step &&
           (collective.operation == Operation::all_gather ||
            collective.operation == Operation::reduce_scatter);
}

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
      known_(known.of(hardware, link_model(hardware), links_)) {}

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
    return {mesh, lay_out(hardware_, Fold::automatic, members, unlike).folded};
}

/// Whether one member's place stands for all of them when the step is folded.
bool LeastTimes::alike(const collectives::Members& members, const topology::Places& folded) const {
    if (members.across.length > 1 && folded.slices > 1) {
        return false;
    }
    return std::ranges::all_of(members.group, [&](const topology::AxisFactor& factor) {
        const auto place = folded.chips.canonical(topology::along(factor.axis, factor.stride));
        return place && *place == topology::Point{};
    });
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
            times.push_back({of_ring_step(*collective)});
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
    // Members with programs of their own begin when they come to it.
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
    const bool together = alike(members, placement.folded);
    if (collective.step) {
        const bool all_send = !collective.step->senders;
        const sim::Time time = all_send ? of_ring_step(collective) : sim::Time{};
        return together ? LeastTime{time} : LeastTime{{}, time, {}, LeastTime::kNobody};
    }
    if (tensor_ == TensorCollectives::in_steps && may_go_in_steps(collective)) {
        const LeastTime one = of_member(collective, members, Member::best);
        return together ? LeastTime{one.both()}
                        : LeastTime{{}, one.receive, {}, LeastTime::kNobody};
    }
    const bool alone = crowded(members, placement.folded);
    if (together) {
        return {alone ? of_member(collective, members, Member::best).both()
                      : physical(collective, placement.mesh)};
    }
    LeastTime time = of_member(collective, members, Member::best);
    time.all = alone ? of_member(collective, members, Member::worst).both()
                     : physical(collective, placement.mesh);
    const auto found = std::ranges::find(placement.families, members);
    const auto family = static_cast<std::size_t>(found - placement.families.begin());
    if (found == placement.families.end() && family < kMostFamilies) {
        placement.families.push_back(members);
    }
    time.family = family < kMostFamilies ? static_cast<std::uint8_t>(family) : LeastTime::kNobody;
    return time;
}

/// Whether other groups, which do not do the same at the same time, share links with one: those that lie between its members, and between
/// slices those of the host's other chips.
bool LeastTimes::crowded(const collectives::Members& members, const topology::Places& folded) {
    if (members.span_slices() && folded.size() > 1) {
        return true;
    }
    return std::ranges::any_of(members.group, [&](const topology::AxisFactor& factor) {
        const auto next = folded.chips.canonical(topology::along(factor.axis, 1));
        return factor.stride > 1 && (!next || *next != topology::Point{});
    });
}

LeastTime LeastTimes::of_member(const workloads::Collective& collective,
                                const collectives::Members& members, Member member) const {
    sim::BytesPerSecond rate{};
    for (const topology::AxisFactor& factor : members.group) {
        const int length = hardware_.slice.length(factor.axis);
        const bool ring =
            hardware_.slice.wraps(factor.axis) && factor.stride * factor.length == length;
        const bool both_ways = ring || (member == Member::best && factor.length > 2);
        rate += link_ * (both_ways ? 2 : 1);
    }
    if (members.span_slices()) {
        rate += links_.pcie;
    }
    const double n = members.size();
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

sim::Time LeastTimes::of_ring_step(const workloads::Collective& collective) const {
    const sim::Seconds moving = collective.step->bytes / link_;
    const sim::Seconds hop = hardware_.chip.ici_latency.value;
    return durations_.launch() + sure_time(hardware_.latency == LatencyRule::additive
                                               ? moving + hop
                                               : std::max(moving, hop));
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
