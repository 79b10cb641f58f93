#include "scenarios/page/roofline_json.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "scenarios/lower/rates.h"
#include "scenarios/timeline/op_text.h"

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

/// Those that have a place in the chart: they work, and move bytes.
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

/// Links of a chip along an axis, one way, of the mean chip.
double links_along(const topology::Lattice& slice, int axis) {
    const double length = slice.length(axis);
    return length == 1 ? 0 : slice.wraps(axis) ? 2 : 2 * (length - 1) / length;
}

/// Bytes of the mean link of a kind.
double bytes_of_link(const StepResult& result, std::string_view kind) {
    const auto found = std::ranges::find(result.links, kind, &LinkUse::name);
    return found == result.links.end() ? 0 : found->bytes.value();
}

/// The resources that bytes cross, their rates, and what a chip moves over each.
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

}  // namespace podsim::scenarios
