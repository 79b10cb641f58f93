#include "scenarios/simulate/operation_times.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "collectives/catalogue/bounds.h"
#include "scenarios/lower/build_machine.h"
#include "scenarios/lower/rates.h"
#include "workloads/roofline/ici_traffic.h"

namespace podsim::scenarios {
namespace {

class OperationTimer {
public:
    OperationTimer(const AchievedHardware& hardware, const topology::DeviceMesh& mesh)
        : hardware_(hardware),
          mesh_(mesh),
          durations_(hardware),
          links_(slice_links(hardware)),
          link_(hardware.chip.ici_one_way(hardware.ici_rates)) {}

    workloads::OperationTime operator()(const workloads::Op& op) {
        if (const auto* work = std::get_if<workloads::Compute>(&op.work)) {
            return {durations_.of(*work)};
        }
        if (const auto* transfer = std::get_if<workloads::HostTransfer>(&op.work)) {
            return {sim::round_up(transfer->bytes / links_.pcie + links_.pcie_latency)};
        }
        const auto* collective = std::get_if<workloads::Collective>(&op.work);
        if (collective == nullptr) {
            return {};
        }
        if (collective->step) {
            return {durations_.launch() +
                    sim::round_up(collective->step->bytes / link_ + hop_latency())};
        }
        return {durations_.launch() + sim::round_up(alone(*collective)),
                mesh_.across(collective->axes).length > 1};
    }

private:
    [[nodiscard]] sim::Seconds hop_latency() const { return hardware_.chip.ici_latency.value; }

    sim::Seconds alone(const workloads::Collective& collective) {
        const auto [entry, added] =
            alone_.try_emplace({collective.operation, collective.axes, collective.bytes.value(),
                                collective.loads, collective.returning, collective.shift});
        if (added && collective.bytes.value() > 0) {
            const collectives::CollectiveCall call{
                .operation = collective.operation,
                .slice = hardware_.slice,
                .members = {mesh_.group(collective.axes), collective.loads.empty()
                                                              ? mesh_.across(collective.axes)
                                                              : topology::SliceFactor{}},
                .bytes = collective.bytes,
                .ends = workloads::ends_of(collective, hardware_.slice, mesh_)};
            entry->second = std::max(collectives::physical_bound(call, link_, links_),
                                     collectives::book_time(call, link_, hop_latency(), links_));
        }
        return entry->second;
    }

    using Key = std::tuple<collectives::Operation, std::vector<std::string>, double,
                           std::vector<double>, bool, int>;

    const AchievedHardware& hardware_;
    const topology::DeviceMesh& mesh_;
    const Durations durations_;
    const collectives::SliceLinks links_;
    const sim::BytesPerSecond link_;
    std::map<Key, sim::Seconds> alone_;
};

}  // namespace

std::vector<workloads::OperationTimes> operation_times(const workloads::StepPrograms& programs,
                                                       const AchievedHardware& hardware,
                                                       const topology::DeviceMesh& mesh) {
    OperationTimer time(hardware, mesh);
    std::vector<workloads::OperationTimes> times;
    for (const workloads::StepProgram& program : programs.programs) {
        workloads::OperationTimes& of_program = times.emplace_back();
        of_program.reserve(program.ops.size());
        for (const workloads::Op& op : program.ops) {
            of_program.push_back(time(op));
        }
    }
    return times;
}

}  // namespace podsim::scenarios
