// Operations of a program that do the same: layers have the same few dozen, so what is found of one holds for thousands.
#pragma once

#include <cstddef>
#include <vector>

#include "workloads/program/step_program.h"

namespace podsim::workloads {

/// Says of each operation which is the first that does the same work (StepProgram::first_alike). To be called when a program's
/// operations are what they will be.
void find_alike(StepProgram& program);
void find_alike(StepPrograms& programs);

/// What is found of a program's operations, once for all that are known to do the same. Keeps a reference to the program.
template <class Value>
class OfAlike {
public:
    explicit OfAlike(const StepProgram& program)
        : program_(program), values_(program.first_alike.size()) {}

    /// find(), which depends on the operation's work alone. Operations are asked for in their order: all of the same work, or none. Valid
    /// until the next call.
    template <class Find>
    const Value& of(OpIndex op, Find find) {
        if (values_.empty()) {
            other_ = find();
            return other_;
        }
        Value& value = values_[program_.first_alike[op]];
        if (program_.first_alike[op] == op) {
            value = find();
        }
        return value;
    }

private:
    const StepProgram& program_;
    std::vector<Value> values_;  ///< [operation]: of the first ones
    Value other_{};
};

}  // namespace podsim::workloads
