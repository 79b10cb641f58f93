// A program in another order of its operations.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/program/step_program.h"

namespace podsim::workloads {

/// The position of an operation in an order.
struct Placed {
    enum class End {
        whole,  ///< on the stream, which goes on when it has ended
        start,  ///< it begins when the stream arrives here
        early,  ///< it begins as soon as it can, and stands here
        end,    ///< the stream waits here until it has ended
    };
    OpIndex op = 0;
    End end{};
    bool floats = false;  ///< it may stand in another turn than its own
};

/// True if the operation is a transfer from a chip to its host.
bool goes_to_host(const Op& op);

/// Returns the turn of each operation, from 0 (StepProgram::turns).
std::vector<std::uint32_t> turns_of(const StepProgram& program);

/// `order` has every operation once, except those to the host, which follow their needs. Operations
/// that start or begin early also have an end, after the beginning.
StepProgram reorder(const StepProgram& program, const std::vector<Placed>& order);

}  // namespace podsim::workloads
