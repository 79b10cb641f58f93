#include "scenarios/lower/run_memory.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "scenarios/text/format.h"
#include "scenarios/watch/memory_limit.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

constexpr double kBytesOfTransfer = 170;
constexpr double kBytesOfHop = 16;
constexpr double kBytesOfSuccessor = 30;
/// Of a task at each of its places, with what is remembered of a layer to find it again.
constexpr double kBytesOfTaskAtPlace = 24;
constexpr double kBytesOfLink = 560;
/// Of every place in each schedule and each placement.
constexpr double kBytesOfRole = 8;
/// Of every place in the operations that are under way at once, some eight.
constexpr double kBytesOfPlace = 96;
/// A message of one hop leaves a counter; those of several may all wait at links on their way.
constexpr double kBytesOfSentMessage = 3;
constexpr double kBytesOfRoutedMessage = 16;
/// A message that crosses one link is a holding and an arrival, in arrays that are there twice while they grow.
constexpr double kBytesOfRecordedEvent = 140;

double count(std::size_t number) {
    return static_cast<double>(number);
}

/// Of the messages that all places send.
double memory_of_messages(const sim::Schedule& schedule) {
    std::vector<double> of_role;
    of_role.reserve(schedule.roles.size());
    for (const sim::Role& role : schedule.roles) {
        double& bytes = of_role.emplace_back(0);
        for (std::uint32_t i = 0; i < role.transfer_count; ++i) {
            bytes += schedule.transfers[role.first_transfer + i].hop_count > 1
                         ? kBytesOfRoutedMessage
                         : kBytesOfSentMessage;
        }
    }
    double bytes = 0;
    for (const std::uint32_t role : schedule.role_of_place) {
        bytes += role == sim::kAbsent ? 0 : of_role[role];
    }
    return bytes;
}

/// Of a run whose memory is mostly that.
std::string remedy(const RunMemory& memory, Fold fold) {
    const double most = std::max({memory.operations, memory.messages, memory.places});
    if (fold == Fold::off && memory.operations < most) {
        return "leave out --fold off";
    }
    return memory.messages == most ? "send fewer messages, with a larger hardware.message_cap or "
                                     "fewer bytes"
           : memory.places == most ? "use a smaller slice or fewer layers"
                                   : "use fewer microbatches or layers";
}

}  // namespace

RunMemory memory_of_run(const sim::Workload& workload) {
    RunMemory memory;
    for (const sim::TaskGraph& graph : workload.graphs) {
        memory.operations += kBytesOfOperation * count(graph.tasks.size());
    }
    double of_largest = 0;
    for (const sim::Schedule& schedule : workload.schedules) {
        memory.messages += memory_of_schedule(schedule);
        of_largest = std::max(of_largest, memory_of_messages(schedule));
    }
    for (const std::uint32_t graph : workload.graph_of_place) {
        memory.places += kBytesOfTaskAtPlace * count(workload.graphs[graph].tasks.size());
    }
    memory.places += of_largest + kBytesOfLink * count(workload.machine.links.size());
    memory.places += count(workload.machine.places) *
                     (kBytesOfPlace +
                      kBytesOfRole * count(workload.schedules.size() + workload.placements.size()));
    return memory;
}

double memory_of_schedule(const sim::Schedule& schedule) {
    return kBytesOfTransfer * count(schedule.transfers.size()) +
           kBytesOfHop * count(schedule.hops.size()) +
           kBytesOfSuccessor * count(schedule.successors.size());
}

double memory_of_record(std::uint64_t played_events) {
    return kBytesOfRecordedEvent * static_cast<double>(played_events);
}

void refuse_beyond_memory(const RunMemory& memory, Fold fold) {
    const double limit = memory_limit();
    if (memory.bytes() <= limit) {
        return;
    }
    if (limit < kBytesOfProcess) {
        throw sim::InputError(
            fmt::format("podsim may take {} of memory, and takes {} for any run",
                        format_bytes(sim::Bytes(limit)), format_bytes(sim::Bytes(kBytesOfProcess))),
            "give more with --memory, or raise the shell's limit (ulimit -v)");
    }
    throw sim::InputError(
        fmt::format("the run takes up to {} of memory: {} for operations, {} for messages, {} for "
                    "what every simulated chip has; podsim may take {}",
                    format_bytes(sim::Bytes(memory.bytes())),
                    format_bytes(sim::Bytes(memory.operations)),
                    format_bytes(sim::Bytes(memory.messages)),
                    format_bytes(sim::Bytes(memory.places)), format_bytes(sim::Bytes(limit))),
        fmt::format("{}, or give more with --memory", remedy(memory, fold)));
}

}  // namespace podsim::scenarios
