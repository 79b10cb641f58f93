#include "scenarios/src/simulate/step_schedules.h"

#include <algorithm>
#include <fmt/format.h>

#include "collectives/algorithms/host_transfer.h"
#include "collectives/algorithms/messages.h"
#include "collectives/algorithms/ring_step_schedule.h"
#include "collectives/catalogue/build_schedule.h"
#include "scenarios/src/simulate/lower_collective.h"
#include "workloads/bounds/ici_traffic.h"

namespace podsim::scenarios {
namespace {

constexpr std::size_t kMostMessages = 20'000'000;

/// Returns a schedule with nothing to send and nothing to wait for, anywhere.
sim::Schedule no_messages(const collectives::ShiftTable& shifts) {
    sim::Schedule schedule;
    schedule.roles.emplace_back();
    schedule.role_of_place.assign(static_cast<std::size_t>(shifts.places().size()), 0);
    return schedule;
}

/// Layers have the same few, which a linear search finds sooner than a lookup by key.
constexpr std::size_t kMostSeen = 24;

/// Returns the properties that distinguish schedules, whatever their purpose.
std::tuple<collectives::Operation, double, const std::vector<std::string>&,
           const std::optional<collectives::RingStep>&, const std::vector<double>&, bool, int>
key_of(const workloads::Collective& one) {
    return {one.operation, one.step ? 0 : one.bytes.value(),
            one.axes,      one.step,
            one.loads,     one.returning,
            one.shift};
}

}  // namespace

collectives::Members members_of(const workloads::Collective& collective,
                                const topology::DeviceMesh& mesh) {
    return {mesh.group(collective.axes), mesh.across(collective.axes)};
}

AtOperation StepSchedules::too_large(const workloads::Op& op) const {
    return {sim::InputError(
                fmt::format("the collectives of this step, up to '{}', would be cut into more than "
                            "20 million messages of at most {:.4g} bytes",
                            op.name, hardware_.message_cap.value()),
                "use a larger hardware.message_cap, a smaller batch or a smaller model"),
            op.name, true};
}

template <class Build>
void StepSchedules::add(const workloads::Op& op, Build build) {
    tell(watch_, Phase::building);
    try {
        schedules_.push_back(build());
    } catch (const collectives::TooManyMessages&) {
        throw too_large(op);
    } catch (const sim::InputError& error) {
        throw AtOperation(
            sim::InputError(fmt::format("'{}': {}", op.name, error.problem()), error.remedy()),
            op.name, false);
    }
    algorithms_.resize(schedules_.size(), collectives::Algorithm::automatic);
    messages_ += schedules_.back().transfers.size();
    if (messages_ > kMostMessages) {
        throw too_large(op);
    }
    memory_.messages += memory_of_schedule(schedules_.back());
    refuse_beyond_memory(memory_, fold_);
}

std::uint32_t StepSchedules::of_collective(const workloads::Op& op) {
    const auto& collective = std::get<workloads::Collective>(op.work);
    const auto key = key_of(collective);
    const auto seen = std::ranges::find_if(
        first_seen_, [&](const auto& one) { return key_of(*one.first) == key; });
    if (seen != first_seen_.end()) {
        return seen->second;
    }
    const auto [entry, added] = collectives_.try_emplace(CollectiveKey(key), next());
    if (added) {
        add(op, [&] { return build(collective); });
    }
    if (first_seen_.size() < kMostSeen) {
        first_seen_.emplace_back(&collective, entry->second);
    }
    return entry->second;
}

std::uint32_t StepSchedules::of_host_transfer(const workloads::Op& op) {
    const auto& transfer = std::get<workloads::HostTransfer>(op.work);
    const auto [entry, added] =
        host_transfers_.try_emplace({transfer.direction, transfer.bytes.value()}, next());
    if (added) {
        add(op, [&] {
            return transfer.bytes.value() == 0
                       ? no_messages(shifts_)
                       : collectives::build_host_transfer(transfer.direction, transfer.bytes,
                                                          options_.message_cap, shifts_);
        });
    }
    return entry->second;
}

std::uint32_t StepSchedules::of_handover(const workloads::Op& op, const std::string& axis, int from,
                                         int to) {
    const auto& handover = std::get<workloads::Handover>(op.work);
    const topology::DeviceMesh::Displacement way = mesh_.between(axis, from, to);
    const auto [entry, added] =
        handovers_.try_emplace({way.chips, way.slices, handover.bytes.value()}, next());
    if (added) {
        const topology::SliceFactor across = mesh_.across({axis});
        add(op, [&] {
            return collectives::build_handover(hardware_.slice,
                                               {way.chips, across, way.slices / across.stride},
                                               handover.bytes, options_, shifts_)
                .schedule;
        });
    }
    return entry->second;
}

std::shared_ptr<const sim::Schedule> StepSchedules::build(const workloads::Collective& collective) {
    const sim::Bytes bytes = collective.step ? collective.step->bytes : collective.bytes;
    if (bytes.value() == 0) {
        return std::make_shared<const sim::Schedule>(no_messages(shifts_));
    }
    StageCollective lone{.operation = collective.operation,
                         .members = members_of(collective, mesh_),
                         .ends = {.shift = collective.shift},
                         .bytes = bytes};
    if (collective.step) {
        return build_step(collective, lone);
    }
    std::optional<Lone> alone;  // its run for the choice of the algorithm
    const auto pick = [&] {
        Picked picked = pick_algorithm(hardware_, lone, watch_);
        alone = std::move(picked.lone);
        return picked.algorithm;
    };
    // Cached choices for other collectives do not apply to a permute by another shift.
    const bool permutes = collective.operation == collectives::Operation::permute;
    lone.algorithm = permutes ? pick() : known_.collectives.algorithm(hardware_, lone, pick);
    algorithms_.resize(schedules_.size() + 1, collectives::Algorithm::automatic);
    algorithms_.back() = lone.algorithm;
    collectives::CollectiveCall call = lone.call(hardware_.slice);
    if (!collective.loads.empty() || permutes) {
        call.ends = workloads::ends_of(collective, hardware_.slice, mesh_);
        return std::make_shared<const sim::Schedule>(
            collectives::build_schedule(call, options_, shifts_).schedule);
    }
    return known_.here.schedule(KnownSchedules::key(lone, std::nullopt), [&] {
        std::optional<sim::Schedule> moved =
            alone ? collectives::on_places_of(shifts_, alone->workload.schedules[0], alone->shifts)
                  : std::nullopt;
        return moved ? *std::move(moved)
                     : collectives::build_schedule(call, options_, shifts_).schedule;
    });
}

std::shared_ptr<const sim::Schedule> StepSchedules::build_step(
    const workloads::Collective& collective, const StageCollective& lone) {
    return known_.here.schedule(KnownSchedules::key(lone, collective.step), [&] {
        const collectives::Motion motion =
            collective.operation == collectives::Operation::reduce_scatter
                ? collectives::Motion::reduce
                : collectives::Motion::gather;
        return collectives::build_ring_step(hardware_.slice, lone.members.group, *collective.step,
                                            motion, options_, shifts_)
            .schedule;
    });
}

bool StepSchedules::use_hosts() const {
    for (const sim::Schedule& schedule : schedules_) {
        if (std::ranges::any_of(schedule.hops, [](const sim::Hop& hop) {
                return hop.port >= collectives::kIciPorts;
            })) {
            return true;
        }
    }
    return false;
}

}  // namespace podsim::scenarios
