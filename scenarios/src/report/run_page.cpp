#include "scenarios/src/report/run_page.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "collectives/paths/ports.h"
#include "scenarios/src/advise/memory_report.h"
#include "scenarios/src/report/inputs_json.h"
#include "scenarios/src/report/op_text.h"
#include "scenarios/src/report/step_timeline.h"
#include "scenarios/src/report/timeline_json.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/rates.h"

namespace podsim::scenarios {
namespace {

struct KernelKind {
    std::string name;
    std::string_view pass;
    double flops = 0;
    double vector_flops = 0;
    double bytes = 0;
    auto operator<=>(const KernelKind&) const = default;
};

struct Sum {
    int count = 0;
    sim::Time time;
};

struct Operations {
    std::map<KernelKind, Sum> kinds;
    std::set<workloads::MatmulDtype> dtypes;
    double flops = 0;
    double bytes = 0;
};

Operations operations_of(const workloads::StepProgram& program, const ChipRun& chip) {
    Operations all;
    for (std::size_t i = 0; i < program.ops.size(); ++i) {
        const auto* const work = std::get_if<workloads::Compute>(&program.ops[i].work);
        const sim::Time time = chip.ended[i] - chip.began[i];
        if (work == nullptr || time.ps == 0) {
            continue;
        }
        Sum& sum = all.kinds[{short_name(program.ops[i]), to_string(program.ops[i].pass),
                              work->flops.value(), work->vector.value(), work->hbm.value()}];
        ++sum.count;
        sum.time = sum.time + time;
        all.flops += work->flops.value();
        all.bytes += work->hbm.value();
        if (work->flops.value() > 0) {
            all.dtypes.insert(work->dtype);
        }
    }
    return all;
}

/// Returns the operations that the chart can show: they have FLOPs and move bytes.
Json operations_json(const Operations& operations) {
    Json array = Json::array();
    for (const auto& [kind, sum] : operations.kinds) {
        if (kind.bytes > 0 && kind.flops + kind.vector_flops > 0) {
            array.push_back({{"name", kind.name},
                             {"pass", kind.pass},
                             {"count", sum.count},
                             {"flops", kind.flops},
                             {"vector_flops", kind.vector_flops},
                             {"hbm_bytes", kind.bytes},
                             {"time_s", sum.time.seconds() / sum.count}});
        }
    }
    return array;
}

Json peaks_json(const workloads::MachineRates& rates, const Operations& operations) {
    Json array = Json::array();
    for (const workloads::MatmulDtype dtype : operations.dtypes) {
        array.push_back({{"name", fmt::format("MXU {}", to_string(dtype))},
                         {"flops_per_s", rates.peak(dtype).value()}});
    }
    array.push_back({{"name", "VPU"}, {"flops_per_s", rates.vpu.value()}});
    return array;
}

/// Returns the outgoing links of a chip along an axis, as a mean over the slice.
double links_along(const topology::Lattice& slice, int axis) {
    const double length = slice.length(axis);
    return length == 1 ? 0 : slice.wraps(axis) ? 2 : 2 * (length - 1) / length;
}

/// Returns the bytes of the mean link of a kind.
double bytes_of_link(const StepResult& result, std::string_view kind) {
    const auto found = std::ranges::find(result.links, kind, &LinkUse::name);
    return found == result.links.end() ? 0 : found->bytes.value();
}

/// The resources that carry bytes, their rates, and the bytes that a chip moves over each.
class Resources {
public:
    void add(std::string_view name, double rate, double bytes) {
        if (rate > 0) {
            rates.push_back({{"name", name}, {"bytes_per_s", rate}});
            moved.push_back({{"name", name}, {"bytes", bytes}});
        }
    }

    Json rates = Json::array();
    Json moved = Json::array();
};

Resources resources_of(const Scenario& scenario, const StepResult& result,
                       const Operations& operations) {
    const workloads::MachineRates rates = ideal_rates(scenario.hardware);
    const topology::ChipSpec& chip = scenario.hardware.chip;
    const topology::Lattice& slice = scenario.hardware.slice;
    double links = 0;
    double over_links = 0;
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        const double along = links_along(slice, axis);
        links += along;
        over_links +=
            along * bytes_of_link(result, fmt::format("ici_{}", topology::axis_name(axis)));
    }
    Resources all;
    all.add("HBM", rates.hbm.value(), std::max(bytes_of_link(result, "hbm"), operations.bytes));
    all.add("ICI", rates.ici_one_way.value() * links, over_links);
    all.add("PCIe", chip.pcie_one_way.value.value(), bytes_of_link(result, "pcie"));
    if (scenario.hardware.slices > 1) {
        const topology::Point& host = chip.host_shape.value;
        const double share = 1.0 / (host[0] * host[1] * host[2]);
        all.add("DCN", chip.dcn_per_host.value.value() * share,
                bytes_of_link(result, "dcn") * share);
    }
    return all;
}

constexpr int kDirections[] = {1, -1};

/// `simulated` maps the axes called x, y and z to those of the run.
Json links_of_place(const Hardware& hardware, const topology::AxisExchange& simulated,
                    const StepTrail& trail, int place) {
    const Layout& layout = trail.step.layout;
    const sim::ExecutionResult& result = trail.run.result;
    const std::size_t ports = result.links.size() / layout.simulated();
    Json busy = Json::array();
    Json bytes = Json::array();
    for (const std::size_t lies : simulated.to) {
        const int axis = static_cast<int>(lies);
        for (const int direction : kDirections) {
            const int length = hardware.slice.length(axis);
            const int at = layout.folded.point(place)[static_cast<std::size_t>(axis)];
            const bool edge = !hardware.slice.wraps(axis) && at == (direction > 0 ? length - 1 : 0);
            if (length == 1 || edge) {
                busy.push_back(nullptr);
                bytes.push_back(nullptr);
                continue;
            }
            const sim::LinkTotals& link =
                result.links[layout.link_of(place, collectives::port_of(axis, direction), ports)];
            busy.push_back(link.busy.seconds() / result.end.seconds());
            bytes.push_back(link.carried().value());
        }
    }
    return {{"busy", std::move(busy)}, {"bytes", std::move(bytes)}};
}

/// Returns the index of the chip whose memory is reported.
std::size_t fullest(const Timeline& timeline, const MemoryUse& memory) {
    const auto found =
        std::ranges::find_if(timeline.processes, [&](const Timeline::FilledProcess& process) {
            return process.process.stage == memory.stage && process.process.member == memory.member;
        });
    return found == timeline.processes.end()
               ? 0
               : static_cast<std::size_t>(found - timeline.processes.begin());
}

}  // namespace

Json roofline_json(const Scenario& scenario, const StepResult& result, const StepTrail& trail) {
    const Operations operations =
        operations_of(trail.programs.programs[trail.run.program], trail.run.reported());
    Resources resources = resources_of(scenario, result, operations);
    return {{"operations", operations_json(operations)},
            {"flops", operations.flops},
            {"peaks", peaks_json(ideal_rates(scenario.hardware), operations)},
            {"rates", std::move(resources.rates)},
            {"moved", std::move(resources.moved)}};
}

Json torus_json(const Scenario& scenario, const StepTrail& trail) {
    const topology::AxisExchange simulated = scenario.step().mesh.written().inverse();
    const topology::Lattice& slice = scenario.hardware.slice;
    const topology::Places& folded = trail.step.layout.folded;
    if (slice.size() > kMostChipsDrawn || trail.run.result.end.ps == 0) {
        return nullptr;
    }
    Json place_of_chip = Json::array();
    for (int chip = 0; chip < slice.size(); ++chip) {
        place_of_chip.push_back(
            folded.chips.index(*folded.chips.canonical(simulated.of(slice.point(chip)))));
    }
    Json links = Json::array();
    for (int place = 0; place < folded.chips.size(); ++place) {
        links.push_back(links_of_place(scenario.hardware, simulated, trail, place));
    }
    return {{"shape", slice.lengths},
            {"wraps", slice.wrapped},
            {"twisted", slice.twisted()},
            {"place_of_chip", std::move(place_of_chip)},
            {"links", std::move(links)}};
}

Page step_page(const Scenario& scenario, const StepResult& result, const Json& json,
               const YamlNode& tree, std::size_t most) {
    const StepTrail& trail = *result.trail;
    TimelineCollector collector;
    tell_step(scenario, trail, Detail::steady, collector);
    const Timeline timeline = collector.take();
    std::vector<std::string> lost;
    Page page{.kind = "run", .title = scenario.name, .result = json};
    page.extra["timeline"] = timeline_json(timeline, trail.run.program, most, lost);
    page.extra["memory"] = memory_json(timeline.processes[fullest(timeline, result.memory)],
                                       timeline.processes.size() == 1);
    page.extra["roofline"] = roofline_json(scenario, result, trail);
    page.extra["torus"] = torus_json(scenario, trail);
    if (page.extra["torus"].is_null()) {
        lost.emplace_back("The slice is too large to be drawn link by link.");
    }
    page.extra["fit"] = memory_words(result.memory);
    page.extra["look_ahead"] = look_ahead_words(result);
    page.extra["inputs"] = inputs_json(scenario, tree);
    page.extra["thinned"] = lost;
    return page;
}

Page program_page(const Scenario& scenario, const Json& json) {
    return {.kind = "program", .title = scenario.name, .result = json};
}

}  // namespace podsim::scenarios
