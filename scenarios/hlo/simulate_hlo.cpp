#include "scenarios/hlo/simulate_hlo.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <optional>
#include <utility>

#include "scenarios/explain/critical_path.h"
#include "scenarios/explain/hbm_use.h"
#include "scenarios/explain/stream_account.h"
#include "scenarios/lower/lower_step.h"
#include "scenarios/lower/rates.h"
#include "scenarios/lower/run_memory.h"
#include "scenarios/run/run_record.h"
#include "scenarios/run/run_step.h"
#include "scenarios/watch/memory_limit.h"
#include "workloads/hlo_step/import_step.h"
#include "workloads/hlo_totals/totals.h"

namespace podsim::scenarios {
namespace {

using workloads::StepProgram;

/// What is kept to find the critical path.
constexpr std::size_t kMostHeld = 4'000'000;

std::vector<InstructionTime> sorted(std::map<std::string, InstructionTime> by_name) {
    std::vector<InstructionTime> all;
    for (auto& [name, one] : by_name) {
        one.name = name;
        if (one.time.ps > 0) {
            all.push_back(std::move(one));
        }
    }
    std::ranges::stable_sort(all, std::greater(), [](const auto& one) { return one.time; });
    return all;
}

std::vector<InstructionTime> kernel_times(const StepProgram& program, const ChipRun& run,
                                          const workloads::MachineRates& rates) {
    std::map<std::string, InstructionTime> by_name;
    for (std::size_t i = 0; i < program.ops.size(); ++i) {
        if (const auto* work = std::get_if<workloads::Compute>(&program.ops[i].work)) {
            InstructionTime& one = by_name[program.ops[i].name];
            one.runs += 1;
            one.time += run.ended[i] - run.began[i];
            one.what = resource_of(*work, rates);
        }
    }
    return sorted(std::move(by_name));
}

std::string what_of(const workloads::Op& op) {
    if (const auto* collective = std::get_if<workloads::Collective>(&op.work)) {
        return fmt::format("{} over {}", name_of(collective->operation),
                           fmt::join(collective->axes, "+"));
    }
    return std::holds_alternative<workloads::HostTransfer>(op.work) ? "host copy" : "";
}

std::vector<InstructionTime> waits(const StepProgram& program, const std::vector<Stretch>& stream) {
    std::map<std::string, InstructionTime> by_name;
    for (const Stretch& stretch : stream) {
        if (!stretch.busy && stretch.op != workloads::kWholeStep) {
            const workloads::Op& op = program.ops[stretch.op];
            InstructionTime& one = by_name[op.name];
            one.time += stretch.until - stretch.from;
            one.what = what_of(op);
        }
    }
    for (const workloads::Op& op : program.ops) {
        if (const auto found = by_name.find(op.name); found != by_name.end()) {
            found->second.runs += 1;
        }
    }
    return sorted(std::move(by_name));
}

/// Ranks of a permute count the chips of a group along x, then y, then z, the last fastest (collectives/vocabulary).
bool in_rank_order(const topology::DeviceMesh& mesh, const std::vector<std::string>& axes) {
    const topology::AxisFactor* before = nullptr;
    for (const topology::LogicalAxis& axis : mesh.axes()) {
        if (std::ranges::find(axes, axis.name) == axes.end()) {
            continue;
        }
        for (const topology::AxisFactor& factor : axis.factors) {
            if (factor.length == 1) {
                continue;
            }
            if (before != nullptr &&
                (factor.axis < before->axis ||
                 (factor.axis == before->axis && factor.stride > before->stride))) {
                return false;
            }
            before = &factor;
        }
    }
    return true;
}

void add_path(const workloads::StepPrograms& programs, const LoweredStep& step,
              const AchievedHardware& hardware, const RunRecord& record, HloResult& result) {
    if (record.is_whole()) {
        result.critical_path =
            critical_path(programs, step, achieved_rates(hardware), record, result.step_time);
    }
}

}  // namespace

HloResult simulate_hlo(const HloRequest& request, Watch* watch) {
    const HloInput& input = request.input;
    tell(watch, Phase::building);
    HloResult result(place_devices(input, request.hardware, request.mesh));
    workloads::hlo::ImportedStep imported =
        workloads::hlo::import_step(input.module, result.devices.axes, input.rules, input.trips);
    result.scheduled = imported.scheduled;
    result.fused = workloads::hlo::is_fused(input.module);
    result.open_permutes = imported.open_permutes;
    result.ragged = imported.ragged;
    result.operations = imported.program.ops.size();
    for (const workloads::Op& op : imported.program.ops) {
        if (const auto* work = std::get_if<workloads::Compute>(&op.work)) {
            result.flops += work->flops;
        }
        if (const auto* one = std::get_if<workloads::Collective>(&op.work)) {
            result.reordered_permutes += one->operation == collectives::Operation::permute &&
                                                 !in_rank_order(result.devices.mesh, one->axes)
                                             ? 1
                                             : 0;
        }
    }
    const workloads::StepPrograms programs(std::move(imported.program));
    const StepProgram& program = programs.programs.front();
    const AchievedHardware hardware(request.hardware);
    const LoweredStep step =
        lower_step(programs, hardware, result.devices.mesh, request.fold, watch);
    const RunMemory memory = memory_of_run(step.workload);
    refuse_beyond_memory(memory, request.fold);
    tell_begins(watch, memory.bytes());
    std::optional<RunRecord> record;
    if (request.explain && request.fold == Fold::automatic) {
        record.emplace(step.workload, nullptr, kMostHeld);
    }
    const StepRun run = run_step(step, {.watch = watch, .beside = record ? &*record : nullptr});

    result.step_time = run.result.end;
    result.events = run.result.events;
    result.played_events = run.result.played_events;
    result.simulated_chips = static_cast<int>(step.layout.simulated());
    const StreamAccount account = account_stream(program, run.reported(), run.result.end);
    result.compute = account.busy;
    result.exposed = account.waited_for;
    result.exposed_total = account.waited;
    result.breakdown = account.by_pass;
    const workloads::MachineRates rates = ideal_rates(request.hardware);
    result.kernels = kernel_times(program, run.reported(), achieved_rates(hardware));
    result.collectives = waits(program, stream_of(program, run.reported(), run.result.end));
    result.hfu = (result.flops / rates.flops).value() / result.step_time.seconds();
    result.lower = workloads::roofline_lower(programs, hardware.slice, result.devices.mesh, rates);
    result.serial =
        workloads::roofline_serial(programs, hardware.slice, result.devices.mesh, rates);
    result.links = link_use(hardware, step.layout, run.result);
    if (step.workload.machine.memory_rate != 0) {
        result.links.push_back(hbm_use(step.workload, std::vector{bytes_of_kernels(program)},
                                       step.layout, run.result.end));
    }
    const workloads::hlo::Totals totals =
        workloads::hlo::totals_of(input.module, input.rules, input.trips);
    result.arguments = totals.parameters;
    result.unknown_calls = totals.unknown_calls;
    result.left_out = totals.left_out;
    result.capacity = hardware.chip.usable_hbm();
    if (record) {
        add_path(programs, step, hardware, *record, result);
    }
    return result;
}

}  // namespace podsim::scenarios
