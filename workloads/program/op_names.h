// The names of operations: `microbatch 1 layer 3 forward gate_up`, `optimizer update`.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "workloads/program/step_program.h"

namespace podsim::workloads {

/// The name of an operation, its pass and its layer.
struct OpLabel {
    std::string name;
    Pass pass{};
    int layer = -1;
};

/// Joins two words: `gather gate_up`. It avoids a format call, which would slow down a step with
/// thousands of names.
inline std::string words(std::string_view verb, std::string_view what) {
    std::string both;
    both.reserve(verb.size() + 1 + what.size());
    both.append(verb).append(1, ' ').append(what);
    return both;
}

class OpNames {
public:
    explicit OpNames(int microbatches) : several_microbatches_(microbatches > 1) {}

    /// Assigns following operations to this part of the model or of the step.
    void set_part(std::string part, Pass pass, int layer = -1) {
        under_way_ = {std::move(part), pass, layer};
        begin_names();
    }
    void set_pass(Pass pass) {
        under_way_.pass = pass;
        begin_names();
    }
    void set_layer(int layer) { under_way_.layer = layer; }
    void set_microbatch(int microbatch) {
        microbatch_ = microbatch;
        begin_names();
    }

    /// Labels an operation of the current part. Names have the microbatch if there are several,
    /// except in the optimizer.
    [[nodiscard]] OpLabel label(std::string_view what) const {
        return {words(beginning_, what), under_way_.pass, under_way_.layer};
    }
    /// Labels an operation of another part: for a use of weights that has not begun, or has ended.
    [[nodiscard]] OpLabel label(std::string_view part, Pass pass, int layer, int microbatch,
                                std::string_view what) const;
    [[nodiscard]] const std::string& part() const { return under_way_.name; }
    [[nodiscard]] int layer() const { return under_way_.layer; }

private:
    void begin_names();
    /// Returns a beginning such as `microbatch 1 layer 3 forward` or `optimizer`.
    [[nodiscard]] std::string beginning(std::string_view part, Pass pass, int microbatch) const;

    bool several_microbatches_;
    OpLabel under_way_;
    int microbatch_ = 0;
    std::string beginning_;  ///< of the names of the current part
};

}  // namespace podsim::workloads
