// The operations of a step other than computing, each kind once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// Operations of a step that take the same time wherever they stand, in one program or in all
/// programs of the step.
class OperationKinds {
public:
    static constexpr std::uint32_t kCompute = 0xffffffff;

    /// Returns the kind of an operation of that program; kCompute if it computes.
    std::uint32_t of(const workloads::StepPrograms& programs, std::size_t program,
                     const workloads::Op& op);
    /// An operation of the kind.
    struct Kind {
        workloads::Work work;
        std::size_t program = 0;
        /// For a handover, the program of its other end.
        std::size_t peer = 0;
    };
    [[nodiscard]] std::span<const Kind> all() const { return kinds_; }

private:
    using Key = std::tuple<int, int, double, double, std::vector<std::string>, std::vector<double>,
                           bool, std::size_t, std::size_t>;
    std::map<Key, std::uint32_t> numbers_;
    std::vector<Kind> kinds_;
};

/// Execution of those AllGathers and ReduceScatters over tensor that are whole operations in a
/// step's program.
enum class TensorCollectives {
    as_built,
    /// In steps between the segments of the adjacent matmuls, about which the program says nothing.
    /// For such a collective only the bytes that a member must receive are known and, if all
    /// members do the same, also the bytes that it must send.
    in_steps,
};

bool may_go_in_steps(const workloads::Collective& collective);

}  // namespace podsim::scenarios
