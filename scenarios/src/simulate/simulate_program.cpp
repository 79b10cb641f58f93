#include <algorithm>
#include <utility>
#include <vector>

#include "collectives/catalogue/bounds.h"
#include "scenarios/src/scenario/hardware.h"
#include "scenarios/src/scenario/request.h"
#include "scenarios/src/simulate/build_machine.h"
#include "scenarios/src/simulate/hbm_use.h"
#include "scenarios/src/simulate/lower_program.h"
#include "scenarios/src/simulate/rates.h"
#include "scenarios/src/simulate/run_memory.h"
#include "scenarios/src/simulate/shares.h"
#include "scenarios/src/simulate/simulate.h"
#include "sim/base/quantity.h"
#include "sim/executor/executor.h"

namespace podsim::scenarios {
namespace {

/// Returns the two terms that lead from `book`, the text's time, to `lower`, the physical bound
/// (both rounded down to ps). `text's latency` is nonzero if latency alone sets the text's time;
/// `(n-1)/n` is the data that the text counts although a chip need not receive it.
std::vector<Share> book_to_bound(const IdealHardware& hardware, const StageCollective& stage,
                                 sim::Seconds book, sim::Seconds lower) {
    const sim::Seconds of_bytes = collectives::book_time(
        stage.call(hardware.slice), hardware.chip.ici_one_way(hardware.ici_rates), {},
        slice_links(hardware));
    const sim::Time bytes = sim::round_down(of_bytes);
    return {{"text's latency", bytes - sim::round_down(book)},
            {"(n-1)/n", sim::round_down(lower) - bytes}};
}

/// The start of each stage's first piece on any chip, and the end of its last on all chips.
class StageSpans : public WatchedRun {
public:
    StageSpans(std::size_t stages, const std::vector<std::size_t>& stage_of_task, Watch* watch)
        : WatchedRun(watch),
          stage_of_task_(stage_of_task),
          began_(stages, sim::Time::max()),
          ended_(stages) {}

    void task_ended(sim::PlaceId /*place*/, sim::TaskId task, sim::Time began,
                    sim::Time now) override {
        const std::size_t stage = stage_of_task_[task.index()];
        if (now > began) {
            began_[stage] = std::min(began_[stage], began);
            ended_[stage] = std::max(ended_[stage], now);
        }
    }

    [[nodiscard]] sim::Time began(std::size_t stage) const {
        return std::min(began_[stage], ended_[stage]);
    }
    [[nodiscard]] sim::Time ended(std::size_t stage) const { return ended_[stage]; }

private:
    const std::vector<std::size_t>& stage_of_task_;
    std::vector<sim::Time> began_;
    std::vector<sim::Time> ended_;
};

/// Returns `ici`, or `dcn` for members in several slices.
std::string links_of(const collectives::Members& members) {
    return members.across.length > 1 ? "dcn" : "ici";
}

sim::Seconds collective_bound(const IdealHardware& hardware, const StageCollective& one) {
    return collectives::physical_bound(one.call(hardware.slice),
                                       hardware.chip.ici_one_way(hardware.ici_rates),
                                       slice_links(hardware));
}

void bound_compute(const IdealHardware& hardware, const StageCompute& compute,
                   StageResult& result) {
    const workloads::MachineRates rates = ideal_rates(hardware);
    const sim::Seconds mxu = compute.work.flops.value() > 0
                                 ? compute.work.flops / rates.peak(compute.work.dtype)
                                 : sim::Seconds(0);
    const sim::Seconds hbm = compute.work.hbm / rates.hbm;
    result.resource = mxu < hbm ? "hbm" : "mxu";
    result.bound = std::max(mxu, hbm);
    if (!compute.gather) {
        return;
    }
    result.matmul_bound = result.bound;
    result.gather_bound =
        collective_bound(hardware, {.operation = collectives::Operation::all_gather,
                                    .members = compute.gather->members,
                                    .bytes = compute.gather->bytes});
    if (*result.gather_bound > result.bound) {
        result.resource = links_of(compute.gather->members);
        result.bound = *result.gather_bound;
    }
}

void bound_stage(const IdealHardware& hardware, const Stage& stage, StageResult& result) {
    if (const auto* transfer = std::get_if<HostTransfer>(&stage.work)) {
        result.resource = "pcie";
        result.bound = transfer->bytes / static_cast<double>(hardware.chips()) /
                       hardware.chip.pcie_one_way.value;
    } else if (const auto* one = std::get_if<StageCollective>(&stage.work)) {
        result.resource = links_of(one->members);
        result.bound = collective_bound(hardware, *one);
    } else {
        bound_compute(hardware, std::get<StageCompute>(stage.work), result);
    }
}

/// Sets the gap of a program that is one collective, and the terms from the reference text's time
/// to its bound.
void explain_collective(const IdealHardware& hardware, const StageCollective& stage, Fold fold,
                        Watch* watch, ProgramResult& result) {
    PhaseWatch explaining(watch, Phase::explaining);
    const CollectiveResult alone = simulate_collective({.hardware = hardware,
                                                        .operation = stage.operation,
                                                        .members = stage.members,
                                                        .bytes = stage.bytes,
                                                        .algorithm = stage.algorithm,
                                                        .ends = stage.ends},
                                                       fold, &explaining);
    result.gap = alone.gap;
    result.book = alone.book;
    result.gap_to_book = book_to_bound(hardware, stage, alone.book, result.lower);
    result.gap_to_book.insert(result.gap_to_book.end(), alone.gap.begin(), alone.gap.end());
}

}  // namespace

LongestStage longest_stage(const IdealHardware& hardware, const Program& program) {
    LongestStage longest;
    for (const Stage& stage : program.stages) {
        StageResult result;
        bound_stage(hardware, stage, result);
        if (longest.stage == nullptr || result.bound > longest.bound) {
            longest = {&stage, result.bound};
        }
    }
    return longest;
}

ProgramResult simulate_program(const IdealHardware& hardware, const Program& program, Fold fold,
                               Watch* watch) {
    tell(watch, Phase::building);
    const LoweredProgram lowered = lower_program(AchievedHardware(hardware), program, fold, watch);
    StageSpans spans(program.stages.size(), lowered.stage_of_task, watch);
    const RunMemory memory = memory_of_run(lowered.workload);
    refuse_beyond_memory(memory, fold);
    tell_begins(watch, memory.bytes());
    const sim::ExecutionResult run = sim::execute(lowered.workload, &spans, false);

    ProgramResult result;
    result.time = run.end;
    for (std::size_t i = 0; i < program.stages.size(); ++i) {
        StageResult stage;
        stage.name = program.stages[i].name;
        stage.began = spans.began(i);
        stage.ended = spans.ended(i);
        bound_stage(hardware, program.stages[i], stage);
        result.serial +=
            stage.gather_bound ? *stage.gather_bound + *stage.matmul_bound : stage.bound;
        if (stage.bound > result.lower) {
            result.lower = stage.bound;
            result.limiting = i;
        }
        result.stages.push_back(std::move(stage));
    }
    const StageResult& limiting = result.stages[result.limiting];
    const sim::Time bound = sim::round_down(result.lower);
    result.gap = {{"before " + limiting.name, limiting.began},
                  {limiting.name + " beyond its bound", limiting.ended - limiting.began - bound},
                  {"after " + limiting.name, run.end - limiting.ended}};
    if (is_one_collective(program)) {
        explain_collective(hardware, std::get<StageCollective>(program.stages[0].work), fold, watch,
                           result);
    }
    result.links = link_use(hardware, lowered.layout, run);
    if (lowered.workload.machine.memory_rate != 0) {
        result.links.push_back(hbm_use(lowered.workload, lowered.kernels, lowered.layout, run.end));
    }
    result.events = run.events;
    result.simulated_chips = static_cast<int>(lowered.layout.simulated());
    return result;
}

}  // namespace podsim::scenarios
