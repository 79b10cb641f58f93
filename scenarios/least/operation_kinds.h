// What a step does besides computing, each kind of operation once.
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

/// Operations of a step that take the same time wherever they stand: of one program, or of all of them.
class OperationKinds {
public:
    static constexpr std::uint32_t kCompute = 0xffffffff;

    /// The kind of an operation of that program; kCompute of one that computes.
    std::uint32_t of(const workloads::StepPrograms& programs, std::size_t program,
                     const workloads::Op& op);
    /// An operation of each kind.
    struct Kind {
        workloads::Work work;
        std::size_t program = 0;
        std::size_t peer = 0;  ///< of a handover: the program of its other end
    };
    [[nodiscard]] std::span<const Kind> all() const { return kinds_; }

private:
    using Key = std::tuple<int, int, double, double, std::vector<std::string>, std::vector<double>,
                           bool, std::size_t, std::size_t>;
    std::map<Key, std::uint32_t> numbers_;
    std::vector<Kind> kinds_;
};

/// How a step's AllGathers and ReduceScatters over tensor go that stand whole in its program.
enum class TensorCollectives {
    as_built,
    /// In steps between the parts of the matmuls beside them, as nothing of the program says: of such a collective is known what a member
    /// must receive, and where all do the same also what it must send.
    in_steps,
};

bool may_go_in_steps(const workloads::Collective& collective);

}  // namespace podsim::scenarios
