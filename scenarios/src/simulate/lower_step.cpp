#include "scenarios/src/simulate/lower_step.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "collectives/algorithms/permute.h"
#include "collectives/vocabulary/collective_call.h"
#include "scenarios/src/simulate/build_machine.h"
#include "scenarios/src/simulate/link_turns.h"
#include "scenarios/src/simulate/rates.h"
#include "scenarios/src/simulate/step_schedules.h"
#include "workloads/bounds/ici_traffic.h"
#include "workloads/plan/axis_names.h"
#include "workloads/program/alike_work.h"

namespace podsim::scenarios {
namespace {

using workloads::Purpose;

/// Calls of_each(collective) for the collectives of all programs.
template <class OfEach>
void each_collective(const workloads::StepPrograms& programs, const OfEach& of_each) {
    for (const workloads::StepProgram& program : programs.programs) {
        for (const workloads::Op& op : program.ops) {
            if (const auto* collective = std::get_if<workloads::Collective>(&op.work)) {
                of_each(*collective);
            }
        }
    }
}

/// Returns all members whose traffic decides how the slice folds.
std::vector<collectives::Members> members_in_use(const workloads::StepPrograms& programs,
                                                 const topology::DeviceMesh& mesh) {
    std::set<std::vector<std::string>> used;
    // Layers have the same few.
    std::vector<const std::vector<std::string>*> seen;
    each_collective(programs, [&](const auto& collective) {
        if (std::ranges::none_of(seen,
                                 [&](const auto* axes) { return *axes == collective.axes; }) &&
            used.insert(collective.axes).second) {
            seen.push_back(&collective.axes);
        }
    });
    if (programs.programs.size() > 1) {
        used.insert(programs.axes);
    }
    std::vector<collectives::Members> members;
    members.reserve(used.size());
    for (const std::vector<std::string>& axes : used) {
        members.push_back({mesh.group(axes), mesh.across(axes)});
    }
    return members;
}

/// Returns the axes whose members do not all move alike, so that none stands for another. They
/// belong to broadcasts, one member of which is the root, and to permutes that carry over from one
/// axis to the next.
std::vector<std::string> unlike_axes(const workloads::StepPrograms& programs,
                                     const topology::Lattice& slice,
                                     const topology::DeviceMesh& mesh) {
    std::set<std::string> axes;
    each_collective(programs, [&](const workloads::Collective& one) {
        if (one.operation == collectives::Operation::broadcast ||
            (one.operation == collectives::Operation::permute &&
             !collectives::moves_alike({.operation = one.operation,
                                        .slice = slice,
                                        .members = {mesh.group(one.axes), {}},
                                        .ends = workloads::ends_of(one, slice, mesh)}))) {
            axes.insert(one.axes.begin(), one.axes.end());
        }
    });
    return {axes.begin(), axes.end()};
}

/// True if chips of unequal work take part in the operation together.
bool is_shared(const workloads::Op& op) {
    return std::holds_alternative<workloads::Collective>(op.work) ||
           std::holds_alternative<workloads::HostTransfer>(op.work);
}

bool same(const workloads::Op& one, const workloads::Op& other) {
    if (const auto* collective = std::get_if<workloads::Collective>(&one.work)) {
        const auto* as = std::get_if<workloads::Collective>(&other.work);
        return as != nullptr && *as == *collective;
    }
    const auto* transfer = std::get_if<workloads::HostTransfer>(&one.work);
    const auto* as = std::get_if<workloads::HostTransfer>(&other.work);
    return transfer != nullptr && as != nullptr && *as == *transfer;
}

class Lowering {
public:
    Lowering(const workloads::StepPrograms& programs, const AchievedHardware& hardware,
             const topology::DeviceMesh& mesh, Fold fold, KnownCollectives& known, Watch* watch)
        : all_(programs),
          programs_(programs.programs),
          mesh_(mesh),
          hardware_(hardware),
          durations_(hardware),
          known_(known),
          watch_(watch) {
        const std::vector<std::string>& axes = programs.axes;
        std::vector<std::string> unlike = unlike_axes(programs, hardware.slice, mesh);
        unlike.insert(unlike.end(), axes.begin(), several() ? axes.end() : axes.begin());
        step_.layout = lay_out(hardware, fold, members_in_use(programs, mesh),
                               {mesh.group(unlike), mesh.across(unlike)});
        const topology::Places& places = step_.layout.places;
        for (int place = 0; place < places.size(); ++place) {
            step_.workload.graph_of_place.push_back(
                several() ? static_cast<std::uint32_t>(
                                mesh.rank(axes, places.point(place), places.slice_of(place)))
                          : 0);
        }
        step_.workload.graphs.resize(programs_.size());
        step_.members = programs.members();
        under_way_.resize(programs_.size());
        shared_.resize(programs_.size());
        begun_.resize(programs_.size());
        for (std::size_t p = 0; p < programs_.size(); ++p) {
            for (const workloads::Op& op : programs_[p].ops) {
                if (is_shared(op)) {
                    shared_[p].push_back({.op = &op});
                }
            }
        }
        KnownSchedules& kept = known_.on(hardware_, step_.layout);
        lower(fold, kept);
        fold_mirror_images(fold, step_.workload, step_.layout, &kept.images());
    }

    LoweredStep take() { return std::move(step_); }

private:
    [[nodiscard]] bool several() const { return programs_.size() > 1; }

    void lower(Fold fold, KnownSchedules& kept) {
        StepSchedules schedules(hardware_, mesh_, step_.layout, fold, {known_, kept},
                                step_.workload.schedules, watch_);
        std::size_t longest = 0;
        for (std::size_t p = 0; p < programs_.size(); ++p) {
            timed_.emplace_back(programs_[p]);
            scheduled_.emplace_back(programs_[p]);
            step_.workload.graphs[p].tasks.reserve(programs_[p].ops.size());
            longest = std::max(longest, programs_[p].ops.size());
        }
        constexpr std::size_t kBetweenLooks = 1024;
        for (std::size_t i = 0; i < longest; ++i) {
            if (i % kBetweenLooks == 0) {
                tell(watch_, Phase::building);
            }
            for (std::uint32_t p = 0; p < programs_.size(); ++p) {
                if (i < programs_[p].ops.size()) {
                    add_task(p, static_cast<workloads::OpIndex>(i), schedules);
                }
            }
        }
        order_by_need(programs_, step_.workload);
        for (const sim::OperationSpec& operation : step_.workload.operations) {
            step_.algorithms.push_back(schedules.algorithm(operation.schedule));
        }
        step_.workload.tables = kept.tables();
        step_.workload.machine = build_machine(hardware_, kept.shifts(), schedules.use_hosts());
    }

    void add_task(std::uint32_t program, workloads::OpIndex index, StepSchedules& schedules) {
        const workloads::Op& op = programs_[program].ops[index];
        sim::TaskGraph& graph = step_.workload.graphs[program];
        sim::Task task;
        task.after = op.after;
        const Durations::Timed& timed =
            timed_[program].of(index, [&] { return durations_.timed(op); });
        task.duration = timed.duration;
        task.demand = timed.demand;
        if (std::holds_alternative<workloads::Compute>(op.work)) {
            mark(program, op.layer, index);
        } else if (std::holds_alternative<workloads::HostTransfer>(op.work)) {
            task.operation = shared(program, schedules.of_host_transfer(op), Purpose::weights);
        } else if (const auto* collective = std::get_if<workloads::Collective>(&op.work)) {
            const std::uint32_t schedule =
                scheduled_[program].of(index, [&] { return schedules.of_collective(op); });
            task.operation = shared(program, schedule, collective->purpose);
        } else {
            task.operation = handover(program, op, schedules);
        }
        if (const auto* handover = std::get_if<workloads::Handover>(&op.work)) {
            LoweredStep::HandoverEnds& ends = step_.handovers[task.operation];
            (handover->sends ? ends.sends : ends.receives) = index;
        }
        graph.tasks.push_back(std::move(task));
    }

    /// Marks the instants at which the state may repeat: a layer's last compute but one, and a
    /// picosecond before the last one ends. The latter is the latest instant at which nothing has
    /// begun that waits for the layer's end, as gathers for later layers do. So the last layers
    /// before one without such gathers are also images of earlier layers.
    void mark(std::uint32_t program, int layer, workloads::OpIndex compute) {
        Layer& before = under_way_[program];
        if (layer != before.number) {
            sim::TaskGraph& graph = step_.workload.graphs[program];
            if (before.computes.size() > 1) {
                graph.marks.push_back(*std::prev(before.computes.end(), 2));
                graph.early_marks.push_back(before.computes.back());
            } else if (!before.computes.empty()) {
                graph.marks.push_back(before.computes.back());
            }
            before.number = layer;
            before.computes.clear();
        }
        before.computes.push_back(compute);
    }

    std::uint32_t add_operation(const sim::OperationSpec& spec) {
        step_.workload.operations.push_back(spec);
        step_.handovers.emplace_back();
        step_.groups_of_operation.push_back(LoweredStep::kNoGroups);
        return static_cast<std::uint32_t>(step_.workload.operations.size() - 1);
    }

    /// Returns the next operation that a program shares with others of its stage; adds it if this
    /// program is the first to reach it.
    std::uint32_t shared(std::uint32_t program, std::uint32_t schedule, Purpose purpose) {
        const std::size_t number = begun_[program]++;
        const std::uint32_t operation = shared_[program][number].operation;
        return operation != sim::kNoOperation ? operation
                                              : add_shared(program, number, schedule, purpose);
    }

    std::uint32_t add_shared(std::uint32_t program, std::size_t number, std::uint32_t schedule,
                             Purpose purpose) {
        const workloads::Op& op = *shared_[program][number].op;
        const auto next = static_cast<std::uint32_t>(step_.workload.operations.size());
        const std::size_t first = all_.stage(program) * all_.members();
        std::vector<std::uint32_t> sharers;
        for (std::size_t p = first; p < first + all_.members(); ++p) {
            if (shared_[p].size() != shared_[program].size()) {
                throw std::logic_error("members of a stage differ in their collectives");
            }
            if (same(*shared_[p][number].op, op)) {
                sharers.push_back(static_cast<std::uint32_t>(p));
                shared_[p][number].operation = next;
            } else if (spans_members(op)) {
                throw std::logic_error("members of a group differ in their collective");
            }
        }
        add_operation({.schedule = schedule,
                       .priority_class = priority_class(programs_[program], purpose),
                       .placement = sharers.size() < programs_.size()
                                        ? placement_in(sharers, schedule)
                                        : sim::kOwnPlacement});
        if (spans_members(op)) {
            const auto& collective = std::get<workloads::Collective>(op.work);
            step_.groups_of_operation.back() =
                collective.step ? LoweredStep::kRingStep : groups_over(collective.axes);
        }
        return next;
    }

    /// True for a collective over an axis whose members do unequal work.
    [[nodiscard]] bool spans_members(const workloads::Op& op) const {
        const auto* collective = std::get_if<workloads::Collective>(&op.work);
        return all_.members() > 1 && collective != nullptr &&
               std::ranges::any_of(collective->axes, [&](const std::string& axis) {
                   return axis != workloads::axis::pipeline &&
                          std::ranges::count(all_.axes, axis) > 0;
               });
    }

    /// Returns the index of the groups over those axes. The group of a place is its rank along all
    /// other axes.
    std::uint32_t groups_over(const std::vector<std::string>& axes) {
        const auto [entry, added] =
            groups_.try_emplace(axes, static_cast<std::uint32_t>(step_.groups.size()));
        if (added) {
            std::vector<std::string> others;
            for (const topology::LogicalAxis& axis : mesh_.axes()) {
                if (std::ranges::count(axes, axis.name) == 0) {
                    others.push_back(axis.name);
                }
            }
            const topology::Places& places = step_.layout.places;
            std::vector<std::uint32_t>& groups = step_.groups.emplace_back();
            for (int place = 0; place < places.size(); ++place) {
                groups.push_back(static_cast<std::uint32_t>(
                    mesh_.rank(others, places.point(place), places.slice_of(place))));
            }
        }
        return entry->second;
    }

    /// Returns the operation that the handover's two ends share.
    std::uint32_t handover(std::uint32_t program, const workloads::Op& op,
                           StepSchedules& schedules) {
        const auto& one = std::get<workloads::Handover>(op.work);
        const auto peer = static_cast<std::uint32_t>(all_.peer(program, one));
        const std::uint32_t from = one.sends ? program : peer;
        const std::uint32_t to = one.sends ? peer : program;
        const auto next = static_cast<std::uint32_t>(step_.workload.operations.size());
        const auto [entry, added] =
            operation_of_message_.try_emplace({one.message, program % all_.members()}, next);
        if (added) {
            add_operation({.schedule = schedules.of_handover(op, all_.axes.front(),
                                                             static_cast<int>(all_.stage(from)),
                                                             static_cast<int>(all_.stage(to))),
                           .priority_class = priority_class(programs_[program], one.purpose),
                           .placement = placement_between(from, to)});
        }
        return entry->second;
    }

    /// Returns the placement with the schedule's roles at the places of these programs alone.
    std::uint32_t placement_in(const std::vector<std::uint32_t>& programs, std::uint32_t schedule) {
        const auto [entry, added] = in_programs_.try_emplace(
            {programs, schedule}, static_cast<std::uint32_t>(step_.workload.placements.size()));
        if (added) {
            std::vector<std::uint32_t> roles = step_.workload.schedules[schedule].role_of_place;
            for (std::size_t place = 0; place < roles.size(); ++place) {
                if (std::ranges::count(programs, step_.workload.graph_of_place[place]) == 0) {
                    roles[place] = sim::kAbsent;
                }
            }
            step_.workload.placements.push_back(std::move(roles));
        }
        return entry->second;
    }

    /// Returns the placement with the sender's role at the places of one program and the receiver's
    /// at those of another.
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

    const workloads::StepPrograms& all_;
    const std::vector<workloads::StepProgram>& programs_;
    const topology::DeviceMesh& mesh_;
    const AchievedHardware& hardware_;
    const Durations durations_;
    std::vector<workloads::OfAlike<Durations::Timed>> timed_;   ///< [program]
    std::vector<workloads::OfAlike<std::uint32_t>> scheduled_;  ///< [program]: of collectives
    KnownCollectives& known_;
    Watch* watch_;
    LoweredStep step_;
    /// A layer, and its compute operations so far.
    struct Layer {
        int number = -1;
        std::vector<workloads::OpIndex> computes;
    };
    std::vector<Layer> under_way_;  ///< [program]
    struct Shared {
        const workloads::Op* op = nullptr;
        /// Set once one of its programs has reached it.
        std::uint32_t operation = sim::kNoOperation;
    };
    std::vector<std::vector<Shared>> shared_;  ///< [program]: in program order
    std::vector<std::size_t> begun_;           ///< [program]: number of shared operations begun
    std::map<std::vector<std::string>, std::uint32_t> groups_;
    /// By message and member of the stage.
    std::map<std::pair<std::uint32_t, std::size_t>, std::uint32_t> operation_of_message_;
    std::map<std::pair<std::vector<std::uint32_t>, std::uint32_t>, std::uint32_t> in_programs_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> between_;
};

}  // namespace

LoweredStep lower_step(const workloads::StepPrograms& programs, const AchievedHardware& hardware,
                       const topology::DeviceMesh& mesh, Fold fold, Watch* watch,
                       KnownCollectives* known) {
    KnownCollectives own;
    return Lowering(programs, hardware, mesh, fold, known != nullptr ? *known : own, watch).take();
}

}  // namespace podsim::scenarios
