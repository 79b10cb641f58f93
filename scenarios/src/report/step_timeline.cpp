#include "scenarios/src/report/step_timeline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "collectives/paths/ports.h"
#include "scenarios/src/report/chip_view.h"
#include "scenarios/src/report/lanes.h"
#include "scenarios/src/report/stream_tracks.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/memory.h"
#include "workloads/program/memory_peak.h"

namespace podsim::scenarios {
namespace {

/// A link of the chip or of its host, and its number among the simulated links.
struct ChipLink {
    std::string name;  ///< `ICI +x`, `PCIe to host`, `DCN out`
    std::size_t server = 0;
};

/// Emits the counter `link use (%)`: the fraction of each of kLinkBins equal intervals of the run
/// for which a link is held.
inline constexpr std::int64_t kLinkBins = 1000;

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

/// Returns the chip that stands for the host of a chip and has the host's links.
int head_of_host(const Layout& layout, int chip) {
    topology::Point point = layout.folded.point(chip);
    for (std::size_t axis = 0; axis < point.size(); ++axis) {
        point[axis] -= point[axis] % layout.host_box[axis];
    }
    return layout.folded.index(point, layout.folded.slice_of(chip));
}

/// Returns, by operation of the kernel, a program that takes part in it and that program's
/// operation. The chip's own program is preferred.
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

/// Returns the links that carried data in the run.
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

/// Emits a track for each link, with the messages that begin in the steady windows, or all if
/// `whole`.
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

/// Emits the counter `HBM memory (bytes)`, with a series for each class of memory that the step
/// uses. If not every operation is shown, it has only the maximum of each class in each of
/// kMemoryBins equal intervals of the run.
inline constexpr std::int64_t kMemoryBins = 4000;

using Held = std::array<double, workloads::kMemoryClasses.size()>;

struct Level {
    sim::Time at;
    Held held{};
};

/// Returns levels after all changes of an instant. A class whose buffers are all freed is set to 0,
/// whatever the rounding of their sum.
std::vector<Level> levels_of(const std::vector<MemoryChange>& changes) {
    std::vector<Level> levels{{}};
    std::array<std::int64_t, workloads::kMemoryClasses.size()> buffers{};
    for (const MemoryChange& change : changes) {
        if (change.at != levels.back().at) {
            levels.push_back({change.at, levels.back().held});
        }
        double& held = levels.back().held.at(change.memory_class);
        std::int64_t& count = buffers.at(change.memory_class);
        count += change.bytes < 0 ? -1 : 1;
        held = count == 0 ? 0 : std::max(0.0, held + change.bytes);
    }
    return levels;
}

/// Returns the maximum of each class in equal intervals of the run.
std::vector<Level> most_in_bins(const std::vector<Level>& levels, sim::Time end) {
    const std::int64_t width = std::max<std::int64_t>(1, end.ps / kMemoryBins + 1);
    std::vector<Level> bins;
    Held before{};
    for (const Level& level : levels) {
        const sim::Time start{level.at.ps / width * width};
        if (bins.empty() || bins.back().at != start) {
            if (!bins.empty() && bins.back().at + sim::Time{width} < start) {
                bins.push_back({bins.back().at + sim::Time{width}, before});
            }
            bins.push_back({start, before});
        }
        for (std::size_t i = 0; i < before.size(); ++i) {
            bins.back().held.at(i) = std::max(bins.back().held.at(i), level.held.at(i));
        }
        before = level.held;
    }
    return bins;
}

void tell_memory(const ChipView& view, TimelineSink& sink) {
    std::vector<Level> levels = levels_of(memory_changes(view.program, view.chip));
    if (!view.whole) {
        levels = most_in_bins(levels, view.trail.run.result.end);
    }
    Counter counter{.name = "HBM memory (bytes)"};
    std::vector<std::size_t> used;
    for (std::size_t i = 0; i < workloads::kMemoryClasses.size(); ++i) {
        if (std::ranges::any_of(levels, [&](const Level& level) { return level.held.at(i) > 0; })) {
            used.push_back(i);
            counter.series.emplace_back(workloads::to_string(workloads::kMemoryClasses.at(i)));
        }
    }
    if (used.empty()) {
        return;
    }
    sink.counter(counter);
    for (const Level& level : levels) {
        Sample sample{.at = level.at};
        for (const std::size_t i : used) {
            sample.values.push_back(std::round(level.held.at(i)));
        }
        sink.sample(sample);
    }
}

struct Exchanges {
    std::string name;
    TrackKind kind{};
    std::vector<workloads::OpIndex> ops{};
    std::vector<Interval> times{};
};

/// Returns collectives first, each kind in order of its first operation.
std::vector<Exchanges> exchanges_of(const ChipView& view) {
    std::vector<Exchanges> all;
    for (std::size_t i = 0; i < view.program.ops.size(); ++i) {
        const workloads::Op& op = view.program.ops[i];
        const auto index = static_cast<workloads::OpIndex>(i);
        const Interval time = view.time_of(index);
        const bool told = view.shows(time) || std::holds_alternative<workloads::Handover>(op.work);
        if (std::holds_alternative<workloads::Compute>(op.work) || time.from == time.until ||
            !told) {
            continue;
        }
        const std::string name = track_of(op);
        auto found = std::ranges::find(all, name, &Exchanges::name);
        if (found == all.end()) {
            const bool collective = std::holds_alternative<workloads::Collective>(op.work);
            all.push_back(
                {.name = name, .kind = collective ? TrackKind::collective : TrackKind::transfer});
            found = all.end() - 1;
        }
        found->ops.push_back(index);
        found->times.push_back(time);
    }
    std::ranges::stable_sort(all, {}, &Exchanges::kind);
    return all;
}

void tell(const ChipView& view, const Exchanges& track, TrackLog& log) {
    const std::vector<int> lanes = lanes_of(track.times);
    const int count = 1 + *std::ranges::max_element(lanes);
    for (int lane = 0; lane < count; ++lane) {
        log.track(track.kind, lane == 0 ? track.name : fmt::format("{} #{}", track.name, lane + 1));
        std::vector<std::size_t> on_lane;
        for (std::size_t i = 0; i < lanes.size(); ++i) {
            if (lanes[i] == lane) {
                on_lane.push_back(i);
            }
        }
        std::ranges::sort(on_lane, {}, [&](std::size_t i) { return track.times[i].from; });
        for (const std::size_t i : on_lane) {
            log.slice(track.ops[i], view.slice_of(track.ops[i]));
        }
    }
}

/// Emits a track for each kind of collective and mesh axis, then those of sends, receives and host
/// transfers. Slices that would overlap go to further lanes: `AllGather over fsdp #2`.
void tell_exchanges(const ChipView& view, TrackLog& log) {
    for (const Exchanges& track : exchanges_of(view)) {
        tell(view, track, log);
    }
}

/// The two ends of each message between stages. The chips shown are those that exchange it.
class Messages {
public:
    void add(const ChipView& view, const TrackLog& log) {
        for (std::size_t i = 0; i < view.program.ops.size(); ++i) {
            const auto* const handover =
                std::get_if<workloads::Handover>(&view.program.ops[i].work);
            const Flow::End& end = log.of(static_cast<workloads::OpIndex>(i));
            if (handover == nullptr || end.start == end.end) {
                continue;
            }
            Flow& flow = flows_[{handover->message, view.number % view.trail.programs.members()}];
            (handover->sends ? flow.from : flow.to) = end;
        }
    }

    void tell(TimelineSink& sink) const {
        for (const auto& [message, flow] : flows_) {
            if (flow.from.start < flow.from.end && flow.to.start < flow.to.end) {
                sink.flow(flow);
            }
        }
    }

private:
    std::map<std::pair<std::uint32_t, std::size_t>, Flow> flows_;
};

}  // namespace

void tell_step(const Scenario& scenario, const StepTrail& trail, Detail detail,
               TimelineSink& sink) {
    std::size_t operations = 0;
    for (const workloads::StepProgram& program : trail.programs.programs) {
        operations += program.ops.size();
    }
    const bool all = detail == Detail::all;
    OpArguments arguments(scenario, trail);
    std::vector<Flow> flows;
    Messages messages;
    for (std::size_t program = 0; program < trail.programs.programs.size(); ++program) {
        const ChipView view(scenario, trail, program, all || operations <= kOpsInFull, arguments);
        sink.process(view.process());
        TrackLog log(sink, program, view.program.ops.size());
        tell_stream(view, log);
        tell_exchanges(view, log);
        tell_links(view, all, log);
        tell_memory(view, sink);
        tell_link_use(view, sink);
        const std::vector<Flow> waits = waits_of(view, log);
        flows.insert(flows.end(), waits.begin(), waits.end());
        if (!trail.run.partners.empty()) {
            messages.add(view, log);
        }
    }
    for (const Flow& flow : flows) {
        sink.flow(flow);
    }
    messages.tell(sink);
}

}  // namespace podsim::scenarios
