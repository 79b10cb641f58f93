// What operations are called: `microbatch 1 layer 3 forward gate_up`, `optimizer update`.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "workloads/program/step_program.h"

namespace podsim::workloads {

/// The name of an operation, and where it counts.
struct OpLabel {
    std::string name;
    Pass pass{};
    int layer = -1;
};

/// `gather` and `gate_up`: put together without a format, which a step with thousands of names is the slower for.
inline std::string words(std::string_view verb, std::string_view what) {
    std::string both;
    both.reserve(verb.size() + 1 + what.size());
    both.append(verb).append(1, ' ').append(what);
    return both;
}

class OpNames {
public:
    explicit OpNames(int microbatches) : several_microbatches_(microbatches > 1) {}

    /// Following operations belong to this part of the model or of the step.
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

    /// Of the part under way. Names say the microbatch where there are several, but in the optimizer.
    [[nodiscard]] OpLabel label(std::string_view what) const {
        return {words(beginning_, what), under_way_.pass, under_way_.layer};
    }
    /// Of another part: an operation for a use of weights that is not yet, or no longer, under way.
    [[nodiscard]] OpLabel label(std::string_view part, Pass pass, int layer, int microbatch,
                                std::string_view what) const;
    [[nodiscard]] const std::string& part() const { return under_way_.name; }
    [[nodiscard]] int layer() const { return under_way_.layer; }

private:
    void begin_names();
    /// `microbatch 1 layer 3 forward`, `optimizer`.
    [[nodiscard]] std::string beginning(std::string_view part, Pass pass, int microbatch) const;

    bool several_microbatches_;
    OpLabel under_way_;
    int microbatch_ = 0;
    std::string beginning_;  ///< of the names of the part under way
};

}  // namespace podsim::workloads
