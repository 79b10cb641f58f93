#include "scenarios/src/simulate/run_memory.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "scenarios/src/base/format.h"
#include "scenarios/src/base/memory_limit.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

constexpr double kBytesOfTransfer = 170;
constexpr double kBytesOfHop = 16;
constexpr double kBytesOfSuccessor = 30;
/// Bytes of a dependency of an operation: in the program, in its task and, from the other end, in
/// the executor.
constexpr double kBytesOfDependency = 16;
/// Bytes of a task at each of its places.
constexpr double kBytesOfTaskAtPlace = 16;
/// Bytes of a task that has ended, kept while a stretch of layers may be found to repeat.
constexpr double kBytesOfEndedTask = 24;
constexpr std::size_t kLayersRemembered = 5;
constexpr double kBytesOfLink = 560;
/// Bytes of every place in each schedule and each placement.
constexpr double kBytesOfRole = 8;
/// Bytes of every place in an operation that is under way, beside its counters.
constexpr double kBytesOfPlace = 16;
/// At most the operations of this many layers are under way at once.
constexpr std::size_t kLayersUnderWay = 6;
/// Copies of the operations under way: the operations themselves, and their state at each
/// remembered layer, which is compared.
constexpr double kTimesUnderWay = 1 + kLayersRemembered;
/// A message of one hop leaves a counter; those of several hops may all wait at links on their
/// route.
constexpr double kBytesOfSentMessage = 3;
constexpr double kBytesOfRoutedMessage = 16;
/// A message that crosses one link is a holding and an arrival, in arrays that exist twice while
/// they grow.
constexpr double kBytesOfRecordedEvent = 140;

double count(std::size_t number) {
    return static_cast<double>(number);
}

/// Returns the largest sum of `of_task` over this many consecutive layers.
double most_of_layers(const sim::TaskGraph& graph, std::size_t layers,
                      const std::vector<double>& of_task) {
    std::vector<double> until{0};  // the beginning of each layer, and the end
    double sum = 0;
    auto mark = graph.marks.begin();
    for (std::size_t task = 0; task < graph.tasks.size(); ++task) {
        if (mark != graph.marks.end() && *mark == task) {
            until.push_back(sum);
            ++mark;
        }
        sum += of_task[task];
    }
    until.push_back(sum);
    double most = 0;
    for (std::size_t i = 0; i + 1 < until.size(); ++i) {
        most = std::max(most, until[std::min(i + layers, until.size() - 1)] - until[i]);
    }
    return most;
}

/// Memory of the tasks that have ended, at a place, until the oldest of their layers is forgotten;
/// zero if nothing repeats.
double memory_of_ended(const sim::TaskGraph& graph) {
    return graph.marks.empty()
               ? 0
               : kBytesOfEndedTask * most_of_layers(graph, kLayersRemembered,
                                                    std::vector<double>(graph.tasks.size(), 1));
}

/// Memory of an operation that is under way: its counters of transfers with several predecessors,
/// of one byte or four.
double memory_of_operation(const sim::Schedule& schedule) {
    constexpr std::uint32_t kMostNarrow = 256;
    std::vector<double> of_role;
    of_role.reserve(schedule.roles.size());
    for (const sim::Role& role : schedule.roles) {
        double& bytes = of_role.emplace_back(kBytesOfPlace);
        for (std::uint32_t i = 0; i < role.transfer_count; ++i) {
            const std::uint32_t needs = schedule.transfers[role.first_transfer + i].needs;
            bytes += needs <= 2 ? 0 : needs <= kMostNarrow ? 1 : 4;
        }
    }
    double bytes = 0;
    for (const std::uint32_t role : schedule.role_of_place) {
        bytes += role == sim::kAbsent ? 0 : of_role[role];
    }
    return bytes;
}

/// Memory of the operations that are under way at once. Operations that graphs share count with the
/// first graph.
double memory_under_way(const sim::Workload& workload) {
    std::vector<double> of_schedule;
    of_schedule.reserve(workload.schedules.size());
    for (const sim::Schedule& schedule : workload.schedules) {
        of_schedule.push_back(memory_of_operation(schedule));
    }
    std::vector<bool> seen(workload.operations.size());
    double bytes = 0;
    for (const sim::TaskGraph& graph : workload.graphs) {
        std::vector<double> of_task(graph.tasks.size());
        for (std::size_t task = 0; task < graph.tasks.size(); ++task) {
            const std::uint32_t operation = graph.tasks[task].operation;
            if (operation != sim::kNoOperation && !seen[operation]) {
                seen[operation] = true;
                of_task[task] = of_schedule[workload.operations[operation].schedule];
            }
        }
        bytes += most_of_layers(graph, kLayersUnderWay, of_task) *
                 (graph.marks.empty() ? 1 : kTimesUnderWay);
    }
    return bytes;
}

/// Memory of the dependencies of a graph's tasks.
double memory_of_dependencies(const sim::TaskGraph& graph) {
    std::size_t dependencies = 0;
    for (const sim::Task& task : graph.tasks) {
        dependencies += task.after.size();
    }
    return kBytesOfDependency * count(dependencies);
}

/// Memory of the messages that all places send.
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

/// Returns the remedy for the largest kind of memory of a run.
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
        memory.operations +=
            kBytesOfOperation * count(graph.tasks.size()) + memory_of_dependencies(graph);
    }
    double of_largest = 0;
    for (const sim::Schedule& schedule : workload.schedules) {
        memory.messages += memory_of_schedule(schedule);
        of_largest = std::max(of_largest, memory_of_messages(schedule));
    }
    std::vector<double> of_place;
    of_place.reserve(workload.graphs.size());
    for (const sim::TaskGraph& graph : workload.graphs) {
        of_place.push_back(kBytesOfTaskAtPlace * count(graph.tasks.size()) +
                           memory_of_ended(graph));
    }
    for (const std::uint32_t graph : workload.graph_of_place) {
        memory.places += of_place[graph];
    }
    memory.places += of_largest + memory_under_way(workload) +
                     kBytesOfLink * count(workload.machine.links.size());
    memory.places += kBytesOfRole * count(workload.machine.places) *
                     count(workload.schedules.size() + workload.placements.size());
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
        throw BeyondMemory(
            sim::InputError(fmt::format("podsim may take {} of memory, and takes {} for any run",
                                        format_bytes(sim::Bytes(limit)),
                                        format_bytes(sim::Bytes(kBytesOfProcess))),
                            "give more with --memory, or raise the shell's limit (ulimit -v)"),
            memory.bytes());
    }
    throw BeyondMemory(
        sim::InputError(
            fmt::format(
                "the run takes up to {} of memory: {} for operations, {} for messages, {} for "
                "what every simulated chip has; podsim may take {}",
                format_bytes(sim::Bytes(memory.bytes())),
                format_bytes(sim::Bytes(memory.operations)),
                format_bytes(sim::Bytes(memory.messages)), format_bytes(sim::Bytes(memory.places)),
                format_bytes(sim::Bytes(limit))),
            fmt::format("{}, or give more with --memory", remedy(memory, fold))),
        memory.bytes());
}

}  // namespace podsim::scenarios
