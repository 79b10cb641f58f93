#include "scenarios/src/hlo/simulate_hlo.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "scenarios/src/base/memory_limit.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/critical_path.h"
#include "scenarios/src/simulate/hbm_use.h"
#include "scenarios/src/simulate/lower_step.h"
#include "scenarios/src/simulate/rates.h"
#include "scenarios/src/simulate/run_memory.h"
#include "scenarios/src/simulate/run_record.h"
#include "scenarios/src/simulate/run_step.h"
#include "scenarios/src/simulate/simulate.h"
#include "scenarios/src/simulate/step_gap.h"
#include "scenarios/src/simulate/step_schedules.h"
#include "scenarios/src/simulate/stream_account.h"
#include "workloads/hlo/import_step.h"
#include "workloads/hlo/totals.h"

namespace podsim::scenarios {
namespace {

using workloads::StepProgram;

/// Limit of the link holds that the record for the critical path keeps.
constexpr std::size_t kMostHeld = 4'000'000;

/// Returns the instructions that take time, sorted by exposed time, then by time, longest first.
std::vector<InstructionTime> sorted(std::map<std::string, InstructionTime> by_name) {
    std::vector<InstructionTime> all;
    for (auto& [name, one] : by_name) {
        one.name = name;
        if (one.time.ps > 0) {
            all.push_back(std::move(one));
        }
    }
    std::ranges::stable_sort(all, std::greater(), [](const InstructionTime& one) {
        return std::pair(one.exposed, one.time);
    });
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
            one.bytes += work->hbm;
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

std::vector<InstructionTime> beside_times(const StepProgram& program, const ChipRun& run,
                                          const std::vector<Stretch>& stream) {
    std::map<std::string, InstructionTime> by_name;
    for (std::size_t i = 0; i < program.ops.size(); ++i) {
        const workloads::Op& op = program.ops[i];
        if (std::holds_alternative<workloads::Compute>(op.work)) {
            continue;
        }
        InstructionTime& one = by_name[op.name];
        one.runs += 1;
        one.time += run.ended[i] - run.began[i];
        one.what = what_of(op);
        const auto* const collective = std::get_if<workloads::Collective>(&op.work);
        one.bytes += collective != nullptr ? collective->bytes
                                           : std::get<workloads::HostTransfer>(op.work).bytes;
    }
    for (const Stretch& stretch : stream) {
        if (!stretch.busy && stretch.op != workloads::kWholeStep) {
            if (const auto found = by_name.find(program.ops[stretch.op].name);
                found != by_name.end()) {
                found->second.exposed += stretch.until - stretch.from;
            }
        }
    }
    return sorted(std::move(by_name));
}

void add_op_names(const workloads::hlo::Module& module, std::vector<InstructionTime>& all) {
    std::map<std::string_view, std::string_view> names;
    for (const auto& computation : module.computations) {
        for (const auto& each : computation.instructions) {
            names.try_emplace(each.name, each.op_name());
        }
    }
    for (InstructionTime& one : all) {
        if (const auto found = names.find(one.name); found != names.end()) {
            one.op_name = found->second;
        }
    }
}

/// True if the axes are in the order of a permute's ranks, which count the chips of a group along
/// x, then y, then z, the last fastest (collectives/vocabulary).
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

class HloSimulation {
public:
    HloSimulation(const HloRequest& request, Watch* watch)
        : request_(request),
          watch_(watch),
          hardware_(request.hardware),
          result_(place_devices(request.input, request.hardware, request.mesh)) {}

    HloResult run() {
        try {
            return simulated();
        } catch (const sim::TimeOverflow& error) {
            throw sim::InputError(error.what(),
                                  "give a module of less work, or of fewer iterations with --trips",
                                  mark_of(too_long()));
        } catch (const BeyondMemory& error) {
            throw sim::InputError(error.problem(),
                                  "give a smaller module, one of fewer iterations (--trips), or "
                                  "more with --memory",
                                  mark_of({}));
        } catch (const AtOperation& error) {
            throw sim::InputError(
                error.problem(),
                error.too_large() ? "lower the module for smaller arrays" : error.remedy(),
                mark_of(error.operation()));
        }
    }

private:
    HloResult simulated() {
        import();
        const bool looks_back =
            request_.fold == Fold::automatic && (request_.explain || request_.keep_trail);
        LoweredStep step = lower_step(programs_, hardware_, mesh(),
                                      looks_back ? Fold::axes_apart : request_.fold, watch_);
        const RunMemory memory = memory_of_run(step.workload);
        refuse_beyond_memory(memory, request_.fold);
        tell_begins(watch_, memory.bytes());
        std::shared_ptr<RunRecord> record;
        if (looks_back) {
            record = std::make_shared<RunRecord>(step.workload, nullptr, kMostHeld);
        }
        StepRun run = run_step(step, {.watch = watch_, .beside = record.get()});
        account(step, run);
        if (record != nullptr && record->is_whole()) {
            explain(step, run, *record);
            if (request_.keep_trail) {
                result_.trail = std::make_shared<StepTrail>(
                    StepTrail{programs_, std::move(step), std::move(run), record});
            }
        }
        return std::move(result_);
    }

    /// Names the operation that takes too long by itself, if one does.
    [[nodiscard]] std::string too_long() const {
        if (programs_.programs.empty()) {
            return {};
        }
        const Durations durations(hardware_);
        const auto found = std::ranges::find_if(program().ops, [&](const workloads::Op& op) {
            try {
                static_cast<void>(durations.timed(op));
            } catch (const sim::TimeOverflow&) {
                return true;
            }
            return false;
        });
        return found == program().ops.end() ? std::string() : found->name;
    }

    /// The place is that of the instruction of that name, or of the module where it has none.
    [[nodiscard]] sim::SourceMark mark_of(const std::string& name) const {
        const workloads::hlo::Module& module = request_.input.module;
        for (const auto& computation : module.computations) {
            for (const auto& each : computation.instructions) {
                if (each.name == name) {
                    return {module.file, each.line, each.column};
                }
            }
        }
        return {module.file, module.line, 1};
    }

    [[nodiscard]] const topology::DeviceMesh& mesh() const { return result_.devices.mesh; }
    [[nodiscard]] const StepProgram& program() const { return programs_.programs.front(); }

    void import() {
        tell(watch_, Phase::building);
        const HloInput& input = request_.input;
        workloads::hlo::ImportedStep imported = workloads::hlo::import_step(
            input.module, result_.devices.axes, input.rules, input.trips);
        const workloads::hlo::Totals totals =
            workloads::hlo::totals_of(input.module, input.rules, input.trips, input.devices);
        result_.arguments = totals.parameters;
        result_.unknown_calls = totals.unknown_calls;
        result_.unknown_opcodes = totals.unknown_opcodes;
        result_.left_out = totals.left_out;
        result_.estimated_calls = totals.estimated_calls;
        result_.remote = totals.remote;
        result_.beyond_counts = totals.beyond_counts;
        result_.matmul_types = totals.matmul_types;
        // A kernel converts types that the MXU does not multiply to bf16 first.
        const auto has_unit = [rates =
                                   ideal_rates(request_.hardware)](workloads::MatmulDtype dtype) {
            return rates.peak(dtype) > sim::FlopsPerSecond();
        };
        for (const auto& [types, total] : totals.matmul_types) {
            if (total.narrow || !has_unit(total.dtype)) {
                result_.in_bf16[types] = total.count;
            }
        }
        for (workloads::Op& op : imported.program.ops) {
            if (auto* const work = std::get_if<workloads::Compute>(&op.work);
                work != nullptr && !has_unit(work->dtype)) {
                work->dtype = workloads::MatmulDtype::bf16;
            }
        }
        result_.scheduled = imported.scheduled;
        result_.fused = workloads::hlo::is_fused(input.module);
        result_.open_permutes = imported.open_permutes;
        result_.ragged = imported.ragged;
        result_.operations = imported.program.ops.size();
        programs_ = workloads::StepPrograms(std::move(imported.program));
        for (const workloads::Op& op : program().ops) {
            if (const auto* work = std::get_if<workloads::Compute>(&op.work)) {
                result_.flops += work->flops;
            }
            if (const auto* one = std::get_if<workloads::Collective>(&op.work)) {
                const bool permutes = one->operation == collectives::Operation::permute;
                result_.reordered_permutes += permutes && !in_rank_order(mesh(), one->axes) ? 1 : 0;
            }
        }
    }

    void account(const LoweredStep& step, const StepRun& run) {
        result_.step_time = run.result.end;
        result_.events = run.result.events;
        result_.played_events = run.result.played_events;
        result_.simulated_chips = static_cast<int>(step.layout.simulated());
        const StreamAccount stream = account_stream(program(), run.reported(), run.result.end);
        result_.compute = stream.busy;
        result_.exposed = stream.waited_for;
        result_.exposed_total = stream.waited;
        result_.breakdown = stream.by_pass;
        result_.kernels = kernel_times(program(), run.reported(), achieved_rates(hardware_));
        result_.collectives = beside_times(program(), run.reported(),
                                           stream_of(program(), run.reported(), run.result.end));
        add_op_names(request_.input.module, result_.kernels);
        add_op_names(request_.input.module, result_.collectives);
        const workloads::MachineRates rates = ideal_rates(request_.hardware);
        const double seconds = result_.step_time.seconds();
        result_.hfu = seconds > 0 ? (result_.flops / rates.flops).value() / seconds : 0;
        result_.lower = workloads::roofline_lower(programs_, hardware_.slice, mesh(), rates);
        result_.serial = workloads::roofline_serial(programs_, hardware_.slice, mesh(), rates);
        result_.links = link_use(hardware_, step.layout, run.result);
        if (step.workload.machine.memory_rate != 0) {
            result_.links.push_back(hbm_use(step.workload, std::vector{bytes_of_kernels(program())},
                                            step.layout, run.result.end));
        }
        result_.capacity = hardware_.chip.usable_hbm();
    }

    /// Finds the critical path and the gap. The gap is empty if the run is too long to be
    /// explained.
    void explain(const LoweredStep& step, const StepRun& run, const RunRecord& record) {
        result_.critical_path =
            critical_path(programs_, step, achieved_rates(hardware_), record, result_.step_time);
        if (!request_.explain) {
            return;
        }
        PhaseWatch explaining(watch_, Phase::explaining);
        tell(&explaining, Phase::explaining);
        const Scenario scenario = scenario_of(request_, result_.devices);
        try {
            StepGap gap(scenario, programs_, step, result_.lower,
                        {.most_played = most_played_to_explain(result_.played_events),
                         .played = result_.played_events,
                         .watch = &explaining});
            result_.gap = gap.terms(run).gap;
        } catch (const ExceedsLimit&) {
            result_.gap.clear();
        }
    }

    const HloRequest& request_;
    Watch* watch_;
    const AchievedHardware hardware_;
    workloads::StepPrograms programs_;
    HloResult result_;
};

}  // namespace

Scenario scenario_of(const HloRequest& request, const PlacedDevices& devices) {
    const workloads::hlo::Module& module = request.input.module;
    Scenario scenario;
    scenario.name = module.name.empty() ? module.file : module.name;
    scenario.file = module.file;
    scenario.hardware = request.hardware;
    scenario.step().mesh = devices.mesh;
    return scenario;
}

HloResult simulate_hlo(const HloRequest& request, Watch* watch) {
    return HloSimulation(request, watch).run();
}

}  // namespace podsim::scenarios
