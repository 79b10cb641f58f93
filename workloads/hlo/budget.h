// A module's budget of work for what takes more steps than the text has letters: places worked out on every member of a group,
// dilated windows, dependencies of operations.
#pragma once

#include "workloads/hlo/module.h"

namespace podsim::workloads::hlo {

/// So many steps, of up to ten nanoseconds each, take seconds.
inline constexpr double kMostSteps = 5e8;

class Budget {
public:
    explicit Budget(const Module& module, double most = kMostSteps)
        : module_(module), most_(most) {}

    /// Throws sim::InputError, at the instruction with which the module takes more.
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
