#include "scenarios/step_lowering.h"

#include <fmt/format.h>
#include <map>
#include <tuple>
#include <utility>

#include "scenarios/lone.h"
#include "sim/error.h"

namespace podsim::scenarios {
namespace {

using workloads::Purpose;

/// Collectives on the critical path go first at every link, then weight gathers, then gradients.
std::uint32_t priority_class(Purpose purpose) {
    switch (purpose) {
        case Purpose::tensor:
        case Purpose::context:
        case Purpose::expert:
            return 0;
        case Purpose::weights:
            return 1;
        case Purpose::gradients:
            return 2;
    }
    return 2;
}

/// Builds each kind of collective once.
class ScheduleCache {
public:
    ScheduleCache(const Hardware& hardware, const topology::DeviceMesh& mesh, const Layout& layout,
                  collectives::ShiftTable& shifts, std::vector<sim::Schedule>& schedules)
        : hardware_(hardware),
          mesh_(mesh),
          options_(schedule_options(hardware, layout)),
          shifts_(shifts),
          schedules_(schedules) {}

    /// The schedule of a collective, by the algorithm that is fastest for it on its own. Throws
    /// sim::InputError, naming it, when a step would need more than 20 million messages in all, or when
    /// it cannot go round dead links.
    std::uint32_t schedule(const workloads::Op& op) {
        const auto& collective = std::get<workloads::Collective>(op.work);
        const Key key{collective.operation, collective.axes, collective.bytes.value()};
        const auto next = static_cast<std::uint32_t>(schedules_.size());
        const auto [entry, added] = numbers_.try_emplace(key, next);
        if (added) {
            try {
                schedules_.push_back(build(collective));
            } catch (const sim::InputError& error) {
                if (options_.dead_links.axes() != 0) {
                    throw sim::InputError(fmt::format("'{}': {}", op.name, error.problem()),
                                          error.remedy());
                }
                throw too_large(op);
            }
            messages_ += schedules_.back().transfers.size();
            if (messages_ > kMostMessages) {
                throw too_large(op);
            }
        }
        return entry->second;
    }

private:
    using Key = std::tuple<collectives::Operation, std::vector<std::string>, double>;

    static constexpr std::size_t kMostMessages = 20'000'000;

    [[nodiscard]] sim::InputError too_large(const workloads::Op& op) const {
        return sim::InputError(
            fmt::format("the collectives of this step, up to '{}', would be cut into more than 20 "
                        "million messages of at most {:.4g} bytes",
                        op.name, hardware_.message_cap.value()),
            "use a larger hardware.message_cap, a smaller batch or a smaller model");
    }

    sim::Schedule build(const workloads::Collective& collective) {
        const CollectiveRequest request{.hardware = hardware_,
                                        .operation = collective.operation,
                                        .members = members_of(collective, mesh_),
                                        .bytes = collective.bytes};
        return collectives::build_schedule(request.operation, hardware_.slice,
                                           request.members.group, request.members.across,
                                           pick_algorithm(request).algorithm, request.bytes,
                                           options_, shifts_)
            .schedule;
    }

    const Hardware& hardware_;
    const topology::DeviceMesh& mesh_;
    const collectives::ScheduleOptions options_;
    collectives::ShiftTable& shifts_;
    std::vector<sim::Schedule>& schedules_;
    std::map<Key, std::uint32_t> numbers_;
    std::size_t messages_ = 0;
};

/// Keeps the spans of the representatives.
class SpanRecorder : public sim::Observer {
public:
    SpanRecorder(const LoweredStep& step, std::size_t tasks)
        : slot_(step.workload.machine.places, kNotKept), tasks_(tasks) {
        for (int slot = 0; slot < step.layout.folded.size(); ++slot) {
            slot_[step.layout.place_of(slot)] = static_cast<std::uint32_t>(slot);
        }
        began_.resize(tasks * static_cast<std::size_t>(step.layout.folded.size()));
        ended_.resize(began_.size());
    }

    void task_ended(sim::PlaceId place, sim::TaskId task, sim::Time began, sim::Time now) override {
        const std::uint32_t slot = slot_[place.index()];
        if (slot != kNotKept) {
            began_[slot * tasks_ + task.index()] = began;
            ended_[slot * tasks_ + task.index()] = now;
        }
    }

    /// The spans of one representative.
    void take(std::size_t slot, std::vector<sim::Time>& began,
              std::vector<sim::Time>& ended) const {
        const auto first = static_cast<std::ptrdiff_t>(slot * tasks_);
        const auto last = first + static_cast<std::ptrdiff_t>(tasks_);
        began.assign(began_.begin() + first, began_.begin() + last);
        ended.assign(ended_.begin() + first, ended_.begin() + last);
    }

private:
    static constexpr std::uint32_t kNotKept = 0xffffffff;

    std::vector<std::uint32_t> slot_;
    std::size_t tasks_;
    std::vector<sim::Time> began_;  ///< [representative][task]
    std::vector<sim::Time> ended_;
};

}  // namespace

workloads::MachineRates machine_rates(const Hardware& hardware) {
    return {.flops = hardware.chip.bf16_flops.value,
            .hbm = hardware.chip.hbm_bandwidth.value,
            .ici_one_way = hardware.chip.ici_one_way(hardware.ici_rates),
            .mxu_dimension = hardware.chip.mxu_dimension.value,
            .between_slices = slice_links(hardware),
            .chips_per_slice = hardware.slice.size()};
}

collectives::Members members_of(const workloads::Collective& collective,
                                const topology::DeviceMesh& mesh) {
    return {mesh.group(collective.axes), mesh.across(collective.axes)};
}

LoweredStep lower_step(const workloads::StepProgram& program, const Hardware& hardware,
                       const topology::DeviceMesh& mesh, Fold fold) {
    std::map<std::vector<std::string>, collectives::Members> used;
    for (const workloads::Op& op : program.ops) {
        if (const auto* collective = std::get_if<workloads::Collective>(&op.work)) {
            used.try_emplace(collective->axes, members_of(*collective, mesh));
        }
    }
    std::vector<collectives::Members> members;
    for (auto& [axes, one] : used) {
        members.push_back(std::move(one));
    }

    LoweredStep step;
    step.layout = lay_out(hardware, fold, members);
    collectives::ShiftTable shifts = step.layout.shifts();
    ScheduleCache schedules(hardware, mesh, step.layout, shifts, step.workload.schedules);
    const workloads::MachineRates rates = machine_rates(hardware);
    const sim::Time launch = sim::round_up(hardware.chip.collective_launch.value);

    sim::TaskGraph graph;
    graph.tasks.reserve(program.ops.size());
    int layer = -1;
    for (const workloads::Op& op : program.ops) {
        sim::Task task;
        task.after = op.after;
        if (const auto* work = std::get_if<workloads::Compute>(&op.work)) {
            if (op.layer != layer) {
                layer = op.layer;
                graph.marks.push_back(static_cast<std::uint32_t>(graph.tasks.size()));
            }
            task.duration = sim::round_up(workloads::compute_time(*work, rates).total());
        } else {
            const auto& collective = std::get<workloads::Collective>(op.work);
            task.duration = launch;
            task.operation = static_cast<std::uint32_t>(step.workload.operations.size());
            step.workload.operations.push_back(
                {.schedule = schedules.schedule(op),
                 .priority_class = priority_class(collective.purpose)});
        }
        graph.tasks.push_back(std::move(task));
    }
    step.workload.graphs.push_back(std::move(graph));
    step.workload.machine = build_machine(hardware, shifts);
    step.workload.graph_of_place.assign(step.workload.machine.places, 0);
    return step;
}

StepRun run_step(const LoweredStep& step, bool reuse) {
    SpanRecorder recorder(step, step.workload.graphs[0].tasks.size());
    StepRun run;
    run.result = sim::execute(step.workload, &recorder, reuse);
    const auto end_of = [&](int slot) {
        return run.result.end_of_place[step.layout.place_of(slot)];
    };
    for (int slot = 1; slot < step.layout.folded.size(); ++slot) {
        if (end_of(slot) > end_of(run.reported)) {
            run.reported = slot;
        }
    }
    recorder.take(static_cast<std::size_t>(run.reported), run.began, run.ended);
    return run;
}

}  // namespace podsim::scenarios
