#include "scenarios/src/simulate/lower_program.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>

#include "collectives/algorithms/host_transfer.h"
#include "collectives/algorithms/ring_step_schedule.h"
#include "collectives/catalogue/build_schedule.h"
#include "collectives/catalogue/operations.h"
#include "collectives/paths/group_graph.h"
#include "scenarios/src/simulate/build_machine.h"
#include "scenarios/src/simulate/lower_collective.h"
#include "scenarios/src/simulate/rates.h"

namespace podsim::scenarios {
namespace {

/// Returns all members whose traffic decides how the slice folds.
std::vector<collectives::Members> members_of(const Program& program) {
    std::vector<collectives::Members> all;
    for (const Stage& stage : program.stages) {
        if (const auto* one = std::get_if<StageCollective>(&stage.work)) {
            all.push_back(one->members);
        } else if (const auto* compute = std::get_if<StageCompute>(&stage.work);
                   compute != nullptr && compute->gather) {
            all.push_back(compute->gather->members);
        }
    }
    return all;
}

/// Returns all chips if one chip does what others do not; none otherwise.
collectives::Members unlike_members(const Program& program, const Hardware& hardware) {
    const bool rooted = std::ranges::any_of(program.stages, [](const Stage& stage) {
        if (const auto* one = std::get_if<StageCollective>(&stage.work)) {
            // A permute over several axes carries over from one axis to the next only at their
            // ends.
            return collectives::info(one->operation).ends != collectives::EndsTaken::none;
        }
        const auto* compute = std::get_if<StageCompute>(&stage.work);
        return compute != nullptr && compute->at.has_value();
    });
    return rooted ? collectives::Members{collectives::whole_slice(hardware.slice),
                                         {1, hardware.slices}}
                  : collectives::Members{};
}

class ProgramLowering {
public:
    ProgramLowering(const AchievedHardware& hardware, const Program& program, Fold fold,
                    Watch* watch)
        : hardware_(hardware),
          program_(program),
          fold_(fold),
          watch_(watch),
          durations_(hardware),
          lowered_{.workload = {},
                   .layout = lay_out(hardware, fold, members_of(program),
                                     unlike_members(program, hardware)),
                   .kernels = {},
                   .stage_of_task = {}},
          shifts_(lowered_.layout.shifts()) {}

    LoweredProgram lower() {
        std::vector<std::vector<std::uint32_t>> schedules_of_stage;
        for (const Stage& stage : program_.stages) {
            try {
                schedules_of_stage.push_back(schedules(stage));
            } catch (const sim::InputError& error) {
                throw error.at(stage.mark);
            }
        }
        const topology::Places& places = lowered_.layout.places;
        for (int place = 0; place < places.size(); ++place) {
            lowered_.workload.graph_of_place.push_back(graph_of(places.point(place)));
        }
        for (int piece = 0; piece < program_.pieces; ++piece) {
            for (const std::vector<std::uint32_t>& of_stage : schedules_of_stage) {
                for (const std::uint32_t schedule : of_stage) {
                    lowered_.workload.operations.push_back({.schedule = schedule});
                }
            }
        }
        lowered_.workload.machine = build_machine(hardware_, shifts_, shifts_.uses_hosts());
        fold_mirror_images(fold_, lowered_.workload, lowered_.layout);
        return std::move(lowered_);
    }

private:
    /// Returns the schedules of one piece of a stage that moves bytes.
    std::vector<std::uint32_t> schedules(const Stage& stage) {
        const std::size_t first = lowered_.workload.schedules.size();
        if (const auto* one = std::get_if<StageCollective>(&stage.work)) {
            StageCollective piece = *one;
            piece.bytes = one->bytes / static_cast<double>(program_.pieces);
            add_collective(piece);
        } else if (const auto* transfer = std::get_if<HostTransfer>(&stage.work)) {
            lowered_.workload.schedules.push_back(collectives::build_host_transfer(
                transfer->direction,
                transfer->bytes / static_cast<double>(hardware_.chips()) /
                    static_cast<double>(program_.pieces),
                hardware_.message_cap, shifts_));
        } else if (const auto& gather = std::get<StageCompute>(stage.work).gather) {
            add_gather(*gather);
        }
        std::vector<std::uint32_t> added(lowered_.workload.schedules.size() - first);
        std::iota(added.begin(), added.end(), static_cast<std::uint32_t>(first));
        return added;
    }

    void add_collective(const StageCollective& one) {
        tell(watch_, Phase::building);
        collectives::CollectiveCall call = one.call(hardware_.slice);
        call.algorithm = pick_algorithm(hardware_, one, watch_).algorithm;
        lowered_.workload.schedules.push_back(
            collectives::build_schedule(call, schedule_options(hardware_, lowered_.layout), shifts_)
                .schedule);
    }

    void add_gather(const StageGather& gather) {
        if (gather.blocking) {
            add_collective({.operation = collectives::Operation::all_gather,
                            .members = gather.members,
                            .bytes = gather.bytes});
            return;
        }
        for (const collectives::SteppedGather::Piece& piece : gather.order.pieces) {
            for (const std::uint32_t number : piece.steps) {
                const collectives::SteppedGather::Step& step = gather.order.steps[number];
                lowered_.workload.schedules.push_back(
                    collectives::build_ring_step(
                        hardware_.slice, gather.members.group,
                        {step.factor, step.direction, gather.bytes * step.share},
                        collectives::Motion::gather, schedule_options(hardware_, lowered_.layout),
                        shifts_)
                        .schedule);
            }
        }
    }

    /// Returns the graph of the chips that compute in the same stages as this one.
    std::uint32_t graph_of(const topology::Point& chip) {
        std::vector<bool> computes;
        for (const Stage& stage : program_.stages) {
            const auto* compute = std::get_if<StageCompute>(&stage.work);
            computes.push_back(compute != nullptr && compute->at.value_or(chip) == chip);
        }
        const auto next = static_cast<std::uint32_t>(lowered_.workload.graphs.size());
        const auto [entry, added] = graphs_.try_emplace(computes, next);
        if (added) {
            lowered_.kernels.emplace_back();
            lowered_.workload.graphs.push_back(graph(computes));
        }
        return entry->second;
    }

    sim::TaskGraph graph(const std::vector<bool>& computes) {
        sim::TaskGraph graph;
        lowered_.stage_of_task.clear();
        operation_ = 0;
        for (int piece = 0; piece < program_.pieces; ++piece) {
            std::vector<std::uint32_t> before;
            for (std::size_t stage = 0; stage < program_.stages.size(); ++stage) {
                add_piece(program_.stages[stage], computes[stage], before, graph);
                before = {static_cast<std::uint32_t>(graph.tasks.size()) - 1};
                lowered_.stage_of_task.resize(graph.tasks.size(), stage);
            }
        }
        return graph;
    }

    std::uint32_t add_kernel(const workloads::Compute& work, std::vector<std::uint32_t> after,
                             sim::TaskGraph& graph) {
        lowered_.kernels.back() += work.hbm;
        const Durations::Timed timed = durations_.timed(work);
        const std::uint32_t task = add_task(timed.duration, std::move(after), graph);
        graph.tasks[task].demand = timed.demand;
        return task;
    }

    static std::uint32_t add_task(sim::Time duration, std::vector<std::uint32_t> after,
                                  sim::TaskGraph& graph) {
        sim::Task task;
        task.duration = duration;
        task.after = std::move(after);
        graph.tasks.push_back(std::move(task));
        return static_cast<std::uint32_t>(graph.tasks.size()) - 1;
    }

    /// Adds the next operation. `until_sent` is the time from its beginning to its first message.
    std::uint32_t add_operation(sim::Time until_sent, std::vector<std::uint32_t> after,
                                sim::TaskGraph& graph) {
        const std::uint32_t task = add_task(until_sent, std::move(after), graph);
        graph.tasks[task].operation = operation_++;
        return task;
    }

    void add_piece(const Stage& stage, bool computes, const std::vector<std::uint32_t>& before,
                   sim::TaskGraph& graph) {
        if (std::holds_alternative<StageCollective>(stage.work)) {
            add_operation(durations_.launch(), before, graph);
        } else if (std::holds_alternative<HostTransfer>(stage.work)) {
            add_operation(Durations::host_transfer(), before, graph);
        } else if (const auto& compute = std::get<StageCompute>(stage.work); compute.gather) {
            add_gathered(compute, before, graph);
        } else if (computes) {
            add_kernel(piece_of(compute), before, graph);
        } else {
            add_task({}, before, graph);
        }
    }

    /// Adds the steps of the gather and the segments of the matmul; the last of them ends the
    /// stage.
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
                steps[step] =
                    add_operation(durations_.launch(), after.empty() ? before : after, graph);
                rows.push_back(steps[step]);
            }
            add_kernel(part_of(compute, piece.share, i == 0), std::move(rows), graph);
        }
    }

    /// The work of one chip in one piece of a stage.
    [[nodiscard]] workloads::Compute piece_of(const StageCompute& compute) const {
        workloads::Compute piece = compute.work;
        piece.flops = piece.flops / program_.pieces;
        piece.hbm = piece.hbm / program_.pieces;
        for (workloads::MatmulShape& shape : piece.matmuls) {
            shape.k /= program_.pieces;
        }
        return piece;
    }

    /// A fraction of a matmul whose operand arrives in segments.
    [[nodiscard]] static workloads::Compute part_of(const StageCompute& compute, double share,
                                                    bool first) {
        const StageGather& gather = *compute.gather;
        workloads::Compute part = compute.work;
        part.flops *= share;
        part.hbm = (part.hbm - gather.every_part) * share + gather.every_part +
                   (first ? sim::Bytes(0) : gather.later_parts);
        for (workloads::MatmulShape& shape : part.matmuls) {
            (gather.inner ? shape.k : gather.of_weights ? shape.n : shape.m) *= share;
        }
        return part;
    }

    const AchievedHardware& hardware_;
    const Program& program_;
    const Fold fold_;
    Watch* watch_;
    const Durations durations_;
    LoweredProgram lowered_;
    collectives::ShiftTable shifts_;
    std::uint32_t operation_ = 0;                        ///< index of a graph's next operation
    std::map<std::vector<bool>, std::uint32_t> graphs_;  ///< by the stages in which a chip computes
};

}  // namespace

LoweredProgram lower_program(const AchievedHardware& hardware, const Program& program, Fold fold,
                             Watch* watch) {
    return ProgramLowering(hardware, program, fold, watch).lower();
}

}  // namespace podsim::scenarios
