#include "scenarios/timeline/link_tracks.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "collectives/paths/ports.h"
#include "scenarios/spec/training_step.h"

namespace podsim::scenarios {
namespace {

std::string port_name(std::size_t port, const topology::DeviceMesh& mesh) {
    switch (port) {
        case collectives::kPcieToHost:
            return "PCIe to host";
        case collectives::kPcieToChip:
            return "PCIe from host";
        case collectives::kDcnOut:
            return "DCN out";
        case collectives::kDcnIn:
            return "DCN in";
        default:
            break;
    }
    const auto ici = static_cast<std::uint32_t>(port);
    return fmt::format("ICI {}{}", topology::direction_of(ici) > 0 ? '+' : '-',
                       mesh.axis_name(topology::axis_of(ici)));
}

/// The chip that stands for the host of a chip: the host's links are its.
int head_of_host(const Layout& layout, int chip) {
    topology::Point point = layout.folded.point(chip);
    for (std::size_t axis = 0; axis < point.size(); ++axis) {
        point[axis] -= point[axis] % layout.host_box[axis];
    }
    return layout.folded.index(point, layout.folded.slice_of(chip));
}

/// [operation of the kernel]: a program that takes part in it, that of the chip if it does, and its operation.
std::vector<std::pair<std::size_t, workloads::OpIndex>> users_of(const ChipView& view) {
    const sim::Workload& workload = view.trail.step.workload;
    std::vector<std::pair<std::size_t, workloads::OpIndex>> users(workload.operations.size());
    const auto add = [&](std::size_t program) {
        const std::vector<sim::Task>& tasks = workload.graphs[program].tasks;
        for (std::size_t task = 0; task < tasks.size(); ++task) {
            if (tasks[task].operation != sim::kNoOperation) {
                users[tasks[task].operation] = {program, static_cast<workloads::OpIndex>(task)};
            }
        }
    };
    for (std::size_t program = 0; program < workload.graphs.size(); ++program) {
        add(program);
    }
    add(view.number);
    return users;
}

Slice message(const ChipView& view, const workloads::Op& op, const sim::Holding& holding) {
    const sim::Workload& workload = view.trail.step.workload;
    const sim::Schedule& schedule =
        workload.schedules[workload.operations[holding.operation.index()].schedule];
    return {.name = short_name(op),
            .category = std::string(category_of(op)),
            .start = holding.start,
            .end = holding.end,
            .arguments = {{"op", op.name},
                          {"bytes", schedule.transfers[holding.transfer].bytes.value()},
                          {"hop", std::int64_t{holding.hop}}}};
}

}  // namespace

std::vector<ChipLink> links_of(const ChipView& view) {
    const sim::Machine& machine = view.trail.step.workload.machine;
    std::vector<ChipLink> links;
    const Layout& layout = view.trail.step.layout;
    const int chip = view.chip.representative;
    const int host = head_of_host(layout, chip);
    for (std::size_t port = 0; port < machine.ports; ++port) {
        const bool of_host = port == collectives::kDcnOut || port == collectives::kDcnIn;
        const std::size_t server = layout.link_of(of_host ? host : chip, port, machine.ports);
        if (view.trail.run.result.links[server].busy.ps > 0) {
            links.push_back({port_name(port, view.scenario.step().mesh), server});
        }
    }
    return links;
}

void tell_links(const ChipView& view, bool whole, TrackLog& log) {
    std::vector<Interval> stretches;
    if (whole) {
        stretches.push_back({{}, sim::Time::max()});
    } else {
        for (const SteadyWindow& window : view.windows) {
            stretches.push_back({window.from, window.until});
        }
    }
    const auto users = users_of(view);
    for (const ChipLink& link : links_of(view)) {
        log.track(TrackKind::link, link.name);
        for (const Interval& stretch : stretches) {
            for (const sim::Holding& holding :
                 view.trail.record->held_between(link.server, stretch.from, stretch.until)) {
                const auto& [program, op] = users[holding.operation.index()];
                log.slice(message(view, view.trail.programs.programs[program].ops[op], holding));
            }
        }
    }
}

void tell_link_use(const ChipView& view, TimelineSink& sink) {
    const sim::Time end = view.trail.run.result.end;
    const std::vector<ChipLink> links = links_of(view);
    if (links.empty() || end.ps == 0) {
        return;
    }
    const std::int64_t width = std::max<std::int64_t>(1, (end.ps + kLinkBins - 1) / kLinkBins);
    const auto bins = static_cast<std::size_t>((end.ps + width - 1) / width);
    Counter counter{.name = "link use (%)"};
    std::vector<std::vector<std::int64_t>> held(links.size(), std::vector<std::int64_t>(bins));
    for (std::size_t link = 0; link < links.size(); ++link) {
        counter.series.push_back(links[link].name);
        for (const Interval& interval : view.trail.record->held(links[link].server)) {
            for (std::int64_t from = interval.from.ps; from < interval.until.ps;) {
                const std::int64_t bin = from / width;
                const std::int64_t until = std::min(interval.until.ps, (bin + 1) * width);
                if (static_cast<std::size_t>(bin) < bins) {
                    held[link][static_cast<std::size_t>(bin)] += until - from;
                }
                from = until;
            }
        }
    }
    sink.counter(counter);
    for (std::size_t bin = 0; bin <= bins; ++bin) {
        const std::int64_t from = std::min(static_cast<std::int64_t>(bin) * width, end.ps);
        const std::int64_t length = std::min(width, end.ps - from);
        Sample sample{.at = {from}};
        for (const std::vector<std::int64_t>& of_link : held) {
            sample.values.push_back(bin == bins ? 0
                                                : 100.0 * static_cast<double>(of_link[bin]) /
                                                      static_cast<double>(length));
        }
        sink.sample(sample);
    }
}

}  // namespace podsim::scenarios
