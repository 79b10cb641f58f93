#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <utility>

#include "collectives/algorithms/host_transfer.h"
#include "collectives/algorithms/ring_step_schedule.h"
#include "collectives/catalogue/bounds.h"
#include "collectives/paths/group_graph.h"
#include "scenarios/explain/book_gap.h"
#include "scenarios/lower/lower_collective.h"
#include "scenarios/lower/lower_step.h"
#include "scenarios/lower/lowering.h"
#include "scenarios/run/run_watch.h"
#include "scenarios/spec/program.h"
#include "topology/lattice/hosts.h"

namespace podsim::scenarios {
namespace {

/// What one stage does, cut into pieces.
class Lowering {
public:
    Lowering(const Hardware& hardware, const Program& program, Fold fold)
        : hardware_(achievable(hardware)),
          program_(program),
          layout_(lay_out(hardware, fold, members(), unlike())),
          shifts_(layout_.shifts()) {}

    [[nodiscard]] const Layout& layout() const { return layout_; }

    sim::Workload workload() {
        for (const Stage& stage : program_.stages) {
            schedules_.push_back(schedules(stage));
        }
        for (int place = 0; place < layout_.places.size(); ++place) {
            workload_.graph_of_place.push_back(graph_of(layout_.places.point(place)));
        }
        for (int piece = 0; piece < program_.pieces; ++piece) {
            for (const std::vector<std::uint32_t>& of_stage : schedules_) {
                for (const std::uint32_t schedule : of_stage) {
                    workload_.operations.push_back({.schedule = schedule});
                }
            }
        }
        workload_.machine = build_machine(hardware_, shifts_);
        return std::move(workload_);
    }

    /// The stage of every task.
    [[nodiscard]] const std::vector<std::size_t>& stages() const { return stage_of_task_; }

private:
    /// Everyone whose traffic decides what the slice folds to.
    [[nodiscard]] std::vector<collectives::Members> members() const {
        std::vector<collectives::Members> all;
        for (const Stage& stage : program_.stages) {
            if (const auto* one = std::get_if<StageCollective>(&stage.work)) {
                all.push_back(one->members);
            } else if (const auto* compute = std::get_if<StageCompute>(&stage.work);
                       compute != nullptr && compute->gather) {
                all.push_back(compute->gather->members);
            }
        }
        return all;
    }

    /// All chips where some chip does what others do not.
    [[nodiscard]] collectives::Members unlike() const {
        const bool rooted = std::ranges::any_of(program_.stages, [](const Stage& stage) {
            if (const auto* one = std::get_if<StageCollective>(&stage.work)) {
                // A permute over several axes carries from one to the next only at their ends.
                return one->operation > collectives::Operation::all_to_all;
            }
            const auto* compute = std::get_if<StageCompute>(&stage.work);
            return compute != nullptr && compute->at.has_value();
        });
        return rooted ? collectives::Members{collectives::whole_slice(hardware_.slice),
                                             {1, hardware_.slices}}
                      : collectives::Members{};
    }

    /// The schedules of one piece of a stage that moves bytes.
    std::vector<std::uint32_t> schedules(const Stage& stage) {
        const std::size_t first = workload_.schedules.size();
        if (const auto* one = std::get_if<StageCollective>(&stage.work)) {
            add_collective({.hardware = hardware_,
                            .operation = one->operation,
                            .members = one->members,
                            .bytes = one->bytes / static_cast<double>(program_.pieces),
                            .algorithm = one->algorithm,
                            .ends = one->ends});
        } else if (const auto* transfer = std::get_if<HostTransfer>(&stage.work)) {
            workload_.schedules.push_back(collectives::build_host_transfer(
                transfer->to_chip,
                transfer->bytes / static_cast<double>(hardware_.chips()) /
                    static_cast<double>(program_.pieces),
                hardware_.message_cap, shifts_));
        } else if (const auto& gather = std::get<StageCompute>(stage.work).gather) {
            add_gather(*gather);
        }
        std::vector<std::uint32_t> added(workload_.schedules.size() - first);
        std::iota(added.begin(), added.end(), static_cast<std::uint32_t>(first));
        return added;
    }

    void add_collective(const CollectiveRequest& request) {
        workload_.schedules.push_back(
            collectives::build_schedule(request.operation, hardware_.slice, request.members.group,
                                        request.members.across, pick_algorithm(request).algorithm,
                                        request.bytes, schedule_options(hardware_, layout_),
                                        shifts_, request.ends)
                .schedule);
    }

    void add_gather(const StageGather& gather) {
        if (gather.blocking) {
            add_collective({.hardware = hardware_,
                            .operation = collectives::Operation::all_gather,
                            .members = gather.members,
                            .bytes = gather.bytes});
            return;
        }
        for (const collectives::SteppedGather::Piece& piece : gather.order.pieces) {
            for (const std::uint32_t number : piece.steps) {
                const collectives::SteppedGather::Step& step = gather.order.steps[number];
                workload_.schedules.push_back(
                    collectives::build_ring_step(
                        hardware_.slice, gather.members.group,
                        {step.factor, step.direction, gather.bytes * step.share},
                        schedule_options(hardware_, layout_), shifts_)
                        .schedule);
            }
        }
    }

    /// The graph of the chips that compute in the same stages as this one.
    std::uint32_t graph_of(const topology::Point& chip) {
        std::vector<bool> computes;
        for (const Stage& stage : program_.stages) {
            const auto* compute = std::get_if<StageCompute>(&stage.work);
            computes.push_back(compute != nullptr && compute->at.value_or(chip) == chip);
        }
        const auto next = static_cast<std::uint32_t>(workload_.graphs.size());
        const auto [entry, added] = graphs_.try_emplace(computes, next);
        if (added) {
            workload_.graphs.push_back(graph(computes));
        }
        return entry->second;
    }

    sim::TaskGraph graph(const std::vector<bool>& computes) {
        sim::TaskGraph graph;
        stage_of_task_.clear();
        operation_ = 0;
        for (int piece = 0; piece < program_.pieces; ++piece) {
            std::vector<std::uint32_t> before;
            for (std::size_t stage = 0; stage < program_.stages.size(); ++stage) {
                const auto* compute = std::get_if<StageCompute>(&program_.stages[stage].work);
                if (compute != nullptr && compute->gather) {
                    add_gathered(*compute, before, graph);
                } else {
                    const bool moves = compute == nullptr;
                    add_task(moves, !moves && computes[stage] ? duration(*compute) : sim::Time{},
                             before, graph);
                }
                before = {static_cast<std::uint32_t>(graph.tasks.size()) - 1};
                stage_of_task_.resize(graph.tasks.size(), stage);
            }
        }
        return graph;
    }

    std::uint32_t add_task(bool moves, sim::Time work, std::vector<std::uint32_t> after,
                           sim::TaskGraph& graph) {
        sim::Task task;
        task.duration = work;
        task.after = std::move(after);
        if (moves) {
            task.operation = operation_++;
            task.duration = sim::round_up(hardware_.chip.collective_launch.value);
        }
        graph.tasks.push_back(std::move(task));
        return static_cast<std::uint32_t>(graph.tasks.size()) - 1;
    }

    /// The steps of the gather and the parts of the matmul; the last of them ends the stage.
    void add_gathered(const StageCompute& compute, const std::vector<std::uint32_t>& before,
                      sim::TaskGraph& graph) {
        const StageGather& gather = *compute.gather;
        std::vector<std::uint32_t> steps(gather.order.steps.size());
        for (std::size_t i = 0; i < gather.order.pieces.size(); ++i) {
            const collectives::SteppedGather::Piece& piece = gather.order.pieces[i];
            std::vector<std::uint32_t> rows = before;
            for (const std::uint32_t step : piece.steps) {
                std::vector<std::uint32_t> after;
                for (const std::uint32_t earlier : gather.order.steps[step].after) {
                    after.push_back(steps[earlier]);
                }
                steps[step] = add_task(true, {}, after.empty() ? before : after, graph);
                rows.push_back(steps[step]);
            }
            add_task(false, part_time(compute, piece.share, i == 0), std::move(rows), graph);
        }
    }

    [[nodiscard]] sim::Time duration(const StageCompute& compute) const {
        workloads::Compute piece = compute.work;
        piece.flops = piece.flops / program_.pieces;
        piece.hbm = piece.hbm / program_.pieces;
        for (workloads::MatmulShape& shape : piece.matmuls) {
            shape.k /= program_.pieces;
        }
        return time_of(piece, compute.int8);
    }

    [[nodiscard]] sim::Time part_time(const StageCompute& compute, double share, bool first) const {
        const StageGather& gather = *compute.gather;
        workloads::Compute part = compute.work;
        part.flops *= share;
        part.hbm = (part.hbm - gather.every_part) * share + gather.every_part +
                   (first ? sim::Bytes(0) : gather.later_parts);
        for (workloads::MatmulShape& shape : part.matmuls) {
            (gather.inner ? shape.k : gather.of_weights ? shape.n : shape.m) *= share;
        }
        return time_of(part, compute.int8);
    }

    [[nodiscard]] sim::Time time_of(const workloads::Compute& work, bool int8) const {
        workloads::MachineRates rates = machine_rates(hardware_);
        rates.efficiency = hardware_.efficiency;
        if (int8) {
            rates.flops = hardware_.chip.int8_ops.value;
        }
        return sim::round_up(workloads::compute_time(work, rates).total());
    }

    const Hardware hardware_;  ///< with the rates that it reaches
    const Program& program_;
    Layout layout_;
    collectives::ShiftTable shifts_;
    sim::Workload workload_;
    std::vector<std::vector<std::uint32_t>> schedules_;  ///< [stage]
    std::vector<std::size_t> stage_of_task_;
    std::uint32_t operation_ = 0;  ///< the next of a graph
    std::map<std::vector<bool>, std::uint32_t> graphs_;
};

/// When each stage's first piece began anywhere, and its last ended everywhere.
class StageSpans : public WatchedRun {
public:
    StageSpans(std::size_t stages, const std::vector<std::size_t>& stage_of_task, RunWatch* watch)
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

void bound_stage(const Hardware& hardware, const Stage& stage, StageResult& result) {
    if (const auto* transfer = std::get_if<HostTransfer>(&stage.work)) {
        result.resource = "pcie";
        result.bound = transfer->bytes / static_cast<double>(hardware.chips()) /
                       hardware.chip.pcie_one_way.value;
    } else if (const auto* one = std::get_if<StageCollective>(&stage.work)) {
        result.resource = one->members.across.length > 1 ? "dcn" : "ici";
        result.bound = collectives::physical_bound(
            one->operation, hardware.slice, one->members, one->bytes,
            hardware.chip.ici_one_way(hardware.ici_rates), slice_links(hardware), one->ends);
    } else {
        const auto& compute = std::get<StageCompute>(stage.work);
        const sim::FlopsPerSecond peak =
            compute.int8 ? hardware.chip.int8_ops.value : hardware.chip.bf16_flops.value;
        const sim::Seconds mxu = compute.work.flops / peak;
        const sim::Seconds hbm = compute.work.hbm / hardware.chip.hbm_bandwidth.value;
        result.resource = mxu < hbm ? "hbm" : "mxu";
        result.bound = mxu < hbm ? hbm : mxu;
        if (compute.gather) {
            const collectives::Members& members = compute.gather->members;
            result.matmul_bound = result.bound;
            result.gather_bound = collectives::physical_bound(
                collectives::Operation::all_gather, hardware.slice, members, compute.gather->bytes,
                hardware.chip.ici_one_way(hardware.ici_rates), slice_links(hardware));
            if (*result.gather_bound > result.bound) {
                result.resource = members.across.length > 1 ? "dcn" : "ici";
                result.bound = *result.gather_bound;
            }
        }
    }
}

}  // namespace

ProgramResult simulate_program(const Hardware& hardware, const Program& program, Fold fold,
                               RunWatch* watch) {
    const auto begun = std::chrono::steady_clock::now();
    Lowering lowering(hardware, program, fold);
    const sim::Workload workload = lowering.workload();
    StageSpans spans(program.stages.size(), lowering.stages(), watch);
    const sim::ExecutionResult run = sim::execute(workload, &spans, false);

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
        explain_collective(hardware, std::get<StageCollective>(program.stages[0].work), fold,
                           result);
    }
    result.links = link_use(hardware, lowering.layout(), run);
    result.events = run.events;
    result.simulated_chips = lowering.layout().places.size();
    result.wall_time_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    return result;
}

}  // namespace podsim::scenarios
