// Operations of a program that do the same work: layers have the same few dozen, so a result for
// one holds for thousands.
#pragma once

#include <cstddef>
#include <vector>

#include "workloads/program/step_program.h"

namespace podsim::workloads {

/// Sets for each operation the first one that does the same work (StepProgram::first_alike). It is
/// called when a program's operations are final.
void find_alike(StepProgram& program);
void find_alike(StepPrograms& programs);

/// Cached results for a program's operations, one for all that do the same work. Keeps a reference
/// to the program.
template <class Value>
class OfAlike {
public:
    explicit OfAlike(const StepProgram& program)
        : program_(program), values_(program.first_alike.size()) {}

    /// Returns find(), which depends on the operation's work alone. The caller asks for operations
    /// in their order: all of the same work, or none. The reference is valid until the next call.
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
