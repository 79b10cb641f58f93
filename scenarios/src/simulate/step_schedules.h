// The schedules of a step: one for each kind of collective and handover, however often it is used.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "collectives/algorithms/handover.h"
#include "collectives/vocabulary/algorithm.h"
#include "scenarios/src/base/watch.h"
#include "scenarios/src/simulate/build_machine.h"
#include "scenarios/src/simulate/known_collectives.h"
#include "scenarios/src/simulate/run_memory.h"
#include "sim/base/error.h"
#include "sim/workload/schedule_list.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// The members of a collective of the program.
collectives::Members members_of(const workloads::Collective& collective,
                                const topology::DeviceMesh& mesh);

/// Reports that an operation of the step cannot be carried out.
class AtOperation : public sim::InputError {
public:
    AtOperation(const sim::InputError& error, std::string operation, bool too_large)
        : InputError(error), operation_(std::move(operation)), too_large_(too_large) {}

    [[nodiscard]] const std::string& operation() const { return operation_; }
    /// True if the step has too many messages with it.
    [[nodiscard]] bool too_large() const { return too_large_; }

private:
    std::string operation_;
    bool too_large_;
};

/// Builds each kind of schedule once. Throws AtOperation if a step would need more than 20 million
/// messages in all or if it cannot route around dead links. Throws BeyondMemory if the schedules
/// take more memory than the process may use. Keeps references to its arguments.
class StepSchedules {
public:
    /// Caches of earlier steps, and among them that of the schedules on the layout's places.
    struct Known {
        KnownCollectives& collectives;
        KnownSchedules& here;
    };
    StepSchedules(const AchievedHardware& hardware, const topology::DeviceMesh& mesh,
                  const Layout& layout, Fold fold, Known known, sim::Schedules& schedules,
                  Watch* watch)
        : hardware_(hardware),
          mesh_(mesh),
          options_(schedule_options(hardware, layout)),
          fold_(fold),
          known_(known),
          shifts_(known.here.shifts()),
          schedules_(schedules),
          watch_(watch) {}

    /// Returns the schedule of a collective, by the algorithm that is fastest for it on its own. A
    /// collective or host transfer of no bytes (experts without tokens) has no message: it ends
    /// when it begins.
    std::uint32_t of_collective(const workloads::Op& op);
    std::uint32_t of_host_transfer(const workloads::Op& op);
    /// The algorithm of a collective with that schedule; `automatic` if there is no choice.
    [[nodiscard]] collectives::Algorithm algorithm(std::uint32_t schedule) const {
        return algorithms_[schedule];
    }
    /// True if messages of any schedule leave the torus.
    [[nodiscard]] bool use_hosts() const;
    /// Returns the schedule of a handover between the members of two ranks of a logical axis.
    std::uint32_t of_handover(const workloads::Op& op, const std::string& axis, int from, int to);

private:
    using CollectiveKey =
        std::tuple<collectives::Operation, double, std::vector<std::string>,
                   std::optional<collectives::RingStep>, std::vector<double>, bool, int>;
    using HandoverKey = std::tuple<topology::Point, int, double>;

    [[nodiscard]] AtOperation too_large(const workloads::Op& op) const;
    template <class Build>
    void add(const workloads::Op& op, Build build);
    std::shared_ptr<const sim::Schedule> build(const workloads::Collective& collective);
    std::shared_ptr<const sim::Schedule> build_step(const workloads::Collective& collective,
                                                    const StageCollective& lone);
    [[nodiscard]] std::uint32_t next() const {
        return static_cast<std::uint32_t>(schedules_.size());
    }

    const AchievedHardware& hardware_;
    const topology::DeviceMesh& mesh_;
    const collectives::ScheduleOptions options_;
    const Fold fold_;
    Known known_;
    collectives::ShiftTable& shifts_;
    sim::Schedules& schedules_;
    Watch* watch_;
    std::map<CollectiveKey, std::uint32_t> collectives_;
    /// The first collectives, with their schedules.
    std::vector<std::pair<const workloads::Collective*, std::uint32_t>> first_seen_;
    std::map<HandoverKey, std::uint32_t> handovers_;
    /// By direction and bytes.
    std::map<std::pair<collectives::HostDirection, double>, std::uint32_t> host_transfers_;
    std::vector<collectives::Algorithm> algorithms_;  ///< [schedule]
    std::size_t messages_ = 0;
    RunMemory memory_{};  ///< of the run, for the schedules built so far
};

}  // namespace podsim::scenarios
