#include "scenarios/step_lowering.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "scenarios/step_schedules.h"

namespace podsim::scenarios {
namespace {

using workloads::Purpose;

/// The place of a collective's class in the program's order.
std::uint32_t priority_class(const workloads::StepProgram& program, Purpose purpose) {
    switch (purpose) {
        case Purpose::tensor:
        case Purpose::context:
        case Purpose::expert:
        case Purpose::pipeline:
            return program.priority[0];
        case Purpose::weights:
            return program.priority[1];
        case Purpose::gradients:
            return program.priority[2];
    }
    return 2;
}

/// All whose traffic decides what the slice folds to.
std::vector<collectives::Members> members_in_use(const workloads::StepPrograms& programs,
                                                 const topology::DeviceMesh& mesh) {
    std::set<std::vector<std::string>> used;
    for (const workloads::StepProgram& program : programs.programs) {
        for (const workloads::Op& op : program.ops) {
            if (const auto* collective = std::get_if<workloads::Collective>(&op.work)) {
                used.insert(collective->axes);
            }
        }
    }
    if (programs.programs.size() > 1) {
        used.insert({programs.axis});
    }
    std::vector<collectives::Members> members;
    for (const std::vector<std::string>& axes : used) {
        members.push_back({mesh.group(axes), mesh.across(axes)});
    }
    return members;
}

/// How long tasks take on some hardware.
class Durations {
public:
    explicit Durations(const Hardware& hardware)
        : rates_(achieved_rates(hardware)),
          pace_(pace_of_slowest_slice(hardware)),
          launch_(sim::round_up(achievable(hardware).chip.collective_launch.value)) {}

    [[nodiscard]] sim::Time of(const workloads::Op& op) const {
        if (const auto* work = std::get_if<workloads::Compute>(&op.work)) {
            return sim::round_up(workloads::compute_time(*work, rates_).total() * pace_);
        }
        return std::holds_alternative<workloads::HostTransfer>(op.work) ? sim::Time{} : launch_;
    }

private:
    workloads::MachineRates rates_;
    double pace_;
    sim::Time launch_;
};

class Lowering {
public:
    Lowering(const workloads::StepPrograms& programs, const Hardware& hardware,
             const topology::DeviceMesh& mesh, Fold fold)
        : programs_(programs.programs),
          axis_(programs.axis),
          hardware_(achievable(hardware)),
          durations_(hardware) {
        const std::vector<std::string> axes{axis_};
        step_.layout = lay_out(hardware, fold, members_in_use(programs, mesh),
                               several() ? collectives::Members{mesh.group(axes), mesh.across(axes)}
                                         : collectives::Members{});
        const topology::Places& places = step_.layout.places;
        for (int place = 0; place < places.size(); ++place) {
            step_.workload.graph_of_place.push_back(
                several() ? static_cast<std::uint32_t>(
                                mesh.rank(axis_, places.point(place), places.slice_of(place)))
                          : 0);
        }
        step_.workload.graphs.resize(programs_.size());
        layer_.assign(programs_.size(), -1);
        lower(mesh);
    }

    LoweredStep take() { return std::move(step_); }

private:
    [[nodiscard]] bool several() const { return programs_.size() > 1; }

    void lower(const topology::DeviceMesh& mesh) {
        collectives::ShiftTable shifts = step_.layout.shifts();
        StepSchedules schedules(hardware_, mesh, step_.layout, shifts, step_.workload.schedules);
        std::size_t longest = 0;
        for (std::size_t p = 0; p < programs_.size(); ++p) {
            step_.workload.graphs[p].tasks.reserve(programs_[p].ops.size());
            longest = std::max(longest, programs_[p].ops.size());
        }
        for (std::size_t i = 0; i < longest; ++i) {
            for (std::uint32_t p = 0; p < programs_.size(); ++p) {
                if (i < programs_[p].ops.size()) {
                    add_task(p, static_cast<workloads::OpIndex>(i), schedules);
                }
            }
        }
        step_.workload.machine = build_machine(hardware_, shifts);
    }

    void add_task(std::uint32_t program, workloads::OpIndex index, StepSchedules& schedules) {
        const workloads::Op& op = programs_[program].ops[index];
        sim::TaskGraph& graph = step_.workload.graphs[program];
        sim::Task task;
        task.after = op.after;
        task.duration = durations_.of(op);
        if (std::holds_alternative<workloads::Compute>(op.work)) {
            if (op.layer != layer_[program]) {
                layer_[program] = op.layer;
                graph.marks.push_back(index);
            }
        } else if (std::holds_alternative<workloads::HostTransfer>(op.work)) {
            task.operation =
                operation_in(program, schedules.of_host_transfer(op), Purpose::weights);
        } else {
            task.operation = std::holds_alternative<workloads::Collective>(op.work)
                                 ? collective(program, op, schedules)
                                 : handover(program, op, schedules);
        }
        if (const auto* handover = std::get_if<workloads::Handover>(&op.work)) {
            LoweredStep::HandoverEnds& ends = step_.handovers[task.operation];
            (handover->sends ? ends.sends : ends.receives) = index;
        }
        graph.tasks.push_back(std::move(task));
    }

    std::uint32_t add_operation(const sim::OperationSpec& spec) {
        step_.workload.operations.push_back(spec);
        step_.handovers.emplace_back();
        return static_cast<std::uint32_t>(step_.workload.operations.size() - 1);
    }

    std::uint32_t collective(std::uint32_t program, const workloads::Op& op,
                             StepSchedules& schedules) {
        return operation_in(program, schedules.of_collective(op),
                            std::get<workloads::Collective>(op.work).purpose);
    }

    /// An operation of one program alone.
    std::uint32_t operation_in(std::uint32_t program, std::uint32_t schedule, Purpose purpose) {
        return add_operation(
            {.schedule = schedule,
             .priority_class = priority_class(programs_[program], purpose),
             .placement = several() ? placement_in(program, schedule) : sim::kOwnPlacement});
    }

    /// The operation that its two ends share.
    std::uint32_t handover(std::uint32_t program, const workloads::Op& op,
                           StepSchedules& schedules) {
        const auto& one = std::get<workloads::Handover>(op.work);
        const auto next = static_cast<std::uint32_t>(step_.workload.operations.size());
        const auto [entry, added] = operation_of_message_.try_emplace(one.message, next);
        if (added) {
            const std::uint32_t from = one.sends ? program : one.peer;
            const std::uint32_t to = one.sends ? one.peer : program;
            add_operation({.schedule = schedules.of_handover(op, axis_, static_cast<int>(from),
                                                             static_cast<int>(to)),
                           .priority_class = priority_class(programs_[program], one.purpose),
                           .placement = placement_between(from, to)});
        }
        return entry->second;
    }

    /// The schedule's roles at the places of one program alone.
    std::uint32_t placement_in(std::uint32_t program, std::uint32_t schedule) {
        const auto [entry, added] = in_program_.try_emplace(
            {program, schedule}, static_cast<std::uint32_t>(step_.workload.placements.size()));
        if (added) {
            std::vector<std::uint32_t> roles = step_.workload.schedules[schedule].role_of_place;
            for (std::size_t place = 0; place < roles.size(); ++place) {
                if (step_.workload.graph_of_place[place] != program) {
                    roles[place] = sim::kAbsent;
                }
            }
            step_.workload.placements.push_back(std::move(roles));
        }
        return entry->second;
    }

    /// The sender's role at the places of one program and the receiver's at those of another.
    std::uint32_t placement_between(std::uint32_t from, std::uint32_t to) {
        const auto [entry, added] = between_.try_emplace(
            {from, to}, static_cast<std::uint32_t>(step_.workload.placements.size()));
        if (added) {
            std::vector<std::uint32_t>& roles = step_.workload.placements.emplace_back();
            for (const std::uint32_t program : step_.workload.graph_of_place) {
                roles.push_back(program == from ? 0U : program == to ? 1U : sim::kAbsent);
            }
        }
        return entry->second;
    }

    const std::vector<workloads::StepProgram>& programs_;
    const std::string& axis_;
    const Hardware hardware_;  ///< with the rates that it reaches
    const Durations durations_;
    LoweredStep step_;
    std::vector<int> layer_;  ///< [program]: of the last compute
    std::map<std::uint32_t, std::uint32_t> operation_of_message_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> in_program_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> between_;
};

}  // namespace

workloads::MachineRates machine_rates(const Hardware& hardware) {
    return {.flops = hardware.chip.bf16_flops.value,
            .hbm = hardware.chip.hbm_bandwidth.value,
            .ici_one_way = hardware.chip.ici_one_way(hardware.ici_rates),
            .mxu_dimension = hardware.chip.mxu_dimension.value,
            .between_slices = slice_links(hardware),
            .chips_per_slice = hardware.slice.size(),
            .vpu = hardware.chip.vpu_flops.value,
            .int8 = hardware.chip.int8_ops.value,
            .fp8 = hardware.chip.fp8_flops.value};
}

workloads::MachineRates achieved_rates(const Hardware& hardware) {
    workloads::MachineRates rates = machine_rates(achievable(hardware));
    rates.efficiency = hardware.efficiency;
    return rates;
}

LoweredStep lower_step(const workloads::StepPrograms& programs, const Hardware& hardware,
                       const topology::DeviceMesh& mesh, Fold fold) {
    return Lowering(programs, hardware, mesh, fold).take();
}

bool retime(const workloads::StepPrograms& programs, const Hardware& hardware, LoweredStep& step) {
    const Durations durations(hardware);
    bool changed = false;
    for (std::size_t p = 0; p < programs.programs.size(); ++p) {
        const std::vector<workloads::Op>& ops = programs.programs[p].ops;
        for (std::size_t i = 0; i < ops.size(); ++i) {
            sim::Time& duration = step.workload.graphs[p].tasks[i].duration;
            const sim::Time before = std::exchange(duration, durations.of(ops[i]));
            changed = changed || duration != before;
        }
    }
    return changed;
}

}  // namespace podsim::scenarios
