#include <algorithm>
#include <chrono>
#include <map>

#include "collectives/bounds.h"
#include "collectives/group_graph.h"
#include "collectives/host_transfer.h"
#include "scenarios/lone.h"
#include "scenarios/lowering.h"
#include "scenarios/program.h"
#include "scenarios/step_lowering.h"
#include "topology/hosts.h"

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
            schedules_.push_back(schedule(stage));
        }
        const auto stages = static_cast<std::uint32_t>(program_.stages.size());
        for (int place = 0; place < layout_.places.size(); ++place) {
            workload_.graph_of_place.push_back(graph_of(layout_.places.point(place)));
        }
        for (int piece = 0; piece < program_.pieces; ++piece) {
            for (std::uint32_t stage = 0; stage < stages; ++stage) {
                if (schedules_[stage] != kNoSchedule) {
                    workload_.operations.push_back({.schedule = schedules_[stage]});
                }
            }
        }
        workload_.machine = build_machine(hardware_, shifts_);
        return std::move(workload_);
    }

private:
    static constexpr std::uint32_t kNoSchedule = 0xffffffff;

    /// Everyone whose traffic decides what the slice folds to.
    [[nodiscard]] std::vector<collectives::Members> members() const {
        std::vector<collectives::Members> all;
        for (const Stage& stage : program_.stages) {
            if (const auto* one = std::get_if<StageCollective>(&stage.work)) {
                all.push_back(one->members);
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

    /// The schedule of one piece of a stage that moves bytes.
    std::uint32_t schedule(const Stage& stage) {
        if (const auto* one = std::get_if<StageCollective>(&stage.work)) {
            const CollectiveRequest request{
                .hardware = hardware_,
                .operation = one->operation,
                .members = one->members,
                .bytes = one->bytes / static_cast<double>(program_.pieces),
                .algorithm = one->algorithm,
                .ends = one->ends};
            workload_.schedules.push_back(
                collectives::build_schedule(
                    request.operation, hardware_.slice, request.members.group,
                    request.members.across, pick_algorithm(request).algorithm, request.bytes,
                    schedule_options(hardware_, layout_), shifts_, request.ends)
                    .schedule);
        } else if (const auto* transfer = std::get_if<HostTransfer>(&stage.work)) {
            workload_.schedules.push_back(collectives::build_host_transfer(
                transfer->to_chip,
                transfer->bytes / static_cast<double>(hardware_.chips()) /
                    static_cast<double>(program_.pieces),
                hardware_.message_cap, shifts_));
        } else {
            return kNoSchedule;
        }
        return static_cast<std::uint32_t>(workload_.schedules.size() - 1);
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

    [[nodiscard]] sim::TaskGraph graph(const std::vector<bool>& computes) const {
        workloads::MachineRates rates = machine_rates(hardware_);
        rates.efficiency = hardware_.efficiency;
        const auto stages = static_cast<std::uint32_t>(program_.stages.size());
        sim::TaskGraph graph;
        std::uint32_t operation = 0;
        for (int piece = 0; piece < program_.pieces; ++piece) {
            for (std::uint32_t stage = 0; stage < stages; ++stage) {
                sim::Task task;
                if (schedules_[stage] != kNoSchedule) {
                    task.operation = operation++;
                    task.duration = sim::round_up(hardware_.chip.collective_launch.value);
                } else if (computes[stage]) {
                    const auto& compute = std::get<StageCompute>(program_.stages[stage].work);
                    task.duration =
                        sim::round_up(piece_time(compute, rates, hardware_, program_.pieces));
                }
                if (stage > 0) {
                    task.after.push_back(static_cast<std::uint32_t>(graph.tasks.size()) - 1);
                }
                graph.tasks.push_back(std::move(task));
            }
        }
        return graph;
    }

    static sim::Seconds piece_time(const StageCompute& compute, workloads::MachineRates rates,
                                   const Hardware& hardware, int pieces) {
        if (compute.int8) {
            rates.flops = hardware.chip.int8_ops.value;
        }
        workloads::Compute piece = compute.work;
        piece.flops = piece.flops / pieces;
        piece.hbm = piece.hbm / pieces;
        for (workloads::MatmulShape& shape : piece.matmuls) {
            shape.k /= pieces;
        }
        return workloads::compute_time(piece, rates).total();
    }

    const Hardware hardware_;  ///< with the rates that it reaches
    const Program& program_;
    Layout layout_;
    collectives::ShiftTable shifts_;
    sim::Workload workload_;
    std::vector<std::uint32_t> schedules_;
    std::map<std::vector<bool>, std::uint32_t> graphs_;
};

/// When each stage's first piece began anywhere, and its last ended everywhere.
class StageSpans : public sim::Observer {
public:
    explicit StageSpans(std::size_t stages) : began_(stages, sim::Time::max()), ended_(stages) {}

    void task_ended(sim::PlaceId /*place*/, sim::TaskId task, sim::Time began,
                    sim::Time now) override {
        const std::size_t stage = task.index() % began_.size();
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
    }
}

}  // namespace

ProgramResult simulate_program(const Hardware& hardware, const Program& program, Fold fold) {
    const auto begun = std::chrono::steady_clock::now();
    Lowering lowering(hardware, program, fold);
    const sim::Workload workload = lowering.workload();
    StageSpans spans(program.stages.size());
    const sim::ExecutionResult run = sim::execute(workload, &spans, false);

    ProgramResult result;
    result.time = run.end;
    for (std::size_t i = 0; i < program.stages.size(); ++i) {
        StageResult stage;
        stage.name = program.stages[i].name;
        stage.began = spans.began(i);
        stage.ended = spans.ended(i);
        bound_stage(hardware, program.stages[i], stage);
        result.serial += stage.bound;
        if (stage.bound > result.lower) {
            result.lower = stage.bound;
            result.limiting = i;
        }
        result.stages.push_back(std::move(stage));
    }
    const StageResult& limiting = result.stages[result.limiting];
    const sim::Time bound{static_cast<std::int64_t>(result.lower.value() * 1e12)};
    result.gap = {{"before " + limiting.name, limiting.began},
                  {limiting.name + " beyond its bound", limiting.ended - limiting.began - bound},
                  {"after " + limiting.name, run.end - limiting.ended}};
    result.links = link_use(hardware, lowering.layout(), run);
    result.events = run.events;
    result.simulated_chips = lowering.layout().places.size();
    result.wall_time_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    return result;
}

}  // namespace podsim::scenarios
