#include "sim/memory/at_risk.h"

#include <algorithm>
#include <functional>
#include <map>

namespace podsim::sim {
namespace {

/// What the messages on links ask of a place's memory at most, bytes a second: all its links in use, both ways.
double most_of_links(const Workload& workload) {
    const Machine& machine = workload.machine;
    std::vector<int> reads(machine.ports);
    std::vector<int> writes(machine.ports);
    for (const Schedule& schedule : workload.schedules) {
        for (const Transfer& transfer : schedule.transfers) {
            if (transfer.hop_count > 0) {
                int& read = reads[schedule.hops[transfer.first_hop].port];
                read = std::max<int>(read, transfer.reads * transfer.copies);
                int& write =
                    writes[schedule.hops[transfer.first_hop + transfer.hop_count - 1].port];
                write = std::max<int>(write, transfer.writes * transfer.copies);
            }
        }
    }
    double sum = 0;
    for (std::size_t port = 0; port < machine.ports; ++port) {
        const int passes = reads[port] + writes[port];
        double fastest = 0;
        for (std::size_t place = 0; passes > 0 && place < machine.places; ++place) {
            fastest = std::max(fastest, machine.links[machine.link(place, port)].rate.value());
        }
        sum += passes > 0 ? fastest * passes : 0;
    }
    return sum;
}

/// What the work of a place asks for at most: the largest demand on each of its resources.
std::int64_t most_of_work(const TaskGraph& graph) {
    std::map<std::uint32_t, std::int64_t> largest;
    for (const Task& task : graph.tasks) {
        if (task.operation == kNoOperation) {
            std::int64_t& demand = largest[task.resource];
            demand = std::max(demand, task.demand);
        }
    }
    std::int64_t sum = 0;
    for (const auto& [resource, demand] : largest) {
        sum += demand;
    }
    return sum;
}

/// Whether the demands can exceed the memory of places of that graph.
bool is_at_risk(const Workload& workload, const TaskGraph& graph, double links) {
    // Operations with links of their own are any number at a time.
    return links + static_cast<double>(most_of_work(graph)) >
               static_cast<double>(workload.machine.memory_rate) ||
           workload.machine.isolated_operations;
}

}  // namespace

std::vector<bool> graphs_at_risk(const Workload& workload) {
    if (workload.machine.memory_rate == 0) {
        return {};
    }
    const double links = most_of_links(workload);
    std::vector<bool> at_risk;
    for (const TaskGraph& graph : workload.graphs) {
        at_risk.push_back(is_at_risk(workload, graph, links));
    }
    return std::ranges::any_of(at_risk, std::identity()) ? at_risk : std::vector<bool>();
}

}  // namespace podsim::sim
