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
#include "scenarios/footprint/run_memory.h"
#include "scenarios/lower/build_machine.h"
#include "scenarios/lower/known_collectives.h"
#include "scenarios/watch/watch.h"
#include "sim/base/error.h"
#include "sim/workload/schedule_list.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// The members of a collective of the program.
collectives::Members members_of(const workloads::Collective& collective,
                                const topology::DeviceMesh& mesh);

/// Builds each kind once. Throws sim::InputError, naming the operation, when a step would need more than
/// 20 million messages in all, or when it cannot go round dead links; and where they take more memory than the process may.
/// Keeps references to its arguments.
class StepSchedules {
public:
    /// What steps before have found, and of it the schedules on the layout's places.
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

    /// The schedule of a collective, by the algorithm that is fastest for it on its own. Of no bytes (experts
    /// without tokens) there is no message, here and with the host: it ends where it begins.
    std::uint32_t of_collective(const workloads::Op& op);
    std::uint32_t of_host_transfer(const workloads::Op& op);
    /// What carries out a collective of that schedule; `automatic` of what has no choice.
    [[nodiscard]] collectives::Algorithm algorithm(std::uint32_t schedule) const {
        return algorithms_[schedule];
    }
    /// Whether messages of any of them leave the torus.
    [[nodiscard]] bool use_hosts() const;
    /// Of a handover between the members of two ranks of a logical axis.
    std::uint32_t of_handover(const workloads::Op& op, const std::string& axis, int from, int to);

private:
    using CollectiveKey =
        std::tuple<collectives::Operation, double, std::vector<std::string>,
                   std::optional<collectives::RingStep>, std::vector<double>, bool, int>;
    using HandoverKey = std::tuple<topology::Point, int, double>;

    [[nodiscard]] sim::InputError too_large(const workloads::Op& op) const;
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
    /// The first that came, with their schedules.
    std::vector<std::pair<const workloads::Collective*, std::uint32_t>> first_seen_;
    std::map<HandoverKey, std::uint32_t> handovers_;
    std::map<std::pair<collectives::HostDirection, double>, std::uint32_t>
        host_transfers_;                              ///< by direction and bytes
    std::vector<collectives::Algorithm> algorithms_;  ///< [schedule]
    std::size_t messages_ = 0;
    RunMemory memory_{};  ///< of the run, as far as its schedules are built
};

}  // namespace podsim::scenarios
