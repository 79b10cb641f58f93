// A module's budget of steps for work that is not linear in its text: positions worked out for
// every member of a group, dilated windows, dependencies of operations.
#pragma once

#include "workloads/hlo/module.h"

namespace podsim::workloads::hlo {

/// Limit of steps. A step takes up to ten nanoseconds, so the limit is reached within seconds.
inline constexpr double kMostSteps = 5e8;

class Budget {
public:
    explicit Budget(const Module& module, double most = kMostSteps)
        : module_(module), most_(most) {}

    /// Throws sim::InputError at the instruction that exceeds the budget.
    void spend(const Instruction& at, double steps) {
        spent_ += steps;
        if (spent_ > most_) {
            refuse(at);
        }
    }

private:
    [[noreturn]] void refuse(const Instruction& at) const;

    const Module& module_;
    double most_;
    double spent_ = 0;
};

}  // namespace podsim::workloads::hlo
